"""Compiled harvest of a tree: what of it may be published, from the leaves up (X3.1, X3.2).

Bounds of arrays are the caller's promise.

    a branch   has its children's entries, scaled to its own count; where they lack over half of its rows,
               they stay as they are, and the rows that they lack are missing
    a leaf     lacks all its rows; one that too few entities hold lacks none, and has no entry
    missing    of one column or of a single value: the node's own interval stands for everything
               else: drawn from what trees of fewer columns have (*refinement*)

Refinement: entry i of the subnodes has all columns but column k - 1 - i; a list has its buckets.

    columns age, sex, town      age          sex          town
    row 0: a bucket of entry 0  from it      from it      an interval from the list of entry 1 or 2
    row 1: a bucket of entry 1  from it      an interval  from it
    row 2: a bucket of entry 2  an interval  from it      from it            row 3: entry 0 again
"""

from math import ldexp
from typing import NamedTuple

import numpy as np

from tasks.core.arrays import Flags, Floats, Ids, Integers, Words
from tasks.core.compiling.decorator import njit
from tasks.core.random_kernels import state_word
from tasks.core.syndiffix.noise_kernels import (
    Entities,
    Secret,
    Tally,
    count_entities,
    is_any_low,
    new_tally,
    secret_seed,
)
from tasks.core.syndiffix.tree_kernels import (
    CHILDREN,
    DEPTH,
    FIRST_CHILD,
    FLAGS,
    LOW,
    NO_NODE,
    ROWS,
    SINGULARITY,
    START,
    STUB,
    Nodes,
    TreeGrid,
    find_boundary,
)


class Grown(NamedTuple):
    """What a harvest needs of a tree.

    Attributes:
        ranks: of the rows' values, (n, k).
        value_safe: whether nothing of a one-column tree is suppressed.
    """

    nodes: Nodes
    grid: TreeGrid
    noisy: Ids
    places: Words
    ranks: Ids
    entities: Entities
    value_safe: bool


@njit(cache=True, nogil=True)
def own_interval(grown: Grown, node: int, column: int, interval: Floats) -> None:
    nodes, grid = grown.nodes, grown.grid
    if nodes.hull[node, column, 0] == nodes.hull[node, column, 1]:
        interval[:] = grid.values[grid.first[column] + nodes.hull[node, column, 0]]
    else:
        interval[0] = nodes.lower[node, column]
        interval[1] = interval[0] + ldexp(grid.size[column], -nodes.table[node, DEPTH])


@njit(cache=True, nogil=True)
def is_single(hull: Ids, entry: int) -> bool:
    """Whether a node with this hull, (k, 2), has one value in each column of a subnode entry."""
    columns = len(hull)
    single = True
    for column in range(columns):
        single &= column == columns - 1 - entry or hull[column, 0] == hull[column, 1]
    return single


@njit(cache=True, nogil=True)
def snapped_limits(key: Secret, grown: Grown, node: int, tally: Tally) -> Floats:
    """The node's snapped intervals, (k, 2); of a stub, the half that has enough where only one has.

    Of ages from 32 to 64, with 40 entities below 48 and 1 from there on, 32 to 48 is left. With 40 and 30 it
    is 32 to 64, and with 1 and 1, too.
    """
    nodes = grown.nodes
    columns = nodes.lower.shape[1]
    found = np.empty((columns, 2), np.float64)
    halved = nodes.table[node, FLAGS] & STUB and nodes.table[node, FIRST_CHILD] == NO_NODE
    for column in range(columns):
        size = ldexp(grown.grid.size[column], -nodes.table[node, DEPTH])
        found[column, 0], found[column, 1] = nodes.lower[node, column], nodes.lower[node, column] + size
        if halved:
            lower_low, upper_low = _low_halves(key, grown, node, column, tally)
            if lower_low and not upper_low:
                found[column, 0] += size / 2
            elif upper_low and not lower_low:
                found[column, 1] -= size / 2
    return found


