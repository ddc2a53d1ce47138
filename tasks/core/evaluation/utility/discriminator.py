"""The discriminator: how well a strong learner tells synthetic from raw records that it has not seen.

Gradient boosting over the features' codes, cross-validated: each row is scored by a learner that was fitted
without it. The area under the curve is 0.5 where the tables can't be told apart and 1 where they always can.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tasks.core.evaluation.utility.learning import LEAST_ROWS, features_of, labels_of
from tasks.core.evaluation.utility.table_pair import SEED, TablePair

Numbers = npt.NDArray[np.float64]

_FOLDS, _ROUNDS = 3, 60
#: Of either table; of more so many are drawn. More rows teach the learner more, so figures compare only at
#: equal numbers.
MOST_ROWS = 6_000
_POINTS = 200


@dataclass(frozen=True)
class Discriminator:
    """How well the tables are told apart.

    Attributes:
        rows: how many of the raw and of the synthetic table were scored.
        auc: area under the curve, about 0.5..1; below 0.5 is chance.
        curve: (2, points) shares of raw rows and of synthetic rows that are called synthetic, by how sure
            the learner must be; from 0, 0 to 1, 1.
    """

    rows: tuple[int, int]
    auc: float
    curve: Numbers


def discriminator(pair: TablePair) -> Discriminator | None:
    """How well a learner tells the tables apart; None where either has fewer than `LEAST_ROWS` rows."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.metrics import roc_auc_score, roc_curve
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    pair = pair.limited(MOST_ROWS)
    if min(pair.rows) < LEAST_ROWS:
        return None
    features, labels = features_of(pair.real, pair.synthetic), labels_of(*pair.rows)
    learner = HistGradientBoostingClassifier(max_iter=_ROUNDS, random_state=0)
    folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=SEED % 2**32)
    scores = cross_val_predict(learner, features, labels, cv=folds, method="predict_proba")[:, 1]
    across, up, _ = roc_curve(labels, scores)
    kept = np.unique(np.linspace(0, len(across) - 1, min(_POINTS, len(across))).round().astype(np.int64))
    return Discriminator(pair.rows, float(roc_auc_score(labels, scores)), np.stack([across, up])[:, kept])
