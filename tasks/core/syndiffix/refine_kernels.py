"""Compiled refinement: rows of a cell that is too small are drawn from the cells of fewer columns.

In: a node's own intervals, and the buckets of its subnodes. Out: intervals of single rows (syndiffix.md
3.2). Entry i of the subnodes has all columns but column k - 1 - i; a list has its buckets.

    columns age, sex, town      age          sex          town
    row 0: a bucket of entry 0  from it      from it      an interval from the list of entry 1 or 2
    row 1: a bucket of entry 1  from it      an interval  from it
    row 2: a bucket of entry 2  an interval  from it      from it            row 3: entry 0 again
"""

from typing import NamedTuple

import numpy as np

from tasks.core.arrays import Flags, Floats, Ids, Integers, Words
from tasks.core.compiling.decorator import njit
from tasks.core.syndiffix.noise_kernels import Secret, secret_seed

_DRAWS = np.uint64(0x9E3779B97F4A7C15)  # tells the seed of the draws from the noise's


class Lists(NamedTuple):
    """The buckets of a node's k subnodes, list after list: what the node's rows may be made of.

    Attributes:
        start: where each list begins, (k + 1,).
        weight: rows of each bucket, (T,).
        lower: intervals by column, (T, k); without meaning in the column that the list lacks.
        upper: aligned.
    """

    start: Integers
    weight: Ids
    lower: Floats
    upper: Floats


class Pools(NamedTuple):
    """What is drawn from.

    Attributes:
        buckets: places in the lists, by list.
        bucket_total: rows up to and including each, within its list.
        bucket_start: (k + 1,).
        intervals: places in the lists, by column.
        interval_total: rows up to and including each, within its column.
        interval_start: (k + 1,).
    """

    buckets: Ids
    bucket_total: Integers
    bucket_start: Integers
    intervals: Ids
    interval_total: Integers
    interval_start: Integers


@njit(cache=True, nogil=True)
def find_pools(lists: Lists, limits: Floats) -> tuple[bool, Pools]:
    """What rows of a node can be drawn from; False where a pool is empty.

    Args:
        lists: none is empty.
        limits: the node's compacted intervals, (k, 2).
    """
    total, columns = lists.lower.shape
    smallest = np.empty((columns, 2), np.float64)
    for column in range(columns):
        _find_smallest(lists.start, lists.lower, lists.upper, column, smallest[column])
        _intersect(smallest[column], limits[column])
    pools = Pools(
        np.empty(total, np.int32),
        np.empty(total, np.int64),
        np.zeros(columns + 1, np.int64),
        np.empty(total * (columns - 1), np.int32),
        np.empty(total * (columns - 1), np.int64),
        np.zeros(columns + 1, np.int64),
    )
    within = np.empty((total, columns), np.bool_)
    for at in range(total):
        for column in range(columns):
            lower, upper = lists.lower[at, column], lists.upper[at, column]
            within[at, column] = smallest[column, 0] <= lower and upper <= smallest[column, 1]
    found = _fill_buckets(lists.start, lists.weight, within, pools)
    return found and _fill_intervals(lists.start, lists.weight, within, pools), pools


@njit(cache=True, nogil=True)
def _find_smallest(start: Integers, lower: Floats, upper: Floats, column: int, smallest: Floats) -> None:
    """Among the lists with a column, the shortest hull of their intervals in it; the first of equals."""
    columns = lower.shape[1]
    size = np.inf
    for entry in range(columns):
        if entry == columns - 1 - column:
            continue
        least, greatest = np.inf, -np.inf
        for at in range(start[entry], start[entry + 1]):
            least = min(least, lower[at, column])
            greatest = max(greatest, upper[at, column])
        if greatest - least < size:
            size = greatest - least
            smallest[0], smallest[1] = least, greatest


@njit(cache=True, nogil=True)
def _intersect(interval: Floats, limit: Floats) -> None:
    """Cut an interval to a limit; where they don't overlap, it becomes their hull.

    A single value at the limit's lower edge does not overlap either, as in the reference: measured, the
    wider choice of rows comes nearer to the table (adult13 and natdemo10, two percent of the 3-way error).
    """
    if interval[0] < limit[1] and interval[1] > limit[0]:
        interval[0], interval[1] = max(interval[0], limit[0]), min(interval[1], limit[1])
    else:
        interval[0], interval[1] = min(interval[0], limit[0]), max(interval[1], limit[1])


@njit(cache=True, nogil=True)
def _fill_buckets(start: Integers, weight: Ids, within: Flags, pools: Pools) -> bool:
    columns, used = within.shape[1], 0
    for entry in range(columns):
        rows = 0
        for at in range(start[entry], start[entry + 1]):
            inside = True
            for column in range(columns):
                inside &= column == columns - 1 - entry or within[at, column]
            if inside:
                rows += weight[at]
                pools.buckets[used], pools.bucket_total[used] = at, rows
                used += 1
        pools.bucket_start[entry + 1] = used
        if rows == 0:
            return False
    return True


@njit(cache=True, nogil=True)
def _fill_intervals(start: Integers, weight: Ids, within: Flags, pools: Pools) -> bool:
    """Each column's intervals that lie within, from every list that has it."""
    columns, used = within.shape[1], 0
    for column in range(columns):
        rows = 0
        for entry in range(columns):
            if entry == columns - 1 - column:
                continue
            for at in range(start[entry], start[entry + 1]):
                if within[at, column]:
                    rows += weight[at]
                    pools.intervals[used], pools.interval_total[used] = at, rows
                    used += 1
        pools.interval_start[column + 1] = used
        if rows == 0:
            return False
    return True


@njit(cache=True, nogil=True)
def draw_row(lists: Lists, pools: Pools, turn: int, state: Words, drawn: Floats) -> None:
    """Draw one row's intervals, (k, 2): a bucket of one list and an interval of the column it lacks.

    ``turn`` is the row's number, as lists take turns; ``drawn`` is filled.
    """
    columns = len(drawn)
    entry = turn % columns
    missing = columns - 1 - entry
    bucket = pools.buckets[_draw(pools.bucket_total, pools.bucket_start, entry, state)]
    interval = pools.intervals[_draw(pools.interval_total, pools.interval_start, missing, state)]
    for column in range(columns):
        at = interval if column == missing else bucket
        drawn[column, 0], drawn[column, 1] = lists.lower[at, column], lists.upper[at, column]


@njit(cache=True, nogil=True)
def new_state(key: Secret, place: np.uint64) -> Words:
    """A generator that follows from the salt and a node's place."""
    return np.full(1, secret_seed(key, place ^ _DRAWS), np.uint64)


@njit(cache=True, nogil=True)
def _draw(total: Integers, start: Integers, pool: int, state: Words) -> int:
    """A place in a pool, in proportion to its rows."""
    low, high = start[pool], start[pool + 1] - 1
    wanted = np.int64(_next(state) % np.uint64(total[high]))
    while low < high:
        middle = (low + high) >> 1
        if total[middle] > wanted:
            high = middle
        else:
            low = middle + 1
    return int(low)


@njit(cache=True, nogil=True)
def _next(state: Words) -> np.uint64:
    """The next number of SplitMix64 (Steele, Lea and Flood 2014)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    mixed = state[0]
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.uint64(mixed ^ (mixed >> np.uint64(31)))
