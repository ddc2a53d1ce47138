"""Compiled pairing of two sorted tables' rows, cell by cell of the columns that both have.

In: both tables' values of these columns and the order of their rows. Out: pairs of rows (syndiffix.md 3.6;
oracle: tests/oracles/syndiffix_stitching.py).

    cell: left 10 rows, right 9     halve the next column's interval
                                    lower 4 and 4, upper 6 and 5: alike, so two cells, the lower one first
                                    lower 8 and 2: not alike; try the next column, whose turn it is
    no column left to try           the cell's rows are paired, spread evenly where one side has more
"""

from math import isnan, nan
from typing import NamedTuple

import numpy as np

from tasks.core.arrays import Floats, Integers
from tasks.core.compiling.decorator import njit

LEFT, RIGHT, SHARED = 0, 1, 2
_MOST_HALVINGS = 2200  # of an interval of floats, until its middle is one of its bounds


class StitchSide(NamedTuple):
    """A table of n rows.

    Attributes:
        values: (n, s), of its stitch columns, without NaN.
        order: (n,), its rows sorted by these columns; a cell's rows are moved together and stay sorted.
    """

    values: Floats
    order: Integers


class UnpairedCells(NamedTuple):
    """Cells that are not yet paired, the last one next.

    Attributes:
        spans: (depth, 4), where the rows are in each side's order: from and to of left, from and to of right.
        turns: (depth, 2), which column is to be halved next, and how many attempts are left.
        bounds: (depth, s, 2), the interval of each column.
    """

    spans: Integers
    turns: Integers
    bounds: Floats


@njit(cache=True, nogil=True)
def even_places(count: int, target: int, start: float) -> Integers:
    """``target`` of the places 0 .. count - 1, ascending and evenly spread: systematic sampling.

    Each place comes floor or ceil of target / count times, all equally often on average over ``start``,
    in [0, 1).

    >>> even_places(3, 7, 0.5).tolist(), even_places(7, 3, 0.5).tolist()
    ([0, 0, 1, 1, 1, 2, 2], [1, 3, 5])
    """
    places = np.empty(target, np.int64)
    for number in range(target):
        places[number] = number if count == target else min(int((number + start) * count / target), count - 1)
    return places


