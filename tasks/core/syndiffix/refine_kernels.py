"""Compiled refinement: rows of a cell that is too small are drawn from the cells of fewer columns.

In: a node's own intervals, and the buckets of its subnodes. Out: intervals of single rows (syndiffix.md
3.2). Entry i of the subnodes has all columns but column k - 1 - i; a list has its buckets.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from tasks.core.syndiffix.noise_kernels import Secret, crypto

Ranks = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
OWN = -1  # the source of a list whose one bucket are the node's own values
_DRAWS = np.uint64(0x9E3779B97F4A7C15)  # tells the seed of the draws from the noise's


class Lists(NamedTuple):
    """The buckets of a node's k subnodes.

    Attributes:
        source: interval of each bucket, by list; `OWN` for the node's own.
        weight: rows of each.
        start: where each list begins, (k + 1,).
        lower: intervals that sources number, (S, k - 1).
        upper: (S, k - 1).
        own: the node's intervals, (k, 2).
    """

    source: Ranks
    weight: Ranks
    start: Counts
    lower: Floats
    upper: Floats
    own: Floats


class Pools(NamedTuple):
    """What is drawn from.

    Attributes:
        buckets: sources, by list.
        bucket_total: rows up to and including each, within its list.
        bucket_start: (k + 1,).
        lower: intervals by column.
        upper: aligned.
        interval_total: rows up to and including each, within its column.
        interval_start: (k + 1,).
    """

    buckets: Ranks
    bucket_total: Counts
    bucket_start: Counts
    lower: Floats
    upper: Floats
    interval_total: Counts
    interval_start: Counts


@njit(cache=True, nogil=True)
def bound(lists: Lists, entry: int, source: int, column: int, side: int) -> float:
    """The lower (0) or upper (1) bound of a list's bucket in one of its columns."""
    if source == OWN:
        return float(lists.own[column, side])
    left_out = len(lists.own) - 1 - entry
    place = column - 1 if column > left_out else column
    return float(lists.lower[source, place] if side == 0 else lists.upper[source, place])


@njit(cache=True, nogil=True)
def find_pools(lists: Lists, limits: Floats) -> tuple[bool, Pools]:
    """What rows of a node can be drawn from; False where a pool is empty.

    Args:
        lists: none is empty.
        limits: the node's compacted intervals, (k, 2).
    """
    columns, total = len(lists.own), len(lists.source)
    smallest = np.empty((columns, 2), np.float64)
    for column in range(columns):
        _find_smallest(lists, column, smallest[column])
        _intersect(smallest[column], limits[column])
    pools = Pools(
        np.empty(total, np.int32),
        np.empty(total, np.int64),
        np.zeros(columns + 1, np.int64),
        np.empty(total * (columns - 1), np.float64),
        np.empty(total * (columns - 1), np.float64),
        np.empty(total * (columns - 1), np.int64),
        np.zeros(columns + 1, np.int64),
    )
    found = _fill_buckets(lists, smallest, pools) and _fill_intervals(lists, smallest, pools)
    return found, pools


@njit(cache=True, nogil=True)
def _find_smallest(lists: Lists, column: int, smallest: Floats) -> None:
    """Among the lists with a column, the shortest hull of their intervals in it; the first of equals."""
    columns = len(lists.own)
    size = np.inf
    for entry in range(columns):
        if entry == columns - 1 - column:
            continue
        lower, upper = np.inf, -np.inf
        for at in range(lists.start[entry], lists.start[entry + 1]):
            lower = min(lower, bound(lists, entry, lists.source[at], column, 0))
            upper = max(upper, bound(lists, entry, lists.source[at], column, 1))
        if upper - lower < size:
            size = upper - lower
            smallest[0], smallest[1] = lower, upper


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
def _fill_buckets(lists: Lists, smallest: Floats, pools: Pools) -> bool:
    """Each list's buckets that lie within in every column."""
    columns, used = len(lists.own), 0
    for entry in range(columns):
        rows = 0
        for at in range(lists.start[entry], lists.start[entry + 1]):
            within = True
            for column in range(columns):
                if column != columns - 1 - entry:
                    within &= _is_within(lists, entry, lists.source[at], column, smallest)
            if within:
                rows += lists.weight[at]
                pools.buckets[used], pools.bucket_total[used] = lists.source[at], rows
                used += 1
        pools.bucket_start[entry + 1] = used
        if rows == 0:
            return False
    return True


@njit(cache=True, nogil=True)
def _fill_intervals(lists: Lists, smallest: Floats, pools: Pools) -> bool:
    """Each column's intervals that lie within, from every list that has it."""
    columns, used = len(lists.own), 0
    for column in range(columns):
        rows = 0
        for entry in range(columns):
            if entry == columns - 1 - column:
                continue
            for at in range(lists.start[entry], lists.start[entry + 1]):
                source = lists.source[at]
                if _is_within(lists, entry, source, column, smallest):
                    rows += lists.weight[at]
                    pools.lower[used] = bound(lists, entry, source, column, 0)
                    pools.upper[used] = bound(lists, entry, source, column, 1)
                    pools.interval_total[used] = rows
                    used += 1
        pools.interval_start[column + 1] = used
        if rows == 0:
            return False
    return True


@njit(cache=True, nogil=True)
def _is_within(lists: Lists, entry: int, source: int, column: int, smallest: Floats) -> bool:
    lower = bound(lists, entry, source, column, 0)
    upper = bound(lists, entry, source, column, 1)
    return bool(smallest[column, 0] <= lower and upper <= smallest[column, 1])


@njit(cache=True, nogil=True)
def draw_row(lists: Lists, pools: Pools, turn: int, state: npt.NDArray[np.uint64], drawn: Floats) -> None:
    """Draw one row's intervals, (k, 2): a bucket of one list and an interval of the column it lacks.

    Args:
        lists: as for the pools.
        pools: what is drawn from.
        turn: number of the row; lists take turns.
        state: of the generator, (1,).
        drawn: filled.
    """
    columns = len(lists.own)
    entry = turn % columns
    missing = columns - 1 - entry
    at = _draw(pools.bucket_total, pools.bucket_start, entry, state)
    for column in range(columns):
        if column != missing:
            drawn[column, 0] = bound(lists, entry, pools.buckets[at], column, 0)
            drawn[column, 1] = bound(lists, entry, pools.buckets[at], column, 1)
    at = _draw(pools.interval_total, pools.interval_start, missing, state)
    drawn[missing, 0], drawn[missing, 1] = pools.lower[at], pools.upper[at]


@njit(cache=True, nogil=True)
def new_state(key: Secret, place: np.uint64) -> npt.NDArray[np.uint64]:
    """A generator that follows from the salt and a node's place."""
    return np.full(1, crypto(key, place ^ _DRAWS), np.uint64)


@njit(cache=True, nogil=True)
def _draw(total: Counts, start: Counts, pool: int, state: npt.NDArray[np.uint64]) -> int:
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
def _next(state: npt.NDArray[np.uint64]) -> np.uint64:
    """The next number of SplitMix64 (Steele, Lea and Flood 2014)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    mixed = state[0]
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.uint64(mixed ^ (mixed >> np.uint64(31)))
