"""Where a subject has several rows, one of them stands for it, and empty cells are filled from the next."""

import random
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.records.coded import CodedRecords
from tasks.core.records.columns import Column, Schema
from tasks.core.records.constraints import Ordering
from tasks.core.records.dropped import ANOTHER_VALUE, DroppedCells
from tasks.core.records.encoding import EncodingOptions, encode
from tasks.core.records.kernels import join_values
from tasks.core.statement.differential_privacy.draws import counting_unit_json, joining_sentence
from tasks.core.tables.header import InputFile
from tests.oracles import loading
from tests.oracles.loading import decode

KEY = b"secret"
VISITS = Schema((Column("admitted"), Column("discharged"), Column("ward")), "person")
Rows = list[tuple[str, ...]]


def encoded(path: Path, schema: Schema, rows: Rows, **options: object) -> CodedRecords:
    """The records of a CSV file of the subject's id and the columns of the schema."""
    names = [schema.subject_id or "", *(column.name for column in schema.columns)]
    lines = [",".join(row) for row in [tuple(names), *rows]]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return encode(InputFile(path), schema, EncodingOptions(**{"total": True, "key": KEY} | options))  # type: ignore[arg-type]


def held(records: CodedRecords) -> list[tuple[str, ...]]:
    """Each record's cells, a dictionary's values in the order of the columns."""
    return [tuple(value or "" for value in row.values()) for row in decode(records).to_pylist()]


def visits(chance: random.Random, people: int) -> Rows:
    """Stays that never end before they begin, up to five a person, on a ward that follows from the day."""
    rows = []
    for person in range(people):
        for _ in range(chance.randint(1, 5)):
            first = chance.randint(1, 300)
            last = first + chance.choice([0, 1, 30])
            rows.append((f"p{person}", f"{first:03}", f"{last:03}", f"w{first % 7}"))
    chance.shuffle(rows)
    return rows


def test_an_ordering_and_a_dependency_that_hold_in_every_row_hold_in_every_record(tmp_path):
    rows = visits(random.Random(1), 2000)
    told: list[DroppedCells] = []
    schema = replace(VISITS, constraints=(Ordering((0, 1), False, "number", 1),))
    found = held(encoded(tmp_path / "t.csv", schema, rows, report_dropped=told.append))
    assert len(found) == 2000 and {row[1:] for row in rows} >= set(found)
    assert all(admitted <= discharged for admitted, discharged, _ in found)
    assert all(ward == f"w{int(admitted) % 7}" for admitted, _, ward in found)
    assert {each.reason for each in told} == {ANOTHER_VALUE}  # nothing had to be repaired


FULL, LATER, SPARSE = ("010", "020", "w1"), ("300", "310", "w2"), ("100", "", "")
#: Of some people the hashes of these rows, worked out apart from the code, and the record that they make.
VECTORS = {
    "p0": ((0xAACF97E7B1E66DEC, 0xEF5527A8819A7369, 0x4AFC76B38242741C), ("100", "020", "w1")),
    "p1": ((0xF5B8D7AB32EE5492, 0x96AF77856432403F, 0x98FA4D3DF943E7B1), LATER),
    "p6": ((0xC4DE6386AF043197, 0x3DA60B3C5BB45C3C, 0x36F5AC9DD447E6B0), ("100", "310", "w2")),
    "p8": ((0x29A271F4F24FBB6C, 0x977874157F16E3FD, 0xB269E515D00810E2), FULL),
}


def test_one_row_stands_and_gaps_are_filled_from_the_next(tmp_path):
    """What each of many people gets is read off the order of their rows' hashes, one by one."""
    people = [f"p{number}" for number in range(300)]
    rows = [(person, *row) for person in people for row in (FULL, LATER, SPARSE)]
    records = by_person(tmp_path / "t.csv", rows)
    for person in people:
        first, second, _ = sorted((FULL, LATER, SPARSE), key=lambda row: row_hash(person, row))
        assert records[person] == (first if first != SPARSE else ("100", *second[1:]))
    for person, (hashes, record) in VECTORS.items():
        assert tuple(row_hash(person, row) for row in (FULL, LATER, SPARSE)) == hashes
        assert records[person] == record


