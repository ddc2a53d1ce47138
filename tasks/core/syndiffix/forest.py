"""The forest: one tree for each combination of columns that is asked for, and what may be published of each.

All counts that may be published are noisy (X2.5, X2.6).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import xor
from typing import Protocol

import numpy as np

from tasks.core.arrays import ColumnNumbers, Flags, Floats, Ids, Integers, Words
from tasks.core.syndiffix.bucket_kernels import Grown, Harvest, harvest
from tasks.core.syndiffix.hashing import hash_places, hash_string, hash_strings, noisy_row_limit
from tasks.core.syndiffix.intervals import Interval, map_nulls
from tasks.core.syndiffix.noise_kernels import Entities, new_tally, noisy_counts, secret
from tasks.core.syndiffix.settings import AnonymizationParameters, BucketizationParameters
from tasks.core.syndiffix.tree_kernels import (
    CHILDREN,
    DEPTH,
    FIRST_CHILD,
    FLAGS,
    LOW,
    NO_NODE,
    ROWS,
    START,
    Nodes,
    SplitRule,
    Subtrees,
    Tree,
    TreeGrid,
    find_flags,
    grow,
)


@dataclass(frozen=True)
class RankedColumn:
    """A column as the trees need it.

    Attributes:
        distinct: sorted distinct values, nulls mapped to ``null_value``.
        ranks: of each row's value among them, int32 (n,).
        interval: of the root; after push-down, of the root that is left.
        outside: (n,), rows that were pushed down.
    """

    distinct: Floats
    ranks: Ids
    null_value: float
    interval: Interval
    outside: Flags


def middles(nodes: Nodes, grid: TreeGrid) -> Floats:
    """The middle of each node's bucket intervals, (N, k): of a single value, the value itself."""
    halved = nodes.lower + np.ldexp(grid.size, -nodes.table[:, DEPTH, None] - 1)
    # Where no float lies between, as in `tree_kernels.middle_of`.
    halved = np.where(halved > nodes.lower, halved, np.nextafter(nodes.lower, np.inf))
    last = np.diff(grid.first) - 1
    least = grid.values[grid.first[:-1] + np.clip(nodes.hull[:, :, 0], 0, last)]
    return np.where(single_valued(nodes), least, halved)


def single_valued(nodes: Nodes) -> Flags:
    """Where all holders of a node have one value, (N, k)."""
    return np.asarray(nodes.hull[:, :, 0] == nodes.hull[:, :, 1])


def _grid(columns: Sequence[RankedColumn]) -> TreeGrid:
    sizes = [len(column.distinct) for column in columns]
    return TreeGrid(
        np.concatenate([column.distinct for column in columns]),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.array([column.interval.lower for column in columns]),
        np.array([column.interval.size for column in columns]),
    )


def _join_trees(trees: Sequence[Tree]) -> Subtrees:
    begin = np.cumsum([0, *(len(tree.noisy) for tree in trees)]).astype(np.int32)
    tables = [np.empty((0, 8), np.int32), *(tree.nodes.table.copy() for tree in trees)]
    for table, at in zip(tables[1:], begin, strict=False):  # children move along with their tree
        table[:, FIRST_CHILD] += at * (table[:, FIRST_CHILD] != NO_NODE)
    roots = [tree.root for tree in trees]
    return Subtrees((begin[:-1] + roots).astype(np.int32), np.concatenate(tables))


def _lowest_root(nodes: Nodes, root: int) -> int:
    # Down to a child as long as the other has too few holders.
    table = nodes.table
    while children := int(table[root, CHILDREN]):
        first = int(table[root, FIRST_CHILD])
        kept = [
            child
            for child in range(first, first + children)
            if table[child, CHILDREN] or not table[child, FLAGS] & LOW
        ]
        if len(kept) != 1:
            break
        root = kept[0]
    return root


def _outermost_path(nodes: Nodes, root: int, side: int) -> list[int]:
    path = [root]
    while children := int(nodes.table[path[-1], CHILDREN]):
        path.append(int(nodes.table[path[-1], FIRST_CHILD]) + side % children)
    return path


@dataclass(frozen=True)
class Buckets:
    """Intervals over k columns, and how many rows lie in each.

    Attributes:
        lower: (B, k), in the columns' own units.
        upper: (B, k); not in the interval, unless it equals ``lower``: then that is the one value.
        counts: noisy rows, at least 1, (B,).
    """

    lower: Floats
    upper: Floats
    counts: Integers

    @property
    def rows(self) -> int:
        return int(self.counts.sum())


