"""Train on synthetic, test on real: what a learner is worth that has seen synthetic records alone.

A fifth of the raw records is set aside. One learner is fitted to the other raw records and one to the
synthetic ones; both predict the target of those set aside. The synthetic records were made from all raw ones,
those set aside too, which flatters records that are copies of raw ones.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tasks.core.evaluation.utility.learning import LEAST_ROWS, Features, Labels, features_of
from tasks.core.evaluation.utility.table_pair import TablePair

Numbers = npt.NDArray[np.float64]

_SET_ASIDE, _ROUNDS = 0.2, 100
#: Values of the target that fewer raw records hold, and those beyond the most frequent, are one class.
LEAST_OF_CLASS, MOST_CLASSES = 10, 20
#: Of either table; of more so many are drawn.
MOST_ROWS = 50_000


@dataclass(frozen=True)
class Score:
    """What one learner is worth on the records set aside, each 0..1.

    Attributes:
        auc: area under the curve: of the rarer of two classes, or the mean of one class against all others.
        f1: of the rarer of two classes, or the mean over the classes.
        accuracy: share of records whose class it names.
    """

    auc: float
    f1: float
    accuracy: float


@dataclass(frozen=True)
class Prediction:
    """What the two learners are worth.

    Attributes:
        classes: how many the target has here.
        rows: fitted to of the raw and of the synthetic table, and set aside.
        real: the learner that saw raw records.
        synthetic: the learner that saw synthetic ones.
    """

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
        pair: the tables.
        target: the feature's place; records without it are left out.

    Returns:
        None where the target has fewer than two classes, where no other feature is there to predict it from,
        or where either table has fewer than `LEAST_ROWS` records with it.
    """
    from sklearn.model_selection import train_test_split

    pair = pair.limited(MOST_ROWS)
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


def _classes(codes: npt.NDArray[np.int32], size: int) -> Labels:
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


def _examples(side: npt.NDArray[np.int32], target: int, classes: Labels) -> tuple[Features, Labels]:
    """What is learned from, and the class of each record that has one."""
    labels = classes[side[target]]
    rows = np.flatnonzero(labels >= 0)
    others = [place for place in range(len(side)) if place != target]
    return features_of(side[others][:, rows]), labels[rows]


def _scores(seen: tuple[Features, Labels], test: Features, number: int) -> Numbers:
    """(records set aside, classes): how sure a learner is of each class; it may have seen one class alone."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    train, labels = seen
    held = np.unique(labels)
    found = np.zeros((len(test), number))
    if len(held) == 1:
        found[:, held[0]] = 1.0
        return found
    learner = HistGradientBoostingClassifier(max_iter=_ROUNDS, random_state=0).fit(train, labels)
    found[:, learner.classes_] = learner.predict_proba(test)
    return found


def _score(scores: Numbers, labels: Labels) -> Score:
    from sklearn.metrics import accuracy_score, f1_score, roc_auc_score

    named, number = scores.argmax(axis=1), scores.shape[1]
    judged = [1] if number == 2 else list(range(number))  # the rarer of two, as classes go by frequency
    auc = np.mean([roc_auc_score(labels == each, scores[:, each]) for each in judged])
    f1 = f1_score(labels, named, labels=judged, average="macro", zero_division=0.0)
    return Score(float(auc), float(f1), float(accuracy_score(labels, named)))
