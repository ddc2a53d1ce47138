"""Clusters of an order of columns and their energy, written as specified (X3.5), slowly."""

from dataclasses import dataclass, field
from itertools import combinations
from math import floor, fsum, sqrt


def mean(numbers):
    return sum(numbers) / len(numbers)


def weight(entropy):
    return 1 + sqrt(max(entropy, 1))


@dataclass
class Found:
    columns: list
    stitch: list = field(default_factory=list)


def clusters_of(dependence, weights, order, main=None, max_weight=15.0, threshold=0.1):
    """A list of Found, the initial cluster first."""
    found = [] if main is None else [Found([main])]
    for column in order:
        if column == main:
            continue
        admissible = []
        for number, cluster in enumerate(found):
            average = mean([dependence[member][column] for member in cluster.columns])
            capacity = max_weight * (1 if number == 0 else 0.7)
            load = sum(weights[member] for member in cluster.columns) + weights[column]
            if average >= threshold and (len(cluster.columns) == 1 or load <= capacity):
                admissible.append((average, -number))
        if admissible:
            found[-max(admissible)[1]].columns.append(column)
        else:
            found.append(Found([column]))
    available = list(found[0].columns)
    for cluster in found[1:]:
        add_stitch_columns(cluster, available, dependence, weights, (main, max_weight, threshold))
        available += cluster.columns
    return found


def add_stitch_columns(cluster, available, dependence, weights, limits):
    main, max_weight, threshold = limits

    def dependences(column):
        return [dependence[member][column] for member in cluster.columns]

    def preference(column):
        of_all, own = fsum(dependence[column]), dependences(column)
        return floor(mean(own) * 20 + 1e-9), floor(max(own) * 100 + 1e-9), of_all, -column

    ordered = sorted(available, key=preference, reverse=True)
    first = ordered[0] if main is None else main
    cluster.stitch.append(first)
    load = max(sum(weights[column] for column in cluster.columns), max_weight / 2) + weights[first]
    for column in ordered:
        if column != first and max(dependences(column)) >= threshold and load + weights[column] <= max_weight:
            cluster.stitch.append(column)
            load += weights[column]


def energy(dependence, found):
    count = len(dependence)
    everything = sum(dependence[i][j] for i in range(count) for j in range(count) if i != j)
    covered = sum(
        dependence[i][j] + dependence[j][i]
        for cluster in found
        for i, j in combinations(cluster.columns + cluster.stitch, 2)
    )
    return (everything - covered) / (2 * count)
