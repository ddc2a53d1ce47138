"""Cells that are not counted are told by column and reason, in either regime and by SynDiffix."""

import tempfile
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings

from tasks.core.records.columns import Column, Schema, bin_labels
from tasks.core.records.dropped import EMAIL, DroppedCells, is_any_lost, write_dropped
from tasks.core.records.encoding import EncodingOptions, encode
from tasks.core.syndiffix.reading import ChosenColumn, read_table
from tasks.core.tables.header import InputFile
from tasks.core.tables.number_format import NumberFormat
from tests.core.records.test_loading import SECRET, tables, write
from tests.oracles import loading

EDGES = (0.0, 100.0, 1000.0)


def dropped(source: InputFile, schema: Schema, *, total: bool = True) -> dict[tuple[str, str], int]:
    found: list[DroppedCells] = []
    encode(source, schema, EncodingOptions(total=total, key=SECRET, report_dropped=found.append))
    assert len({(each.column, each.reason) for each in found}) == len(found)
    return {(each.column, each.reason): each.number for each in found}


@pytest.mark.parametrize("total", [True, False], ids=["private", "anonymous"])
def test_every_reason_has_its_number(tmp_path, total):
    income = Column("income", bins=EDGES, domain=bin_labels(EDGES), number_format=NumberFormat(","))
    columns = (
        income,
        Column("ward", domain=("north", "south")),
        Column("region", domain=("east", "else"), other="else"),
        Column("remark", forbidden=("@",)),
        Column("tags", delimiter="|", max_items=2, forbidden=(*EMAIL, "^x")),
    )
    rows = [
        ["21,5", "north", "east", "fine", "a|b|c"],
        ["21.5", "west", "west", "a@b", "x1|x2|x1|d"],
        ["", "", "", "", ""],
        ["n/a", "0", "nowhere", "0", "0|a"],
        ["0", "south", "east", "a@b", "a|b|c|d"],
        ["0", "south", "east", "", "x1|x@y.z|x1|d"],
    ]
    source = write(tmp_path / "t.csv", [column.name for column in columns], rows)
    assert dropped(source, Schema(columns), total=total) == {
        ("income", "not a number"): 2,
        ("ward", "outside the domain"): 1,
        ("remark", "the rule forbiddenPattern"): 2,
        ("tags", "the rule forbiddenPattern"): 3,
        ("tags", "the rule noPersonalIdentifiers"): 1,
        ("tags", "beyond the cap"): 3,
    }


def test_under_privacy_rows_and_values_that_are_repaired_away_are_told(tmp_path):
    rows = [["1", "a"], ["1", "b"], ["1", "a"], ["", "c"], [" ", "c"], ["2", "a"], ["1", ""]]
    found = dropped(write(tmp_path / "t.csv", ["id", "A"], rows), Schema((Column("A"),), "id"))
    stands = found.pop(("A", "another value of the same subject stands"))
    assert found == {("id", "a row without a subject id"): 2} and stands in (1, 2)


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(tables())
def test_what_is_told_is_what_an_obvious_reader_misses(table):  # type: ignore[no-untyped-def]
    """The oracle looks at every cell by itself; caps and conflicts depend on joining, and are left out."""
    headers, rows, schema = table
    with tempfile.TemporaryDirectory() as folder:
        found = dropped(write(Path(folder) / "t.csv", headers, rows), schema)
    expected: Counter[tuple[str, str]] = Counter()
    for column in schema.columns:
        reason = "outside the domain" if column.bins is None else "not a number"
        for row in rows:
            cell = row[headers.index(column.name)]
            pieces = {cell}
            if column.delimiter is not None:
                pieces = set(cell.split(column.delimiter) if column.delimiter else cell)
            lost = {piece for piece in pieces if piece.strip() and not loading.value_of(piece, column)}
            if is_absence(column):
                lost = {piece for piece in lost if piece.strip() != "0"}
            expected[column.name, reason] += len(lost)
    kept = {key: n for key, n in found.items() if key[1] in ("outside the domain", "not a number")}
    assert kept == {key: n for key, n in expected.items() if n}


def is_absence(column: Column) -> bool:
    """Whether 0 says that there is nothing."""
    return not column.zero_is_value and column.bins is None


def test_syndiffix_tells_of_cells_that_are_not_of_their_type(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,c,d\n1,true,2024-01-01,1\nx,maybe,soon,\ny,false,,z\n", encoding="utf-8")
    columns = [ChosenColumn("a", "r"), ChosenColumn("b", "b"), ChosenColumn("c", "t"), ChosenColumn("d")]
    assert read_table(path, columns).dropped == (
        DroppedCells("a", "not a number", 2),
        DroppedCells("b", "not a boolean", 1),
        DroppedCells("c", "not a date or time", 1),
    )
    pq.write_table(pa.table({"a": ["1", "x", None, "x"]}), tmp_path / "t.parquet")
    found = read_table(tmp_path / "t.parquet", [ChosenColumn("a", "i")]).dropped
    assert found == (DroppedCells("a", "not a number", 2),)


def test_the_table_has_a_header_and_a_line_for_each(tmp_path):
    path = tmp_path / "t.tsv"
    write_dropped([], path)
    assert path.read_text() == "column\treason\tcells\n" and not is_any_lost(path)
    write_dropped([DroppedCells("a", "another value of the same subject stands", 3)], path)
    assert not is_any_lost(path), "of which another line tells, whatever the table holds"
    write_dropped([DroppedCells("a\tb", "the cap", 3)], path)
    assert path.read_text() == 'column\treason\tcells\n"a\tb"\tthe cap\t3\n' and is_any_lost(path)
