"""All measures of utility: a pair of tables in, `Utility` out. Sensitive, as it is made from raw records.

A figure says little alone. So every distance stands beside that of a *bootstrap*, as many raw records drawn
with replacement, and of the two *halves* of the raw table: what equally good records would get by chance.

What learners find, all with one seed and no more threads than the run may use:

* Discriminator: gradient boosting over the features' codes, cross-validated, so each row is scored by a
  learner that has not seen it. The area under the curve is 0.5 where the tables can't be told apart, 1
  where they always can.
* Propensity: SDNist's mean squared error of a decision tree of depth 6, which scores the rows that it was
  fitted to. So equal tables get more than 0, too; what they would get is found by fitting it to labels that
  were shuffled (Snoke et al. 2018, the null expectation of trees).
* Prediction: one learner is fitted to raw records and one to synthetic ones; both predict the target of a
  fifth of the raw records that was set aside. Synthesis saw these, which flatters records that are copies
  of raw ones.
"""

import itertools
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tasks.core.arrays import Floats, Ids, Integers, StageDone
from tasks.core.evaluation.measures import total_variation
from tasks.core.evaluation.utility.table_pair import SEED, TablePair

Features = npt.NDArray[np.float32]

#: With fewer rows on either side nothing is learned.
LEAST_ROWS = 50


def features_of(*sides: Ids) -> Features:
    """Rows of all sides, one below the other; codes (f, n) become numbers (n, f)."""
    return np.concatenate([side.T for side in sides]).astype(np.float32)


def labels_of(real: int, synthetic: int) -> Integers:
    """0 for each raw row, then 1 for each synthetic one."""
    return np.repeat(np.array([0, 1], np.int64), [real, synthetic])


@contextmanager
def learner_threads(threads: int) -> Iterator[None]:
    """Fit in so many threads, 0 for all cores, and without warnings, which could name values."""
    import sklearn.ensemble  # noqa: F401 - limits hold for libraries that are loaded
    from threadpoolctl import threadpool_limits  # scikit-learn comes with it

    with warnings.catch_warnings(), threadpool_limits(threads or None):
        warnings.simplefilter("ignore")
        yield


_FOLDS, _ROUNDS = 3, 60
#: Of either table; of more so many are drawn. More rows teach the learner more, so figures compare only at
#: equal numbers.
MOST_TOLD_APART = 6_000
_POINTS = 200


@dataclass(frozen=True)
class Discriminator:
    """How well the tables are told apart.

    Attributes:
        auc: area under the curve, about 0.5..1; below 0.5 is chance.
        curve: (2, points) shares of raw rows and of synthetic rows that are called synthetic, by how sure
            the learner must be; from 0, 0 to 1, 1.
    """

    rows: tuple[int, int]
    auc: float
    curve: Floats


def discriminator(pair: TablePair) -> Discriminator | None:
    """How well a learner tells the tables apart; None where either has fewer than `LEAST_ROWS` rows."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.metrics import roc_auc_score, roc_curve
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    pair = pair.limited(MOST_TOLD_APART)
    if min(pair.rows) < LEAST_ROWS:
        return None
    features, labels = features_of(pair.real, pair.synthetic), labels_of(*pair.rows)
    learner = HistGradientBoostingClassifier(max_iter=_ROUNDS, random_state=0)
    folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=SEED % 2**32)
    scores = cross_val_predict(learner, features, labels, cv=folds, method="predict_proba")[:, 1]
    across, up, _ = roc_curve(labels, scores)
    kept = np.unique(np.linspace(0, len(across) - 1, min(_POINTS, len(across))).round().astype(np.int64))
    return Discriminator(pair.rows, float(roc_auc_score(labels, scores)), np.stack([across, up])[:, kept])


_DEPTH = 6
_SHUFFLES = 5
#: Of the histogram of scores, from 0 to 1.
BINS = 20
#: Of either table; of more so many are drawn.
MOST_SCORED = 100_000


@dataclass(frozen=True)
class Propensity:
    """What the tree found.

    Attributes:
        mean_squared_error: from 0 to c(1 - c), where c is the synthetic rows' share: 0.25 for equal numbers.
        expected: the same where the tables don't differ.
        scores: (2, BINS) shares of the raw and of the synthetic rows by their score.
        told_by: of each feature its share of what the tree told them apart by; they add up to 1, or are 0.
    """

    rows: tuple[int, int]
    mean_squared_error: float
    expected: float
    scores: Floats
    told_by: Floats

    @property
    def ratio(self) -> float | None:
        """The error over the expected one: 1 where the tables don't differ; None where that is 0."""
        return self.mean_squared_error / self.expected if self.expected else None


