"""Compiled growth of a tree, one level of halves at a time, and the walk through the trees of two columns.

Out come `Nodes`, parents before children, siblings side by side in the order of their index. Bounds are the
caller's promise.

A node's *corner* is where it lies in its parent: one bit for each column, the first column's the most
significant, set in the upper half.

    columns (age, income)           income
                              lower       upper          rows of one corner lie side by side in ``order``:
               lower age       00          01            parent   [ rows of 00 | 01 | 11 ]
               upper age       10          11            its children: three, as nobody is in 10

Rows outside of a root interval are *passengers*: they go along and are counted, but whether a node is divided
or suppressed, and what its hull is, follows from the others, its *holders*.

    SINGULARITY       its holders have one value in every column
    STUB              every subnode is missing or LOW_AS_SUBNODE: trees of fewer columns know no more
    LOW               too few entities hold it, by the low-count filter
    LOW_AS_SUBNODE    a stub, or too few by the threshold of a single value, or of a range
    a leaf            STUB, SINGULARITY, too few rows for its depth, or LOW unless ``value_safe``
    a branch          every other: halved in all its columns at once

`walk` compares the counts of two columns' tree with independent ones (X3.4; oracle:
tests/oracles/syndiffix_dependence.py):

    tree of age: node 400 of 1000      tree of income: node 300 of 1000
    expected in both, were they independent: 120        tree of both: 180
    score |120 - 180| / 180 = 0.33, weighed by 120; then the four pairs of their halves are looked at
"""

from math import ldexp
from typing import NamedTuple

import numpy as np

from tasks.core.arrays import Floats, Ids, Integers, Words
from tasks.core.compiling.decorator import njit
from tasks.core.syndiffix.intervals import Interval
from tasks.core.syndiffix.noise_kernels import Entities, Secret, Tally, count_entities, is_any_low, new_tally

NO_NODE = -1  # no such node
LOW, STUB, LOW_AS_SUBNODE, SINGULARITY = 1, 2, 4, 8  # bits of a node's flags
START, ROWS, DEPTH, PARENT, CORNER, FIRST_CHILD, CHILDREN, FLAGS = range(8)  # of a node's table
_FIELDS = 8


class TreeGrid(NamedTuple):
    """Where the values of a tree's k columns lie.

    Attributes:
        values: the columns' sorted distinct values, one after the other.
        first: where each column's begin, int64 (k + 1,).
        lower: of the root, (k,), as is ``size``.
    """

    values: Floats
    first: Integers
    lower: Floats
    size: Floats


class Subtrees(NamedTuple):
    """The trees without one of the columns, one after the other.

    Attributes:
        root: by subnode entry, (k,): entry i leaves out column k - 1 - i. Empty for one column.
        table: as of `Nodes`; only the numbers of children are those of all trees together.
    """

    root: Ids
    table: Ids


class Nodes(NamedTuple):
    """A tree of N nodes over k columns; node 0 is the root it was grown from.

    Attributes:
        order: rows (n,), those of a node side by side.
        table: (N, 8): where its rows begin in ``order``, how many they are (passengers among them), depth,
            parent (-1 for the root), corner in it, first child (-1 for a leaf), number of children, which are
            side by side, flags.
        subnodes: (N, k), by entry; -1 for none.
        window: ranks of the values in its snapped interval, (N, k, 2), half-open.
        hull: least and greatest rank of its holders, (N, k, 2).
        lower: of its snapped interval, (N, k).
    """

    order: Ids
    table: Ids
    subnodes: Ids
    window: Ids
    hull: Ids
    lower: Floats


@njit(cache=True, nogil=True)
def new_nodes(rows: int, columns: int) -> Nodes:
    room = 64
    return Nodes(
        np.arange(rows).astype(np.int32),
        np.empty((room, _FIELDS), np.int32),
        # Trees are stored: of one column nobody sets it, and whatever was in memory would go with them.
        np.full((room, columns), NO_NODE, np.int32),
        np.empty((room, columns, 2), np.int32),
        np.empty((room, columns, 2), np.int32),
        np.empty((room, columns), np.float64),
    )


@njit(cache=True, nogil=True)
def middle_of(nodes: Nodes, node: int, column: int, grid: TreeGrid) -> float:
    """Where a node's snapped interval is halved; where no float lies within, the next float."""
    lower = nodes.lower[node, column]
    middle = lower + ldexp(grid.size[column], -nodes.table[node, DEPTH] - 1)
    return float(middle if middle > lower else np.nextafter(lower, np.inf))


