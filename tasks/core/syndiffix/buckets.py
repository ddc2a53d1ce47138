"""Buckets: what of a tree may be published, as intervals with noisy counts (syndiffix.md 3.1, 3.2).

In: a tree and the harvests of the trees of one column less. Out: a harvest, and the `Buckets` of its root.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tasks.core.arrays import Floats, Integers
from tasks.core.syndiffix.bucket_kernels import Harvest, harvest
from tasks.core.syndiffix.cell_kernels import Grown
from tasks.core.syndiffix.tree import ForestGrowth, RankedColumn, Tree, rank_rows, with_passengers


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
        """How many rows they have together."""
        return int(self.counts.sum())


def harvest_tree(
    tree: Tree,
    columns: Sequence[RankedColumn],
    below: Sequence[Harvest],
    growth: ForestGrowth,
    *,
    value_safe: bool = False,
) -> Harvest:
    """The buckets of each node of a tree.

    Args:
        tree: over k columns.
        columns: the tree's.
        below: the harvests of its k subtrees, the first that without the last column; none for k = 1.
        growth: what the forest's trees have in common.
        value_safe: of a tree of one column, whether nothing is suppressed.
    """
    grown = Grown(
        tree.nodes,
        tree.grid,
        tree.noisy,
        tree.places,
        rank_rows(columns),
        with_passengers(growth, columns),
        value_safe,
    )
    return harvest(growth.key, grown, _side_by_side(below))


def root_buckets(tree: Tree, harvested: Harvest) -> Buckets:
    """What is harvested at a tree's root."""
    first, length = int(harvested.first[tree.root]), int(harvested.length[tree.root])
    sources = harvested.source[first : first + length]
    counts = harvested.weight[first : first + length].astype(np.int64)
    return Buckets(harvested.lower[sources], harvested.upper[sources], counts)


def _side_by_side(harvests: Sequence[Harvest]) -> Harvest:
    """All entries and intervals in one array each, numbered anew."""
    if not harvests:
        none, nowhere = np.zeros(0, np.int32), np.zeros((0, 0))
        return Harvest(none, none, none, none, nowhere, nowhere)
    entries = np.cumsum([0, *(len(each.source) for each in harvests)]).astype(np.int32)
    sources = np.cumsum([0, *(len(each.lower) for each in harvests)]).astype(np.int32)
    return Harvest(
        np.concatenate([each.first + at for each, at in zip(harvests, entries, strict=False)]),
        np.concatenate([each.length for each in harvests]),
        np.concatenate([each.source + at for each, at in zip(harvests, sources, strict=False)]),
        np.concatenate([each.weight for each in harvests]),
        np.concatenate([each.lower for each in harvests]),
        np.concatenate([each.upper for each in harvests]),
    )
