"""Long and condensed forms: SDS's vector, the plain form again, every cell that needs quotes."""

import csv
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tasks.core.records.columns import Column, Schema
from tasks.core.synthesis import assembly
from tasks.core.synthesis.assembly import write_condensed_tsv, write_long_tsv
from tests.oracles.synthetic import synthetic

SCHEMA = Schema((Column("A", delimiter=";", max_items=0), Column("B", zero_is_value=True)))
WORDS = ["a", "b", "c", 'q"uote', "tab\there", "line\nfeed"]


def read(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file, delimiter="\t"))


def test_t10_items_are_joined_back_with_a_marker_for_nothing(tmp_path):
    records = synthetic(SCHEMA, [[{"b", "a"}, {"0"}], [set(), {"0"}], [{"c"}, {"0"}]])
    write_condensed_tsv(records, SCHEMA, tmp_path / "condensed.tsv", empty="NULL")
    assert read(tmp_path / "condensed.tsv") == [["A", "B"], ["a;b", "0"], ["NULL", "0"], ["c", "0"]]


@pytest.mark.parametrize("columns", [(), (Column("A"),), (Column("A", delimiter=";", max_items=0),)])
@pytest.mark.parametrize("number", [0, 2])
def test_empty_records_are_lines_too(tmp_path, columns, number):
    schema, path = Schema(columns), tmp_path / "records"
    records = synthetic(schema, [[set() for _ in columns]] * number)
    write_condensed_tsv(records, schema, path)
    assert path.read_text() == ("A\n" + '""\n' * number if columns else "\n" * (1 + number))
    write_long_tsv(records, path)
    assert path.read_text() == "Id\tAttribute\tValue\tAttributeValue\n"


cells = st.sets(st.sampled_from(WORDS), max_size=3)
records_of_words = st.lists(st.tuples(cells, st.sets(st.sampled_from(WORDS), max_size=1)), max_size=8)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(records_of_words, st.integers(1, 5))
def test_both_forms_hold_every_value_of_every_record(tmp_path, table, piece):
    records = synthetic(SCHEMA, [list(record) for record in table])
    before, assembly._VALUES_AT_ONCE = assembly._VALUES_AT_ONCE, piece
    try:
        write_long_tsv(records, tmp_path / "long.tsv")
    finally:
        assembly._VALUES_AT_ONCE = before
    write_condensed_tsv(records, SCHEMA, tmp_path / "condensed.tsv")
    long = [["Id", "Attribute", "Value", "AttributeValue"]]
    condensed = [["A", "B"]]
    for place, (items, values) in enumerate(table):
        named = [(f"A_{item}", "1") for item in sorted(items)] + [("B", value) for value in values]
        long += [[str(place), header, value, f"{header}:{value}"] for header, value in named]
        condensed.append([";".join(sorted(items)), "".join(values)])
    assert read(tmp_path / "long.tsv") == long
    assert read(tmp_path / "condensed.tsv") == condensed