@njit(cache=True, nogil=True)
def find_boundary(nodes: Nodes, node: int, column: int, grid: TreeGrid) -> int:
    """The rank from which on a column's values are in the upper half of the node's snapped interval."""
    middle = middle_of(nodes, node, column, grid)
    low, high = nodes.window[node, column, 0], nodes.window[node, column, 1]
    first = grid.first[column]
    return int(low + np.searchsorted(grid.values[first + low : first + high], middle))


@njit(cache=True, nogil=True)
def sort_rows(nodes: Nodes, node: int, ranks: Ids, boundary: Ids, spare: Ids, place: Ids) -> None:
    """Put the node's rows in the order of their children, whose indices are left in ``place``; stable."""
    start, end = nodes.table[node, START], nodes.table[node, START] + nodes.table[node, ROWS]
    columns = len(boundary)
    order = nodes.order
    every, some = np.int32(-1), np.int32(0)
    for at in range(start, end):
        row, index = order[at], np.int32(0)
        for column in range(columns):
            index = np.int32((index << 1) | np.int32(ranks[row, column] >= boundary[column]))
        place[at] = index
        every &= index
        some |= index
    differing = some & ~every
    for bit in range(columns):
        if differing >> bit & 1:
            _sort_by_bit(order, place, spare, start, end, bit)


@njit(cache=True, nogil=True)
def _sort_by_bit(order: Ids, place: Ids, spare: Ids, start: int, end: int, bit: int) -> None:
    """One pass of a radix sort: those without the bit first, both parts in the order they had."""
    kept, taken = start, 0
    for at in range(start, end):
        if place[at] >> bit & 1:
            spare[0, taken] = order[at]
            spare[1, taken] = place[at]
            taken += 1
        else:
            order[kept] = order[at]
            place[kept] = place[at]
            kept += 1
    for at in range(taken):
        order[kept + at] = spare[0, at]
        place[kept + at] = spare[1, at]


@njit(cache=True, nogil=True)
def divide(
    nodes: Nodes,
    node: int,
    count: int,
    place: Ids,
    boundary: Ids,
    grid: TreeGrid,
    subtrees: Subtrees,
) -> int:
    """Make the children of a node whose rows are sorted; returns how many nodes there are then."""
    start, end = nodes.table[node, START], nodes.table[node, START] + nodes.table[node, ROWS]
    nodes.table[node, FIRST_CHILD] = count
    while start < end:
        stop = start + 1
        while stop < end and place[stop] == place[start]:
            stop += 1
        nodes.table[count, START], nodes.table[count, ROWS] = start, stop - start
        nodes.table[count, PARENT], nodes.table[count, CORNER] = node, place[start]
        nodes.table[count, DEPTH] = nodes.table[node, DEPTH] + 1
        nodes.table[count, FIRST_CHILD], nodes.table[count, CHILDREN] = NO_NODE, 0
        _place_child(nodes, node, count, boundary, grid)
        _find_subnodes(nodes, node, count, subtrees)
        start = stop
        count += 1
    nodes.table[node, CHILDREN] = count - nodes.table[node, FIRST_CHILD]
    return count


@njit(cache=True, nogil=True)
def _place_child(nodes: Nodes, node: int, child: int, boundary: Ids, grid: TreeGrid) -> None:
    columns = len(boundary)
    for column in range(columns):
        upper = nodes.table[child, CORNER] >> (columns - 1 - column) & 1
        nodes.lower[child, column] = nodes.lower[node, column]
        nodes.window[child, column, 0] = nodes.window[node, column, 0]
        nodes.window[child, column, 1] = nodes.window[node, column, 1]
        if upper:
            nodes.lower[child, column] = middle_of(nodes, node, column, grid)
        nodes.window[child, column, 1 - upper] = boundary[column]


@njit(cache=True, nogil=True)
def _find_subnodes(nodes: Nodes, node: int, child: int, subtrees: Subtrees) -> None:
    """In each subtree the child of the parent's subnode that holds this one.

    Its corner is this node's without the bit of the column that the subtree lacks:

        columns a b c, corner 1 0 1     entry 0 lacks c: 1 0     entry 1 lacks b: 1 1     entry 2 lacks a: 0 1
    """
    index = nodes.table[child, CORNER]
    for entry in range(len(subtrees.root)):
        above = nodes.subnodes[node, entry]
        nodes.subnodes[child, entry] = NO_NODE
        if above == NO_NODE:
            continue
        wanted = (index >> (entry + 1) << entry) | (index & ((1 << entry) - 1))
        first = subtrees.table[above, FIRST_CHILD]
        for other in range(first, first + subtrees.table[above, CHILDREN]):
            if subtrees.table[other, CORNER] == wanted:
                nodes.subnodes[child, entry] = other


