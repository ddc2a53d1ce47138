"""From clusters to one table: each cluster's rows are drawn, then stitched to the rest (X3.6).

Rows with like values of the stitch columns become one row. Both tables are halved, column by column, as long
as they have about as many rows in both halves. In a cell that can't be halved further, rows are sorted by the
stitch columns and paired by rank. All is in one unit, that of the trees.

Like the reference, but for four choices:

* A side with more rows than the cell gets loses them evenly along the sort order, and one with fewer
  repeats them evenly (systematic sampling with a random start), not at random: every stretch, so the tail
  too, keeps its share, and each row's chance is the same.
* An interval is narrowed to the half that holds all rows of both sides without using up an attempt to
  divide them: a long tail no longer ends the division of the bulk.
* Half a row of a shared cell is carried to the next, so that the table has as many rows as both have on
  average.
* Shared stitch columns are taken in turn along the whole table, not anew from the left in every cell: cells
  of one row would all be left's.

The kernels go cell by cell (oracle: tests/oracles/syndiffix_stitching.py):

    cell: left 10 rows, right 9     halve the next column's interval
                                    lower 4 and 4, upper 6 and 5: alike, so two cells, the lower one first
                                    lower 8 and 2: not alike; try the next column, whose turn it is
    no column left to try           the cell's rows are paired, spread evenly where one side has more
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, nan
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from tasks.core.arrays import Flags, Floats, Integers
from tasks.core.compiling.decorator import njit
from tasks.core.syndiffix.clusters import Clusters, DerivedCluster, StitchOwner
from tasks.core.syndiffix.forest import Buckets
from tasks.core.syndiffix.hashing import generator_of
from tasks.core.syndiffix.intervals import Interval
from tasks.core.syndiffix.microdata import CellSource, DrawnCells, draw_cells

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
    return min(left, right) > 0 and 10 * min(left, right) >= 7 * max(left, right)


_OWNERS = {"left": LEFT, "right": RIGHT, "shared": SHARED}


def stitch(
    left: Floats,
    right: Floats,
    intervals: Sequence[Interval],
    owner: StitchOwner,
    generator: np.random.Generator,
) -> tuple[Integers, Integers, Flags]:
    """Pair the rows of two tables by s >= 1 stitch columns, those of least entropy first.

    Args:
        left: (n, s), the stitch columns as numbers of the trees, nulls mapped.
        right: (m, s), the same of the right table.
        intervals: of each column's root.
        owner: whose rows are kept, each once, with its stitch columns; ``shared``: as many rows as both
            have on average, stitch columns in turn.
        generator: of the order of equal rows and of the sampling.

    Returns:
        Of t rows, sorted by cell, the row of the left table and of the right one, and whether the stitch
        columns are those of the left row; none where a table has none.

    >>> ages, others = np.array([[20.0], [60.0]]), np.array([[61.0], [21.0]])
    >>> left, right, _ = stitch(ages, others, [Interval(0.0, 128.0)], "shared", np.random.default_rng(1))
    >>> list(zip(left.tolist(), right.tolist(), strict=True))
    [(0, 1), (1, 0)]
    """
    bounds = np.array([(interval.lower, interval.upper) for interval in intervals], np.float64)
    starts = generator.random((min(len(left), len(right)), 2))
    pairs = pair_rows(
        _sort_side(left, generator), _sort_side(right, generator), bounds, _OWNERS[owner], starts
    )
    is_even = np.arange(len(pairs)) % 2 == 0
    from_left = is_even if owner == "shared" else np.full(len(pairs), owner == "left")
    return pairs[:, 0].copy(), pairs[:, 1].copy(), from_left


def patch(left_rows: int, right_rows: int, generator: np.random.Generator) -> Integers:
    """A random row of the right table for each row of the left, (left_rows,); none where a table has none.

    Rows of the right table are left out or repeated evenly along its order, which is that of its buckets.
    """
    if right_rows == 0:
        return np.empty(0, np.int64)
    chosen: Integers = generator.permutation(even_places(right_rows, left_rows, generator.random()))
    return chosen


def _sort_side(values: Floats, generator: np.random.Generator) -> StitchSide:
    values = np.ascontiguousarray(values, np.float64)
    order = generator.permutation(len(values))
    return StitchSide(values, order[np.lexsort(values[order].T[::-1])])


@dataclass(frozen=True)
class Microdata:
    """Rows over some columns, whose cells are by the column's number."""

    rows: int
    cells: Mapping[int, DrawnCells]

    def take(self, rows: Integers) -> "Microdata":
        return Microdata(len(rows), {column: _take(cells, rows) for column, cells in self.cells.items()})


