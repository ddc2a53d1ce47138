"""The propensity score: how sure a small tree can be whether a record is synthetic.

SDNist's propensity mean squared error: a decision tree of depth 6 is fitted to raw and synthetic rows, and
the squared distance of each row's score from the share of synthetic rows is averaged. 0: it can't tell at
all. It scores the rows that it was fitted to, so even equal tables get more than 0; what they would get is
found by fitting it to labels that were shuffled (Snoke et al. 2018, the null expectation of trees).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tasks.core.evaluation.utility.learning import LEAST_ROWS, Features, Labels, features_of, labels_of
from tasks.core.evaluation.utility.table_pair import SEED, TablePair

Numbers = npt.NDArray[np.float64]

_DEPTH = 6
_SHUFFLES = 5
#: Of the histogram of scores, from 0 to 1.
BINS = 20
#: Of either table; of more so many are drawn.
MOST_ROWS = 100_000


@dataclass(frozen=True)
class Propensity:
    """What the tree found.

    Attributes:
        rows: how many of the raw and of the synthetic table it was fitted to.
        mean_squared_error: from 0 to c(1 - c), where c is the synthetic rows' share: 0.25 for equal numbers.
        expected: the same where the tables don't differ.
        scores: (2, BINS) shares of the raw and of the synthetic rows by their score.
        told_by: of each feature its share of what the tree told them apart by; they add up to 1, or are 0.
    """

    rows: tuple[int, int]
    mean_squared_error: float
    expected: float
    scores: Numbers
    told_by: Numbers

    @property
    def ratio(self) -> float | None:
        """The error over the expected one: 1 where the tables don't differ; None where that is 0."""
        return self.mean_squared_error / self.expected if self.expected else None


def propensity(pair: TablePair, progress: Callable[[], None] = lambda: None) -> Propensity | None:
    """The propensity of a pair of tables; None where either has fewer than `LEAST_ROWS` rows."""
    pair = pair.limited(MOST_ROWS)
    if min(pair.rows) < LEAST_ROWS:
        return None
    features, labels = features_of(pair.real, pair.synthetic), labels_of(*pair.rows)
    scores, told_by = _fitted(features, labels)
    progress()
    generator, shuffled = np.random.default_rng(SEED), []
    for _ in range(_SHUFFLES):
        mixed = generator.permutation(labels)
        shuffled.append(_error(_fitted(features, mixed)[0], mixed))
        progress()
    sides = [np.histogram(scores[labels == side], BINS, (0.0, 1.0))[0] for side in (0, 1)]
    shares = np.array([counts / counts.sum() for counts in sides])
    return Propensity(pair.rows, _error(scores, labels), float(np.mean(shuffled)), shares, told_by)


#: How often the progress of `propensity` is called.
STEPS = 1 + _SHUFFLES


def _fitted(features: Features, labels: Labels) -> tuple[Numbers, Numbers]:
    """The tree's scores of the rows that it was fitted to, and the importances of its features."""
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(max_depth=_DEPTH, random_state=0).fit(features, labels)
    return tree.predict_proba(features)[:, 1], tree.feature_importances_


def _error(scores: Numbers, labels: Labels) -> float:
    return float(np.mean((scores - labels.mean()) ** 2))
