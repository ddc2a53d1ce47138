"""Compiled growth of one tree: rows go from the root to the leaves, one level of halves at a time.

In: the rows' ranks among each column's sorted values, and who they belong to. Out: `Nodes`, parents before
children, siblings side by side in the order of their index. Bounds are the caller's promise.

Rows outside of a root interval are *passengers*: they go along and are counted, but
whether a node is divided or suppressed, and what its hull is, follows from the others, its *holders*.

    SINGULARITY       its holders have one value in every column
    STUB              every subnode is missing or LOW_AS_SUBNODE: trees of fewer columns know no more
    LOW               too few entities hold it, by the low-count filter
    LOW_AS_SUBNODE    a stub, or too few by the threshold of a single value, or of a range
    a leaf            STUB, SINGULARITY, too few rows for its depth, or LOW unless ``value_safe``
    a branch          every other: halved in all its columns at once
"""

from typing import NamedTuple

import numpy as np

from tasks.core.arrays import Ids
from tasks.core.compiling.decorator import njit
from tasks.core.syndiffix.entity_kernels import Entities, Tally, count_entities, is_any_low, new_tally
from tasks.core.syndiffix.node_kernels import (
    DEPTH,
    FIRST_CHILD,
    FLAGS,
    LOW,
    LOW_AS_SUBNODE,
    NO_NODE,
    PARENT,
    ROWS,
    SINGULARITY,
    START,
    STUB,
    Nodes,
    Subtrees,
    TreeGrid,
    divide,
    find_boundary,
    new_nodes,
    sort_rows,
    with_room,
)
from tasks.core.syndiffix.noise_kernels import Secret


class SplitRule(NamedTuple):
    """When a node is divided.

    Attributes:
        singularity_threshold: entities of a subnode of a single value that counts.
        range_threshold: the same for a subnode of a range.
        depth_threshold: deeper nodes need ``row_limit`` rows.
        row_limit: rows; 0 where there is no limit.
        value_safe: whether a tree of one column divides what the filter would suppress.
        by_arrival: as the reference's port has it: divided where any beginning of the rows would be.
    """

    singularity_threshold: int
    range_threshold: int
    depth_threshold: int
    row_limit: int
    value_safe: bool
    by_arrival: bool


@njit(cache=True, nogil=True)
def grow(
    key: Secret, ranks: Ids, entities: Entities, grid: TreeGrid, rule: SplitRule, subtrees: Subtrees
) -> Nodes:
    """Grow a tree.

    Args:
        key: of the noise.
        ranks: of each row's values, C-contiguous (n, k).
        entities: who the rows belong to, and which are passengers.
        grid: the columns' values and root intervals.
        rule: when a node is divided.
        subtrees: must have been grown before.
    """
    rows, columns = ranks.shape
    nodes = new_nodes(rows, columns)
    tally = new_tally(entities)
    spare, place = np.empty((2, rows), np.int32), np.empty(rows, np.int32)
    boundary = np.empty(columns, np.int32)
    _plant(nodes, grid, subtrees, ranks, entities)
    count, node = 1, 0
    while node < count:
        if _is_branch(key, nodes, node, ranks, entities, rule, subtrees, tally):
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
    ranks: Ids,
    entities: Entities,
    rule: SplitRule,
    subtrees: Subtrees,
    tally: Tally,
) -> bool:
    """Whether a node is to be divided; sets its flags."""
    rows = nodes.order[nodes.table[node, START] : nodes.table[node, START] + nodes.table[node, ROWS]]
    if _is_stub(nodes, node, subtrees):
        nodes.table[node, FLAGS] |= STUB
    find_flags(key, nodes, node, entities, rule, tally)
    flags = nodes.table[node, FLAGS]
    needed = rule.row_limit if nodes.table[node, DEPTH] > rule.depth_threshold else 0
    if flags & (STUB | SINGULARITY) or tally.rows[0] < needed:
        return False
    if rule.by_arrival:
        return _was_divided(key, rows, ranks, entities, rule, tally, needed)
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


@njit(cache=True, nogil=True)
def _was_divided(
    key: Secret,
    rows: Ids,
    ranks: Ids,
    entities: Entities,
    rule: SplitRule,
    tally: Tally,
    needed: int,
) -> bool:
    """Whether some beginning of the rows, in their order, would have been divided."""
    singular = True
    for length in range(2, len(rows) + 1):
        for column in range(ranks.shape[1]):
            singular &= ranks[rows[length - 1], column] == ranks[rows[0], column]
        if singular or length < needed:
            continue
        count_entities(entities, rows[:length], tally)
        if rule.value_safe or not is_any_low(key, tally, key.low_threshold):
            return True
    return False