@njit(cache=True, nogil=True)
def with_room(nodes: Nodes, room: int, count: int) -> Nodes:
    columns = nodes.lower.shape[1]
    table, subnodes = np.empty((room, _FIELDS), np.int32), np.full((room, columns), NO_NODE, np.int32)
    window, hull = np.empty((room, columns, 2), np.int32), np.empty((room, columns, 2), np.int32)
    lower = np.empty((room, columns), np.float64)
    for node in range(count):
        for field in range(_FIELDS):
            table[node, field] = nodes.table[node, field]
        for column in range(columns):
            subnodes[node, column] = nodes.subnodes[node, column]
            lower[node, column] = nodes.lower[node, column]
            for side in range(2):
                window[node, column, side] = nodes.window[node, column, side]
                hull[node, column, side] = nodes.hull[node, column, side]
    return Nodes(nodes.order, table, subnodes, window, hull, lower)


class SplitRule(NamedTuple):
    """When a node is divided.

    Attributes:
        depth_threshold: deeper nodes need ``row_limit`` rows.
        row_limit: rows; 0 where there is no limit.
        value_safe: whether a tree of one column divides what the filter would suppress.
    """

    singularity_threshold: int
    range_threshold: int
    depth_threshold: int
    row_limit: int
    value_safe: bool


@njit(cache=True, nogil=True)
def grow(
    key: Secret, ranks: Ids, entities: Entities, grid: TreeGrid, rule: SplitRule, subtrees: Subtrees
) -> Nodes:
    """Grow a tree; ``ranks`` of each row's values are C-contiguous (n, k), ``subtrees`` were grown before."""
    rows, columns = ranks.shape
    nodes = new_nodes(rows, columns)
    tally = new_tally(entities)
    spare, place = np.empty((2, rows), np.int32), np.empty(rows, np.int32)
    boundary = np.empty(columns, np.int32)
    _plant(nodes, grid, subtrees, ranks, entities)
    count, node = 1, 0
    while node < count:
        if _is_branch(key, nodes, node, entities, rule, subtrees, tally):
            for column in range(columns):
                boundary[column] = find_boundary(nodes, node, column, grid)
            sort_rows(nodes, node, ranks, boundary, spare, place)
            most = count + min(nodes.table[node, ROWS], 1 << columns)
            if most > len(nodes.table):
                nodes = with_room(nodes, 2 * most, count)
            count = divide(nodes, node, count, place, boundary, grid, subtrees)
            for child in range(nodes.table[node, FIRST_CHILD], count):
                _find_hull(nodes, child, ranks, entities)
        node += 1
    return with_room(nodes, count, count)


@njit(cache=True, nogil=True)
def _plant(nodes: Nodes, grid: TreeGrid, subtrees: Subtrees, ranks: Ids, entities: Entities) -> None:
    nodes.table[0, :] = 0
    nodes.table[0, PARENT] = nodes.table[0, FIRST_CHILD] = NO_NODE
    nodes.table[0, ROWS] = len(ranks)
    for column in range(ranks.shape[1]):
        nodes.window[0, column, 0] = 0
        nodes.window[0, column, 1] = grid.first[column + 1] - grid.first[column]
        nodes.lower[0, column] = grid.lower[column]
    for entry in range(len(subtrees.root)):
        nodes.subnodes[0, entry] = subtrees.root[entry]
    _find_hull(nodes, 0, ranks, entities)


@njit(cache=True, nogil=True)
def _find_hull(nodes: Nodes, node: int, ranks: Ids, entities: Entities) -> None:
    """The least and greatest rank of its holders, by column; the other way round where there are none."""
    columns = ranks.shape[1]
    hull = nodes.hull[node]
    for column in range(columns):
        hull[column, 0], hull[column, 1] = nodes.window[node, column, 1], -1
    for at in range(nodes.table[node, START], nodes.table[node, START] + nodes.table[node, ROWS]):
        row = nodes.order[at]
        if entities.outside[row]:
            continue
        for column in range(columns):
            rank = ranks[row, column]
            hull[column, 0] = min(hull[column, 0], rank)
            hull[column, 1] = max(hull[column, 1], rank)
    singular = True
    for column in range(columns):
        singular &= hull[column, 0] == hull[column, 1]
    nodes.table[node, FLAGS] = SINGULARITY if singular else 0


@njit(cache=True, nogil=True)
def _is_branch(
    key: Secret,
    nodes: Nodes,
    node: int,
    entities: Entities,
    rule: SplitRule,
    subtrees: Subtrees,
    tally: Tally,
) -> bool:
    """Whether a node is to be divided; sets its flags."""
    if _is_stub(nodes, node, subtrees):
        nodes.table[node, FLAGS] |= STUB
    find_flags(key, nodes, node, entities, rule, tally)
    flags = nodes.table[node, FLAGS]
    needed = rule.row_limit if nodes.table[node, DEPTH] > rule.depth_threshold else 0
    if flags & (STUB | SINGULARITY) or tally.rows[0] < needed:
        return False
    return rule.value_safe or not flags & LOW


