"""Compiled walk through the trees of two columns and of both: how far their counts are from independent ones.

In: three grown trees with noisy counts. Out: a dependence (syndiffix.md 3.4; oracle:
tests/oracles/syndiffix_dependence.py). Bounds are the caller's promise.

    tree of age: node 400 of 1000      tree of income: node 300 of 1000
    expected in both, were they independent: 120        tree of both: 180
    score |120 - 180| / 180 = 0.33, weighed by 120; then the four pairs of their halves are looked at
"""

from typing import NamedTuple

from tasks.core.arrays import Ids
from tasks.core.compiling.decorator import njit
from tasks.core.syndiffix.node_kernels import (
    CHILDREN,
    CORNER,
    FIRST_CHILD,
    NO_NODE,
    Nodes,
    TreeGrid,
    middle_of,
)


class Walked(NamedTuple):
    """A tree as the walk sees it."""

    nodes: Nodes
    grid: TreeGrid
    noisy: Ids
    root: int


@njit(cache=True, nogil=True)
def walk(first: Walked, second: Walked, both: Walked, least: int, few: float) -> float:
    """The dependence of two columns, from 0 to 1; rows of the table are those that the pair's root counts.

    Args:
        first: the tree of the column with the smaller number.
        second: of the other.
        both: of the pair.
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
def _child(tree: Walked, node: int, single: bool, half: int, both: Walked, pair: int, column: int) -> int:
    """A column's node in one half of the pair's: a child, or the single value itself where it lies."""
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
