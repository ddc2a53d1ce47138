"""Slow, obvious forms of what fitted synthesis computes."""

import itertools
import math

import numpy as np


def least_squares(sizes, tables):
    """Estimate and standard deviation of any margin, by weighing every observation of the joint table.

    Without enough observations, those of the minimum-norm solution.
    """
    joint = list(itertools.product(*map(range, sizes)))
    rows, seen, weights = [], [], []
    for table in tables:
        for cell in itertools.product(*(range(sizes[column]) for column in table.columns)):
            rows.append([all(x[c] == v for c, v in zip(table.columns, cell, strict=True)) for x in joint])
            seen.append(float(table.counts[cell]))
            weights.append(1 / table.variance)
    design, weighed = np.array(rows, float), np.array(weights)
    covariance = np.linalg.pinv(design.T @ (design * weighed[:, None]), rcond=1e-9)
    solution = covariance @ (design.T @ (weighed * np.array(seen)))

    def of(*terms):
        """Of a weighted sum of margins: a weight, and the values that columns have, of each."""
        parts = ([w * all(x[c] == v for c, v in cell.items()) for x in joint] for w, cell in terms)
        margin = np.sum([*parts], axis=0, dtype=float)
        return float(margin @ solution), math.sqrt(max(0.0, float(margin @ covariance @ margin)))

    return of


def posterior_mean(deviations, expected, variance, strengths, powers, steps):
    """Shrinkage cell by cell, component by component, as the formulas read."""
    most = max(expected)
    components = [None, *((t, p) for p in powers for t in strengths)]

    def signal(component, e):
        return 0.0 if component is None else component[0] * variance * (e / most) ** component[1]

    def density(r, v):
        return math.exp(-0.5 * r * r / v) / math.sqrt(2 * math.pi * v)

    weights = [0.5] + [0.5 / (len(components) - 1)] * (len(components) - 1)
    shares = []
    for step in range(steps + 1):
        shares = []
        for r, e in zip(deviations, expected, strict=True):
            parts = [
                w * density(r, signal(c, e) + variance) for w, c in zip(weights, components, strict=True)
            ]
            shares.append([part / sum(parts) for part in parts])
        if step < steps:
            weights = [sum(of_cell[k] for of_cell in shares) / len(shares) for k in range(len(components))]
    return [
        r
        * sum(q * signal(c, e) / (signal(c, e) + variance) for q, c in zip(of_cell, components, strict=True))
        for r, e, of_cell in zip(deviations, expected, shares, strict=True)
    ]


def cells_of_record(record, domain, column):
    """The cells of one column that a record is in."""
    first, empty = domain.first_slot(column), domain.empty(column)
    held = [cell for cell in record[first : first + domain.slots_of(column)] if cell != empty]
    if held or empty == domain.sizes[column]:
        return held
    return [empty]


def count(records, domain, columns):
    """Counts of a table, record by record and choice by choice."""
    counts = np.zeros(domain.shape(columns), np.int64)
    for record in records.tolist():
        for cell in itertools.product(*(cells_of_record(record, domain, column) for column in columns)):
            used = list(zip(columns, cell, strict=True))
            if len(set(used)) == len(used):
                counts[cell] += 1
    return counts