def row_hash(person: str, row: tuple[str, ...]) -> int:
    """By the words: the content column by column, then whose it is."""
    state = 0
    for column, value in zip(VISITS.columns, row, strict=True):
        part = loading.keyed(KEY, f"value {column.name}", value) if value else 0
        state = loading.keyed(KEY, "content", state, part)
    return loading.keyed(KEY, "row", loading.keyed(KEY, "subject", person), state)


def test_a_row_of_empty_cells_and_a_second_copy_change_nothing(tmp_path):
    rows = visits(random.Random(2), 300)
    more = [*rows, *rows[::3], *((row[0], "", "", "") for row in rows[::2]), *rows[::2]]
    random.Random(3).shuffle(more)
    few, many = (by_person(tmp_path / "t.csv", each) for each in (rows, more))
    assert few == many


def by_person(path: Path, rows: Rows) -> dict[str, tuple[str, ...]]:
    """Each person's record; the file's order of people is that of the records."""
    people = dict.fromkeys(row[0] for row in rows)
    return dict(zip(people, held(encoded(path, VISITS, rows)), strict=True))


CELLS = st.sampled_from(["", "0", "a", "b", "c", "é"])
ITEMS = st.sampled_from(["", "a", "b;a", "a;b", "c;d;e", "e;d"])
MIXED = Schema(
    (
        Column("x"),
        Column("many", delimiter=";", max_items=2),
        Column("y", domain=("c", "b", "a")),
        Column("z"),
    ),
    "id",
)


def test_other_people_change_nobodys_record(tmp_path):
    """Nor do their values, which change the codes of open columns."""
    rows = visits(random.Random(4), 300)
    alone = by_person(tmp_path / "t.csv", rows)
    for seed in (5, 6):
        others = [(f"other {person}", f"0{one}", f"x{two}", f"v{three}") for person, one, two, three in rows]
        both = rows + others
        random.Random(seed).shuffle(both)
        found = by_person(tmp_path / "t.csv", both)
        assert {person: found[person] for person in alone} == alone


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


@pytest.mark.parametrize("copies", [(1, 1, 1, 1), (5, 1, 3, 2)])
def test_each_of_a_persons_different_rows_stands_equally_often(copies, tmp_path):
    """However many copies or empty cells it has. Chi-square, 3 degrees of freedom; false alarm 1e-6."""
    different = [("1", "a", "x"), ("2", "b", "y"), ("3", "c", ""), ("4", "", "")]
    rows = [
        (f"p{person}", *row)
        for person in range(4000)
        for row, times in zip(different, copies, strict=True)
        for _ in range(times)
    ]
    found = Counter(row[0] for row in held(encoded(tmp_path / "t.csv", VISITS, rows)))
    assert sorted(found) == ["1", "2", "3", "4"]
    assert sum((count - 1000) ** 2 / 1000 for count in found.values()) < 30.7


TOWNS = Schema((Column("town"),), "person")


def test_without_a_total_draw_the_same_row_stands(tmp_path):
    """As under k-anonymity."""
    rows: Rows = [("s", "1", "", ""), ("s", "", "2", ""), ("s", "1", "5", "w"), ("t", "3", "4", "w")]
    one, other = (held(encoded(tmp_path / "t.csv", VISITS, rows, total=total)) for total in (False, True))
    assert one == other


def test_the_statement_says_how_rows_become_a_record():
    assert "several different rows, one of them stands" in joining_sentence("subject")


def test_what_a_count_counts_is_said_of_people_and_wherever_a_column_has_one_value():
    items = Column("services", delimiter=";", max_items=2)
    plain, mixed = (
        counting_unit_json(TOWNS, "subject")["meaning"],
        counting_unit_json(MIXED, "subject")["meaning"],
    )
    assert "one row counts, which chance has chosen" in plain and "in any of their rows" in plain
    assert mixed.startswith(plain) and "items of all rows" in mixed and "items" not in plain
    assert counting_unit_json(Schema((items,), "person"), "subject") == {}
    assert counting_unit_json(replace(TOWNS, subject_id=None), "row") == {}
