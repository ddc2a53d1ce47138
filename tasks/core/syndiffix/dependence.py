"""How much each column tells, and how much of each other: from noisy counts alone (X3.4)."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from types import MappingProxyType

import numpy as np

from tasks.core.arrays import ColumnNumbers, Floats
from tasks.core.syndiffix.forest import Forest
from tasks.core.syndiffix.tree_kernels import FIRST_CHILD, NO_NODE, PARENT, walk

KnownPairs = Mapping[tuple[str, str], float]


@dataclass(frozen=True)
class ColumnRelations:
    """The dependence of d columns, (d, d) from 0 to 1, 1 on the diagonal; their entropies in bits, (d,)."""

    dependence: Floats
    entropies: Floats


def relate_columns(
    forest: Forest,
    known: KnownPairs = MappingProxyType({}),
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> ColumnRelations:
    """Measure all pairs of a forest's columns.

    ``known``: by the headers of two columns, in the forest's order, a dependence that is taken as it is.
    """
    columns, few = len(forest.columns), _least_expected_rows(forest)
    matrix = np.eye(columns)
    pairs = list(combinations(range(columns), 2))
    for done, (one, other) in enumerate(pairs, 1):
        found = known.get((forest.columns[one].name, forest.columns[other].name))
        if found is None:
            found = dependence(forest, one, other, few)
        matrix[one, other] = matrix[other, one] = found
        progress(done, len(pairs))
    return ColumnRelations(matrix, entropies(forest))


def entropies(forest: Forest) -> Floats:
    """The entropy of each column in bits, (d,): of the noisy shares of its tree's leaves."""
    found = []
    for column in range(len(forest.columns)):
        tree = forest.tree((column,))
        below_root = np.zeros(len(tree.noisy), np.bool_)  # other nodes were left by push-down
        below_root[tree.root] = True
        for node in range(tree.root + 1, len(below_root)):
            below_root[node] = below_root[tree.nodes.table[node, PARENT]]
        leaves = below_root & (tree.nodes.table[:, FIRST_CHILD] == NO_NODE)
        shares = tree.noisy[leaves] / tree.noisy[tree.root]
        found.append(float(-(shares * np.log2(shares)).sum()))
    return np.array(found)


def dependence(forest: Forest, one: int, other: int, few: float = 0.0) -> float:
    """How far from independent two columns are, from 0 to 1.

    ``few``: rows; see `tree_kernels.walk`. The reference looks at all pairs of nodes: 0.
    """
    one, other = sorted((one, other))
    first, second, both = (forest.tree(pair) for pair in ((one,), (other,), (one, other)))
    found = walk(first, second, both, forest.bucketization.range_low_threshold, few)
    return min(1.0, float(found))  # rounding may end a hair above


def dependences(forest: Forest, pairs: Iterable[ColumnNumbers]) -> list[float]:
    """Of pairs of columns, by what `relate_columns` measures them by."""
    few = _least_expected_rows(forest)
    return [dependence(forest, one, other, few) for one, other in pairs]


def _least_expected_rows(forest: Forest) -> float:
    """So many rows are shown in five cases of six.

    Columns of many values have many pairs of fewer. Each is missing, so that it counts like full dependence,
    and columns of few values, such as schooling and income, come second to what is only fine.
    """
    suppression = forest.anonymization.low_count_params
    return suppression.mean + suppression.layer_sd


def is_sample_worthwhile(rows: int, columns: int, sample: int) -> bool:
    pairs = columns * columns
    return sample < rows and pairs * rows > 2 * (pairs * sample + 3 * rows * columns // 2)
