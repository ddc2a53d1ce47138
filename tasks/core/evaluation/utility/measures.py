"""All measures of utility: a pair of tables in, `Utility` out. Sensitive, as it is made from raw records.

A figure says little alone. So every distance stands beside that of a *bootstrap*, as many raw records drawn
with replacement, and of the two *halves* of the raw table: what equally good records would get by chance.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tasks.core.arrays import Floats, Ids, Integers, StageDone
from tasks.core.evaluation.measures import total_variation
from tasks.core.evaluation.utility.learned import (
    STEPS,
    Discriminator,
    Prediction,
    Propensity,
    discriminator,
    learner_threads,
    prediction,
    propensity,
)
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

    Args: sets: of at most three features each, whose codes then fit into 64 bits.
    """
    found = np.empty(len(sets), np.float64)
    for place, features in enumerate(sets):
        codes = (_join_codes(side, pair.sizes, features) for side in (pair.real, pair.synthetic))
        found[place] = total_variation(*codes)
        progress()
    return found


def _join_codes(side: Ids, sizes: Sequence[int], features: FeatureSet) -> Integers:
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


#: Of either table; of more so many are drawn for the distances, and fewer for what is learned.
MOST_ROWS = 200_000
WAYS = (1, 2, 3)


@dataclass(frozen=True)
class ComparedSets:
    """Distances of some sets of features.

    Attributes:
        synthetic: (s,) total variations of the synthetic records.
        bootstrap: (s,) of as many raw records drawn with replacement.
        halves: (s,) of one half of the raw records from the other.
    """

    sets: tuple[FeatureSet, ...]
    synthetic: Floats
    bootstrap: Floats
    halves: Floats

    def worst(self, most: int) -> list[int]:
        """Places of the sets that are farthest, the farthest first; equal ones in their order."""
        return [int(place) for place in (-self.synthetic).argsort(kind="stable")[:most]]


@dataclass(frozen=True)
class UtilityColumns:
    """What two measures are about.

    Attributes:
        target: the column to predict; None: nothing is predicted.
        group: the column in every set of the k-marginal score, or None.
    """

    target: str | None = None
    group: str | None = None


@dataclass(frozen=True)
class Utility:
    """Everything that was measured.

    Attributes:
        by_ways: distances of 1, 2 and 3 ways, as far as there are features.
        propensity: None where a table has too few rows.
        told_apart: the discriminator; None likewise.
        prediction: None where no target was named, or where it can't be predicted.
    """

    features: tuple[str, ...]
    rows: tuple[int, int]
    about: UtilityColumns
    by_ways: dict[int, ComparedSets]
    k_marginal: ComparedSets
    propensity: Propensity | None
    told_apart: Discriminator | None
    halves_told_apart: Discriminator | None
    prediction: Prediction | None

    @property
    def k_marginal_scores(self) -> dict[str, float | None]:
        """NIST's score, 0..1000, of the synthetic records, the bootstrap and the halves."""
        sides = ("synthetic", "bootstrap", "halves")
        return {side: k_marginal_score(getattr(self.k_marginal, side)) for side in sides}


def measure_utility(
    pair: TablePair, about: UtilityColumns, threads: int = 1, report: StageDone = lambda what, done: None
) -> Utility:
    """Measure what the synthetic table of a pair is worth. Equal pairs give equal figures.

    Args:
        about: its columns, if any.
        threads: of what is learned; 0: all cores.
    """
    pair = pair.limited(MOST_ROWS)
    number = len(pair.features)
    sets = {ways: feature_sets(number, ways) for ways in WAYS if ways <= number}
    group = None if about.group is None else pair.place(about.group)
    scored = k_marginal_sets(number, group)
    sides = (pair, pair.bootstrap(), pair.halves())
    steps = _Steps(report, "marginals", len(sides) * sum(map(len, (*sets.values(), scored))))
    by_ways = {ways: _compare_sets(sides, own, steps.one) for ways, own in sets.items()}
    k_marginal = _compare_sets(sides, scored, steps.one)
    with learner_threads(threads):
        scores = propensity(pair, _Steps(report, "propensity", STEPS).one)
        report("discriminator", 0.0)
        told_apart = discriminator(pair)
        report("discriminator", 0.5)
        by_chance = discriminator(sides[2])
        report("discriminator", 1.0)
        report("prediction", 0.0)
        predicted = None if about.target is None else prediction(pair, pair.place(about.target))
    report("prediction", 1.0)
    return Utility(
        pair.features, pair.rows, about, by_ways, k_marginal, scores, told_apart, by_chance, predicted
    )


def _compare_sets(
    sides: tuple[TablePair, ...], sets: list[FeatureSet], progress: Callable[[], None]
) -> ComparedSets:
    return ComparedSets(tuple(sets), *(set_distances(side, sets, progress) for side in sides))


class _Steps:
    def __init__(self, report: StageDone, what: str, number: int) -> None:
        self._report, self._what, self._number, self._done = report, what, number, 0

    def one(self) -> None:
        self._done += 1
        self._report(self._what, self._done / self._number)