@dataclass(frozen=True)
class JoiningBasis:
    """What rows are joined by.

    Attributes:
        entropies: of each column in bits, (d,): rows are divided by the plainest column first.
        intervals: where the numbers of each column that is joined lie.
        salt: of the dataset; empty where all that is joined is published.
    """

    names: Sequence[str]
    entropies: Floats
    intervals: Mapping[int, Interval]
    salt: bytes = field(repr=False)
    stream: tuple[str, ...]

    def ordered(self, columns: Sequence[int]) -> list[int]:
        return sorted(columns, key=lambda column: (self.entropies[column], column))

    def generator(self, purpose: str, columns: Sequence[int]) -> np.random.Generator:
        return generator_of(self.salt, *self.stream, purpose, *(self.names[column] for column in columns))


@dataclass(frozen=True)
class StitchingBasis(JoiningBasis):
    """What rows are drawn and joined by."""

    sources: Sequence[CellSource]
    difference_sd: float


def draw_rows(buckets: Buckets, columns: Sequence[int], basis: StitchingBasis) -> Microdata:
    """Rows of one cluster: as many of each bucket as it counts, cells drawn from its intervals."""
    generator = basis.generator("microdata", columns)
    rows = np.repeat(np.arange(len(buckets.counts)), buckets.counts)
    lower, upper = buckets.lower[rows], buckets.upper[rows]
    return Microdata(
        len(rows),
        {
            column: draw_cells(basis.sources[column], lower[:, place], upper[:, place], generator)
            for place, column in enumerate(columns)
        },
    )


def assemble(clusters: Clusters, drawn: Sequence[Microdata], basis: JoiningBasis) -> Microdata:
    """All clusters' rows in one table; ``drawn`` has the initial cluster's first, then the derived ones'."""
    table = drawn[0]
    for cluster, right in zip(clusters.derived, drawn[1:], strict=True):
        table = join_tables(table, right, cluster, basis)
    return table


def shuffle(table: Microdata, basis: JoiningBasis) -> Microdata:
    """Rows in an order that tells nothing of the buckets they come from."""
    return table.take(basis.generator("shuffle", sorted(table.cells)).permutation(table.rows))


def join_tables(left: Microdata, right: Microdata, cluster: DerivedCluster, basis: JoiningBasis) -> Microdata:
    """The left table's rows with the derived columns of the right one's, paired by the stitch columns."""
    generator = basis.generator("stitch", cluster.columns)
    derived = {column: right.cells[column] for column in cluster.derived}
    if not cluster.stitch:
        rows = patch(left.rows, right.rows, generator)
        # Where one side has no rows there is nothing to pair with, and the table is empty.
        kept = left if len(rows) == left.rows else left.take(rows)
        return Microdata(len(rows), {**kept.cells, **{c: _take(cells, rows) for c, cells in derived.items()}})
    columns = basis.ordered(cluster.stitch)
    of_left, of_right, from_left = stitch(
        _numbers(left, columns),
        _numbers(right, columns),
        [basis.intervals[column] for column in columns],
        cluster.owner,
        generator,
    )
    chosen = np.where(from_left, of_left, of_right + left.rows)
    shared = {column: _choose_cells(left.cells[column], right.cells[column], chosen) for column in columns}
    kept = left.take(of_left)
    added = {column: _take(cells, of_right) for column, cells in derived.items()}
    return Microdata(len(of_left), {**kept.cells, **added, **shared})


def _numbers(table: Microdata, columns: Sequence[int]) -> Floats:
    return np.stack([table.cells[column].numbers for column in columns], axis=1)


def _take(cells: DrawnCells, rows: Integers) -> DrawnCells:
    return DrawnCells(cells.numbers[rows], cells.values.take(pa.array(rows)))


def _choose_cells(left: DrawnCells, right: DrawnCells, chosen: Integers) -> DrawnCells:
    both = DrawnCells(
        np.concatenate([left.numbers, right.numbers]), pa.concat_arrays([left.values, right.values])
    )
    return _take(both, chosen)