@njit(cache=True, nogil=True)
def _low_halves(key: Secret, grown: Grown, node: int, column: int, tally: Tally) -> tuple[bool, bool]:
    nodes = grown.nodes
    boundary = find_boundary(nodes, node, column, grown.grid)
    start, length = nodes.table[node, START], nodes.table[node, ROWS]
    lower, upper = np.empty(length, np.int32), np.empty(length, np.int32)
    below, above = 0, 0
    for row in nodes.order[start : start + length]:
        if grown.ranks[row, column] < boundary:
            lower[below] = row
            below += 1
        else:
            upper[above] = row
            above += 1
    count_entities(grown.entities, lower[:below], tally)
    lower_low = is_any_low(key, tally, key.low_threshold)
    count_entities(grown.entities, upper[:above], tally)
    return lower_low, is_any_low(key, tally, key.low_threshold)


_DRAWS = np.uint64(0x9E3779B97F4A7C15)  # tells the seed of the draws from the noise's


class Lists(NamedTuple):
    """The buckets of a node's k subnodes, list after list: what the node's rows may be made of.

    Attributes:
        start: where each list begins, (k + 1,).
        weight: rows of each bucket, (T,).
        lower: intervals by column, (T, k); without meaning in the column that the list lacks.
    """

    start: Integers
    weight: Ids
    lower: Floats
    upper: Floats


class Pools(NamedTuple):
    """What is drawn from.

    Attributes:
        bucket_total: rows up to and including each, within its list.
        bucket_start: (k + 1,), as is ``interval_start``.
        interval_total: rows up to and including each, within its column.
    """

    buckets: Ids
    bucket_total: Integers
    bucket_start: Integers
    intervals: Ids
    interval_total: Integers
    interval_start: Integers


@njit(cache=True, nogil=True)
def find_pools(lists: Lists, limits: Floats) -> tuple[bool, Pools]:
    """What rows of a node can be drawn from; False where a pool is empty. No list is empty.

    ``limits``: the node's compacted intervals, (k, 2).
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
    """Fill in one row's intervals, (k, 2): a bucket of one list and an interval of the column it lacks.

    ``turn`` is the row's number, as lists take turns.
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
def _draw(total: Integers, start: Integers, pool: int, state: Words) -> int:
    totals = total[start[pool] : start[pool + 1]]
    wanted = np.int64(state_word(state, 0) % np.uint64(totals[-1]))
    return int(start[pool] + np.searchsorted(totals, wanted, side="right"))


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
        used: how many entries and sources there are.
    """

    entries: Ids
    intervals: Floats
    used: Integers


@njit(cache=True, nogil=True)
def harvest(key: Secret, grown: Grown, below: Harvest) -> Harvest:
    """The buckets of each node: those of its children; of a leaf its own, refined by the trees below.

    ``below``: the harvests of its subtrees, side by side, as their subnodes are numbered; empty for k = 1.
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
            # Of a leaf that too few hold nothing may be shown.
            is_hidden = nodes.table[node, FLAGS] & LOW and not grown.value_safe
            missing = 0 if is_hidden else int(grown.noisy[node])
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
    # A generator that follows from the salt and the node's place.
    state = np.full(1, secret_seed(key, grown.places[node] ^ _DRAWS), np.uint64)
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
                for column in range(columns):
                    least = grown.grid.first[column] + max(nodes.hull[node, column, 0], 0)
                    lower[start[entry], column] = upper[start[entry], column] = grown.grid.values[least]
            else:
                first = below.first[nodes.subnodes[node, entry]]
                _copy_list(below, first, entry, weight[part], lower[part], upper[part])
    return complete, Lists(start, weight, lower, upper)


@njit(cache=True, nogil=True)
def _copy_list(below: Harvest, first: int, entry: int, weight: Ids, lower: Floats, upper: Floats) -> None:
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
