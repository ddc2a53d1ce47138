"""Columns divided into clusters, so that those that depend on each other are synthesized together.

In: the columns' dependence and entropy. Out: clusters whose trees stay small (syndiffix.md 3.5).
"""

from math import fsum

import numpy as np

from tasks.core.arrays import Flags, Floats, Integers
from tasks.core.syndiffix.clusters import Clusters, DerivedCluster, one_cluster, separate_clusters
from tasks.core.syndiffix.settings import MOST_TOGETHER, DefaultClustering
from tasks.core.syndiffix.solver_kernels import Problem, Solution, anneal, fill_clusters, new_solution


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
        generator: of the random moves.
    """
    known = known_clusters(len(entropies), parameters)
    if known is not None:
        return known
    problem = as_problem(dependence, entropies, parameters)
    state = generator.integers(0, 2**64, 4, np.uint64)
    return clusters_in_order(problem, anneal(problem, float(parameters.solver_alpha), state))[0].simplified()


def as_problem(dependence: Floats, entropies: Floats, parameters: DefaultClustering) -> Problem:
    """What the kernels need to know of d columns; arguments as of `solve`."""
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
    clusters = [_members(solution.cluster_of == number) for number in range(max(solution.cluster_of) + 1)]
    derived = (
        DerivedCluster("shared", _members(solution.stitch[number]), clusters[number])
        for number in range(1, len(clusters))
    )
    return Clusters(clusters[0], tuple(derived)), energy


def _members(selected: Flags) -> tuple[int, ...]:
    return tuple(np.flatnonzero(selected).tolist())