def propensity(pair: TablePair, progress: Callable[[], None] = lambda: None) -> Propensity | None:
    """The propensity of a pair of tables; None where either has fewer than `LEAST_ROWS` rows."""
    pair = pair.limited(MOST_SCORED)
    if min(pair.rows) < LEAST_ROWS:
        return None
    features, labels = features_of(pair.real, pair.synthetic), labels_of(*pair.rows)
    scores, told_by = _fit_tree(features, labels)
    progress()
    generator, shuffled = np.random.default_rng(SEED), []
    for _ in range(_SHUFFLES):
        mixed = generator.permutation(labels)
        shuffled.append(_squared_error(_fit_tree(features, mixed)[0], mixed))
        progress()
    sides = [np.histogram(scores[labels == side], BINS, (0.0, 1.0))[0] for side in (0, 1)]
    shares = np.array([counts / counts.sum() for counts in sides])
    return Propensity(pair.rows, _squared_error(scores, labels), float(np.mean(shuffled)), shares, told_by)


#: How often the progress of `propensity` is called.
STEPS = 1 + _SHUFFLES


def _fit_tree(features: Features, labels: Integers) -> tuple[Floats, Floats]:
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(max_depth=_DEPTH, random_state=0).fit(features, labels)
    return tree.predict_proba(features)[:, 1], tree.feature_importances_


def _squared_error(scores: Floats, labels: Integers) -> float:
    return float(np.mean((scores - labels.mean()) ** 2))


_SET_ASIDE, _PREDICTING_ROUNDS = 0.2, 100
#: Values of the target that fewer raw records hold, and those beyond the most frequent, are one class.
LEAST_OF_CLASS, MOST_CLASSES = 10, 20
#: Of either table; of more so many are drawn.
MOST_PREDICTED = 50_000


@dataclass(frozen=True)
class Score:
    """What one learner is worth on the records set aside, each 0..1.

    Attributes:
        auc: area under the curve: of the rarer of two classes, or the mean of one class against all others.
        accuracy: share of records whose class it names.
    """

    auc: float
    f1: float
    accuracy: float


@dataclass(frozen=True)
class Prediction:
    """What the two learners are worth."""

    classes: int
    rows: tuple[int, int, int]
    real: Score
    synthetic: Score

    def ratios(self) -> dict[str, float | None]:
        """The synthetic learner's scores over the real one's; None where that is 0."""
        pairs = {name: (getattr(self.synthetic, name), own) for name, own in vars(self.real).items()}
        return {name: made / own if own else None for name, (made, own) in pairs.items()}


def prediction(pair: TablePair, target: int) -> Prediction | None:
    """Predict a feature from all others.

    Args:
        target: the feature's place; records without it are left out.

    Returns:
        None where the target has fewer than two classes, where no other feature is there to predict it from,
        or where either table has fewer than `LEAST_ROWS` records with it.
    """
    from sklearn.model_selection import train_test_split

    pair = pair.limited(MOST_PREDICTED)
    classes = _classes(pair.real[target], pair.sizes[target])
    sides = [_examples(side, target, classes) for side in (pair.real, pair.synthetic)]
    number = int(classes.max()) + 1
    if number < 2 or len(pair.features) < 2 or min(len(labels) for _, labels in sides) < LEAST_ROWS:
        return None
    features, labels = sides[0]
    train, test, of_train, of_test = train_test_split(
        features, labels, test_size=_SET_ASIDE, random_state=0, stratify=labels
    )
    seen = ((train, of_train), sides[1])
    real, synthetic = (_score(_scores(each, test, number), of_test) for each in seen)
    return Prediction(number, (len(train), len(sides[1][1]), len(test)), real, synthetic)


def _classes(codes: Ids, size: int) -> Integers:
    """The class of each code of the target, the most frequent first; -1: no class, as of absence."""
    held = np.bincount(codes, minlength=size)
    held[0] = 0
    ranked = [code for code in np.argsort(-held, kind="stable").tolist() if held[code] >= LEAST_OF_CLASS]
    own = ranked if len(ranked) <= MOST_CLASSES else ranked[: MOST_CLASSES - 1]
    rest = int(held.sum() - held[own].sum())
    found = np.full(len(held), len(own) if rest >= LEAST_OF_CLASS else -1, np.int64)
    found[own] = np.arange(len(own))
    found[0] = -1
    return found