def _join_harvests(harvests: Sequence[Harvest]) -> Harvest:
    if not harvests:
        none, nowhere = np.zeros(0, np.int32), np.zeros((0, 0))
        return Harvest(none, none, none, none, nowhere, nowhere)
    moved, entries, sources = [], np.int32(0), np.int32(0)
    for each in harvests:
        moved.append(each._replace(first=each.first + entries, source=each.source + sources))
        entries, sources = entries + np.int32(len(each.source)), sources + np.int32(len(each.lower))
    return Harvest(*map(np.concatenate, zip(*moved, strict=True)))


@dataclass(frozen=True)
class ForestColumn:
    """A column of numbers (n,), in its own units, NaN for null; ``value_safe``: rare values are shown."""

    name: str
    values: Floats
    value_safe: bool = False


class KnownTrees(Protocol):
    """Trees of the same table, salt and settings that were grown before.

    They are found by header, in order, and by whether values are public: a tree of public values is not
    suppressed.
    """

    def tree(self, columns: Sequence[ForestColumn]) -> tuple[Tree, Flags] | None:
        """A tree, and which rows were pushed down, (n,)."""

    def harvest(self, columns: Sequence[ForestColumn]) -> Harvest | None: ...


class Forest:
    """Trees over the columns of one table, and what of them may be published."""

    def __init__(
        self,
        columns: Sequence[ForestColumn],
        entity_hashes: Words,
        anonymization: AnonymizationParameters,
        bucketization: BucketizationParameters,
        *,
        known: KnownTrees | None = None,
    ) -> None:
        """Prepare to grow.

        Args:
            entity_hashes: of each row's entity by id column, (n, id columns); 0 where it is missing.
            known: trees of the same table, salt and settings that were grown before.
        """
        self._known = known
        self.columns = tuple(columns)
        self.anonymization = anonymization
        self.bucketization = bucketization
        self.entity_hashes = entity_hashes
        self.rows = len(entity_hashes)
        self._ranked = [_rank_column(column) for column in columns]
        self.null_values = tuple(column.null_value for column in self._ranked)
        self._rule = SplitRule(
            singularity_threshold=bucketization.singularity_low_threshold,
            range_threshold=bucketization.range_low_threshold,
            depth_threshold=bucketization.precision_limit_depth_threshold,
            row_limit=0,
            value_safe=False,
        )
        self._key = secret(anonymization)
        self._entities = _number_entities(entity_hashes)
        self._hashes: dict[float, int] = {}
        self._trees: dict[ColumnNumbers, Tree] = {}
        self._harvests: dict[ColumnNumbers, Harvest] = {}

    @property
    def grown(self) -> Mapping[ColumnNumbers, Tree]:
        """The trees that have been asked for so far, and those they took."""
        return self._trees

    @property
    def harvested(self) -> Mapping[ColumnNumbers, Harvest]:
        return self._harvests

    def columns_of(self, combination: ColumnNumbers) -> tuple[ForestColumn, ...]:
        return tuple(self.columns[column] for column in combination)

    def outside(self, combination: ColumnNumbers) -> Flags:
        """Which rows a tree of one column pushed down, (n,); (0,) of several columns."""
        return self._ranked[combination[0]].outside if len(combination) == 1 else np.zeros(0, np.bool_)

    def tree(self, combination: ColumnNumbers) -> Tree:
        """The tree of some columns, ascending; those of fewer columns are grown before it.

        All of one column are grown first of all: others lie in the intervals that push-down leaves.
        """
        if combination not in self._trees:
            self._trees[combination] = self._find_or_grow(combination)
        return self._trees[combination]

    def buckets(self, combination: ColumnNumbers) -> Buckets:
        root, harvested = self.tree(combination).root, self._harvest(combination)
        entries = slice(int(harvested.first[root]), int(harvested.first[root] + harvested.length[root]))
        sources = harvested.source[entries]
        return Buckets(
            harvested.lower[sources], harvested.upper[sources], harvested.weight[entries].astype(np.int64)
        )

    def forget(self, combination: ColumnNumbers) -> None:
        """Give back the memory of a tree of several columns; asked for again, it is grown again, the same."""
        self._trees.pop(combination, None)
        self._harvests.pop(combination, None)

    def ranked(self, column: int) -> RankedColumn:
        """A column, its interval and outsiders after push-down."""
        self.tree((column,))
        return self._ranked[column]

    def _find_or_grow(self, combination: ColumnNumbers) -> Tree:
        known = self._known.tree(self.columns_of(combination)) if self._known else None
        if len(combination) == 1:
            tree, outside = known or self._grow_alone(combination[0])
            ranked = self._ranked[combination[0]]
            self._ranked[combination[0]] = replace(ranked, interval=tree.root_interval, outside=outside)
            return tree
        if known:
            return known[0]
        for column in combination:
            self.tree((column,))
        return self.grow_tree(combination, self._rule)

    def _grow_alone(self, column: int) -> tuple[Tree, Flags]:
        name, value_safe = self.columns[column].name, self.columns[column].value_safe
        fraction = self.bucketization.precision_limit_row_fraction
        limit = noisy_row_limit(self.rows, fraction, hash_strings([name]), self.anonymization.salt)
        rule = self._rule._replace(row_limit=limit, value_safe=value_safe)
        return self._push_down(self.grow_tree((column,), rule), rule)

    def grow_tree(self, combination: ColumnNumbers, rule: SplitRule) -> Tree:
        columns = [self._ranked[column] for column in combination]
        entities, grid = self._with_passengers(columns), _grid(columns)
        subtrees = _join_trees([self.tree(fewer) for fewer in _subsets(combination)])
        nodes = grow(self._key, _rank_rows(columns), entities, grid, rule, subtrees)
        base = reduce(xor, (hash_string(self.columns[column].name) for column in combination), 0)
        places = hash_places(middles(nodes, grid), self._hashes) ^ np.uint64(base)
        starts, lengths = nodes.table[:, START].copy(), nodes.table[:, ROWS].copy()
        noisy = noisy_counts(self._key, nodes.order, starts, lengths, places, entities)
        return Tree(grid, nodes, 0, noisy, places)

    def _push_down(self, tree: Tree, rule: SplitRule) -> tuple[Tree, Flags]:
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
        start, end = int(nodes.table[root, START]), int(nodes.table[root, [START, ROWS]].sum())
        # The rows are in the order of the halves: those before the root's are below it.
        outside[nodes.order[:start]] = outside[nodes.order[end:]] = True
        first, last = _outermost_path(nodes, root, 0), _outermost_path(nodes, root, -1)
        moved = nodes._replace(table=nodes.table.copy())
        moved.table[first, START] = 0
        moved.table[first, ROWS] += start
        moved.table[last, ROWS] += len(nodes.order) - end
        entities = self._entities._replace(outside=outside)
        noisy = tree.noisy.copy()
        changed = np.array(sorted({*first, *last}))
        tally = new_tally(entities)
        for node in changed:
            find_flags(self._key, moved, node, entities, rule, tally)
        starts, lengths = moved.table[changed, START], moved.table[changed, ROWS]
        places = tree.places[changed]
        noisy[changed] = noisy_counts(self._key, moved.order, starts, lengths, places, entities)
        return tree._replace(nodes=moved, root=root, noisy=noisy), outside

    def _with_passengers(self, columns: Sequence[RankedColumn]) -> Entities:
        # Rows that are outside in any of the columns are passengers.
        return self._entities._replace(outside=np.logical_or.reduce([each.outside for each in columns]))

    def _harvest(self, combination: ColumnNumbers) -> Harvest:
        if combination not in self._harvests:
            known = self._known.harvest(self.columns_of(combination)) if self._known else None
            self._harvests[combination] = known or self.harvest_tree(combination)
        return self._harvests[combination]

    def harvest_tree(self, combination: ColumnNumbers) -> Harvest:
        tree, columns = self.tree(combination), [self.ranked(column) for column in combination]
        grown = Grown(
            tree.nodes,
            tree.grid,
            tree.noisy,
            tree.places,
            _rank_rows(columns),
            self._with_passengers(columns),
            len(combination) == 1 and self.columns[combination[0]].value_safe,
        )
        return harvest(
            self._key, grown, _join_harvests([self._harvest(fewer) for fewer in _subsets(combination)])
        )