@njit(cache=True, nogil=True)
def pair_rows(left: StitchSide, right: StitchSide, intervals: Floats, owner: int, starts: Floats) -> Integers:
    """Pairs of a left and a right row, (t, 2); none where a side has no rows.

    Args:
        left: see there.
        right: see there.
        intervals: (s, 2), where each column's values lie; those beyond count to the nearer half.
        owner: LEFT or RIGHT: each row of this side comes once; SHARED: as many as both have on average.
        starts: (min(n, m), 2), random in [0, 1): where sampling of each side starts in each cell.
    """
    fewer, more = min(len(left.order), len(right.order)), max(len(left.order), len(right.order))
    pairs = np.empty((more, 2), np.int64)
    cells = _first_cell(left, right, intervals, min(fewer, _MOST_HALVINGS * len(intervals)) + 2)
    waiting = 1 if fewer > 0 else 0
    written, paired, half = 0, 0, 0
    while waiting > 0:
        last = waiting - 1
        middle = _find_middle(left, right, cells, last)
        if not isnan(middle):
            _divide(left, right, cells, last, middle)
            waiting += 1
            continue
        from_left, to_left, from_right, to_right = cells.spans[last]
        rows = (to_left - from_left, to_right - from_right)
        both = rows[0] + rows[1] + half
        # Half a row is carried to the next cell: rounded each by itself, those of many small cells add up.
        target, half = (both // 2, both % 2) if owner == SHARED else (rows[owner], 0)
        of_left = even_places(rows[0], target, starts[paired, 0])
        of_right = even_places(rows[1], target, starts[paired, 1])
        for place in range(target):
            pairs[written + place, 0] = left.order[from_left + of_left[place]]
            pairs[written + place, 1] = right.order[from_right + of_right[place]]
        written += target
        paired += 1
        waiting = last
    return pairs[:written]


@njit(cache=True, nogil=True)
def _first_cell(left: StitchSide, right: StitchSide, intervals: Floats, depth: int) -> UnpairedCells:
    columns = len(intervals)
    cells = UnpairedCells(
        np.empty((depth, 4), np.int64),
        np.empty((depth, 2), np.int64),
        np.empty((depth, columns, 2), np.float64),
    )
    cells.spans[0, 0], cells.spans[0, 1] = 0, len(left.order)
    cells.spans[0, 2], cells.spans[0, 3] = 0, len(right.order)
    cells.turns[0, 0], cells.turns[0, 1] = 0, columns
    for column in range(columns):
        cells.bounds[0, column, 0], cells.bounds[0, column, 1] = intervals[column, 0], intervals[column, 1]
    return cells


@njit(cache=True, nogil=True)
def _find_middle(left: StitchSide, right: StitchSide, cells: UnpairedCells, cell: int) -> float:
    """The first column that divides a cell's rows alike on both sides: where; NaN if none does.

    The cell's turn then is at this column.
    """
    from_left, to_left, from_right, to_right = cells.spans[cell]
    turn = cells.turns[cell]
    columns = cells.bounds.shape[1]
    while turn[1] > 0 and to_left - from_left > 1 and to_right - from_right > 1:
        column = turn[0]
        lowest, highest = _extent(left, from_left, to_left, column)
        low, high = _extent(right, from_right, to_right, column)
        middle = _narrow(cells.bounds[cell, column], min(lowest, low), max(highest, high))
        if not isnan(middle):
            lower_left = _count_lower(left, from_left, to_left, column, middle)
            lower_right = _count_lower(right, from_right, to_right, column, middle)
            upper_left, upper_right = to_left - from_left - lower_left, to_right - from_right - lower_right
            if _are_alike(lower_left, lower_right) and _are_alike(upper_left, upper_right):
                return middle
        turn[0] = (column + 1) % columns
        turn[1] -= 1
    return nan


@njit(cache=True, nogil=True)
def _narrow(interval: Floats, lowest: float, highest: float) -> float:
    """Halve an interval as long as all values are in one half; returns its middle, NaN for a single value.

    An interval of size 1 of whole numbers holds a single value: no other rule is needed for these.
    """
    middle = nan
    if lowest < highest:
        while True:
            middle = interval[0] + (interval[1] - interval[0]) / 2
            if not interval[0] < middle < interval[1]:
                return nan
            if lowest >= middle:
                interval[0] = middle
            elif highest < middle:
                interval[1] = middle
            else:
                break
    return middle


@njit(cache=True, nogil=True)
def _divide(left: StitchSide, right: StitchSide, cells: UnpairedCells, cell: int, middle: float) -> None:
    """Make a cell its upper half, and the next one, whose turn comes first, its lower half."""
    spans, turns, bounds = cells.spans, cells.turns, cells.bounds
    column = turns[cell, 0]
    for place in range(4):
        spans[cell + 1, place] = spans[cell, place]
    for other in range(bounds.shape[1]):
        for side in range(2):
            bounds[cell + 1, other, side] = bounds[cell, other, side]
    spans[cell, 0] = spans[cell + 1, 1] = _move_lower(left, spans[cell, :2], column, middle)
    spans[cell, 2] = spans[cell + 1, 3] = _move_lower(right, spans[cell, 2:], column, middle)
    bounds[cell, column, 0] = bounds[cell + 1, column, 1] = middle
    turns[cell, 0] = turns[cell + 1, 0] = (column + 1) % bounds.shape[1]
    turns[cell, 1] = turns[cell + 1, 1] = bounds.shape[1]


@njit(cache=True, nogil=True)
def _move_lower(side: StitchSide, span: Integers, column: int, middle: float) -> int:
    """Move a span's rows below the middle to its start, both in order; returns where the rest starts."""
    order, start = side.order, int(span[0])
    others = np.empty(span[1] - start, np.int64)
    kept = 0
    for place in range(start, span[1]):
        row = order[place]
        if side.values[row, column] < middle:
            order[start] = row
            start += 1
        else:
            others[kept] = row
            kept += 1
    for place in range(kept):
        order[start + place] = others[place]
    return start


@njit(cache=True, nogil=True)
def _extent(side: StitchSide, start: int, end: int, column: int) -> tuple[float, float]:
    lowest = highest = side.values[side.order[start], column]
    for place in range(start + 1, end):
        value = side.values[side.order[place], column]
        lowest, highest = min(lowest, value), max(highest, value)
    return lowest, highest


@njit(cache=True, nogil=True)
def _count_lower(side: StitchSide, start: int, end: int, column: int, middle: float) -> int:
    lower = 0
    for place in range(start, end):
        lower += side.values[side.order[place], column] < middle
    return lower


@njit(cache=True, nogil=True)
def _are_alike(left: int, right: int) -> bool:
    """Whether there are rows on both sides, and on the smaller at least 0.7 as many as on the other."""
    return min(left, right) > 0 and 10 * min(left, right) >= 7 * max(left, right)
