"""Which clusters a strategy makes: by simulated annealing, or for the prediction of one column (X3.5, X3.7).

Clusters have trees that stay small, and are of the order of columns that leaves the least dependence out
(oracle: tests/oracles/syndiffix_solver.py). For a target they keep its features with it.

Features are selected like the reference's, but the same for any order of the rows and without random
numbers: texts are their rank, rows are sorted before they are divided into folds, and estimators are seeded.
Of sets that predict equally well the smallest is taken: each column more makes the counts of the target's
cluster less accurate. Features come by importance, as the reference's own documentation says, so that the
best ones share that cluster.

Scores are computed from raw data: what a cluster consists of is not protected.
"""

import warnings
from collections.abc import Sequence
from math import exp, fsum
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tasks.core.arrays import Flags, Floats, Integers, Words
from tasks.core.compiling.decorator import njit
from tasks.core.random_kernels import below, next_word
from tasks.core.syndiffix.clusters import Clusters, DerivedCluster, one_cluster, separate_clusters
from tasks.core.syndiffix.settings import MOST_TOGETHER, DefaultClustering, MlClustering

_FIRST_TEMPERATURE = 5.0
_LAST_TEMPERATURE = 3.5e-3
_DERIVED_CAPACITY = 0.7  # of a cluster's weight: leaves room for stitch columns
_LEAST_BUDGET = 0.5  # what a derived cluster counts at least, so that a small one isn't filled with them
_AVERAGE_STEPS = 20.0  # stitch columns are compared by their average dependence in steps of 0.05 ...
_MAXIMUM_STEPS = 100.0  # ... then by their greatest in steps of 0.01
_ROUNDING = 1e-9  # 0.3 / 0.05 is 5.999... in floating point, and a sum of nothing 1e-17
_UNIT = 2.0**-53


class Problem(NamedTuple):
    """What is to be solved for d columns.

    Attributes:
        dependence: (d, d), symmetric, from 0 to 1.
        weights: (d,).
        ranks: (d,), a column's place by its total dependence, 0 for the least; no two are equal.
        main: the column that is in every cluster; -1 for none.
        threshold: least dependence by which a column joins others.
    """

    dependence: Floats
    weights: Floats
    ranks: Integers
    main: int
    max_weight: float
    threshold: float
    total: float


class Solution(NamedTuple):
    """Clusters in the making; filled by `fill_clusters`.

    Attributes:
        cluster_of: (d,), each column's cluster: 0 is the initial one.
        stitch: (d, d), whether [cluster, column] is a stitch column.
        sizes: (d,), columns of each cluster without its stitch columns; 0 behind the last.
        loads: (d,), their weight.
        sums: (d, d), sum of the dependence of a cluster's columns on each column; ``maxima`` the greatest.
        ordered: (d,), columns by their cluster.
        candidates: (d,), columns on which the cluster at hand can be stitched; ``keys``: their preference.
    """

    cluster_of: Integers
    stitch: Flags
    sizes: Integers
    loads: Floats
    sums: Floats
    maxima: Floats
    ordered: Integers
    candidates: Integers
    keys: Integers


@njit(cache=True, nogil=True, error_model="numpy")
def new_solution(count: int) -> Solution:
    return Solution(
        np.empty(count, np.int64),
        np.zeros((count, count), np.bool_),
        np.zeros(count, np.int64),
        np.zeros(count, np.float64),
        np.empty((count, count), np.float64),
        np.empty((count, count), np.float64),
        np.empty(count, np.int64),
        np.empty(count, np.int64),
        np.empty(count, np.int64),
    )


@njit(cache=True, nogil=True, error_model="numpy")
def fill_clusters(problem: Problem, order: Integers, solution: Solution) -> float:
    """Fill in the clusters of columns that come in this order, and return their energy.

    It is the dependence of all pairs of columns, less that of the pairs within each cluster (with its
    stitch columns; a pair in two clusters counts twice), by column. ``order`` lacks the main column;
    ``solution`` is overwritten.
    """
    solution.sizes[:] = 0
    solution.loads[:] = 0.0
    solution.stitch[:] = False
    clusters, covered = _place_columns(problem, order, solution)
    _order_by_cluster(solution, clusters)
    before = solution.sizes[0]
    for cluster in range(1, clusters):
        covered += _choose_stitch_columns(problem, solution, cluster, before)
        before += solution.sizes[cluster]
    return (problem.total - covered) / len(problem.weights)


