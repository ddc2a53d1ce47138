"""How far two tables are apart in sets of features: total variation of every marginal of some ways.

And NIST's k-marginal score: 1000 where all marginals agree, 0 where none shares anything. As SDNist 2.5 has
it: (2 - mean L1 distance) x 500 over every pair of features, together with a feature that groups the
records (of its own tables, the region PUMA); without a group over the pairs alone.
"""

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np

from tasks.core.arrays import Floats, Ids, Integers
from tasks.core.evaluation.measures import total_variation
from tasks.core.evaluation.utility.table_pair import SEED, TablePair

#: A set of features, by their places, ascending.
FeatureSet = tuple[int, ...]

#: Of more sets so many are drawn.
MOST_SETS = 2000


def feature_sets(features: int, ways: int, most: int = MOST_SETS) -> list[FeatureSet]:
    """All sets of ``ways`` of the features, ascending; of more than ``most`` so many, drawn by `SEED`."""
    if math.comb(features, ways) <= most:
        return list(itertools.combinations(range(features), ways))
    generator = np.random.default_rng(SEED)
    found: set[FeatureSet] = set()
    while len(found) < most:
        found.add(tuple(sorted(generator.choice(features, ways, replace=False).tolist())))
    return sorted(found)


def set_distances(
    pair: TablePair, sets: Sequence[FeatureSet], progress: Callable[[], None] = lambda: None
) -> Floats:
    """The total variation of each set of features, in their order, 0..1.

    Args:
        pair: the tables.
        sets: of at most three features each, whose codes then fit into 64 bits.
        progress: called after each set.
    """
    found = np.empty(len(sets), np.float64)
    for place, features in enumerate(sets):
        found[place] = total_variation(*(_joined(side, pair.sizes, features) for side in _sides(pair)))
        progress()
    return found


def _sides(pair: TablePair) -> tuple[Ids, Ids]:
    return pair.real, pair.synthetic


def _joined(side: Ids, sizes: Sequence[int], features: FeatureSet) -> Integers:
    """One code for the codes of several features."""
    key = np.zeros(side.shape[1], np.int64)
    for feature in features:
        key *= sizes[feature]
        key += side[feature]
    return key


def k_marginal_sets(features: int, group: int | None) -> list[FeatureSet]:
    """The sets that the score is over: the group and every pair of the others, or every pair.

    Where there are very many, `feature_sets` draws some of the pairs.
    """
    if group is None:
        return feature_sets(features, 2)
    others = [place for place in range(features) if place != group]
    pairs = feature_sets(len(others), 2)
    return [(group, others[one], others[other]) for one, other in pairs]


def k_marginal_score(distances: Floats) -> float | None:
    """The score of the sets' total variations; None where there is no set."""
    return 1000.0 * (1.0 - float(distances.mean())) if len(distances) else None
