"""Counting in memory gives what DuckDB gives."""

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.aggregates import cubes
from tasks.core.aggregates.cubes import Tabulator
from tasks.core.aggregates.dense import count_in_memory
from tasks.core.aggregates.marginals import count_marginals
from tasks.core.aggregates.sides import Listed, ListedSide, RecordSide
from tasks.core.queries import Resources
from tasks.core.records.columns import Column, Schema
from tests.oracles.marginals import as_aggregates, coded

SCHEMA = Schema((Column("A"), Column("M", delimiter=";", max_items=3), Column("B")))
TABLE = st.lists(
    st.tuples(
        st.sets(st.sampled_from("xyz"), max_size=1),
        st.sets(st.sampled_from("pqrs"), max_size=3),
        st.sets(st.sampled_from("vw"), max_size=1),
    ).map(list),
    max_size=30,
)


@pytest.mark.parametrize("most_cells", [1 << 22, 0])
@given(table=TABLE)
@settings(max_examples=6, deadline=None)
def test_in_memory_counts_are_duckdb_s(tmp_path_factory, most_cells, table) -> None:
    tmp_path = tmp_path_factory.mktemp("dense")
    for name in ("records", "duckdb"):
        (tmp_path / name).mkdir()
    records = coded(SCHEMA, table)
    records.write(tmp_path / "records")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cubes, "_MOST_CELLS", most_cells)
        ours = count_in_memory(records, 3)
    stored = count_marginals(tmp_path / "records", tmp_path / "duckdb", 3, Resources(threads=1))
    theirs = as_aggregates(stored)
    assert (ours.headers, ours.attributes) == (theirs.headers, theirs.attributes)
    assert ours.number_of_records == theirs.number_of_records
    for name in ("combinations", "counts"):
        assert len(getattr(ours, name)) == len(getattr(theirs, name))
        assert all(map(np.array_equal, getattr(ours, name), getattr(theirs, name)))


def test_cells_of_absent_values_count_too() -> None:
    side = RecordSide([np.array([0, 1, 1], np.uint8), np.array([2, 0, 0], np.uint8)], (0, 1))
    (table,) = Tabulator([side], (2, 3)).tables([(0, 1)])
    assert (table.cubes.tolist(), table.totals) == ([[0, 0, 1, 2, 0, 0]], [3])
    assert [len(part) for part in table.cells()] == [0, 0]


def test_cells_too_many_for_one_integer_are_still_told_apart() -> None:
    rows = np.array([[1, 7, 7, 7, 7], [2, 7, 7, 7, 7], [65_535, 7, 7, 7, 7], [2, 7, 7, 7, 7]], np.uint16)
    (table,) = Tabulator([RecordSide(list(rows.T), tuple(range(5)))], (1 << 16,) * 5).tables(
        [tuple(range(5))]
    )
    codes, cells = table.cells()
    assert codes.tolist() == rows[:3].tolist()
    assert table.cubes[0][cells].tolist() == [1, 2, 1]


@pytest.mark.parametrize("absent", [True, False])
def test_sets_of_columns_may_be_asked_for_in_any_order(absent) -> None:
    """What sets have in common is kept from one to the next, rows that are left out among it."""
    generator = np.random.default_rng(1)
    slots = [generator.integers(0, 4, 50).astype(np.uint8) for _ in range(4)]
    sets = [s for k in (3, 1, 2) for s in itertools.combinations(range(4), k)]
    np.random.default_rng(2).shuffle(sets)
    counter = Tabulator([RecordSide(slots, (0, 1, 2, 3))], (4,) * 4, absent=absent)
    for columns, table in zip(sets, counter.tables(map(tuple, sets)), strict=True):
        codes, cells = table.cells()
        expected = Counter(zip(*(slots[column].tolist() for column in columns), strict=True))
        expected = {row: count for row, count in sorted(expected.items()) if all(row)}
        assert list(map(tuple, codes.tolist())) == list(expected)
        assert table.cubes[0][cells].tolist() == list(expected.values())


def test_counts_beyond_32_bits_are_kept() -> None:
    listed = Listed([(0,)], np.array([0, 1]), np.array([[1]], np.uint32), np.array([1 << 40]))
    records = RecordSide([np.array([1, 1], np.uint8)], (0,))
    (table,) = Tabulator([records, ListedSide({1: listed})], (2,)).tables([(0,)])
    assert table.cubes.tolist() == [[0, 2], [0, 1 << 40]]
    assert table.totals == [2, 1 << 40]