@njit(cache=True, nogil=True, error_model="numpy")
def anneal(problem: Problem, alpha: float, state: Words) -> Integers:
    """The order of columns (all but the main one, two or more) whose clusters have the least energy found.

    The larger ``alpha``, the faster it cools. ``state`` is the random stream, moved on.
    """
    solution = new_solution(len(problem.weights))
    order = np.array([c for c in range(len(problem.weights)) if c != problem.main])
    energy = fill_clusters(problem, order, solution)
    best, best_energy = order.copy(), energy
    temperature = _FIRST_TEMPERATURE
    while temperature > _LAST_TEMPERATURE and best_energy > _ROUNDING:
        first = np.int64(below(state, len(order)))
        second = np.int64(below(state, len(order) - 1))
        if second >= first:
            second += 1
        order[first], order[second] = order[second], order[first]
        changed = fill_clusters(problem, order, solution)
        chance = float(next_word(state) >> np.uint64(11)) * _UNIT
        if changed <= energy or exp((energy - changed) / temperature) > chance:
            energy = changed
            if energy < best_energy:
                best = order.copy()
                best_energy = energy
        else:
            order[first], order[second] = order[second], order[first]
        temperature /= 1.0 + alpha * temperature
    return best


@njit(cache=True, nogil=True, error_model="numpy")
def _place_columns(problem: Problem, order: Integers, solution: Solution) -> tuple[int, float]:
    """Put each column into the first cluster of greatest average dependence that admits it, or a new one.

    What an order of columns age, income, sex, town means, where a cluster has room for two of them:

        age      → a new cluster 0
        income   → 0, on which it depends enough
        sex      → 0 is full: a new cluster 1
        town     → 1, if it depends enough on sex; else a new cluster 2

    Returns:
        The number of clusters and the dependence that they cover.
    """
    sizes, loads, sums = solution.sizes, solution.loads, solution.sums
    weights, main = problem.weights, problem.main
    clusters, covered = 0, 0.0
    for place in range(-1 if main >= 0 else 0, len(order)):
        column = order[place] if place >= 0 else main
        best, best_average = clusters, -1.0
        capacity = problem.max_weight
        for cluster in range(clusters):
            if sizes[cluster] == 1 or loads[cluster] + weights[column] <= capacity:
                average = sums[cluster, column] / sizes[cluster]
                if average >= problem.threshold and average > best_average:
                    best, best_average = cluster, average
            capacity = _DERIVED_CAPACITY * problem.max_weight
        if best == clusters:
            clusters += 1
        else:
            covered += sums[best, column]
        _add(problem.dependence[column], sums[best], solution.maxima[best], sizes[best] == 0)
        solution.cluster_of[column] = best
        sizes[best] += 1
        loads[best] += weights[column]
    return clusters, covered


@njit(cache=True, nogil=True, error_model="numpy")
def _add(dependence: Floats, sums: Floats, maxima: Floats, is_first: bool) -> None:
    if is_first:
        for other in range(len(dependence)):
            sums[other] = maxima[other] = dependence[other]
    else:
        for other in range(len(dependence)):
            sums[other] += dependence[other]
            maxima[other] = max(maxima[other], dependence[other])


@njit(cache=True, nogil=True, error_model="numpy")
def _choose_stitch_columns(problem: Problem, solution: Solution, cluster: int, found: int) -> float:
    """Choose a derived cluster's among the columns of all before it, and return the dependence they cover."""
    dependence, weights, columns = problem.dependence, problem.weights, solution.candidates
    keys, sums, maxima = solution.keys, solution.sums[cluster], solution.maxima[cluster]
    best = _rank_candidates(problem, solution, cluster, found)
    column = problem.main if problem.main >= 0 else best
    load = max(solution.loads[cluster], _LEAST_BUDGET * problem.max_weight)
    covered = 0.0
    while column >= 0:
        covered += sums[column]
        solution.stitch[cluster, column] = True
        load += weights[column]
        kept, best, best_key = 0, -1, -1
        for place in range(found):
            other = columns[place]
            # A column that doesn't fit now never will: it is not looked at again.
            fits = (
                (maxima[other] >= problem.threshold)
                & (load + weights[other] <= problem.max_weight)
                & (other != column)
            )
            # Without branches, as nobody can foresee which fit.
            columns[kept] = other
            kept += fits
            sums[other] += dependence[column, other]
            if fits & (keys[other] > best_key):
                best, best_key = other, keys[other]
        found, column = kept, best
    return covered