def _examples(side: Ids, target: int, classes: Integers) -> tuple[Features, Integers]:
    labels = classes[side[target]]
    rows = np.flatnonzero(labels >= 0)
    others = [place for place in range(len(side)) if place != target]
    return features_of(side[others][:, rows]), labels[rows]


def _scores(seen: tuple[Features, Integers], test: Features, number: int) -> Floats:
    """(records set aside, classes): how sure a learner is of each class; it may have seen one class alone."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    train, labels = seen
    held = np.unique(labels)
    found = np.zeros((len(test), number))
    if len(held) == 1:
        found[:, held[0]] = 1.0
        return found
    learner = HistGradientBoostingClassifier(max_iter=_PREDICTING_ROUNDS, random_state=0).fit(train, labels)
    found[:, learner.classes_] = learner.predict_proba(test)
    return found


def _score(scores: Floats, labels: Integers) -> Score:
    from sklearn.metrics import accuracy_score, f1_score, roc_auc_score

    named, number = scores.argmax(axis=1), scores.shape[1]
    judged = [1] if number == 2 else list(range(number))  # the rarer of two, as classes go by frequency
    auc = np.mean([roc_auc_score(labels == each, scores[:, each]) for each in judged])
    f1 = f1_score(labels, named, labels=judged, average="macro", zero_division=0.0)
    return Score(float(auc), float(f1), float(accuracy_score(labels, named)))


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
    """Total variations (s,) of some sets of features: of the synthetic records, and by chance alone."""

    sets: tuple[FeatureSet, ...]
    synthetic: Floats
    bootstrap: Floats
    halves: Floats

    def worst(self, most: int) -> list[int]:
        """Places of the sets that are farthest, the farthest first; equal ones in their order."""
        return [int(place) for place in (-self.synthetic).argsort(kind="stable")[:most]]


@dataclass(frozen=True)
class Utility:
    """Everything that was measured.

    Attributes:
        target: the column to predict; None: nothing is predicted.
        group: the column in every set of the k-marginal score, or None.
        by_ways: distances of 1, 2 and 3 ways, as far as there are features.
        propensity, told_apart, prediction: None where there is no target, or too little to learn from.
    """

    features: tuple[str, ...]
    rows: tuple[int, int]
    target: str | None
    group: str | None
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
    pair: TablePair,
    target: str | None = None,
    group: str | None = None,
    threads: int = 1,
    report: StageDone = lambda what, done: None,
) -> Utility:
    """Measure what the synthetic table of a pair is worth. Equal pairs give equal figures.

    Args:
        target, group: as of `Utility`.
        threads: of what is learned; 0: all cores.
    """
    pair = pair.limited(MOST_ROWS)
    number = len(pair.features)
    sets = {ways: feature_sets(number, ways) for ways in WAYS if ways <= number}
    scored = k_marginal_sets(number, None if group is None else pair.place(group))
    sides = (pair, pair.bootstrap(), pair.halves())
    compared = _steps(report, "marginals", len(sides) * sum(map(len, (*sets.values(), scored))))
    by_ways = {ways: _compare_sets(sides, own, compared) for ways, own in sets.items()}
    k_marginal = _compare_sets(sides, scored, compared)
    with learner_threads(threads):
        scores = propensity(pair, _steps(report, "propensity", STEPS))
        report("discriminator", 0.0)
        told_apart = discriminator(pair)
        report("discriminator", 0.5)
        by_chance = discriminator(sides[2])
        report("discriminator", 1.0)
        report("prediction", 0.0)
        predicted = None if target is None else prediction(pair, pair.place(target))
    report("prediction", 1.0)
    return Utility(
        pair.features, pair.rows, target, group, by_ways, k_marginal, scores, told_apart, by_chance, predicted
    )


def _compare_sets(
    sides: tuple[TablePair, ...], sets: list[FeatureSet], progress: Callable[[], None]
) -> ComparedSets:
    return ComparedSets(tuple(sets), *(set_distances(side, sets, progress) for side in sides))


def _steps(report: StageDone, what: str, number: int) -> Callable[[], None]:
    """What is called after each of so many steps."""
    done = itertools.count(1)
    return lambda: report(what, next(done) / number)
