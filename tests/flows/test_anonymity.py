"""Whole runs under k-anonymity: each mode, what is released, what stays, what is done again."""

import json
import re
import shutil
import time
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest

from flows import command
from tasks.core.errors import ContractViolation, ParameterError
from tests.flows import pipeline
from tests.flows.server_objects import known, text_of_everything
from tests.flows.test_boundary import CANARIES, assert_no_trace, canary_row, public_places
from tests.flows.test_runs import fresh_name, step

pytestmark = pytest.mark.server

MODES = ("row_seeded", "unseeded", "value_seeded", "aggregate_seeded")
#: Its digits are nowhere by chance, nor as an end of the interval that its rounded count stands for.
ROWS = 4713


def microdata(release: Path) -> tuple[list[str], list[list[str]]]:
    """Header and rows of the released records."""
    lines = (release / "people_synthetic_microdata.tsv").read_text().splitlines()
    header, *body = [line.split("\t") for line in lines]
    return header, body


def true_combinations(longest: int) -> Counter[tuple[str, ...]]:
    """How many people hold each combination, in the wide form's words."""
    counted: Counter[tuple[str, ...]] = Counter()
    labels = ("<0", "[0,18)", "[18,40)", "[40,65]", ">65")
    for _, town, age, sex, services, work in pipeline.rows():
        years = int(age)
        place = sum(years >= edge for edge in (0, 18, 40)) if years <= 65 else 4
        held = {f"town:{town}", f"age:{labels[place]}", f"sex:{sex}"}
        held |= {f"work:{work}"} if work else set()
        held |= {f"services_{service}:1" for service in services.split(";") if service}
        for length in range(1, longest + 1):
            counted.update(combinations(sorted(held), length))
    return counted


@pytest.mark.parametrize("mode", MODES)
def test_each_mode_releases_no_combination_that_fewer_hold_than_the_resolution(
    mode: str, tmp_path: Path, own_ledger: Path, prefect_server: str
) -> None:
    configuration = pipeline.prepared_anonymous(tmp_path, synthesis_mode=mode)
    release = pipeline.run(configuration)
    header, rows = microdata(release)
    lengths = 3 if mode == "aggregate_seeded" else len(header)
    true = true_combinations(lengths)
    for row in rows:
        held = sorted(f"{name}:{value}" for name, value in zip(header, row, strict=True) if value)
        assert held, "no record is empty"
        for length in range(1, min(lengths, len(held)) + 1):
            assert all(true[each] >= 10 for each in combinations(held, length))
    assert pipeline.json_of(release / "privacy.json")["private"] is False
    assert not own_ledger.exists()


def test_holding_the_resolution_covers_every_length(
    tmp_path: Path, own_ledger: Path, prefect_server: str
) -> None:
    configuration = pipeline.prepared_anonymous(
        tmp_path,
        synthesis_mode="aggregate_seeded",
        aggregate_seeded_hold_resolution=True,
        reporting_length=2,
    )
    header, rows = microdata(pipeline.run(configuration))
    true = true_combinations(len(header))
    for row in rows:
        held = sorted(f"{name}:{value}" for name, value in zip(header, row, strict=True) if value)
        assert true[tuple(held)] >= 10


