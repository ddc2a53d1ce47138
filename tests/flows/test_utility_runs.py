"""What utility is measured without; runs of each protection that measure it are in `test_whole_runs`."""

from pathlib import Path

import pytest

from flows.command.run import run_showcase
from tasks.configuration.model import RunConfiguration
from tests.flows import pipeline

pytestmark = pytest.mark.server


def measured(configuration: RunConfiguration) -> list[Path]:
    """The folders of utility of a dataset's runs."""
    home = Path(configuration.output_dir) / "sensitive" / configuration.dataset
    return sorted(home.glob("*/utility"))


def test_it_needs_neither_the_other_evaluation_nor_all_stages(tmp_path):
    configuration = pipeline.prepared_anonymous(tmp_path, evaluate_utility=True, evaluate_sensitive=False)
    run_showcase(configuration, ("generate",), verbose=False)
    assert measured(configuration) == []
    run_showcase(configuration, ("evaluate",), verbose=False)
    (place,) = measured(configuration)
    assert pipeline.json_of(place / "utility.json")["prediction"] is None
    assert not (place.parent / "evaluation").exists()
