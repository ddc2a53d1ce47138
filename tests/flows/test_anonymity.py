"""Whole runs under k-anonymity: what each mode releases, and what stays."""

import json
import re
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest

from flows.command import main as command
from tests.flows import pipeline
from tests.flows.pipeline import MODES, microdata
from tests.flows.server_objects import text_of_everything
from tests.flows.test_boundary import CANARIES, assert_no_trace, canary_row, public_places
from tests.flows.test_runs import fresh_name

pytestmark = pytest.mark.server

#: Its digits are nowhere by chance, nor as an end of the interval that its rounded count stands for.
ROWS = 4713


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
    # With another seed there may be as many synthetic records as rows, by chance.
    body = pipeline.anonymous(tmp_path, synthesis_mode=mode, dataset=dataset, random_seed=5)
    path.write_text(json.dumps(body))
    assert command.main(["run", str(path)]) == 0
    out = capfd.readouterr()
    own_ledger.mkdir(exist_ok=True)
    assert_no_trace((*CANARIES, "zqxsex77"), public_places(tmp_path), out.out + out.err)
    for place in (tmp_path / "out" / zone for zone in ("release", "measurement", "intermediate")):
        for found in place.rglob("*"):
            if found.suffix in (".json", ".tsv", ".html"):
                assert not re.search(rf"\b{ROWS}\b", found.read_text()), found.name
    # The third part of each random id has four digits that begin with a 4, as the number of rows has.
    told = re.sub(
        r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "", text_of_everything(prefect_server, dataset)
    )
    assert not re.search(rf"\b{ROWS}\b", told)


def test_rows_of_one_subject_count_once_whether_they_are_alike_or_not(
    tmp_path: Path, own_ledger: Path, prefect_server: str
) -> None:
    doubled = [row for row in pipeline.rows() for _ in range(2)]
    release = pipeline.run(pipeline.prepared_anonymous(tmp_path, doubled), last="aggregate")
    assert "record_count\t600" in (release / "people_reportable_aggregates.tsv").read_text()
    another = [*doubled, ["p00007", "zqxtown77", "1", "m", "", ""]]
    release = pipeline.run(pipeline.prepared_anonymous(tmp_path, another, dataset="others"), last="aggregate")
    assert "record_count\t600" in (release / "people_reportable_aggregates.tsv").read_text()


def test_fewer_records_than_the_resolution_give_an_empty_release(
    tmp_path: Path, own_ledger: Path, prefect_server: str
) -> None:
    for mode in MODES:
        configuration = pipeline.prepared_anonymous(tmp_path, pipeline.rows(7), synthesis_mode=mode)
        release = pipeline.run(configuration)
        assert (release / "people_data_showcase.html").exists()
        assert microdata(release)[1] == []
        assert "record_count\t0" in (release / "people_reportable_aggregates.tsv").read_text()


def test_all_lengths_are_reported_with_minus_one(
    tmp_path: Path, own_ledger: Path, prefect_server: str
) -> None:
    release = pipeline.run(pipeline.prepared_anonymous(tmp_path, reporting_length=-1), last="aggregate")
    lines = (release / "people_reportable_aggregates.tsv").read_text().splitlines()[2:]
    longest = max(len(names) for names, count in true_combinations(8).items() if count >= 10)
    assert max(line.count(";") + 1 for line in lines) == longest


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
