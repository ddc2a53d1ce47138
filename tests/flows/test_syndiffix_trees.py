"""Trees that are kept: another run of a table finds them, unless it must not."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.flows import pipeline, visits

pytestmark = pytest.mark.server

COLUMNS = ["town", "age", "income", "visited", "smoker"]
#: A few columns need no dependence: the shortest run.
FEW = {"columns": ["town", "age"]}


def table_of(release: Path) -> pa.Table:
    return pq.read_table(release / "visits_synthetic_microdata.parquet")


def run(folder: Path, section: dict[str, object], table: list[list[str]] | None = None) -> pa.Table:
    """What is released in a folder's workspace."""
    folder.mkdir(exist_ok=True)
    return table_of(pipeline.run(visits.prepared(folder, table, section)))


def test_trees_of_another_salt_or_of_lower_thresholds_are_not_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prefect_server: str
) -> None:
    strict = {**FEW, "low_threshold": 30}
    ways = [("one", FEW), ("other", FEW), ("other", strict)]

    def synthesized(workspace: str, ledger: str, section: dict[str, object]) -> pa.Table:
        monkeypatch.setenv("MARGINALIA_LEDGER", str(tmp_path / ledger))
        return run(tmp_path / workspace, section)

    alone = [synthesized(f"alone-{number}", *way) for number, way in enumerate(ways)]
    # One after the other: neither files nor what this process holds may be another's.
    assert [synthesized("shared", *way) for way in ways] == alone


def test_trees_of_public_values_are_not_found_once_values_are_no_longer_public(
    tmp_path: Path, own_ledger: Path, prefect_server: str
) -> None:
    rare = [[row[0], f"Rare {n}", *row[2:]] if n < 40 else row for n, row in enumerate(visits.rows())]
    # A cluster without the public column is drawn from a forest that has it.
    section = {"columns": ["town", "age", "smoker"], "clustering": "none"}
    alone = run(tmp_path / "other", section, rare)
    public = run(tmp_path, {**section, "value_safe_columns": ["town"]}, rare)
    assert "Rare" in str(public["town"].unique()), "what is public may be shown"
    assert run(tmp_path, section, rare).equals(alone)


def test_trees_of_another_subset_of_the_columns_are_found_and_those_of_another_table_go(
    tmp_path: Path, own_ledger: Path, prefect_server: str
) -> None:
    def trees() -> dict[Path, int]:
        found = (tmp_path / "out" / "sensitive" / "visits" / "trees").rglob("*.npz")
        return {path: path.stat().st_mtime_ns for path in found}

    run(tmp_path, {"columns": COLUMNS[:3]})
    first = trees()
    assert len([path for path in first if ".tree." in path.name]) == 7
    run(tmp_path, {"columns": COLUMNS[:2] + COLUMNS[3:4]})
    second = trees()
    assert first.items() < second.items(), "what was there is as it was"
    assert len([path for path in second if ".tree." in path.name]) == 11
    run(tmp_path, {"columns": COLUMNS[:3]}, visits.rows(200))
    assert len({path.parent for path in trees()}) == 1 and not trees().keys() & first.keys()
