"""The forest: one tree for each combination of columns that is asked for, each grown once.

In: a table's columns as floats, whose the rows are, the parameters. Out: `Tree`s, by the numbers of their
columns; and the columns as the trees of several columns see them, after push-down.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from tasks.core.arrays import ColumnNumbers, Flags, Floats, Words
from tasks.core.syndiffix.bucket_kernels import Harvest
from tasks.core.syndiffix.buckets import Buckets, harvest_tree, root_buckets
from tasks.core.syndiffix.entity_kernels import Entities
from tasks.core.syndiffix.hashing import PlaceHashes, hash_strings, noisy_row_limit
from tasks.core.syndiffix.intervals import Interval, map_nulls
from tasks.core.syndiffix.noise_kernels import secret
from tasks.core.syndiffix.settings import AnonymizationParameters, BucketizationParameters
from tasks.core.syndiffix.tree import ForestGrowth, RankedColumn, Tree, grow_tree, push_down
from tasks.core.syndiffix.tree_kernels import SplitRule


@dataclass(frozen=True)
class ForestColumn:
    """A column of numbers.

    Attributes:
        name: its header.
        values: (n,), in the column's own units; NaN for null.
        value_safe: whether its values are public, so that none is suppressed for being rare.
    """

    name: str
    values: Floats
    value_safe: bool = False


class KnownTrees(Protocol):
    """Trees of the same table, salt and settings that were grown before.

    By columns in their order: by header, and by whether values are public, as a tree of public values is not
    suppressed.
    """

    def tree(self, columns: Sequence[ForestColumn]) -> tuple[Tree, Flags] | None:
        """A tree, and which rows were pushed down, (n,)."""

    def harvest(self, columns: Sequence[ForestColumn]) -> Harvest | None:
        """A tree's harvest."""


