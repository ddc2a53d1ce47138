"""Compiled harvest of a tree: what of it may be published, from the leaves up (syndiffix.md 3.1, 3.2).

In: a grown tree, and the harvests of the trees of one column less. Out: a `Harvest`. Bounds are the caller's
promise.

    a branch   has its children's entries, scaled to its own count; where they lack over half of its rows,
               they stay as they are, and the rows that they lack are missing
    a leaf     lacks all its rows; one that too few entities hold lacks none, and has no entry
    missing    of one column or of a single value: the node's own interval stands for everything
               else: drawn from what trees of fewer columns have (`refine_kernels`)
"""

from typing import NamedTuple

import numpy as np

from tasks.core.arrays import Floats, Ids, Integers
from tasks.core.compiling.decorator import njit
from tasks.core.syndiffix.cell_kernels import Grown, is_single, own_interval, own_values, snapped_limits
from tasks.core.syndiffix.entity_kernels import Tally, new_tally
from tasks.core.syndiffix.node_kernels import (
    CHILDREN,
    FIRST_CHILD,
    FLAGS,
    LOW,
    NO_NODE,
    SINGULARITY,
)
from tasks.core.syndiffix.noise_kernels import Secret
from tasks.core.syndiffix.refine_kernels import Lists, draw_row, find_pools, new_state


class Harvest(NamedTuple):
    """The buckets of every node of a tree over k columns.

    Attributes:
        first: where each node's entries begin, (N,).
        length: how many it has, (N,).
        source: which interval an entry has; several nodes have the same one with other counts.
        weight: rows of each entry, at least 1.
        lower: of the intervals, (S, k); equal to ``upper`` where it is a single value.
        upper: (S, k).
    """

    first: Ids
    length: Ids
    source: Ids
    weight: Ids
    lower: Floats
    upper: Floats


class Yield(NamedTuple):
    """A harvest that is being gathered, and room for it.

    Attributes:
        entries: source and count of each entry, (room, 2).
        intervals: lower and upper bounds of the sources, (room, k, 2).
        used: how many entries and sources there are, (2,).
    """

    entries: Ids
    intervals: Floats
    used: Integers


@njit(cache=True, nogil=True)
def harvest(key: Secret, grown: Grown, below: Harvest) -> Harvest:
    """The buckets of each node: those of its children; of a leaf its own, refined by the trees below.

    Args:
        key: of the noise.
        grown: the tree.
        below: the harvests of its subtrees, side by side, as their subnodes are numbered; empty for k = 1.
    """
    nodes = grown.nodes
    number, columns = nodes.lower.shape
    first, length = np.zeros(number, np.int32), np.zeros(number, np.int32)
    gathered = Yield(
        np.empty((64, 2), np.int32), np.empty((64, columns, 2), np.float64), np.zeros(2, np.int64)
    )
    tally = new_tally(grown.entities)
    for node in range(number - 1, -1, -1):
        first[node] = gathered.used[0]
        if nodes.table[node, FIRST_CHILD] != NO_NODE:
            gathered, missing = _gather_children(grown, node, first, length, gathered)
        else:
            missing = _published(grown, node)
        if missing and (columns == 1 or nodes.table[node, FLAGS] & SINGULARITY):
            gathered.used[0] = first[node]  # the node's own interval takes the place of all
            gathered = _add_own(grown, node, grown.noisy[node], gathered)
        elif missing:
            gathered = _refine(key, grown, node, missing, below, gathered, tally)
        length[node] = gathered.used[0] - first[node]
    entries, intervals = gathered.entries, gathered.intervals[: gathered.used[1]]
    return Harvest(
        first,
        length,
        entries[: gathered.used[0], 0].copy(),
        entries[: gathered.used[0], 1].copy(),
        intervals[:, :, 0].copy(),
        intervals[:, :, 1].copy(),
    )


@njit(cache=True, nogil=True)
def _published(grown: Grown, node: int) -> int:
    """How many rows of a leaf may be shown."""
    if grown.nodes.table[node, FLAGS] & LOW and not grown.value_safe:
        return 0
    return int(grown.noisy[node])


@njit(cache=True, nogil=True)
def _gather_children(grown: Grown, node: int, first: Ids, length: Ids, gathered: Yield) -> tuple[Yield, int]:
    """The children's entries, scaled to the branch's count; or as they are where over half is missing."""
    children = grown.nodes.table[node, FIRST_CHILD]
    last = children + grown.nodes.table[node, CHILDREN]
    total, entries = 0, 0
    for child in range(children, last):
        entries += length[child]
        for at in range(first[child], first[child] + length[child]):
            total += gathered.entries[at, 1]
    noisy = int(grown.noisy[node])
    missing = noisy - total if 2 * total < noisy else 0
    ratio = 1.0 if missing else noisy / total
    gathered = _with_room(gathered, entries, 0)
    # What rounding down leaves is carried on, so that the sum stays near the branch's count: 2.6 3.7 1.1
    # become 2 4 1.
    used, error = gathered.used[0], 0.0
    for child in range(children, last):
        for at in range(first[child], first[child] + length[child]):
            scaled = gathered.entries[at, 1] * ratio
            error += scaled - np.floor(scaled)
            carried = np.int64(error > 1.0)
            error -= carried
            count = np.int64(np.floor(scaled)) + carried
            if count:
                gathered.entries[used, 0] = gathered.entries[at, 0]
                gathered.entries[used, 1] = count
                used += 1
    gathered.used[0] = used
    return gathered, missing