def test_reported_counts_are_the_true_ones_rounded_down_and_nothing_else(
    tmp_path: Path, own_ledger: Path, prefect_server: str
) -> None:
    release = pipeline.run(pipeline.prepared_anonymous(tmp_path), last="aggregate")
    first, second, *lines = (release / "people_reportable_aggregates.tsv").read_text().splitlines()
    assert (first, second) == ("selections\tprotected_count", "record_count\t600")
    reported = {tuple(sorted(name.split(";"))): int(count) for name, count in (x.split("\t") for x in lines)}
    true = true_combinations(3)
    assert reported == {names: count // 10 * 10 for names, count in true.items() if count >= 10}


@pytest.mark.parametrize("mode", MODES)
def test_p1_canaries_and_the_number_of_rows_appear_nowhere(
    mode: str,
    tmp_path: Path,
    own_ledger: Path,
    prefect_server: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    dataset = fresh_name("canary")
    table = [*pipeline.rows(ROWS - 1), canary_row()]
    path = tmp_path / "configuration.json"
    pipeline.write(tmp_path / "people.csv", table)
    path.write_text(json.dumps(pipeline.anonymous(tmp_path, synthesis_mode=mode, dataset=dataset)))
    assert command.main(["run", str(path)]) == 0
    out = capfd.readouterr()
    own_ledger.mkdir(exist_ok=True)
    assert_no_trace((*CANARIES, "zqxsex77"), public_places(tmp_path), out.out + out.err)
    for place in (tmp_path / "out" / zone for zone in ("release", "measurement", "intermediate")):
        for found in place.rglob("*"):
            if found.suffix in (".json", ".tsv", ".html"):
                assert not re.search(rf"\b{ROWS}\b", found.read_text()), found.name
    assert not re.search(rf"\b{ROWS}\b", text_of_everything(prefect_server, dataset))


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
    recorded = released["synthesis"]["random_seed"]
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

    always = {"locate_table", "hand_over_counts", "state_privacy", "publish_release", "record_lineage"}
    first = done()
    assert always < first
    assert done() == always
    assert done(report_title="Another title") == always | {"write_page"}
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
        "navigate": lambda release: (release / "report.html").exists(),
    }
    for number, (stage, flag) in enumerate(
        zip(has, ("--agg", "--generate", "--eval", "--nav"), strict=True), start=1
    ):
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        assert command.main(["run", str(path), flag]) == 0
        release = pipeline.latest(configuration)
        assert [bool(has[name](release)) for name in has] == [True] * number + [False] * (4 - number)
        assert stage in has


def test_rows_of_one_subject_count_once_and_conflicts_name_columns_only(
    tmp_path: Path, own_ledger: Path, prefect_server: str
) -> None:
    doubled = [row for row in pipeline.rows() for _ in range(2)]
    release = pipeline.run(pipeline.prepared_anonymous(tmp_path, doubled), last="aggregate")
    assert "record_count\t600" in (release / "people_reportable_aggregates.tsv").read_text()
    clash = [*pipeline.rows(), ["p00007", "zqxtown77", "1", "m", "", ""]]
    with pytest.raises(ParameterError, match="town") as raised:
        pipeline.run(pipeline.prepared_anonymous(tmp_path, clash))
    assert "p00007" not in str(raised.value) and "zqxtown77" not in str(raised.value)


def test_fewer_records_than_the_resolution_give_an_empty_release(
    tmp_path: Path, own_ledger: Path, prefect_server: str
) -> None:
    for mode in MODES:
        configuration = pipeline.prepared_anonymous(tmp_path, pipeline.rows(7), synthesis_mode=mode)
        release = pipeline.run(configuration)
        assert (release / "report.html").exists()
        assert microdata(release)[1] == []
        assert "record_count\t0" in (release / "people_reportable_aggregates.tsv").read_text()


def test_all_lengths_are_reported_with_minus_one(
    tmp_path: Path, own_ledger: Path, prefect_server: str
) -> None:
    release = pipeline.run(pipeline.prepared_anonymous(tmp_path, reporting_length=-1), last="aggregate")
    lines = (release / "people_reportable_aggregates.tsv").read_text().splitlines()[2:]
    longest = max(len(names) for names, count in true_combinations(8).items() if count >= 10)
    assert max(line.count(";") + 1 for line in lines) == longest


CONTRACT = """
apiVersion: v3.1.0
kind: DataContract
id: people
name: people
version: 1.0.0
status: active
schema:
  - name: people
    properties:
      - name: town
        quality:
          - metric: invalidValues
            mustBe: 0
            arguments:
              validValues: [Aberwick, Brenmoor]
"""


def test_a_strict_contract_stops_the_run_before_anything_is_counted(
    tmp_path: Path, own_ledger: Path, prefect_server: str
) -> None:
    contract = tmp_path / "contract.yaml"
    contract.write_text(CONTRACT)
    changes = {"use_columns": ["town"], "multi_value_columns": {}, "bins": {}, "domains": {}}
    configuration = pipeline.prepared_anonymous(
        tmp_path, contract=str(contract), contract_mode="strict", sensitive_zeros=[], **changes
    )
    with pytest.raises(ContractViolation):
        pipeline.run(configuration)
    assert not (tmp_path / "out" / "release" / "people").exists()


def test_forms_on_request_hold_the_same_records(
    tmp_path: Path, own_ledger: Path, prefect_server: str
) -> None:
    configuration = pipeline.prepared_anonymous(tmp_path, synthetic_forms=["long", "condensed"])
    release = pipeline.run(configuration, last="generate")
    _, rows = microdata(release)
    filled = sum(bool(cell) for row in rows for cell in row)
    long = (release / "people_synthetic_microdata_long.tsv").read_text().splitlines()
    assert long[0] == "Id\tAttribute\tValue\tAttributeValue"
    assert len(long) - 1 == filled
    condensed = (release / "people_synthetic_microdata_condensed.tsv").read_text().splitlines()
    assert condensed[0].split("\t") == ["town", "age", "sex", "services", "work"]
    assert len(condensed) - 1 == len(rows)


def test_every_file_of_a_release_is_in_its_manifest(
    tmp_path: Path, own_ledger: Path, prefect_server: str
) -> None:
    release = pipeline.run(pipeline.prepared_anonymous(tmp_path))
    entries = pipeline.json_of(release / "MANIFEST.json")["files"]
    assert {entry["file"] for entry in entries} == {path.name for path in release.iterdir()} - {
        "MANIFEST.json"
    }
    assert all(
        entry["protection"] == "none: public" or "not differential privacy" in entry["protection"]
        for entry in entries
    )
