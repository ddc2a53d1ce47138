"""Where a subject has several rows, one of them stands for it, and empty cells are filled from the next."""

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.records.columns import Column, Schema
from tasks.core.records.encoding import EncodingOptions, encode
from tasks.core.records.kernels import join_values
from tasks.core.statement.differential_privacy.draws import counting_unit_json, joining_sentence
from tasks.core.tables.header import InputFile
from tests.oracles import loading
from tests.oracles.loading import decode

KEY = b"secret"
VISITS = Schema((Column("admitted"), Column("discharged"), Column("ward")), "person")


FULL, LATER, SPARSE = ("010", "020", "w1"), ("300", "310", "w2"), ("100", "", "")
#: Of some people the hashes of these rows, worked out apart from the code, and the record that they make.
VECTORS = {
    "p0": ((0xAACF97E7B1E66DEC, 0xEF5527A8819A7369, 0x4AFC76B38242741C), ("100", "020", "w1")),
    "p1": ((0xF5B8D7AB32EE5492, 0x96AF77856432403F, 0x98FA4D3DF943E7B1), LATER),
    "p6": ((0xC4DE6386AF043197, 0x3DA60B3C5BB45C3C, 0x36F5AC9DD447E6B0), ("100", "310", "w2")),
    "p8": ((0x29A271F4F24FBB6C, 0x977874157F16E3FD, 0xB269E515D00810E2), FULL),
}


def test_one_row_stands_and_gaps_are_filled_from_the_next(tmp_path):
    lines = [",".join((person, *row)) for person in VECTORS for row in (FULL, LATER, SPARSE)]
    (tmp_path / "t.csv").write_text("\n".join(["person,admitted,discharged,ward", *lines]) + "\n")
    records = encode(InputFile(tmp_path / "t.csv"), VISITS, EncodingOptions(total=True, key=KEY))
    found = [tuple(row.values()) for row in decode(records).to_pylist()]
    assert found == [record for _, record in VECTORS.values()]
    for person, (hashes, _) in VECTORS.items():
        assert tuple(row_hash(person, row) for row in (FULL, LATER, SPARSE)) == hashes


def row_hash(person: str, row: tuple[str, ...]) -> int:
    """By the words: the content column by column, then whose it is."""
    state = 0
    for column, value in zip(VISITS.columns, row, strict=True):
        part = loading.keyed(KEY, f"value {column.name}", value) if value else 0
        state = loading.keyed(KEY, "content", state, part)
    return loading.keyed(KEY, "row", loading.keyed(KEY, "subject", person), state)


CELLS = st.sampled_from(["", "0", "a", "b", "c", "é"])
ITEMS = st.sampled_from(["", "a", "b;a", "a;b", "c;d;e", "e;d"])
MANY = Column("many", delimiter=";", max_items=2)
MIXED = Schema((Column("x"), MANY, Column("y", domain=("c", "b", "a")), Column("z")), "id")


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.lists(st.tuples(st.sampled_from(["s", "t ", "S", "u", ""]), CELLS, ITEMS, CELLS, CELLS), max_size=14),
    st.randoms(use_true_random=False),
    st.integers(1, 5),
)
def test_order_copies_batches_and_format_are_nothing_to_it(rows, chance, size):
    """Against the slow way, from a shuffled Parquet file in batches of any size, some rows in it twice."""
    names = ["id", *(column.name for column in MIXED.columns)]
    expected = loading.load(names, [list(row) for row in rows], MIXED, KEY, total=True)
    shuffled = [*rows, *chance.sample(rows, len(rows) // 2)]
    chance.shuffle(shuffled)
    columns = {
        name: pa.array([row[place] for row in shuffled], pa.string()) for place, name in enumerate(names)
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.parquet"
        pq.write_table(pa.table(columns), path, row_group_size=size)
        options = EncodingOptions(total=True, key=KEY, tags=True)
        found = loading.read_back(encode(InputFile(path), MIXED, options))
    assert sorted(zip(found.tags, found.records, strict=True)) == sorted(
        zip(expected.tags, expected.records, strict=True)
    )
    assert found.values == expected.values


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    st.lists(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=6), max_size=5)
)
def test_the_kernel_is_the_slow_way_where_hashes_are_equal_too(groups):
    """(hash, code) of each row: the smallest pair of those with a code; conflicts are two different codes."""
    codes = np.array([code for group in groups for _, code in group], np.uint8)
    hashes = np.array([drawn for group in groups for drawn, _ in group], np.uint64)
    starts = np.cumsum([0, *map(len, groups)]).astype(np.int64)
    found, conflict = join_values(np.arange(len(codes)), starts, codes, hashes)
    present = [[(drawn, code) for drawn, code in group if code] for group in groups]
    assert found.tolist() == [min(group, default=(0, 0))[1] for group in present]
    assert conflict == any(len({code for _, code in group}) > 1 for group in present)


def test_the_statement_says_how_rows_become_a_record_and_what_a_count_counts():
    """Of people, and wherever a column has one value."""
    assert "several different rows, one of them stands" in joining_sentence("subject")
    towns = Schema((Column("town"),), "person")
    plain, mixed = (counting_unit_json(schema, "subject")["meaning"] for schema in (towns, MIXED))
    assert "one row counts, which chance has chosen" in plain and "in any of their rows" in plain
    assert mixed.startswith(plain) and "items of all rows" in mixed and "items" not in plain
    assert counting_unit_json(Schema((MANY,), "person"), "subject") == {}
    assert counting_unit_json(replace(towns, subject_id=None), "row") == {}