@njit(cache=True, nogil=True)
def _refine(
    key: Secret,
    grown: Grown,
    node: int,
    rows: int,
    below: Harvest,
    gathered: Yield,
    tally: Tally,
) -> Yield:
    """Add rows of a node that the trees of fewer columns know better; its own interval if they don't."""
    complete, lists = _lists(grown, node, below)
    if not complete:
        return _add_own(grown, node, rows, gathered)
    found, pools = find_pools(lists, snapped_limits(key, grown, node, tally))
    if not found:
        return _add_own(grown, node, rows, gathered)
    gathered = _with_room(gathered, rows, rows)
    state = new_state(key, grown.places[node])
    for turn in range(rows):
        entry, source = gathered.used
        draw_row(lists, pools, turn, state, gathered.intervals[source])
        gathered.entries[entry, 0], gathered.entries[entry, 1] = source, 1
        gathered.used[0] += 1
        gathered.used[1] += 1
    return gathered


@njit(cache=True, nogil=True)
def _lists(grown: Grown, node: int, below: Harvest) -> tuple[bool, Lists]:
    """The buckets of each subnode, and whether all have some; of a single value, the value."""
    nodes = grown.nodes
    columns = nodes.lower.shape[1]
    start = np.zeros(columns + 1, np.int64)
    complete = True
    for entry in range(columns):
        subnode = nodes.subnodes[node, entry]
        size = 1 if is_single(nodes.hull[node], entry) else 0 if subnode == NO_NODE else below.length[subnode]
        start[entry + 1] = start[entry] + size
        complete &= size > 0
    total = start[-1]
    weight = np.empty(total, np.int32)
    lower, upper = np.empty((total, columns), np.float64), np.empty((total, columns), np.float64)
    if complete:
        for entry in range(columns):
            part = slice(start[entry], start[entry + 1])
            if is_single(nodes.hull[node], entry):
                weight[start[entry]] = grown.noisy[node]
                own_values(nodes.hull[node], grown.grid, lower[start[entry]])
                for column in range(columns):
                    upper[start[entry], column] = lower[start[entry], column]
            else:
                first = below.first[nodes.subnodes[node, entry]]
                _copy_list(below, first, entry, weight[part], lower[part], upper[part])
    return complete, Lists(start, weight, lower, upper)


@njit(cache=True, nogil=True)
def _copy_list(below: Harvest, first: int, entry: int, weight: Ids, lower: Floats, upper: Floats) -> None:
    """A subnode's buckets, with a place for the column that it lacks."""
    missing = lower.shape[1] - 1 - entry
    for at in range(len(weight)):
        source = below.source[first + at]
        weight[at] = below.weight[first + at]
        for column in range(lower.shape[1] - 1):
            place = column + 1 if column >= missing else column
            lower[at, place], upper[at, place] = below.lower[source, column], below.upper[source, column]
        lower[at, missing] = upper[at, missing] = 0.0


@njit(cache=True, nogil=True)
def _add_own(grown: Grown, node: int, count: int, gathered: Yield) -> Yield:
    """Add one entry of the node's own intervals."""
    gathered = _with_room(gathered, 1, 1)
    entry, source = gathered.used
    for column in range(gathered.intervals.shape[1]):
        own_interval(grown, node, column, gathered.intervals[source, column])
    gathered.entries[entry, 0], gathered.entries[entry, 1] = source, count
    gathered.used[0] += 1
    gathered.used[1] += 1
    return gathered


@njit(cache=True, nogil=True)
def _with_room(gathered: Yield, entries: int, sources: int) -> Yield:
    kept, intervals, used = gathered
    if used[0] + entries > len(kept):
        kept = np.empty((2 * (used[0] + entries), 2), np.int32)
        for entry in range(used[0]):
            for place in range(2):
                kept[entry, place] = gathered.entries[entry, place]
    if used[1] + sources > len(intervals):
        intervals = np.empty((2 * (used[1] + sources), intervals.shape[1], 2), np.float64)
        for source in range(used[1]):
            for column in range(intervals.shape[1]):
                for side in range(2):
                    intervals[source, column, side] = gathered.intervals[source, column, side]
    return Yield(kept, intervals, used)
