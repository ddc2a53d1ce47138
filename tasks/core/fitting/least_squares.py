"""Weighted least squares over all noisy tables at once, in closed form.

A table splits into independent *residuals*, one for each subset of its columns; a marginal is the sum of its
subsets' residuals, each spread evenly over the axes that it does not have (E2).

    table (sex, town)  =  total + sex  + town + (sex with town)      total and town are estimated twice,
    table (town, age)  =  total + town + age  + (town with age)      all else once
"""

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from tasks.core.arrays import Floats
from tasks.core.fitting.noisy_tables import Domain, NoisyTable


@dataclass(frozen=True)
class Residual:
    """What all tables together say of one set of columns beyond its subsets.

    Attributes:
        values: float64, one axis a column; sums to 0 along each single-valued one.
        variance: of the noise of the margin that ``values`` was centred from, one number for all cells.
    """

    values: Floats
    variance: float


class Residuals:
    """The residuals of everything measured; marginals of any set of columns follow from them.

    Women and men were counted as 66 and 40, all people as 100. The sum 106 has twice the noise, so the
    estimate of all is 102:

    >>> tables = [NoisyTable((), np.array(100.0), 1.0), NoisyTable((0,), np.array([66.0, 40.0]), 1.0)]
    >>> Residuals(Domain((2,)), tables).marginal((0,)).round(9).tolist()
    [64.0, 38.0]
    """

    def __init__(self, domain: Domain, tables: Iterable[NoisyTable]) -> None:
        """Args: tables: one of them without a multi-valued column, such as the number of records."""
        self._domain = domain
        self._residuals: dict[tuple[int, ...], Residual] = {}
        for table in tables:
            if len(set(table.columns)) < len(table.columns):
                continue  # pairs of items of one column have no margin that another table knows
            for columns, residual in _split(domain, table):
                found = self._residuals.get(columns)
                self._residuals[columns] = residual if found is None else _mean(found, residual)

    def total(self) -> float:
        """The estimated number of records, signed."""
        return float(self._residuals[()].values) if () in self._residuals else 0.0

    def holds(self, columns: tuple[int, ...]) -> bool:
        return columns in self._residuals

    def marginal(self, columns: tuple[int, ...]) -> Floats:
        """The least squares estimate of the counts of a set of columns, signed.

        Of what no table measured, nothing is known beyond its subsets: the estimate is as even as they allow.
        """
        shape = self._domain.shape(columns)
        whole = np.zeros(shape)
        for subset in _subsets(columns, self._kept(columns)):
            residual = self._residuals.get(subset)
            if residual is None:
                continue
            left = [column for column in columns if column not in subset]
            even = np.prod([self._domain.sizes[column] for column in left], dtype=float)
            axes = [self._domain.sizes[column] if column in subset else 1 for column in columns]
            whole += residual.values.reshape(axes) / even
        return whole

    def variance(self, columns: tuple[int, ...]) -> float:
        """Of the noise in each cell of `marginal`."""
        whole = 0.0
        for subset in _subsets(columns, self._kept(columns)):
            residual = self._residuals.get(subset)
            if residual is None:
                continue
            even = np.prod([self._domain.sizes[c] for c in columns if c not in subset], dtype=float)
            centred = [1 - 1 / self._domain.sizes[c] for c in subset if c not in self._domain.multi_valued]
            whole += residual.variance * float(np.prod(centred)) / float(even) ** 2
        return whole

    def residual(self, columns: tuple[int, ...]) -> Floats:
        return self._residuals[columns].values

    def residual_variance(self, columns: tuple[int, ...]) -> float:
        """The variance of the noise in one set's own residual, before it was centred; it must be held."""
        return self._residuals[columns].variance

    def _kept(self, columns: tuple[int, ...]) -> frozenset[int]:
        return self._domain.multi_valued & frozenset(columns)


def _split(domain: Domain, table: NoisyTable) -> Iterator[tuple[tuple[int, ...], Residual]]:
    """Each subset of a table's columns, with the residual that this table alone gives."""
    kept = domain.multi_valued & frozenset(table.columns)
    for subset in _subsets(table.columns, kept):
        summed = tuple(place for place, column in enumerate(table.columns) if column not in subset)
        values = table.counts.sum(axis=summed) if summed else table.counts
        cells = np.prod([domain.sizes[table.columns[place]] for place in summed], dtype=float)
        for axis, column in enumerate(subset):
            if column not in kept:
                values = values - values.mean(axis=axis, keepdims=True)
        yield subset, Residual(np.asarray(values, float), table.variance * float(cells))


def _mean(one: Residual, other: Residual) -> Residual:
    weight, weight_of_other = 1 / one.variance, 1 / other.variance
    whole = weight + weight_of_other
    return Residual((weight * one.values + weight_of_other * other.values) / whole, 1 / whole)


def _subsets(columns: tuple[int, ...], kept: frozenset[int]) -> Iterator[tuple[int, ...]]:
    for size in range(len(columns) + 1):
        for subset in itertools.combinations(columns, size):
            if kept <= frozenset(subset):
                yield subset
