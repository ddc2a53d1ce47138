"""A node of SynDiffix's trees: its rows, and what follows from them (X2.3 to X2.5), slowly."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from tasks.core.syndiffix.hashing import hash_strings, noisy_row_limit
from tasks.core.syndiffix.intervals import Interval
from tasks.core.syndiffix.settings import AnonymizationParameters, BucketizationParameters
from tests.oracles.syndiffix_counters import (
    bucket_seed,
    is_low,
    noisy_entity_count,
    noisy_row_count,
)
from tests.oracles.syndiffix_intervals import halves, is_single, middle


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
