"""Rows moved until each column has its own published counts again (syndiffix.md 7.3, #157).

In: the rows of a table, and what their columns' cells are drawn from. Out: the same rows, some cells drawn
anew.

A tree of several columns suppresses more than one of a single column, most of all where few rows lie: it
gives their places to what lies beside them, and a tail is lost. What a column's own tree published says how
many rows belong where. Of a value or null that has rows enough, these stay. All other rows are lined up by
the column and dealt out to what is missing, in order: so whoever is among the upper tenth stays there, and
what columns have to do with each other is kept. Nothing is read but what is published of the column alone,
and the rows themselves.

    ages        20 to 40   40 to 60   60 to 80       all rows in the order of their ages:
    found           7          3          0          the 6 youngest stay where they are, the seventh goes
    wanted          6          3          1          to 40 to 60, and the oldest to 60 to 80
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tasks.core.arrays import Flags, Floats, Integers
from tasks.core.syndiffix.assembly import Microdata, StitchingBasis
from tasks.core.syndiffix.microdata import CellSource, DrawnCells, draw_cells

_NOWHERE = -1


def keep_own_counts(table: Microdata, basis: StitchingBasis) -> Microdata:
    """The rows, each column having in each of its own buckets the share of rows that it has by itself.

    Twice the same table gives the same: a column's shares are rounded alike each time.
    """
    cells = {
        column: _settled(basis.sources[column], cells, basis.generator("own counts", (column,)))
        for column, cells in table.cells.items()
    }
    return Microdata(table.rows, cells)


def _settled(source: CellSource, cells: DrawnCells, generator: np.random.Generator) -> DrawnCells:
    weights, start = source.weights, generator.random()
    if not len(weights.counts) or not len(cells.numbers):
        return cells
    wanted = _shared_out(weights.counts, len(cells.numbers), start)
    first, after = weights.buckets_over(cells.numbers, cells.numbers, source.top)
    places = np.where(after > first, first, _NOWHERE)
    found = np.bincount(places[places >= 0], minlength=len(wanted))
    if (found == wanted).all():
        return cells
    single = weights.lower == weights.upper
    missing = int(np.flatnonzero(single & (weights.lower == source.null_value)).max(initial=_NOWHERE))
    counts = _Counts(found, wanted, np.where(single, np.minimum(found, wanted), 0), missing)
    keys = _ordered_by(cells.numbers, cells.numbers == source.null_value, generator)
    rows, to = _moves(keys, places, counts, generator)
    return _drawn_anew(source, cells, rows, to, generator)


@dataclass(frozen=True)
class _Counts:
    """Rows of each of a column's buckets.

    Attributes:
        found: (M,), how many there are.
        wanted: (M,), how many there are to be; as many in all as the table has.
        kept: (M,), how many surely stay: of single values only.
        missing: which bucket is that of nulls; `_NOWHERE` if none is.
    """

    found: Integers
    wanted: Integers
    kept: Integers
    missing: int


def _shared_out(weights: Floats, rows: int, start: float) -> Integers:
    """So many rows in proportion to some weights, rounded with what is left over carried on.

    >>> _shared_out(np.array([5.0, 3.0, 1.0]), rows=10, start=0.5).tolist()  # 5.6, 3.3 and 1.1
    [6, 3, 1]
    """
    ends = np.floor(np.cumsum(weights) * (rows / weights.sum()) + start)
    ends[-1] = rows
    shares: Integers = np.diff(np.minimum(ends, rows), prepend=0).astype(np.int64)
    return shares


def _ordered_by(numbers: Floats, is_null: Flags, generator: np.random.Generator) -> Floats:
    """What rows are lined up by: their numbers; of nulls, which have none, that of any other row."""
    keys, others = numbers.copy(), numbers[~is_null]
    if len(others):
        keys[is_null] = generator.choice(others, int(is_null.sum()))
    return keys


def _moves(
    keys: Floats, places: Integers, counts: _Counts, generator: np.random.Generator
) -> tuple[Integers, Integers]:
    """Which rows go to another bucket, lined up, and to which."""
    free = _free(places, counts, generator)
    free = free[np.lexsort((generator.random(len(free)), keys[free]))]
    open_places = counts.wanted - counts.kept
    to = np.repeat(np.arange(len(open_places)), open_places)
    if counts.missing != _NOWHERE:
        # Null is nowhere in the column's order, so it is chance who becomes null.
        null = to == counts.missing
        chosen = np.zeros(len(free), np.bool_)
        chosen[generator.choice(len(free), int(null.sum()), replace=False)] = True
        free, to = np.concatenate([free[~chosen], free[chosen]]), np.concatenate([to[~null], to[null]])
    moved = places[free] != to
    return free[moved], to[moved]


def _free(places: Integers, counts: _Counts, generator: np.random.Generator) -> Integers:
    """Rows that need not stay where they are; which of a single value's too many is left to chance."""
    order = generator.permutation(len(places))
    order = order[np.argsort(places[order], kind="stable")]
    sorted_places = places[order]
    nowhere = len(places) - int(counts.found.sum())
    begin = nowhere + np.cumsum(counts.found) - counts.found
    # Of each bucket's rows, in random order, as many of the first as surely stay.
    stays = np.arange(len(places)) - begin[sorted_places] < counts.kept[sorted_places]
    free: Integers = order[~stays | (sorted_places == _NOWHERE)]
    return free


def _drawn_anew(
    source: CellSource, cells: DrawnCells, rows: Integers, to: Integers, generator: np.random.Generator
) -> DrawnCells:
    """Cells of which some rows' are drawn from other buckets, in the order of these rows within each."""
    lower, upper = source.weights.lower[to], source.weights.upper[to]
    fresh = draw_cells(source, lower, upper, generator)
    ascending = np.lexsort((fresh.numbers, to))
    rows = rows[np.argsort(to, kind="stable")]
    numbers, taken = cells.numbers.copy(), np.arange(len(cells.numbers))
    numbers[rows] = fresh.numbers[ascending]
    taken[rows] = len(taken) + ascending
    return DrawnCells(numbers, pa.concat_arrays([cells.values, fresh.values]).take(pa.array(taken)))
