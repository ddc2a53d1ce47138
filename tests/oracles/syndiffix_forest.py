"""SynDiffix's trees, grown row by row as the specification says it, slowly (X2.3 to X2.6).

`build_forest` has two semantics. "port" is the reference's port: rows are inserted one by one and a leaf is
divided as soon as the rows so far allow it; children are in order of arrival; a row that was pushed down is
a row of its leaf like others. "ours" does not depend on the order of rows: a node is divided if all its rows
allow it; children are in order of their index; a row that was pushed out of the root interval of any of a
tree's columns is a passenger, which is counted in noisy counts and looked at by nothing else.
"""

from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

import numpy as np

from tasks.core.syndiffix.hashing import hash_int, hash_strings, noisy_row_limit
from tasks.core.syndiffix.intervals import Interval, map_nulls
from tasks.core.syndiffix.settings import AnonymizationParameters, BucketizationParameters
from tests.oracles.syndiffix import halves, is_single, middle
from tests.oracles.syndiffix_counters import bucket_seed, is_low, noisy_entity_count, noisy_row_count


@dataclass(frozen=True)
class Rules:
    """``hashes`` has a list for each id column; ``one_row_each``: every row is an entity of its own."""

    anonymization: AnonymizationParameters
    bucketization: BucketizationParameters
    semantics: str
    hashes: list[list[int]]
    one_row_each: bool
    value_safe: frozenset[int] = frozenset()

    def hashes_of(self, rows):
        return [np.array([column[row] for row in rows], np.uint64) for column in self.hashes]


@dataclass(eq=False, repr=False)  # a text of all of it would be huge
class Forest:
    """Values and intervals are by column; ``outside`` are the rows pushed out of a column's root interval."""

    names: list[str]
    values: list[list[float]]
    null_values: list[float]
    intervals: list[Interval]
    rules: Rules
    outside: list[set[int]] = field(default_factory=list)
    trees: dict[tuple[int, ...], "Node"] = field(default_factory=dict)

    @property
    def rows(self):
        return range(len(self.values[0]))


@dataclass(eq=False, repr=False)
class Node:
    """A node of the tree over ``columns``; what follows from the forest is computed when it is asked.

    ``rows`` are in order of arrival; ``holders`` are those that decide, all but the passengers; ``actual`` is
    the hull of the values of those who were there before any push-down, None without any. ``subnodes[i]`` is
    the node that holds the same rows in the tree without column k - 1 - i, or None.
    """

    forest: Forest
    columns: tuple[int, ...]
    snapped: list[Interval]
    depth: int
    subnodes: list["Node | None"]
    rows: list[int] = field(default_factory=list)
    holders: list[int] = field(default_factory=list)
    actual: list[Interval] | None = None
    children: dict[int, "Node"] = field(default_factory=dict)

    def values_of(self, row):
        return [self.forest.values[column][row] for column in self.columns]

    @property
    def is_leaf(self):
        return not self.children

    @property
    def singular(self):
        """Which dimensions hold a single value."""
        return [self.actual is not None and is_single(self.actual[d]) for d in range(len(self.columns))]

    @property
    def is_singularity(self):
        return all(self.singular)

    @property
    def bucket_intervals(self):
        return [self.actual[d] if one else self.snapped[d] for d, one in enumerate(self.singular)]

    @property
    def is_value_safe(self):
        return len(self.columns) == 1 and self.columns[0] in self.forest.rules.value_safe

    def is_low(self, threshold, rows=None):
        rules = self.forest.rules
        hashes = rules.hashes_of(self.holders if rows is None else rows)
        return any(is_low(column, threshold, rules.anonymization) for column in hashes)

    @property
    def is_low_count(self):
        return self.is_low(self.forest.rules.anonymization.low_count_params.low_threshold)

    @cached_property
    def is_stub(self):
        if len(self.columns) == 1:
            return False
        return all(node is None or node.is_stub_subnode for node in self.subnodes)

    @cached_property
    def is_stub_subnode(self):
        limits = self.forest.rules.bucketization
        singular = self.is_singularity
        threshold = limits.singularity_low_threshold if singular else limits.range_low_threshold
        return self.is_stub or self.is_low(threshold)

    @cached_property
    def base_seed(self):
        return hash_strings(self.forest.names[column] for column in self.columns)

    @cached_property
    def noisy_count(self):
        """Not to be asked before the tree has grown, as other cached properties may be."""
        rules = self.forest.rules
        seed = bucket_seed(self.base_seed, self.bucket_intervals)
        hashes = rules.hashes_of(self.rows)
        if rules.one_row_each:
            return noisy_entity_count(hashes[0], seed, rules.anonymization)
        return noisy_row_count(hashes, seed, rules.anonymization)

    @cached_property
    def row_limit(self):
        if len(self.columns) > 1:
            return 0
        rules = self.forest.rules
        fraction = rules.bucketization.precision_limit_row_fraction
        return noisy_row_limit(len(self.forest.rows), fraction, self.base_seed, rules.anonymization.salt)

    @property
    def may_be_divided(self):
        threshold = self.forest.rules.bucketization.precision_limit_depth_threshold
        if self.depth > threshold and len(self.holders) < self.row_limit:
            return False
        if self.is_stub or self.actual is None or self.is_singularity:
            return False
        return self.is_value_safe or not self.is_low_count

    def child_index(self, row):
        """A bit for each dimension, the first one the highest: 1 for the upper half."""
        index = 0
        for interval, value in zip(self.snapped, self.values_of(row), strict=True):
            index = 2 * index + (value >= middle(interval))
        return index

    def new_child(self, index):
        k = len(self.columns)
        bounds = [halves(interval)[index >> (k - 1 - d) & 1] for d, interval in enumerate(self.snapped)]
        subnodes = []
        for i, node in enumerate(self.subnodes):
            without_bit = index >> (i + 1) << i | index & ((1 << i) - 1)
            subnodes.append(None if node is None else node.children.get(without_bit))
        return Node(self.forest, self.columns, bounds, self.depth + 1, subnodes)

    def receive(self, row, holds):
        """Note a row and widen the hull for it; nothing else."""
        self.rows.append(row)
        if holds:
            self.holders.append(row)
            values = self.values_of(row)
            hull = self.actual or [Interval(value, value) for value in values]
            self.actual = [
                Interval(min(i.lower, v), max(i.upper, v)) for i, v in zip(hull, values, strict=True)
            ]


