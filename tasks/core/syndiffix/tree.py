"""One tree: every row of some columns in ever smaller cells, with noisy counts (syndiffix.md 2.5, 2.6).

In: ranked columns, whose the rows are, the trees of fewer columns. Out: a `Tree`, all of whose counts that
may be published are noisy; whether a cell may be is decided where buckets are harvested.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import xor

import numpy as np

from tasks.core.arrays import Flags, Floats, Ids, Words
from tasks.core.syndiffix.entity_kernels import Entities, new_tally, noisy_counts
from tasks.core.syndiffix.hashing import PlaceHashes, hash_string
from tasks.core.syndiffix.intervals import Interval
from tasks.core.syndiffix.node_kernels import FIRST_CHILD, LOW, NO_NODE, Nodes, Subtrees, TreeGrid
from tasks.core.syndiffix.noise_kernels import Secret
from tasks.core.syndiffix.tree_kernels import SplitRule, find_flags, grow


@dataclass(frozen=True)
class RankedColumn:
    """A column as the trees need it.

    Attributes:
        name: its header; a part of every seed.
        distinct: sorted distinct values, nulls mapped.
        ranks: of each row's value among them, int32 (n,).
        interval: of the root; after push-down, of the root that is left.
        outside: (n,), rows that were pushed down.
    """

    name: str
    distinct: Floats
    ranks: Ids
    interval: Interval
    outside: Flags


@dataclass(frozen=True)
class Tree:
    """A grown tree over k columns.

    Attributes:
        grid: where its columns' values lie.
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
        """The snapped interval of a one-column tree's root."""
        size = float(np.ldexp(self.grid.size[0], -int(self.nodes.depth[self.root])))
        lower = float(self.nodes.lower[self.root, 0])
        return Interval(lower, lower + size)


@dataclass(frozen=True)
class ForestGrowth:
    """What all trees of a forest have in common.

    Attributes:
        key: of the noise.
        entities: whose the rows are; without passengers.
        rule: when a node is divided; ``row_limit`` and ``value_safe`` are a tree's own.
        hashes: of places.
    """

    key: Secret
    entities: Entities
    rule: SplitRule
    hashes: PlaceHashes


def grow_tree(
    columns: Sequence[RankedColumn], below: Sequence[Tree], rule: SplitRule, growth: ForestGrowth
) -> Tree:
    """Grow the tree of some columns.

    Args:
        columns: the tree's, k of them.
        below: the k trees of one column less; the first lacks the last column. Empty for one column.
        rule: with this tree's row limit.
        growth: key, entities, hashes.
    """
    entities, grid = with_passengers(growth, columns), _grid(columns)
    nodes = grow(growth.key, rank_rows(columns), entities, grid, rule, _side_by_side(below))
    base = reduce(xor, (hash_string(column.name) for column in columns), 0)
    places = growth.hashes.of(middles(nodes, grid)) ^ np.uint64(base)
    noisy = noisy_counts(growth.key, nodes.order, nodes.start.copy(), nodes.rows.copy(), places, entities)
    return Tree(grid, nodes, 0, noisy, places)


def push_down(tree: Tree, rule: SplitRule, growth: ForestGrowth) -> tuple[Tree, Flags]:
    """A one-column tree whose root no longer stretches to a few outliers, who join its outermost leaves.

        ages 0 to 1024                        one is 600, all others are below 90
          ├─ 0 to 512 ─┬─ 0 to 256 ── ...     down to 0 to 128, of which both halves have enough: the root
          │            └─ (nobody)
          └─ 512 to 1024: one, too few        joins the outermost leaf on its side, as a passenger

    Returns:
        The tree, and which rows were outside of the new root, boolean (n,).
    """
    nodes = tree.nodes
    outside = np.zeros(len(nodes.order), np.bool_)
    root = _lowest_root(nodes, tree.root)
    if root == tree.root:
        return tree, outside
    start, end = int(nodes.start[root]), int(nodes.start[root] + nodes.rows[root])
    # The rows are in the order of the halves: those before the root's are below it.
    outside[nodes.order[:start]] = outside[nodes.order[end:]] = True
    first, last = _path(nodes, root, 0), _path(nodes, root, -1)
    moved = nodes._replace(table=nodes.table.copy())
    moved.start[first] = 0
    moved.rows[first] += start
    moved.rows[last] += len(nodes.order) - end
    entities = growth.entities if rule.by_arrival else growth.entities._replace(outside=outside)
    noisy = tree.noisy.copy()
    changed = np.array(sorted({*first, *last}))
    tally = new_tally(entities)
    for node in changed:
        find_flags(growth.key, moved, node, entities, rule, tally)
    noisy[changed] = noisy_counts(
        growth.key, moved.order, moved.start[changed], moved.rows[changed], tree.places[changed], entities
    )
    return replace(tree, nodes=moved, root=root, noisy=noisy), outside


