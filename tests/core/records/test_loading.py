"""The whole of loading against the slow obvious way, on small random tables."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tasks.core.errors import InputError
from tasks.core.records.columns import Column, Schema, bin_labels
from tasks.core.records.encoding import EncodingOptions, encode
from tasks.core.tables.header import InputFile
from tests.oracles import loading

SECRET = b"a secret of the workspace"
CELLS = [
    *("", " ", "0", " 0 ", "00", "a", "b", " a", "A", "a;b", "b;;a;0;c", "é", "ß:x"),
    *('q"r', '"', "x\ny", "x\ry", "t\tu", ",", "\u2003a"),
]
NUMBERS = [
    *("", "0", "1", "10", "10.0", " 5 ", "-3", "20", "20.5", "1e1", "1e999", "-inf", "nan", "x", "1_0", "0x1")
]
IDS = ["", " ", "0", "s1", "S1 ", "s2", "10", "9", "É", "é"]
OPEN = st.builds(lambda zero, other: Column("A", zero_is_value=zero), st.booleans(), st.none())
DECLARED = st.sampled_from(
    [Column("B", domain=("b", "a", "0"), zero_is_value=True), Column("B", domain=("a", "else"), other="else")]
)
BINNED = st.sampled_from(
    [
        Column("N", bins=(0.0, 10.0, 20.0), domain=bin_labels((0.0, 10.0, 20.0)), zero_is_value=True),
        Column("N", bins=(1.0, 10.0), domain=(*bin_labels((1.0, 10.0)), "unknown"), other="unknown"),
    ]
)
MULTI = st.builds(
    lambda delimiter, cap, domain: Column("M", delimiter=delimiter, max_items=cap, domain=domain),
    st.sampled_from([";", "", "a;"]),
    st.integers(0, 2),
    st.sampled_from([None, ("c", "a", "b")]),
)


@st.composite
def tables(draw):
    columns = [draw(kind) for kind in draw(st.permutations([OPEN, DECLARED, BINNED, MULTI]))]
    columns = columns[: draw(st.integers(1, 4))]
    subject = draw(st.sampled_from([None, "Id"]))
    headers = [column.name for column in columns]
    if subject:
        headers.insert(draw(st.integers(0, len(headers))), subject)
    pools = [IDS if name == "Id" else NUMBERS if name == "N" else CELLS for name in headers]
    rows = draw(st.lists(st.tuples(*[st.sampled_from(pool) for pool in pools]), max_size=10))
    return headers, [list(row) for row in rows], Schema(tuple(columns), subject)


dialects = st.tuples(st.sampled_from([",", "\t", ";"]), st.sampled_from(["\n", "\r\n", "\r"]), st.booleans())


def write(path, headers, rows, dialect=(",", "\n", False)):
    """Write by hand: `csv` leaves a lone carriage return unquoted."""
    delimiter, end, quote_all = dialect

    def cell(text):
        quoted = quote_all or text == "" or any(c in text for c in f'"\r\n{delimiter}')
        return '"' + text.replace('"', '""') + '"' if quoted else text

    lines = [delimiter.join(map(cell, row)) + end for row in [headers, *rows]]
    path.write_text("".join(lines), encoding="utf-8", newline="")
    return InputFile(path, delimiter=delimiter)


@settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(tables(), dialects)
def test_total_loading_is_what_the_oracle_says(table, dialect):
    headers, rows, schema = table
    with tempfile.TemporaryDirectory() as folder:
        source = write(Path(folder) / "t.csv", headers, rows, dialect)
        found = encode(source, schema, EncodingOptions(total=True, key=SECRET, tags=True))
    assert loading.read_back(found) == loading.load(headers, rows, schema, SECRET, total=True)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(tables())
def test_strict_loading_is_what_the_oracle_says(table):
    headers, rows, schema = table
    options = EncodingOptions(total=False, key=SECRET, tags=True)
    with tempfile.TemporaryDirectory() as folder:
        source = write(Path(folder) / "t.csv", headers, rows)
        try:
            expected = loading.load(headers, rows, schema, SECRET, total=False)
        except loading.MissingId:
            with pytest.raises(InputError, match="must have a subject id"):
                encode(source, schema, options)
            return
        if not rows:
            with pytest.raises(InputError, match="at least one record"):
                encode(source, schema, options)
            return
        assert loading.read_back(encode(source, schema, options)) == expected


@settings(max_examples=25, deadline=None, derandomize=True)
@given(tables(), st.randoms(use_true_random=False))
def test_rule_13_order_of_rows_changes_no_record(table, random):
    headers, rows, schema = table
    shuffled = rows[:]
    random.shuffle(shuffled)
    assert _by_tag(headers, rows, schema) == _by_tag(headers, shuffled, schema)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(tables(), st.integers(0, 10))
def test_rule_13_one_more_subject_changes_no_other_record(table, place):
    headers, rows, schema = table
    mine = ["newcomer" if name == "Id" else "12" if name == "N" else "b;c;z" for name in headers]
    more = [*rows[:place], mine, *rows[place:]]
    added = _by_tag(headers, more, schema)
    for record in _by_tag(headers, rows, schema):
        added.remove(record)
    assert len(added) == 1


def _by_tag(headers, rows, schema):
    """Records with their tags, in no order."""
    with tempfile.TemporaryDirectory() as folder:
        source = write(Path(folder) / "t.csv", headers, rows)
        found = loading.read_back(encode(source, schema, EncodingOptions(total=True, key=SECRET, tags=True)))
    return sorted(zip(found.tags, found.records, strict=True))
