"""Compiled intervals of a node: of its holders, and the half of it that may be shown.

In: a grown tree. Out: bounds in the columns' own units. Bounds of arrays are the caller's promise.
"""

from math import ldexp
from typing import NamedTuple

import numpy as np

from tasks.core.arrays import Floats, Ids, Words
from tasks.core.compiling.decorator import njit
from tasks.core.syndiffix.entity_kernels import Entities, Tally, count_entities, is_any_low
from tasks.core.syndiffix.node_kernels import (
    DEPTH,
    FIRST_CHILD,
    FLAGS,
    NO_NODE,
    ROWS,
    START,
    STUB,
    Nodes,
    TreeGrid,
    find_boundary,
)
from tasks.core.syndiffix.noise_kernels import Secret


class Grown(NamedTuple):
    """What a harvest needs of a tree.

    Attributes:
        nodes: as grown.
        grid: where its columns' values lie.
        noisy: count of each node.
        places: seed of each node's place.
        ranks: of the rows' values, (n, k).
        entities: whose the rows are.
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
    """The one value of a node's holders, or its snapped interval."""
    nodes, grid = grown.nodes, grown.grid
    if nodes.hull[node, column, 0] == nodes.hull[node, column, 1]:
        interval[:] = grid.values[grid.first[column] + nodes.hull[node, column, 0]]
    else:
        interval[0] = nodes.lower[node, column]
        interval[1] = interval[0] + ldexp(grid.size[column], -nodes.table[node, DEPTH])


@njit(cache=True, nogil=True)
def own_values(hull: Ids, grid: TreeGrid, values: Floats) -> None:
    """The least value of a node's holders in each column."""
    for column in range(len(values)):
        values[column] = grid.values[grid.first[column] + max(hull[column, 0], 0)]


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
    """Whether too few hold the lower and the upper half of a node in one column."""
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