@njit(cache=True, nogil=True, error_model="numpy")
def _rank_candidates(problem: Problem, solution: Solution, cluster: int, found: int) -> int:
    """List the first ``found`` columns with how much each is preferred, and return the most preferred."""
    ranks, columns, keys = problem.ranks, solution.candidates, solution.keys
    sums, maxima = solution.sums[cluster], solution.maxima[cluster]
    average_steps = _AVERAGE_STEPS / solution.sizes[cluster]
    best, best_key = -1, -1
    for place in range(found):
        column = solution.ordered[place]
        average = int(sums[column] * average_steps + _ROUNDING)
        greatest = int(maxima[column] * _MAXIMUM_STEPS + _ROUNDING)
        keys[column] = (average * 128 + greatest) * len(ranks) + ranks[column]
        columns[place] = column
        if keys[column] > best_key:
            best, best_key = column, keys[column]
    return best


@njit(cache=True, nogil=True, error_model="numpy")
def _order_by_cluster(solution: Solution, clusters: int) -> None:
    start = 0
    for cluster in range(clusters):
        solution.keys[cluster] = start
        start += solution.sizes[cluster]
    for column in range(len(solution.cluster_of)):
        cluster = solution.cluster_of[column]
        solution.ordered[solution.keys[cluster]] = column
        solution.keys[cluster] += 1


def column_weights(entropies: Floats) -> Floats:
    """How much each column (d,) adds to a cluster's weight: 2 or more, with its entropy in bits."""
    return 1.0 + np.sqrt(np.maximum(entropies, 1.0))


def known_clusters(count: int, parameters: DefaultClustering) -> Clusters | None:
    """The clusters of ``count`` columns where they don't follow from dependence; None where they do."""
    if parameters.max_weight <= 1:
        return separate_clusters(count)
    return one_cluster(count) if count <= MOST_TOGETHER else None


def solve(
    dependence: Floats, entropies: Floats, parameters: DefaultClustering, generator: np.random.Generator
) -> Clusters:
    """Clusters of d >= 1 columns, the same for the same state of the generator.

    Args:
        dependence: (d, d), symmetric, from 0 to 1; not looked at where there are `known_clusters`.
        entropies: (d,), in bits.
        parameters: the main column, where there is one, is an id (see `settings.with_ids`).
    """
    known = known_clusters(len(entropies), parameters)
    if known is not None:
        return known
    problem = as_problem(dependence, entropies, parameters)
    state = generator.integers(0, 2**64, 4, np.uint64)
    return clusters_in_order(problem, anneal(problem, float(parameters.solver_alpha), state))[0].simplified()


def as_problem(dependence: Floats, entropies: Floats, parameters: DefaultClustering) -> Problem:
    """What the kernels need to know; arguments as of `solve`."""
    # Sums are rounded once, whatever the order: columns of equal dependence stay equal.
    totals = np.array([fsum(row) for row in dependence])
    ranks = np.empty(len(totals), np.int64)
    ranks[np.lexsort((-np.arange(len(totals)), totals))] = np.arange(len(totals))
    main = parameters.main_column
    return Problem(
        np.ascontiguousarray(dependence, np.float64),
        column_weights(entropies),
        ranks,
        main if isinstance(main, int) else -1,
        float(parameters.max_weight),
        float(parameters.merge_threshold),
        fsum(np.tril(dependence, -1).ravel()),
    )


def clusters_in_order(problem: Problem, order: Integers) -> tuple[Clusters, float]:
    """The clusters of an order of all columns but the main one, and their energy (0: nothing is left out)."""
    solution: Solution = new_solution(len(problem.weights))
    energy: float = fill_clusters(problem, order, solution)
    clusters = [_column_ids(solution.cluster_of == number) for number in range(max(solution.cluster_of) + 1)]
    derived = (
        DerivedCluster("shared", _column_ids(solution.stitch[number]), clusters[number])
        for number in range(1, len(clusters))
    )
    return Clusters(clusters[0], tuple(derived)), energy


