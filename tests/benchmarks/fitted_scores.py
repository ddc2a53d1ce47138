"""How close made records come to real ones: two tables of codes in, figures out.

The formulas are those of the published comparisons: mean total variation of all 1-, 2- and 3-way counts (of
more than 400 sets a fixed choice), NIST's k-marginal score and propensity error, the area under a
discriminator's curve, and train-synthetic-test-real. -1 stands for an empty cell.
"""

import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.model_selection import cross_val_predict
from sklearn.tree import DecisionTreeClassifier

from tests.benchmarks.fitted_tables import Cells, CellTable

_MOST_SETS = 400
_MOST_DENSE = 4_000_000
_DISCRIMINATED = 12_000
#: Of wider tables the k-marginal score takes too long.
_MOST_SCORED = 24


def variation_of(table: CellTable, made: Cells, columns: Sequence[int]) -> float:
    """Total variation of the counts of one set of columns."""
    shape = [table.sizes[column] + 1 for column in columns]
    keys = [
        np.ravel_multi_index(tuple((cells[:, list(columns)] + 1).T), shape) for cells in (table.cells, made)
    ]
    if np.prod(shape) > _MOST_DENSE:
        both = np.unique(np.concatenate(keys), return_inverse=True)[1]
        keys = [both[: len(keys[0])], both[len(keys[0]) :]]
    most = 1 + max(int(key.max(initial=0)) for key in keys)
    shares = [np.bincount(key, minlength=most) / max(1, len(key)) for key in keys]
    return float(np.abs(shares[0] - shares[1]).sum() / 2)


def marginal_scores(table: CellTable, made: Cells) -> dict[str, float]:
    """Mean total variation at 1, 2 and 3 ways, and the k-marginal score."""
    number = len(table.sizes)
    scores = {}
    for way in (1, 2, 3):
        sets = list(itertools.combinations(range(number), way))
        if len(sets) > _MOST_SETS:
            chosen = np.random.default_rng(0).choice(len(sets), _MOST_SETS, replace=False)
            sets = [sets[place] for place in sorted(chosen)]
        scores[f"tvd{way}"] = float(np.mean([variation_of(table, made, columns) for columns in sets]))
    group = [] if table.group is None else [table.headers.index(table.group)]
    rest = [column for column in range(number) if column not in group]
    if len(rest) <= _MOST_SCORED:
        pairs = [variation_of(table, made, [*group, *pair]) for pair in itertools.combinations(rest, 2)]
        scores["k_marginal"] = 1000 * (1 - float(np.mean(pairs)))
    return scores


def learning_scores(table: CellTable, made: Cells) -> dict[str, float]:
    """Propensity error, discriminator, and where there is a target, the ratios of a learner's scores."""
    both = np.concatenate([table.cells, made])
    is_made = np.repeat([0.0, 1.0], [len(table.cells), len(made)])
    tree = DecisionTreeClassifier(max_depth=6, random_state=0).fit(both, is_made)
    scores = {"pmse": float(np.mean((tree.predict_proba(both)[:, 1] - is_made.mean()) ** 2))}
    some = np.random.default_rng(0).permutation(len(both))[:_DISCRIMINATED]
    learner = HistGradientBoostingClassifier(max_iter=60, random_state=0)
    guessed = cross_val_predict(learner, both[some], is_made[some], cv=3, method="predict_proba")[:, 1]
    scores["disc_auc"] = float(roc_auc_score(is_made[some], guessed))
    if table.holdout is not None:
        few = np.random.default_rng(0).permutation(len(made))[: len(table.holdout)]
        scores["uniques_hit"] = uniques_hit(table.cells, made[few])
        scores["uniques_hit_by_holdout"] = uniques_hit(table.cells, table.holdout)
    if table.target is not None and table.holdout is not None:
        real, own = (_learnt(table, cells) for cells in (table.cells, made))
        scores |= {"ml_auc_ratio": own[0] / real[0], "ml_f1_ratio": own[1] / real[1]}
    return scores


def uniques_hit(real: Cells, others: Cells) -> float:
    """The share of the real records that are like no other real one, and like one of the others."""
    rows, counts = np.unique(real, axis=0, return_counts=True)
    unique = {*map(bytes, rows[counts == 1])}
    return len(unique & {*map(bytes, np.ascontiguousarray(others, rows.dtype))}) / max(1, len(unique))


def _learnt(table: CellTable, cells: Cells) -> tuple[float, float]:
    """Area under the curve and F1 on the records held out, learnt from ``cells``."""
    assert table.target is not None and table.holdout is not None
    target = table.headers.index(table.target)
    known = cells[cells[:, target] >= 0]
    features = [column for column in range(len(table.sizes)) if column != target]
    learner = HistGradientBoostingClassifier(max_iter=100, random_state=0)
    learner.fit(known[:, features], known[:, target])
    truth: npt.NDArray[np.int64] = table.holdout[:, target]
    guessed = learner.predict_proba(table.holdout[:, features])[:, 1]
    return float(roc_auc_score(truth, guessed)), float(f1_score(truth, guessed > 0.5))
