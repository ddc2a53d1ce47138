"""Tables put side by side: rows with like values of the stitch columns become one row.

In: the stitch columns of two synthetic tables. Out: which row of one goes with which of the other, and
whose stitch columns are taken (syndiffix.md 3.6).

Both tables are halved, column by column, as long as they have about as many rows in both halves. In a cell
that can't be halved further, rows are sorted by the stitch columns and paired by rank. All is in one unit,
that of the trees.

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
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tasks.core.arrays import Flags, Floats, Integers
from tasks.core.syndiffix.clusters import StitchOwner
from tasks.core.syndiffix.intervals import Interval
from tasks.core.syndiffix.stitching_kernels import LEFT, RIGHT, SHARED, StitchSide, even_places, pair_rows

_OWNERS = {"left": LEFT, "right": RIGHT, "shared": SHARED}


@dataclass(frozen=True)
class StitchedRows:
    """The t rows of a table that is put together.

    Attributes:
        left: int64 (t,), each one's row of the left table.
        right: int64 (t,), of the right one.
        from_left: boolean (t,), whether its stitch columns are those of the left row.
    """

    left: Integers
    right: Integers
    from_left: Flags


def stitch(
    left: Floats,
    right: Floats,
    intervals: Sequence[Interval],
    owner: StitchOwner,
    generator: np.random.Generator,
) -> StitchedRows:
    """Pair the rows of two tables by s >= 1 stitch columns, those of least entropy first.

    Args:
        left: (n, s), the stitch columns as numbers of the trees, nulls mapped.
        right: (m, s), the same of the right table.
        intervals: of each column's root.
        owner: whose rows are kept, each once, with its stitch columns; ``shared``: as many rows as both
            have on average, stitch columns in turn.
        generator: of the order of equal rows and of the sampling.

    Returns:
        The rows, sorted by cell; none where a table has none.

    >>> ages, others = np.array([[20.0], [60.0]]), np.array([[61.0], [21.0]])
    >>> rows = stitch(ages, others, [Interval(0.0, 128.0)], "shared", np.random.default_rng(1))
    >>> list(zip(rows.left.tolist(), rows.right.tolist(), strict=True))
    [(0, 1), (1, 0)]
    """
    bounds = np.array([(interval.lower, interval.upper) for interval in intervals], np.float64)
    starts = generator.random((min(len(left), len(right)), 2))
    pairs = pair_rows(_sorted(left, generator), _sorted(right, generator), bounds, _OWNERS[owner], starts)
    is_even = np.arange(len(pairs)) % 2 == 0
    from_left = is_even if owner == "shared" else np.full(len(pairs), owner == "left")
    return StitchedRows(pairs[:, 0].copy(), pairs[:, 1].copy(), from_left)


def patch(left_rows: int, right_rows: int, generator: np.random.Generator) -> Integers:
    """A random row of the right table for each row of the left, int64 (left_rows,).

    Rows of the right table are left out or repeated evenly along its order, which is that of its buckets.
    None where a table has none.
    """
    if right_rows == 0:
        return np.empty(0, np.int64)
    chosen: Integers = generator.permutation(even_places(right_rows, left_rows, generator.random()))
    return chosen


def _sorted(values: Floats, generator: np.random.Generator) -> StitchSide:
    """A side with its rows sorted by all columns, equal ones at random."""
    values = np.ascontiguousarray(values, np.float64)
    order = generator.permutation(len(values))
    return StitchSide(values, order[np.lexsort(values[order].T[::-1])])
