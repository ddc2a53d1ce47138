"""Of a table with too many pairs of columns to measure: everything that is read says how many were."""

import csv

import numpy as np
import pytest

from flows.command.run import run_showcase
from tasks.configuration.flat_file import from_flat
from tests.flows import pipeline

pytestmark = pytest.mark.server
_COLUMNS, _PAIRS = 50, 50 * 49 // 2


def test_how_many_of_all_pairs_were_measured_stands_wherever_the_error_of_pairs_does(tmp_path, capfd):
    draw = np.random.default_rng(1)
    names = [f"q{place:02}" for place in range(_COLUMNS)]
    with (tmp_path / "answers.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(draw.choice(["no", "yes"], (600, _COLUMNS)))
    configuration = from_flat(
        {
            "sensitive_microdata_path": str(tmp_path / "answers.csv"),
            "domains": {name: ["no", "yes"] for name in names},
            "dp_aggregates": True,
            "noise_epsilon": 1.0,
            "privacy": {"delta": 1e-6},
            "dataset": "answers",
            "prefix": "answers",
            "output_dir": str(tmp_path / "out"),
        }
    )
    run_showcase(configuration, ("navigate",), verbose=False)
    release = pipeline.latest(configuration)
    fit = pipeline.json_of(release / "evaluation.json")["fit"]
    measured = fit["measured_pairs"]
    assert fit["all_pairs"] == _PAIRS and 0 <= measured < _PAIRS
    sentence = f"Pairs of columns that were measured together: {measured} of {_PAIRS:,}."
    assert sentence in " ".join(capfd.readouterr().err.split())
    page = " ".join((release / "answers_data_showcase.html").read_text().split())
    assert page.count(sentence) == 2, "beside the error of pairs, and in the statement"
