"""Runs under k-anonymity in order: which seed they have, what is done again, what stops them."""

import json
import shutil
import time
from pathlib import Path

import pytest

from flows.command import main as command
from tasks.core.errors import ContractViolation
from tests.flows import pipeline
from tests.flows.pipeline import MODES, microdata
from tests.flows.server_objects import known, text_of_everything
from tests.flows.test_boundary import public_places
from tests.flows.test_runs import fresh_name, step

pytestmark = pytest.mark.server


@pytest.mark.parametrize("mode", ["row_seeded", "aggregate_seeded"])
def test_the_seed_of_raw_data_stays_and_that_of_a_release_is_recorded(
    mode: str, tmp_path: Path, own_ledger: Path, prefect_server: str
) -> None:
    seed, dataset = 771177117711, fresh_name("seed")
    configuration = pipeline.prepared_anonymous(
        tmp_path, synthesis_mode=mode, random_seed=seed, dataset=dataset
    )
    release = pipeline.run(configuration)
    released = pipeline.json_of(release / "configuration.json")
    assert not {"path", "contract", "contract_mode"} & set(released["input"]), "there was no contract"
    recorded = released["synthesis"].get("random_seed")
    assert recorded == (seed if mode == "aggregate_seeded" else None)
    assert str(seed) not in text_of_everything(prefect_server, dataset)
    if mode == "row_seeded":
        for place in public_places(tmp_path):
            for path in place.rglob("*") if place.exists() else ():
                assert not path.is_file() or str(seed).encode() not in path.read_bytes(), path


@pytest.mark.parametrize("mode", MODES)
def test_a_random_seed_gives_the_same_records_in_another_workspace(
    mode: str, tmp_path: Path, own_ledger: Path, prefect_server: str
) -> None:
    configuration = pipeline.prepared_anonymous(tmp_path, synthesis_mode=mode, random_seed=5)
    first = microdata(pipeline.run(configuration))
    other = configuration.model_copy(update={"output_dir": str(tmp_path / "other")})
    assert microdata(pipeline.run(other)) == first


@pytest.mark.parametrize("mode", MODES)
def test_without_a_seed_another_workspace_has_other_records(
    mode: str, tmp_path: Path, own_ledger: Path, prefect_server: str
) -> None:
    configuration = pipeline.prepared_anonymous(tmp_path, synthesis_mode=mode)
    first = microdata(pipeline.run(configuration))
    other = configuration.model_copy(update={"output_dir": str(tmp_path / "other")})
    assert microdata(pipeline.run(other)) != first


def test_a_second_run_does_again_nothing_that_is_current_and_a_change_only_what_it_touches(
    tmp_path: Path, own_ledger: Path, prefect_server: str
) -> None:
    dataset = fresh_name("again")

    def done(table: list[list[str]] | None = None, **changes: object) -> set[str]:
        """The steps that a run does, as the server knows them once it has taken in all of it."""
        before = {run["id"] for run in known(prefect_server, dataset).task_runs}
        pipeline.run(pipeline.prepared_anonymous(tmp_path, table, dataset=dataset, **changes))
        deadline = time.monotonic() + 60
        while True:
            runs = [run for run in known(prefect_server, dataset).task_runs if run["id"] not in before]
            states = {run["state_type"] for run in runs}
            if time.monotonic() > deadline or (
                states == {"COMPLETED"} and "evaluate_against_raw" in map(step, runs)
            ):
                return {step(run) for run in runs if run["state_name"] == "Completed"}
            time.sleep(0.3)

    always = {
        "locate_table",
        "hand_over_counts",
        "state_privacy",
        "publish_release",
        "summarise_release",
        "record_lineage",
    }
    first = done()
    assert always < first
    assert done() == always
    assert done(report_title="Another title") == always | {
        "write_page",
        "write_release_files",
    }
    again = done(synthesis_mode="unseeded")
    assert "generate_from_records" in again
    assert not again & {"encode_records", "count_records", "round_counts"}
    assert done(pipeline.rows(500)) == first


def test_stages_alone_and_together_run_what_is_missing_before(
    tmp_path: Path, own_ledger: Path, prefect_server: str
) -> None:
    path = tmp_path / "configuration.json"
    pipeline.write(tmp_path / "people.csv", pipeline.rows())
    path.write_text(json.dumps(pipeline.anonymous(tmp_path)))
    configuration = pipeline.from_flat(pipeline.anonymous(tmp_path))
    sensitive = tmp_path / "out" / "sensitive"
    has = {
        "aggregate": lambda release: (
            (release / "people_reportable_aggregates.tsv").exists()
            and list(sensitive.rglob("people_sensitive_rare_by_length.svg"))
        ),
        "generate": lambda release: (release / "people_synthetic_microdata.tsv").exists(),
        "evaluate": lambda release: (
            (release / "evaluation.json").exists()
            and list(sensitive.rglob("people_synthetic_leakage_by_length.tsv"))
        ),
        "navigate": lambda release: (release / "people_data_showcase.html").exists(),
    }
    for number, (stage, flag) in enumerate(
        zip(has, ("--agg", "--generate", "--eval", "--nav"), strict=True), start=1
    ):
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        assert command.main(["run", str(path), flag]) == 0
        release = pipeline.latest(configuration)
        assert [bool(has[name](release)) for name in has] == [True] * number + [False] * (4 - number)
        assert stage in has


def test_a_strict_contract_stops_the_run_before_anything_is_counted(
    tmp_path: Path, own_ledger: Path, prefect_server: str
) -> None:
    contract = pipeline.contract(tmp_path, "town", ["Aberwick", "Brenmoor"])
    changes = {"use_columns": ["town"], "multi_value_columns": {}, "bins": {}, "domains": {}}
    configuration = pipeline.prepared_anonymous(
        tmp_path, contract=contract, contract_mode="strict", sensitive_zeros=[], **changes
    )
    with pytest.raises(ContractViolation):
        pipeline.run(configuration)
    assert not (tmp_path / "out" / "release" / "people").exists()