def rank_rows(columns: Sequence[RankedColumn]) -> Ids:
    """The rows' ranks in each column, C-contiguous (n, k)."""
    return np.ascontiguousarray(np.stack([column.ranks for column in columns], axis=1))


def with_passengers(growth: ForestGrowth, columns: Sequence[RankedColumn]) -> Entities:
    """Whose the rows are, those that are outside in any of the columns being passengers."""
    if growth.rule.by_arrival:
        return growth.entities  # the reference's port counts them in all respects
    return growth.entities._replace(outside=np.logical_or.reduce([each.outside for each in columns]))


def middles(nodes: Nodes, grid: TreeGrid) -> Floats:
    """The middle of each node's bucket intervals, (N, k): of a single value, the value itself."""
    depth = nodes.depth[:, None]
    halved = nodes.lower + np.ldexp(grid.size, -depth - 1)
    # Where no float lies between, as in `node_kernels.middle_of`.
    halved = np.where(halved > nodes.lower, halved, np.nextafter(nodes.lower, np.inf))
    return np.where(single_valued(nodes), _least_values(nodes, grid), halved)


def single_valued(nodes: Nodes) -> Flags:
    """Where all holders of a node have one value, (N, k)."""
    return np.asarray(nodes.hull[:, :, 0] == nodes.hull[:, :, 1])


def _least_values(nodes: Nodes, grid: TreeGrid) -> Floats:
    """The least value of each node's holders, (N, k); any value where it has none."""
    last = np.diff(grid.first) - 1
    return np.asarray(grid.values[grid.first[:-1] + np.clip(nodes.hull[:, :, 0], 0, last)])


def _grid(columns: Sequence[RankedColumn]) -> TreeGrid:
    sizes = [len(column.distinct) for column in columns]
    return TreeGrid(
        np.concatenate([column.distinct for column in columns]),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.array([column.interval.lower for column in columns]),
        np.array([column.interval.size for column in columns]),
    )


def _side_by_side(trees: Sequence[Tree]) -> Subtrees:
    begin = np.cumsum([0, *(len(tree.noisy) for tree in trees)]).astype(np.int32)
    tables = [np.empty((0, 8), np.int32), *(tree.nodes.table.copy() for tree in trees)]
    for table, at in zip(tables[1:], begin, strict=False):  # children move along with their tree
        table[:, FIRST_CHILD] += at * (table[:, FIRST_CHILD] != NO_NODE)
    roots = [tree.root for tree in trees]
    return Subtrees((begin[:-1] + roots).astype(np.int32), np.concatenate(tables))


def _lowest_root(nodes: Nodes, root: int) -> int:
    """Where the root is moved to: down to a child as long as the other has too few holders."""
    while nodes.children[root]:
        first = int(nodes.first_child[root])
        kept = [
            child
            for child in range(first, first + int(nodes.children[root]))
            if nodes.children[child] or not nodes.flags[child] & LOW
        ]
        if len(kept) != 1:
            break
        root = kept[0]
    return root


def _path(nodes: Nodes, root: int, side: int) -> list[int]:
    """From the root to its outermost leaf: the first child of each, or the last (-1)."""
    path = [root]
    while children := int(nodes.children[path[-1]]):
        path.append(int(nodes.first_child[path[-1]]) + side % children)
    return path