def _rank_rows(columns: Sequence[RankedColumn]) -> Ids:
    return np.ascontiguousarray(np.stack([column.ranks for column in columns], axis=1))


def _subsets(combination: ColumnNumbers) -> list[ColumnNumbers]:
    """The combinations of one column less, the first without the last column; none of a single column.

    >>> _subsets((0, 3, 7))
    [(0, 3), (0, 7), (3, 7)]
    """
    last = len(combination) - 1
    return [combination[:left] + combination[left + 1 :] for left in range(last, -1, -1) if last]


def _rank_column(column: ForestColumn) -> RankedColumn:
    values, null_value, interval = map_nulls(column.values)
    distinct, ranks = np.unique(values, return_inverse=True)
    outside = np.zeros(len(values), np.bool_)
    return RankedColumn(distinct, ranks.astype(np.int32), null_value, interval, outside)


def _number_entities(hashes: Words) -> Entities:
    numbers = np.empty(hashes.shape, np.int32)
    most = 0
    for column in range(hashes.shape[1]):
        distinct, found = np.unique(hashes[:, column], return_inverse=True)
        missing = bool(len(distinct)) and distinct[0] == 0  # no entity, which then has the number -1
        numbers[:, column] = found - missing
        most = max(most, len(distinct))
    single = hashes.shape[1] == 1 and most == len(hashes) and not (numbers < 0).any()
    return Entities(np.ascontiguousarray(hashes), numbers, most, np.zeros(len(hashes), np.bool_), single)
