"""Weighted least squares over all noisy tables at once, in closed form.

A table splits into independent *residuals*, one for each subset of its columns; a marginal is the sum of its
subsets' residuals, each spread evenly over the axes that it does not have (E2).

    table (sex, town)  =  total + sex  + town + (sex with town)      total and town are estimated twice,
    table (town, age)  =  total + town + age  + (town with age)      all else once
"""

import itertools
from collections.abc import Iterable, Iterator

import numpy as np

from tasks.core.arrays import Floats
from tasks.core.fitting.noisy_tables import Domain, NoisyTable, merged_tables


class Residuals:
    """The residuals of everything measured; marginals of any set of columns follow from them.

    The counts of a residual sum to 0 along each single-valued column. Its variance is of the noise of the
    margin that they were centred from, one number for all cells.

    Women and men were counted as 66 and 40, all people as 100. The sum 106 has twice the noise, so the
    estimate of all is 102:

    >>> tables = [NoisyTable((), np.array(100.0), 1.0), NoisyTable((0,), np.array([66.0, 40.0]), 1.0)]
    >>> Residuals(Domain((2,)), tables).marginal((0,)).round(9).tolist()
    [64.0, 38.0]
    """

    def __init__(self, domain: Domain, tables: Iterable[NoisyTable]) -> None:
        """Args: tables: one of them without a multi-valued column, such as the number of records."""
        self._domain = domain
        # Pairs of items of one column have no margin that another table knows.
        usual = (table for table in tables if len(set(table.columns)) == len(table.columns))
        split = merged_tables(residual for table in usual for residual in _split(domain, table))
        self._residuals = {residual.columns: residual for residual in split}

    def total(self) -> float:
        """The estimated number of records, signed."""
        return float(self._residuals[()].counts) if () in self._residuals else 0.0

    def holds(self, columns: tuple[int, ...]) -> bool:
        return columns in self._residuals

    def marginal(self, columns: tuple[int, ...]) -> Floats:
        """The least squares estimate of the counts of a set of columns, signed.

        Of what no table measured, nothing is known beyond its subsets: the estimate is as even as they allow.
        """
        whole = np.zeros(self._domain.shape(columns))
        for residual, even in self._parts(columns):
            axes = [self._domain.sizes[column] if column in residual.columns else 1 for column in columns]
            whole += residual.counts.reshape(axes) / even
        return whole

    def variance(self, columns: tuple[int, ...]) -> float:
        """Of the noise in each cell of `marginal`."""
        whole, sizes = 0.0, self._domain.sizes
        for residual, even in self._parts(columns):
            centred = [1 - 1 / sizes[c] for c in residual.columns if c not in self._domain.multi_valued]
            whole += residual.variance * float(np.prod(centred)) / even**2
        return whole

    def residual(self, columns: tuple[int, ...]) -> NoisyTable:
        """What all tables together say of one set of columns beyond its subsets; it must be held."""
        return self._residuals[columns]

    def _parts(self, columns: tuple[int, ...]) -> Iterator[tuple[NoisyTable, float]]:
        """The residuals that a marginal adds up, each with the number of cells that it is spread over."""
        for subset in _subsets(columns, self._domain.multi_valued & frozenset(columns)):
            if subset in self._residuals:
                left = [self._domain.sizes[column] for column in columns if column not in subset]
                yield self._residuals[subset], float(np.prod(left, dtype=float))


def _split(domain: Domain, table: NoisyTable) -> Iterator[NoisyTable]:
    """Of each subset of a table's columns the residual that this table alone gives."""
    kept = domain.multi_valued & frozenset(table.columns)
    for subset in _subsets(table.columns, kept):
        summed = tuple(place for place, column in enumerate(table.columns) if column not in subset)
        values = table.counts.sum(axis=summed) if summed else table.counts
        cells = np.prod([domain.sizes[table.columns[place]] for place in summed], dtype=float)
        for axis, column in enumerate(subset):
            if column not in kept:
                values = values - values.mean(axis=axis, keepdims=True)
        yield NoisyTable(subset, np.asarray(values, float), table.variance * float(cells))


def _subsets(columns: tuple[int, ...], kept: frozenset[int]) -> Iterator[tuple[int, ...]]:
    for size in range(len(columns) + 1):
        for subset in itertools.combinations(columns, size):
            if kept <= frozenset(subset):
                yield subset