def build_forest(
    columns,
    names,
    anonymization,
    bucketization=BucketizationParameters(),
    semantics="ours",
    *,
    hashes=None,
    one_row_each=None,
    value_safe=(),
    largest=None,
):
    """All trees of up to ``largest`` columns (None: of all); ``columns`` are lists of floats, NaN for null.

    ``hashes``: for each id column a hash for each row, 0 for a missing id; None: rows are entities by their
    position from 1. ``one_row_each`` is by default whether hashes are None. ``value_safe``: column numbers.
    """
    if one_row_each is None:
        one_row_each = hashes is None
    if hashes is None:
        hashes = [[hash_int(i + 1) for i in range(len(columns[0]))]]
    rules = Rules(anonymization, bucketization, semantics, hashes, one_row_each, frozenset(value_safe))
    mapped = [map_nulls(np.array(column, float)) for column in columns]
    forest = Forest(
        list(names),
        [values.tolist() for values, _, _ in mapped],
        [null_value for _, null_value, _ in mapped],
        [interval for _, _, interval in mapped],
        rules,
    )
    for column in range(len(columns)):
        root = grow_tree(forest, (column,), frozenset())
        root, outside = push_down(root)
        forest.trees[(column,)] = root
        forest.intervals[column] = root.snapped[0]
        forest.outside.append(outside)
    for k in range(2, (largest or len(columns)) + 1):
        for combination in combinations(range(len(columns)), k):
            passengers = frozenset().union(*(forest.outside[column] for column in combination))
            forest.trees[combination] = grow_tree(forest, combination, passengers)
    return forest


def grow_tree(forest, columns, outside):
    k = len(columns)
    subnodes = []
    if k > 1:
        subnodes = [forest.trees[columns[: k - 1 - i] + columns[k - i :]] for i in range(k)]
    root = Node(forest, columns, [forest.intervals[column] for column in columns], 0, subnodes)
    if forest.rules.semantics == "port":
        for row in forest.rows:
            insert(root, row)
    else:
        for row in forest.rows:
            root.receive(row, row not in outside)
        divide(root)
    return root


def insert(node, row):
    """The port: a row goes down to its leaf, which is divided if its rows so far allow it."""
    is_new = not node.rows
    node.receive(row, True)
    if node.children:
        insert_into_child(node, row)
    elif not is_new and node.may_be_divided:
        for earlier in node.rows:
            insert_into_child(node, earlier)


def insert_into_child(node, row):
    index = node.child_index(row)
    if index not in node.children:
        node.children[index] = node.new_child(index)
    insert(node.children[index], row)


def divide(node):
    """Ours: a node with all its rows is divided, or is not."""
    if not node.may_be_divided:
        return
    holders = set(node.holders)
    for row in node.rows:
        index = node.child_index(row)
        if index not in node.children:
            node.children[index] = node.new_child(index)
        node.children[index].receive(row, row in holders)
    node.children = dict(sorted(node.children.items()))
    for child in node.children.values():
        divide(child)


def push_down(root):
    """The root of a one-column tree without halves that too few are in, and the rows of these halves."""
    dropped = []
    while root.children:
        low = [
            index not in root.children or (root.children[index].is_leaf and root.children[index].is_low_count)
            for index in (0, 1)
        ]
        if low[0] == low[1]:
            break
        kept = low.index(False)
        dropped.append(root.children[1 - kept].rows if 1 - kept in root.children else [])
        root = root.children[kept]
    outside = [row for rows in reversed(dropped) for row in rows]
    for row in outside:
        push_into(root, row)
    return root, set(outside)


def push_into(node, row):
    node.rows.append(row)
    if node.forest.rules.semantics == "port":
        node.holders.append(row)
    if node.children:
        only = next(iter(node.children.values())) if len(node.children) == 1 else None
        push_into(only or node.children[node.child_index(row)], row)