def _column_ids(selected: Flags) -> tuple[int, ...]:
    return tuple(np.flatnonzero(selected).tolist())


_MOST_CATEGORIES = 15  # distinct numbers that are treated as categories
_MOST_CLASSES = 100  # of a target of texts; the others are one class: a tree keeps a number for each
_LEAST_VARIANCE = 1e-5
_MOST_ROWS = 50_000  # of which selection takes about ten seconds
_FOLDS = 5
_LEAST_TESTED = 2  # rows of a fold: no share of a variance is explained of one row
_LARGEST = 1e30  # estimators take single precision


def select_features(values: Floats, is_text: Sequence[bool], parameters: MlClustering) -> tuple[int, ...]:
    """The columns by which the target is predicted best, the most important first; given ones as they are.

    Columns without a value can be none, and rows that lack any other value are left out; when too few rows
    are left, there are no features.

    Args:
        values: (n, d), NaN for null; texts as their rank.
        is_text: (d,), whose numbers are ranks.
        parameters: the target and the features, where there are, are ids (see `settings.with_ids`).
    """
    if parameters.main_features is not None:
        return tuple(feature for feature in parameters.main_features if isinstance(feature, int))
    target = int(parameters.target)
    used = [column for column in range(values.shape[1]) if not np.isnan(values[:, column]).all()]
    complete = values[~np.isnan(values[:, used]).any(axis=1)]
    if target not in used or len(complete) < 2 * _LEAST_TESTED:
        return ()
    features = [column for column in used if column != target]
    table = np.column_stack(
        [_encode_feature(complete[:, column], is_text[column]) for column in [target, *features]]
    )
    # Equal rows are the only ones whose order still is the table's.
    table = thin_rows(table[np.lexsort(table.T[::-1])])
    varied = np.flatnonzero(table[:, 1:].var(axis=0) > _LEAST_VARIANCE)
    is_class = is_text[target] or len(np.unique(table[:, 0])) <= _MOST_CATEGORIES
    outcome = _as_classes(table[:, 0]) if is_class else table[:, 0]
    if len(varied) > 1:
        varied = varied[_rank_features(table[:, 1 + varied], outcome, _estimator(is_class))]
    return tuple(features[place] for place in varied)


def solve_with_features(features: Sequence[int], entropies: Floats, parameters: MlClustering) -> Clusters:
    """Clusters of the target with as many features as fit, in their order, and of each other column with it.

    ``features``: ids, the most important first.
    ``entropies``: (d,), in bits, of all columns.
    """
    target = int(parameters.target)
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


def _encode_feature(column: Floats, is_text: bool) -> Floats:
    """Ranks of categories and texts; other numbers by their distance from the median in quartile ranges."""
    distinct, ranks = np.unique(column, return_inverse=True)
    if is_text or len(distinct) <= _MOST_CATEGORIES:
        return ranks.astype(np.float64)
    lower, median, upper = np.percentile(column, (25, 50, 75))
    with np.errstate(over="ignore"):
        scaled: Floats = (column - median) / (upper - lower or 1.0)
    return np.clip(scaled, -_LARGEST, _LARGEST)


def thin_rows(table: Floats) -> Floats:
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


def _estimator(is_class: bool) -> Any:
    # Imported here: nothing else needs it, and it takes a second.
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    return DecisionTreeClassifier(random_state=0) if is_class else DecisionTreeRegressor(random_state=0)


def _rank_features(table: Floats, outcome: npt.NDArray[Any], estimator: Any) -> Integers:
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
        number = _fewest_features(
            tried["n_features"], tried["mean_test_score"], tried["std_test_score"] / folds**0.5
        )
        found = RFE(estimator, n_features_to_select=number).fit(table, outcome)
    selected: Integers = np.flatnonzero(found.support_)
    importance = getattr(found.estimator_, "feature_importances_", np.zeros(len(selected)))
    return selected[np.argsort(-importance, kind="stable")]


def _fewest_features(numbers: Integers, scores: Floats, errors: Floats) -> int:
    """The fewest features whose score is within a standard error of the best (Breiman et al. 1984, 3.4.3)."""
    best = int(np.argmax(scores))
    return int(numbers[scores >= scores[best] - errors[best]].min())
