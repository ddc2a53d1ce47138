"""Counting in memory gives what DuckDB gives."""

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.aggregates import cubes
from tasks.core.aggregates.cubes import (
    CombinationCounts,
    CubeTable,
    ListedSide,
    RecordSide,
    Tabulator,
    count_in_memory,
)
from tasks.core.aggregates.marginals import count_marginals
from tasks.core.evaluation.comparison import ComparedSides
from tasks.core.queries import QueryResources
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
def test_in_memory_counts_are_duckdb_s(tmp_path_factory, most_cells, table):
    tmp_path = tmp_path_factory.mktemp("dense")
    for name in ("records", "duckdb"):
        (tmp_path / name).mkdir()
    records = coded(SCHEMA, table)
    records.write(tmp_path / "records")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cubes, "_MOST_CELLS", most_cells)
        ours = count_in_memory(records, 3)
    stored = count_marginals(tmp_path / "records", tmp_path / "duckdb", 3, QueryResources(threads=1))
    theirs = as_aggregates(stored)
    assert (ours.headers, ours.attributes) == (theirs.headers, theirs.attributes)
    assert ours.number_of_records == theirs.number_of_records
    for name in ("combinations", "counts"):
        assert len(getattr(ours, name)) == len(getattr(theirs, name))
        assert all(map(np.array_equal, getattr(ours, name), getattr(theirs, name)))


def test_cells_of_absent_values_count_too():
    side = RecordSide([np.array([0, 1, 1], np.uint8), np.array([2, 0, 0], np.uint8)], (0, 1))
    (table,) = Tabulator([side], (2, 3)).tables([(0, 1)])
    assert (table.cubes.tolist(), table.totals.tolist()) == ([[0, 0, 1, 2, 0, 0]], [[3]])
    assert [len(part) for part in table.cells()] == [0, 0]


def test_cells_too_many_for_one_integer_are_still_told_apart():
    rows = np.array([[1, 7, 7, 7, 7], [2, 7, 7, 7, 7], [65_535, 7, 7, 7, 7], [2, 7, 7, 7, 7]], np.uint16)
    (table,) = Tabulator([RecordSide(list(rows.T), tuple(range(5)))], (1 << 16,) * 5).tables(
        [tuple(range(5))]
    )
    codes, cells = table.cells()
    assert codes.tolist() == rows[:3].tolist()
    assert table.cubes[0][cells].tolist() == [1, 2, 1]


@pytest.mark.parametrize("absent", [True, False])
def test_sets_of_columns_may_be_asked_for_in_any_order(absent):
    """What sets have in common is kept from one to the next, rows that are left out among it."""
    generator = np.random.default_rng(1)
    slots = [generator.integers(0, 4, 50).astype(np.uint8) for _ in range(4)]
    sets = [s for k in (3, 1, 2) for s in itertools.combinations(range(4), k)]
    np.random.default_rng(2).shuffle(sets)
    counter = Tabulator([RecordSide(slots, (0, 1, 2, 3))], (4,) * 4, absent=absent)
    left = iter(sets)
    for table in counter.tables(map(tuple, sets)):
        codes, cells = table.cells()
        for place, columns in enumerate(table.sets):
            assert columns == next(left)
            expected = Counter(zip(*(slots[column].tolist() for column in columns), strict=True))
            expected = {row: count for row, count in sorted(expected.items()) if all(row)}
            own = table.sets_of(cells) == place
            assert list(map(tuple, codes[own].tolist())) == list(expected)
            assert table.cubes[0][cells[own]].tolist() == list(expected.values())
    assert not list(left)


def test_counts_beyond_32_bits_are_kept():
    listed = CombinationCounts([(0,)], np.array([0, 1]), np.array([[1]], np.uint32), np.array([1 << 40]))
    records = RecordSide([np.array([1, 1], np.uint8)], (0,))
    (table,) = Tabulator([records, ListedSide({1: listed})], (2,)).tables([(0,)])
    assert table.cubes.tolist() == [[0, 2], [0, 1 << 40]]
    assert table.totals.tolist() == [[2, 1 << 40]]


def test_sets_of_columns_of_few_records_are_counted_together():
    """44,850 pairs of 300 columns take a table a column, not a table a pair."""
    columns = 300
    slots = list(np.random.default_rng(1).integers(0, 4, (columns, 6)).astype(np.uint8))
    pairs = list(itertools.combinations(range(columns), 2))
    counter = Tabulator([RecordSide(slots, tuple(range(columns)))], (4,) * columns)
    counted = [len(table.sets) for table in counter.tables(pairs)]
    assert sum(counted) == len(pairs)
    assert len(counted) < 2 * columns


@given(table=TABLE, listed=TABLE, rows_at_once=st.sampled_from([0, 50, 1 << 15]), absent=st.booleans())
@settings(max_examples=40, deadline=None)
def test_sets_counted_together_have_the_counts_that_they_have_alone(table, listed, rows_at_once, absent):
    """Items of one column, combinations that are counted already, and sets that nobody has among them."""
    records, other = coded(SCHEMA, table), ComparedSides([count_in_memory(coded(SCHEMA, listed), 3)])
    sides = [RecordSide(records.slots, records.slot_columns), *(other.counted if absent else ())]
    sets = sorted({s for k in (1, 2, 3) for s in itertools.combinations((0, 1, 1, 1, 2), k)}, key=len)

    def found(at_once: int) -> list[list[object]]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(cubes, "_ROWS_AT_ONCE", at_once)
            return [
                [columns, total, *_of_set(own, place)]
                for own in Tabulator(sides, (5,) * 3, absent=absent).tables(sets)
                for place, (columns, total) in enumerate(zip(own.sets, own.totals.tolist(), strict=True))
            ]

    assert found(rows_at_once) == found(0)
    assert [own[0] for own in found(0)] == sets


def _of_set(table: CubeTable, place: int) -> list[object]:
    """Codes and counts of one of a table's sets, side by side."""
    found: list[object] = []
    for side, cube in enumerate(table.cubes):
        codes, cells = table.cells(side)
        own = table.sets_of(cells) == place
        found.append((codes[own].tolist(), cube[cells[own]].tolist()))
    return found
