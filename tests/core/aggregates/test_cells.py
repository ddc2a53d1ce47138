"""Cells of fewer slots are those of counting the records again."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.aggregates import grouping as cells_module
from tasks.core.aggregates.grouping import FilledCells, add_up, fits, most_cells
from tasks.core.queries import QueryResources

SETTINGS = settings(max_examples=60, deadline=None)
#: Few cells (counted densely), many (sorted as one word), more than a word holds beside a count (sorted).
SIZES = [(2, 3, 4, 2), (300, 2, 70_000, 40), (70_000, 90_000, 80_000, 3)]


def codes_of(row: tuple[int, ...]) -> tuple[int, ...]:
    return row[:4]


@st.composite
def tables(draw):
    sizes = draw(st.sampled_from(SIZES))
    value = [st.integers(0, min(size, 6) - 1) | st.just(size - 1) for size in sizes]
    rows = draw(st.lists(st.tuples(*value, st.integers(1, 9)), max_size=40, unique_by=codes_of))
    return sizes, rows


def as_cells(rows: list[tuple[int, ...]], count_type) -> FilledCells:
    columns = np.array(rows, np.int64).reshape(-1, 5).T
    return FilledCells(
        tuple(column.astype(np.uint32) for column in columns[:4]), columns[4].astype(count_type)
    )


def as_pairs(cells: FilledCells) -> list[tuple[tuple[int, ...], int]]:
    codes = zip(*(codes.tolist() for codes in cells.codes), strict=True)
    return list(zip(codes, cells.counts.tolist(), strict=True))


@given(table=tables(), count_type=st.sampled_from([np.uint32, np.int64]), dense=st.sampled_from([0, 1 << 14]))
@SETTINGS
def test_rolled_up_cells_are_the_sums_in_order(table, count_type, dense):
    sizes, rows = table
    places = [(0,), (3,), (0, 1), (0, 2), (0, 1, 2), (0, 1, 3), (1, 2, 3), (0, 1, 2, 3)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cells_module, "_DENSE_CELLS", dense)
        found = list(as_cells(rows, count_type).onto_each(places, sizes))
    for chosen, cells in zip(places, found, strict=True):
        sums: Counter[tuple[int, ...]] = Counter()
        for *codes, count in rows:
            sums[tuple(codes[place] for place in chosen)] += count
        assert as_pairs(cells) == sorted(sums.items())
        present = [(codes, count) for codes, count in sorted(sums.items()) if all(codes)]
        assert as_pairs(cells.present()) == present


@given(table=tables(), cut=st.integers(0, 40))
@SETTINGS
def test_parts_add_up(table, cut):
    sizes, rows = table
    parts = [as_cells(rows[:cut], np.int64), as_cells(rows[cut // 2 :], np.int64)]
    sums: Counter[tuple[int, ...]] = Counter()
    for *codes, count in rows[:cut] + rows[cut // 2 :]:
        sums[tuple(codes)] += count
    assert as_pairs(add_up(parts, sizes)) == sorted(sums.items())


def test_what_fits_follows_the_memory_limit():
    assert most_cells(QueryResources()) > most_cells(QueryResources(memory_limit_mb=64)) > 100_000
    assert fits([1000, 1000], 10**9, 10**6)
    assert not fits([1000, 1001], 10**9, 10**6)
    assert fits([1000] * 6, 10**6, 10**6)
    assert not fits([1000] * 7, 10**6, 10**6)