@njit(cache=True, nogil=True)
def find_flags(
    key: Secret, nodes: Nodes, node: int, entities: Entities, rule: SplitRule, tally: Tally
) -> None:
    """Set whether too few hold a node, by itself and as a subnode; whether it is a stub is kept."""
    count_entities(
        entities,
        nodes.order[nodes.table[node, START] : nodes.table[node, START] + nodes.table[node, ROWS]],
        tally,
    )
    flags = np.int64(nodes.table[node, FLAGS]) & (STUB | SINGULARITY)
    if is_any_low(key, tally, key.low_threshold):
        flags |= LOW
    threshold = rule.singularity_threshold if flags & SINGULARITY else rule.range_threshold
    if flags & STUB or is_any_low(key, tally, threshold):
        flags |= LOW_AS_SUBNODE
    nodes.table[node, FLAGS] = flags


@njit(cache=True, nogil=True)
def _is_stub(nodes: Nodes, node: int, subtrees: Subtrees) -> bool:
    for entry in range(len(subtrees.root)):
        subnode = nodes.subnodes[node, entry]
        if subnode != NO_NODE and not subtrees.table[subnode, FLAGS] & LOW_AS_SUBNODE:
            return False
    return len(subtrees.root) > 0


class Tree(NamedTuple):
    """A grown tree over k columns.

    Attributes:
        nodes: as grown; those that are not below ``root`` are of no concern.
        root: node number; 0 unless it was pushed down.
        noisy: rows of each node, with noise, at least 1, int32 (N,).
        places: the seed of each node's place, uint64 (N,).
    """

    grid: TreeGrid
    nodes: Nodes
    root: int
    noisy: Ids
    places: Words

    @property
    def root_interval(self) -> Interval:
        size = float(np.ldexp(self.grid.size[0], -int(self.nodes.table[self.root, DEPTH])))
        lower = float(self.nodes.lower[self.root, 0])
        return Interval(lower, lower + size)


@njit(cache=True, nogil=True)
def walk(first: Tree, second: Tree, both: Tree, least: int, few: float) -> float:
    """The dependence of two columns, from 0 to 1; rows of the table are those that the pair's root counts.

    Args:
        least: noisy rows; smaller nodes of one column are not looked at.
        few: rows; where fewer are expected of a pair of nodes it is not looked at: it is missing whether or
            not the columns depend on each other, as so few are not shown.
    """
    pending = [(first.root, second.root, both.root)]
    rows = float(both.noisy[both.root])
    weights, scores, is_root = 0.0, 0.0, True
    while pending:
        one, other, pair = pending.pop()
        if min(first.noisy[one], second.noisy[other]) < least:
            continue
        expected = float(first.noisy[one]) * float(second.noisy[other]) / rows
        if expected < few:
            continue
        actual = float(both.noisy[pair]) if pair != NO_NODE else 0.0
        if not is_root:
            weights += expected
            scores += expected * abs(expected - actual) / max(expected, actual)
        is_root = False
        single, other_single = _is_single(first.nodes, one), _is_single(second.nodes, other)
        if single and other_single:
            continue
        for half in range(2):
            child = _child(first, one, single, half, both, pair, 0)
            if child == NO_NODE:
                continue
            for other_half in range(2):
                other_child = _child(second, other, other_single, other_half, both, pair, 1)
                if other_child != NO_NODE:
                    below = _find_corner(both.nodes, pair, 2 * half + other_half)
                    pending.append((child, other_child, below))
    return scores / weights if weights else 0.0


@njit(cache=True, nogil=True)
def _is_single(nodes: Nodes, node: int) -> bool:
    return bool(nodes.hull[node, 0, 0] == nodes.hull[node, 0, 1])


@njit(cache=True, nogil=True)
def _child(tree: Tree, node: int, single: bool, half: int, both: Tree, pair: int, column: int) -> int:
    if not single:
        return _find_corner(tree.nodes, node, half)
    if pair == NO_NODE:
        return node if half == 0 else NO_NODE  # anywhere, once: there is no pair to look up
    middle = middle_of(both.nodes, pair, column, both.grid)
    value = tree.grid.values[tree.nodes.hull[node, 0, 0]]
    return node if (value >= middle) == (half == 1) else NO_NODE


@njit(cache=True, nogil=True)
def _find_corner(nodes: Nodes, node: int, corner: int) -> int:
    if node == NO_NODE:
        return NO_NODE
    first = nodes.table[node, FIRST_CHILD]
    for child in range(first, first + nodes.table[node, CHILDREN]):
        if nodes.table[child, CORNER] == corner:
            return int(child)
    return NO_NODE
