"""Published order and files of synthetic records against an obvious sort and Python's own csv reader."""

import csv

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.aggregates.aggregates import Attribute
from tasks.core.synthesis.assembly import order_records, write_wide_tsv

CELLS = [
    "",
    "x",
    "xy",
    "x ",
    "Z",
    "é",
    "\U0001f600",
    "\uffff",
    "a\tb",
    'say "no"',
    "two\nlines",
    "back\rto",
    "'",
    "#",
]


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
        return [tuple(row) for row in csv.reader(file, delimiter="\t", strict=True)]


@st.composite
def _tables(draw):
    headers = draw(st.lists(st.sampled_from(["b", "B", "a", 'q"', "t\tt", "é"]), unique=True, min_size=1))
    row = st.tuples(*[st.sampled_from(CELLS)] * len(headers))
    return headers, draw(st.lists(row, max_size=30))


@given(_tables(), st.data())
@settings(max_examples=150, deadline=None)
def test_order_and_text_are_what_an_obvious_sort_and_csv_say(tmp_path_factory, table, data):
    headers, rows = table
    records = _ordered(headers, rows, lambda record: data.draw(st.permutations(record)))
    path = tmp_path_factory.mktemp("tsv") / "records.tsv"
    write_wide_tsv(records, path)
    assert _read(path) == [tuple(headers), *_published(rows)]


def _rows(records):
    found = []
    for start, end in zip(records.offsets, records.offsets[1:], strict=False):
        held = [records.attributes[i] for i in records.attribute_ids[start:end]]
        cells = {attribute.header: attribute.value for attribute in held}
        found.append(tuple(cells.get(header, "") for header in records.headers))
    return found


def test_cells_are_quoted_only_where_they_must_be(tmp_path):
    records = _ordered(["A", 'B"'], [("x y", "#'é;"), ("a\tb", ""), ("", 'say "no"'), ("two\nlines", "z")])
    write_wide_tsv(records, tmp_path / "records.tsv")
    assert (tmp_path / "records.tsv").read_bytes().decode() == (
        'A\t"B"""\n"two\nlines"\tz\nx y\t#\'é;\n\t"say ""no"""\n"a\tb"\t\n'
    )


def test_an_empty_record_of_one_column_is_not_an_empty_line(tmp_path):
    write_wide_tsv(_ordered(["A"], [("x",), ("",)]), tmp_path / "records.tsv")
    assert (tmp_path / "records.tsv").read_bytes() == b'A\nx\n""\n'


@pytest.mark.parametrize("headers", [[], ["A", "B"]])
def test_no_records_are_a_header_alone(tmp_path, headers):
    write_wide_tsv(_ordered(headers, []), tmp_path / "records.tsv")
    assert (tmp_path / "records.tsv").read_text() == "\t".join(headers) + "\n"


def test_many_records_of_many_attributes_are_sorted_over_several_words():
    """Twenty columns of nine values: keys of three words."""
    random = np.random.default_rng(1)
    headers = [f"h{i:02d}" for i in range(20)]
    rows = [tuple(f"v{v}" if v else "" for v in row) for row in random.integers(0, 9, (500, 20)) * 2 % 9]
    rows += [(*row[:19], "v1") for row in rows] + [row[:10] + ("",) * 10 for row in rows]
    assert _rows(_ordered(headers, rows)) == _published(rows)


def test_text_is_written_in_parts_that_join(tmp_path):
    """A value of a megabyte makes parts of a few hundred records."""
    long = "x" * 1_000_000
    rows = [(long, "y")] + [("a", f"v{i % 7}") for i in range(2000)]
    records = _ordered(["A", "B"], rows)
    write_wide_tsv(records, tmp_path / "records.tsv")
    lines = (tmp_path / "records.tsv").read_text().split("\n")
    assert lines == ["A\tB", *("\t".join(row) for row in _published(rows)), ""]
