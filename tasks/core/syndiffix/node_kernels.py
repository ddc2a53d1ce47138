"""Compiled nodes of a tree: their place, their rows, and how one is divided.

A node's *corner* is where it lies in its parent: one bit for each column, the first column's the most
significant, set in the upper half. Bounds are the caller's promise.

    columns (age, income)           income
                              lower       upper          rows of one corner lie side by side in ``order``:
               lower age       00          01            parent   [ rows of 00 | 01 | 11 ]
               upper age       10          11            its children: three, as nobody is in 10
"""

from math import ldexp
from typing import NamedTuple

import numpy as np

from tasks.core.arrays import Floats, Ids, Integers
from tasks.core.compiling.decorator import njit

NO_NODE = -1  # no such node
LOW, STUB, LOW_AS_SUBNODE, SINGULARITY = 1, 2, 4, 8  # bits of a node's flags
START, ROWS, DEPTH, PARENT, CORNER, FIRST_CHILD, CHILDREN, FLAGS = range(8)  # of a node's table
_FIELDS = 8


class TreeGrid(NamedTuple):
    """Where the values of a tree's k columns lie.

    Attributes:
        values: the columns' sorted distinct values, one after the other.
        first: where each column's begin, int64 (k + 1,).
        lower: of the root, (k,).
        size: of the root, (k,).
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
        table: (N, 8), what the properties below name.
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

    @property
    def start(self) -> Ids:
        """Where each node's rows begin in ``order``."""
        return self.table[:, START]

    @property
    def rows(self) -> Ids:
        """How many rows each node has, passengers among them."""
        return self.table[:, ROWS]

    @property
    def depth(self) -> Ids:
        """0 for the root that the tree was grown from."""
        return self.table[:, DEPTH]

    @property
    def parent(self) -> Ids:
        """-1 for the root."""
        return self.table[:, PARENT]

    @property
    def corner(self) -> Ids:
        """Where each node lies in its parent."""
        return self.table[:, CORNER]

    @property
    def first_child(self) -> Ids:
        """-1 for a leaf."""
        return self.table[:, FIRST_CHILD]

    @property
    def children(self) -> Ids:
        """How many children each node has, side by side from the first."""
        return self.table[:, CHILDREN]

    @property
    def flags(self) -> Ids:
        """See `LOW` and the others."""
        return self.table[:, FLAGS]


@njit(cache=True, nogil=True)
def new_nodes(rows: int, columns: int) -> Nodes:
    """Room for nodes; all rows, in their order."""
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
    while low < high:
        between = (low + high) >> 1
        if grid.values[first + between] < middle:
            low = between + 1
        else:
            high = between
    return int(low)


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
    """Make the children of a node whose rows are sorted; how many nodes there are then."""
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
    """Which half of its parent's interval it is, by column."""
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
    """The first ``count`` nodes, with room for so many."""
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
