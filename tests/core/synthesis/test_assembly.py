"""Files of synthetic records: an obvious sort, Python's own csv reader, SDS's vector; and read back."""

import csv

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tasks.core.aggregates.aggregates import Attribute
from tasks.core.errors import StoredTableMismatch
from tasks.core.records.columns import Column, Schema
from tasks.core.synthesis import assembly
from tasks.core.synthesis.assembly import (
    order_records,
    read_released_records,
    write_condensed_tsv,
    write_long_tsv,
    write_wide_tsv,
)
from tests.oracles.synthetic import synthetic

PLAIN_CELLS = ["", "x", "xy", "x ", "Z", "é", "\U0001f600", "\uffff", "'", "#"]
QUOTED_CELLS = ["a\tb", 'say "no"', "two\nlines", "back\rto"]
WORDS = ["a", "b c", "0", 'q"uote', "tab\there", "line\nfeed", "é", "NA", "null"]


def _ordered(headers, rows, shuffled=None):
    """Records of rows of cells, each record's attributes in any order."""
    texts = sorted({(f"{h}:{v}", h, v) for row in rows for h, v in zip(headers, row, strict=True) if v})
    attributes = tuple(Attribute(h, v, list(headers).index(h)) for _, h, v in texts)
    ids = {(h, v): number for number, (_, h, v) in enumerate(texts)}
    held = [[ids[h, v] for h, v in zip(headers, row, strict=True) if v] for row in rows]
    if shuffled:
        held = [shuffled(record) for record in held]
    sizes = np.array([len(record) for record in held], np.int32)
    flat = np.array([i for record in held for i in record], np.int32)
    return order_records(tuple(headers), attributes, sizes, flat)


def _published(rows):
    """S4.0, literally."""
    rows = sorted(rows)
    return sorted(rows, key=lambda row: -sum(cell != "" for cell in row))


def _read(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter="\t", strict=True))


@st.composite
def _tables(draw):
    headers = draw(st.lists(st.sampled_from(["b", "B", "a", 'q"', "t\tt", "é"]), unique=True, min_size=1))
    row = st.tuples(*[st.sampled_from(PLAIN_CELLS + QUOTED_CELLS)] * len(headers))
    return headers, draw(st.lists(row, max_size=30))


@given(_tables(), st.data())
@settings(max_examples=150, deadline=None)
def test_order_and_text_are_what_an_obvious_sort_and_csv_say(tmp_path_factory, table, data):
    headers, rows = table
    records = _ordered(headers, rows, lambda record: data.draw(st.permutations(record)))
    path = tmp_path_factory.mktemp("tsv") / "records.tsv"
    write_wide_tsv(records, path)
    assert _read(path) == [headers, *map(list, _published(rows))]


def test_cells_are_quoted_only_where_they_must_be(tmp_path):
    records = _ordered(["A", 'B"'], [("x y", "#'é;"), ("a\tb", ""), ("", 'say "no"'), ("two\nlines", "z")])
    write_wide_tsv(records, tmp_path / "records.tsv")
    assert (tmp_path / "records.tsv").read_bytes().decode() == (
        'A\t"B"""\n"two\nlines"\tz\nx y\t#\'é;\n\t"say ""no"""\n"a\tb"\t\n'
    )


@pytest.mark.parametrize("headers", [[], ["A", "B"]])
def test_no_records_are_a_header_alone(tmp_path, headers):
    write_wide_tsv(_ordered(headers, []), tmp_path / "records.tsv")
    assert (tmp_path / "records.tsv").read_text() == "\t".join(headers) + "\n"


def test_many_records_of_many_attributes_are_sorted_over_several_words(tmp_path):
    """Twenty columns of nine values: keys of three words."""
    random = np.random.default_rng(1)
    headers = [f"h{i:02d}" for i in range(20)]
    rows = [tuple(f"v{v}" if v else "" for v in row) for row in random.integers(0, 9, (500, 20)) * 2 % 9]
    rows += [(*row[:19], "v1") for row in rows] + [row[:10] + ("",) * 10 for row in rows]
    write_wide_tsv(_ordered(headers, rows), tmp_path / "records.tsv")
    assert _read(tmp_path / "records.tsv") == [headers, *map(list, _published(rows))]


def test_text_is_written_in_parts_that_join(tmp_path):
    """A value of a megabyte makes parts of a few hundred records."""
    long = "x" * 1_000_000
    rows = [(long, "y")] + [("a", f"v{i % 7}") for i in range(2000)]
    records = _ordered(["A", "B"], rows)
    write_wide_tsv(records, tmp_path / "records.tsv")
    lines = (tmp_path / "records.tsv").read_text().split("\n")
    assert lines == ["A\tB", *("\t".join(row) for row in _published(rows)), ""]