class Forest:
    """Trees over the columns of one table."""

    def __init__(
        self,
        columns: Sequence[ForestColumn],
        entity_hashes: Words,
        anonymization: AnonymizationParameters,
        bucketization: BucketizationParameters,
        *,
        by_arrival: bool = False,
        known: KnownTrees | None = None,
    ) -> None:
        """Prepare to grow.

        Args:
            columns: of n rows each.
            entity_hashes: of each row's entity by id column, (n, id columns); 0 where it is missing.
            anonymization: thresholds, noise and the salt.
            bucketization: how finely the trees divide.
            by_arrival: divide nodes as the reference's port does, which depends on the rows' order.
            known: trees that need not be grown.
        """
        self._known = known
        self.columns = tuple(columns)
        self.anonymization = anonymization
        self.bucketization = bucketization
        self.entity_hashes = entity_hashes
        self.rows = len(entity_hashes)
        mapped = [map_nulls(column.values) for column in columns]
        self.null_values = tuple(column.null_value for column in mapped)
        self._ranked = [
            _ranked(column.name, found.values, found.interval)
            for column, found in zip(columns, mapped, strict=True)
        ]
        rule = SplitRule(
            singularity_threshold=bucketization.singularity_low_threshold,
            range_threshold=bucketization.range_low_threshold,
            depth_threshold=bucketization.precision_limit_depth_threshold,
            row_limit=0,
            value_safe=False,
            by_arrival=by_arrival,
        )
        self._growth = ForestGrowth(secret(anonymization), _entities(entity_hashes), rule, PlaceHashes())
        self._trees: dict[ColumnNumbers, Tree] = {}
        self._harvests: dict[ColumnNumbers, Harvest] = {}

    @property
    def grown(self) -> Mapping[ColumnNumbers, Tree]:
        """The trees that have been asked for so far, and those they took."""
        return self._trees

    @property
    def harvested(self) -> Mapping[ColumnNumbers, Harvest]:
        """Their harvests, of those that were harvested."""
        return self._harvests

    def columns_of(self, combination: ColumnNumbers) -> tuple[ForestColumn, ...]:
        """Some columns by their numbers."""
        return tuple(self.columns[column] for column in combination)

    def outside(self, combination: ColumnNumbers) -> Flags:
        """Which rows a tree of one column pushed down, (n,); (0,) of several columns."""
        return self._ranked[combination[0]].outside if len(combination) == 1 else np.zeros(0, np.bool_)

    def tree(self, combination: ColumnNumbers) -> Tree:
        """The tree of some columns, ascending; those of fewer columns are grown before it.

        All of one column are grown first of all: others lie in the intervals that push-down leaves.
        """
        if combination not in self._trees:
            self._trees[combination] = self._grown(combination)
        return self._trees[combination]

    def buckets(self, combination: ColumnNumbers) -> Buckets:
        """What of a tree may be published."""
        return root_buckets(self.tree(combination), self._harvest(combination))

    def forget(self, combination: ColumnNumbers) -> None:
        """Give back the memory of a tree and its buckets; asked for again, it is grown again, the same.

        Args:
            combination: of more than one column; trees of more columns keep what they took of it.
        """
        self._trees.pop(combination, None)
        self._harvests.pop(combination, None)

    def ranked(self, column: int) -> RankedColumn:
        """A column, its interval and outsiders after push-down."""
        self.tree((column,))
        return self._ranked[column]

    def _grown(self, combination: ColumnNumbers) -> Tree:
        found = self._known.tree(self.columns_of(combination)) if self._known else None
        if len(combination) == 1:
            tree, outside = found or self._grown_alone(combination[0])
            ranked = self._ranked[combination[0]]
            self._ranked[combination[0]] = replace(ranked, interval=tree.root_interval, outside=outside)
            return tree
        if found:
            return found[0]
        columns = [self.ranked(column) for column in combination]
        below = [self.tree(fewer) for fewer in _below(combination)]
        return grow_tree(columns, below, self._growth.rule, self._growth)

    def _harvest(self, combination: ColumnNumbers) -> Harvest:
        if combination not in self._harvests:
            found = self._known.harvest(self.columns_of(combination)) if self._known else None
            self._harvests[combination] = found or self._harvest_anew(combination)
        return self._harvests[combination]

    def _harvest_anew(self, combination: ColumnNumbers) -> Harvest:
        return harvest_tree(
            self.tree(combination),
            [self.ranked(column) for column in combination],
            [self._harvest(fewer) for fewer in _below(combination)],
            self._growth,
            value_safe=len(combination) == 1 and self.columns[combination[0]].value_safe,
        )

    def _grown_alone(self, column: int) -> tuple[Tree, Flags]:
        name, value_safe = self.columns[column].name, self.columns[column].value_safe
        fraction = self.bucketization.precision_limit_row_fraction
        limit = noisy_row_limit(self.rows, fraction, hash_strings([name]), self.anonymization.salt)
        rule = self._growth.rule._replace(row_limit=limit, value_safe=value_safe)
        return push_down(grow_tree([self._ranked[column]], [], rule, self._growth), rule, self._growth)


def column_numbers(columns: Collection[int]) -> ColumnNumbers:
    """The combination of some columns: ascending."""
    return tuple(sorted(columns))


def _below(combination: ColumnNumbers) -> list[ColumnNumbers]:
    """The combinations of one column less, the first without the last column; none of a single column.

    >>> _below((0, 3, 7))
    [(0, 3), (0, 7), (3, 7)]
    """
    last = len(combination) - 1
    return [combination[:left] + combination[left + 1 :] for left in range(last, -1, -1) if last]


def _ranked(name: str, values: Floats, interval: Interval) -> RankedColumn:
    distinct, ranks = np.unique(values, return_inverse=True)
    return RankedColumn(name, distinct, ranks.astype(np.int32), interval, np.zeros(len(values), np.bool_))


def _entities(hashes: Words) -> Entities:
    numbers = np.empty(hashes.shape, np.int32)
    most = 0
    for column in range(hashes.shape[1]):
        distinct, found = np.unique(hashes[:, column], return_inverse=True)
        missing = bool(len(distinct)) and distinct[0] == 0  # no entity, which then has the number -1
        numbers[:, column] = found - missing
        most = max(most, len(distinct))
    single = hashes.shape[1] == 1 and most == len(hashes) and not (numbers < 0).any()
    return Entities(np.ascontiguousarray(hashes), numbers, most, np.zeros(len(hashes), np.bool_), single)
