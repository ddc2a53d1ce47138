"""Compiled search for clusters: those of an order of columns, their energy, and simulated annealing.

In: the dependence of columns, their weights and the limits. Out: the order whose clusters leave the least
dependence out (syndiffix.md 3.5; oracle: tests/oracles/syndiffix_solver.py).
"""

from math import exp
from typing import NamedTuple

import numpy as np

from tasks.core.arrays import Flags, Floats, Integers, Words
from tasks.core.compiling.decorator import njit
from tasks.core.random_kernels import below, next_word

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
        max_weight: of a cluster.
        threshold: least dependence by which a column joins others.
        total: sum of the dependence of all pairs.
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
        sums: (d, d), sum of the dependence of a cluster's columns on each column.
        maxima: (d, d), the greatest of these.
        ordered: (d,), columns by their cluster.
        candidates: (d,), columns on which the cluster at hand can be stitched.
        keys: (d,), how much each is preferred.
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
    """Room for the clusters of ``count`` columns."""
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
    """Make a column's dependence (d,) part of a cluster's sums and maxima."""
    if is_first:
        for other in range(len(dependence)):
            sums[other] = maxima[other] = dependence[other]
    else:
        for other in range(len(dependence)):
            sums[other] += dependence[other]
            maxima[other] = max(maxima[other], dependence[other])


@njit(cache=True, nogil=True, error_model="numpy")
def _choose_stitch_columns(problem: Problem, solution: Solution, cluster: int, found: int) -> float:
    """Choose a derived cluster's among the columns of all before it, and return the dependence they cover.

    Args:
        problem: see there.
        solution: its sums of this cluster are used up.
        cluster: from 1.
        found: how many columns are in the clusters before.
    """
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
    """List all columns by their cluster."""
    start = 0
    for cluster in range(clusters):
        solution.keys[cluster] = start
        start += solution.sizes[cluster]
    for column in range(len(solution.cluster_of)):
        cluster = solution.cluster_of[column]
        solution.ordered[solution.keys[cluster]] = column
        solution.keys[cluster] += 1