# ---- the long and the condensed form -------------------------------------------------------------------

LONG_SCHEMA = Schema((Column("A", delimiter=";", max_items=0), Column("B", zero_is_value=True)))


def test_t10_items_are_joined_back_with_a_marker_for_nothing(tmp_path):
    records = synthetic(LONG_SCHEMA, [[{"b", "a"}, {"0"}], [set(), {"0"}], [{"c"}, {"0"}]])
    write_condensed_tsv(records, LONG_SCHEMA, tmp_path / "condensed.tsv", empty="NULL")
    assert _read(tmp_path / "condensed.tsv") == [["A", "B"], ["a;b", "0"], ["NULL", "0"], ["c", "0"]]


@pytest.mark.parametrize("columns", [(), (Column("A"),), (Column("A", delimiter=";", max_items=0),)])
@pytest.mark.parametrize("number", [0, 2])
def test_empty_records_are_lines_too(tmp_path, columns, number):
    schema, path = Schema(columns), tmp_path / "records"
    records = synthetic(schema, [[set() for _ in columns]] * number)
    write_condensed_tsv(records, schema, path)
    assert path.read_text() == ("A\n" + '""\n' * number if columns else "\n" * (1 + number))
    write_long_tsv(records, path)
    assert path.read_text() == "Id\tAttribute\tValue\tAttributeValue\n"


ITEMS = st.sets(st.sampled_from(WORDS), max_size=3)
ONE = st.sets(st.sampled_from(WORDS), max_size=1)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.tuples(ITEMS, ONE), max_size=8), st.integers(1, 5))
def test_both_forms_hold_every_value_of_every_record(tmp_path, table, piece):
    records = synthetic(LONG_SCHEMA, [list(record) for record in table])
    before, assembly._VALUES_AT_ONCE = assembly._VALUES_AT_ONCE, piece
    try:
        write_long_tsv(records, tmp_path / "long.tsv")
    finally:
        assembly._VALUES_AT_ONCE = before
    write_condensed_tsv(records, LONG_SCHEMA, tmp_path / "condensed.tsv")
    long = [["Id", "Attribute", "Value", "AttributeValue"]]
    condensed = [["A", "B"]]
    for place, (items, values) in enumerate(table):
        named = [(f"A_{item}", "1") for item in sorted(items)] + [("B", value) for value in values]
        long += [[str(place), header, value, f"{header}:{value}"] for header, value in named]
        condensed.append([";".join(sorted(items)), "".join(values)])
    assert _read(tmp_path / "long.tsv") == long
    assert _read(tmp_path / "condensed.tsv") == condensed


# ---- read back -----------------------------------------------------------------------------------------

RELEASED_SCHEMA = Schema(
    (Column("A", delimiter="|", max_items=0), Column("B", zero_is_value=True), Column("A_C"))
)


def _held(records):
    """What each record holds: column, item, value."""
    bounds = zip(records.offsets, records.offsets[1:], strict=False)
    rows = [[records.attributes[place] for place in records.attribute_ids[low:high]] for low, high in bounds]
    return [{(each.column, each.item, each.value) for each in row} for row in rows]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(st.lists(st.tuples(ITEMS, ONE, ONE), min_size=1, max_size=8))
def test_what_was_written_is_read(tmp_path, table):
    records = synthetic(RELEASED_SCHEMA, [list(record) for record in table])
    if not records.headers:  # of records without any value, no header is written
        return
    write_wide_tsv(records, tmp_path / "records.tsv")
    found = read_released_records(tmp_path / "records.tsv", RELEASED_SCHEMA)
    assert found.headers == records.headers and _held(found) == _held(records)


def test_a_table_with_a_header_alone_has_no_records(tmp_path):
    (tmp_path / "records.tsv").write_text("B\tA_C\n")
    assert read_released_records(tmp_path / "records.tsv", RELEASED_SCHEMA).number_of_records == 0


@pytest.mark.parametrize("text", ["B\tD\n1\t2\n", "B\tA_C\n1\n", ""])
def test_another_table_is_refused(tmp_path, text):
    (tmp_path / "records.tsv").write_text(text)
    with pytest.raises(StoredTableMismatch):
        read_released_records(tmp_path / "records.tsv", RELEASED_SCHEMA)
