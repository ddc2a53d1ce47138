"""Runs that measure utility: where it is asked for, in ``sensitive/`` alone, and nothing else differs."""

import re
from pathlib import Path

import pytest

from flows.command.run import run_showcase
from tasks.configuration.model import RunConfiguration
from tests.flows import pipeline, visits
from tests.flows.server_objects import text_of_everything
from tests.flows.whole_runs import CANARIES, assert_no_trace, canary_row, fresh_name, public_places

pytestmark = pytest.mark.server

ASKED = {"target": "work", "group": "town"}


def outside(folder: Path) -> dict[str, bytes]:
    """Every file of the workspace but those of ``sensitive/``, by its name without a run's label.

    Each run states anew what protects, in a folder of ``intermediate/`` that bears its label.
    """
    files = pipeline.tree(folder / "out")
    return {
        re.sub(r"/\d{8}T\d{6}-\w+/", "/RUN/", name): content
        for name, content in files.items()
        if not name.startswith("sensitive/")
    }


def measured(configuration: RunConfiguration) -> list[Path]:
    """The folders of utility of a dataset's runs."""
    home = Path(configuration.output_dir) / "sensitive" / configuration.dataset
    return sorted(home.glob("*/utility"))


@pytest.mark.parametrize("protection", ["differential_privacy", "k_anonymity"])
def test_a_run_with_the_key_writes_it_and_changes_no_byte_outside_of_sensitive(
    protection, tmp_path, own_ledger, prefect_server, capfd
):
    prepare = pipeline.prepared if protection == "differential_privacy" else pipeline.prepared_anonymous
    dataset, table = fresh_name("utility"), [*pipeline.rows(), canary_row()]
    plain = prepare(tmp_path, table, dataset=dataset)
    pipeline.run(plain)
    assert measured(plain) == []
    before = outside(tmp_path)
    asked = prepare(tmp_path, table, dataset=dataset, evaluate_utility=ASKED)
    capfd.readouterr()
    pipeline.run(asked)
    (place,) = measured(asked)
    said = capfd.readouterr()
    assert f"Must stay on this machine, from the utility stage: {place}" in said.err
    assert outside(tmp_path) == before
    body = pipeline.json_of(place / "utility.json")
    assert body["k_marginal"]["group"] == "town" and body["prediction"]["target"] == "work"
    assert body["rows"]["raw"] == 601 and 0 < body["discriminator"]["auc"] <= 1
    assert (place / "people_discriminator_roc.svg").is_file()
    columns = (place / "people_total_variation_of_columns.tsv").read_text()
    assert "services: pool" in columns and "age" in columns
    everything = text_of_everything(prefect_server, dataset)
    assert_no_trace(CANARIES, public_places(tmp_path, own_ledger), said.out + said.err + everything)
    assert f"{body['discriminator']['auc']:.4f}"[:6] not in everything
    # Asked again it is not measured again.
    pipeline.run(asked)
    assert measured(asked) == [place] and outside(tmp_path) == before


def test_it_needs_neither_the_other_evaluation_nor_all_stages(tmp_path):
    configuration = pipeline.prepared_anonymous(tmp_path, evaluate_utility=True, evaluate_sensitive=False)
    run_showcase(configuration, ("generate",), verbose=False)
    assert measured(configuration) == []
    run_showcase(configuration, ("evaluate",), verbose=False)
    (place,) = measured(configuration)
    assert pipeline.json_of(place / "utility.json")["prediction"] is None
    assert not (place.parent / "evaluation").exists()


def test_a_synthetic_table_of_syndiffix_is_measured_too(tmp_path):
    section = {"columns": ["town", "age", "smoker"]}
    plain = visits.prepared(tmp_path, section=section)
    pipeline.run(plain)
    before = outside(tmp_path)
    asked = visits.prepared(tmp_path, section=section, evaluate_utility={"target": "smoker"})
    pipeline.run(asked)
    (place,) = measured(asked)
    body = pipeline.json_of(place / "utility.json")
    assert body["features"] == 3 and body["prediction"]["target"] == "smoker"
    assert outside(tmp_path) == before
