"""Clusters for the prediction of one column: which columns predict it, and how many go together.

In: a table as numbers and its target. Out: the target's features, and clusters that keep them with it
(syndiffix.md 3.7).

Like the reference, but the same for any order of the rows and without random numbers: texts are their rank,
rows are sorted before they are divided into folds, and estimators are seeded. Of sets that predict equally
well the smallest is taken: each column more makes the counts of the target's cluster less accurate. Features
come by importance, as the reference's own documentation says, so that the best ones share that cluster.

Scores are computed from raw data: what a cluster consists of is not protected.
"""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tasks.core.arrays import Floats, Integers
from tasks.core.syndiffix.clusters import Clusters, DerivedCluster
from tasks.core.syndiffix.settings import MlClustering
from tasks.core.syndiffix.solver import column_weights

_MOST_CATEGORIES = 15  # distinct numbers that are treated as categories
_MOST_CLASSES = 100  # of a target of texts; the others are one class: a tree keeps a number for each
_LEAST_VARIANCE = 1e-5
_MOST_ROWS = 50_000  # of which selection takes about ten seconds
_FOLDS = 5
_LEAST_TESTED = 2  # rows of a fold: no share of a variance is explained of one row
_LARGEST = 1e30  # estimators take single precision


def select_features(values: Floats, is_text: Sequence[bool], parameters: MlClustering) -> tuple[int, ...]:
    """The columns by which the target is predicted best, the most important first.

    These are the given ones where there are. Otherwise columns without a value can be none, and rows that
    lack any other value are left out; when too few rows are left, there are no features.

    Args:
        values: (n, d), NaN for null; texts as their rank.
        is_text: (d,), whose numbers are ranks.
        parameters: the target and the features, where there are, are ids (see `settings.with_ids`).
    """
    if parameters.main_features is not None:
        return tuple(feature for feature in parameters.main_features if isinstance(feature, int))
    target = _target(parameters)
    used = [column for column in range(values.shape[1]) if not np.isnan(values[:, column]).all()]
    complete = values[~np.isnan(values[:, used]).any(axis=1)]
    if target not in used or len(complete) < 2 * _LEAST_TESTED:
        return ()
    features = [column for column in used if column != target]
    table = np.column_stack([_encode(complete[:, column], is_text[column]) for column in [target, *features]])
    # Equal rows are the only ones whose order still is the table's.
    table = _thinned(table[np.lexsort(table.T[::-1])])
    varied = np.flatnonzero(table[:, 1:].var(axis=0) > _LEAST_VARIANCE)
    is_class = is_text[target] or len(np.unique(table[:, 0])) <= _MOST_CATEGORIES
    outcome = _as_classes(table[:, 0]) if is_class else table[:, 0]
    if len(varied) > 1:
        varied = varied[_rank(table[:, 1 + varied], outcome, _estimator(is_class, parameters))]
    return tuple(features[place] for place in varied)


def solve_with_features(features: Sequence[int], entropies: Floats, parameters: MlClustering) -> Clusters:
    """Clusters of the target with as many features as fit, in their order, and of each other column with it.

    Args:
        features: ids, the most important first.
        entropies: (d,), in bits, of all columns.
        parameters: the target is an id; non-features are added by their dependence on it, or left out.
    """
    target = _target(parameters)
    weights = column_weights(entropies)
    chunks: list[list[int]] = [[]]
    load = weights[target]
    for feature in features:
        if chunks[-1] and load + weights[feature] > parameters.max_weight:
            chunks.append([])
            load = weights[target]
        chunks[-1].append(feature)
        load += weights[feature]
    derived = [DerivedCluster("shared", (target,), tuple(sorted(chunk))) for chunk in chunks[1:]]
    if not parameters.drop_non_features:
        others = sorted(set(range(len(entropies))) - {target, *features})
        derived += [DerivedCluster("left", (target,), (column,)) for column in others]
    return Clusters(tuple(sorted((target, *chunks[0]))), tuple(derived))


def _target(parameters: MlClustering) -> int:
    return int(parameters.target)


def _encode(column: Floats, is_text: bool) -> Floats:
    """Ranks of categories and texts; other numbers by their distance from the median in quartile ranges."""
    distinct, ranks = np.unique(column, return_inverse=True)
    if is_text or len(distinct) <= _MOST_CATEGORIES:
        return ranks.astype(np.float64)
    lower, median, upper = np.percentile(column, (25, 50, 75))
    with np.errstate(over="ignore"):
        scaled: Floats = (column - median) / (upper - lower or 1.0)
    return np.clip(scaled, -_LARGEST, _LARGEST)


def _thinned(table: Floats) -> Floats:
    """A sorted table's rows, or as many as are looked at, evenly spread over all values of the target."""
    if len(table) <= _MOST_ROWS:
        return table
    return table[np.arange(_MOST_ROWS) * len(table) // _MOST_ROWS]


def _as_classes(ranks: Floats) -> Integers:
    """The classes (n,) of a target: its most frequent values, ties by rank, and all others in one."""
    values, classes, counts = np.unique(ranks, return_inverse=True, return_counts=True)
    rarest = np.argsort(-counts, kind="stable")[_MOST_CLASSES:]
    joined = np.arange(len(values))
    joined[rarest] = len(values)
    return joined[classes]


def _estimator(is_class: bool, parameters: MlClustering) -> Any:
    # Imported here: nothing else needs it, and it takes a second.
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    given = parameters.classifier_model if is_class else parameters.regressor_model
    if given is not None:
        return given
    return DecisionTreeClassifier(random_state=0) if is_class else DecisionTreeRegressor(random_state=0)


def _rank(table: Floats, outcome: npt.NDArray[Any], estimator: Any) -> Integers:
    """The columns of a table sorted by its outcome that predict it in cross-validation, by importance."""
    from sklearn.feature_selection import RFE, RFECV

    folds = min(_FOLDS, len(table) // _LEAST_TESTED)
    # Every fold has rows of every outcome, as they are sorted by it.
    fold = np.arange(len(table)) % folds
    splits = [(np.flatnonzero(fold != number), np.flatnonzero(fold == number)) for number in range(folds)]
    with warnings.catch_warnings():
        # That a target has many classes for its few rows.
        warnings.simplefilter("ignore", UserWarning)
        tried = RFECV(estimator, cv=splits).fit(table, outcome).cv_results_
        number = _fewest(tried["n_features"], tried["mean_test_score"], tried["std_test_score"] / folds**0.5)
        found = RFE(estimator, n_features_to_select=number).fit(table, outcome)
    selected: Integers = np.flatnonzero(found.support_)
    importance = getattr(found.estimator_, "feature_importances_", np.zeros(len(selected)))
    return selected[np.argsort(-importance, kind="stable")]


def _fewest(numbers: Integers, scores: Floats, errors: Floats) -> int:
    """The fewest features whose score is within a standard error of the best (Breiman et al. 1984, 3.4.3)."""
    best = int(np.argmax(scores))
    return int(numbers[scores >= scores[best] - errors[best]].min())
