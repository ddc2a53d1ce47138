"""Counts that a fitted release reports, and their ranges.

Every combination is counted in the fitted records, so that all counts agree with each other. Beside each
stand what was drawn for that very combination, if it was, and what all noisy tables together say: the least
squares estimate, with the range of 95 of 100 draws. The release's page computes the same from the same
tables, for sums as well.

Where no table holds the columns together there is no estimate, but tables of fewer columns still bound the
count: those who hold all values are no more than those who hold some of them, and no fewer than two groups
must share. Each of several bounds gets its part of the chance to fail, so that all of them hold together in
95 of 100 draws.

    age and town, town and work measured;  age, town and work is
    at most    the smaller of (age, town) and (town, work)
    at least   (age, town) + (town, work) - (town)

A table of all cells of its columns is split into independent residuals (`fitting.least_squares`). Values of
an open column alone were drawn before `other` was known, and pairs of items of one column have no margins:
both are taken as they were drawn.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from math import prod, sqrt
from statistics import NormalDist

import numpy as np

from tasks.core.aggregates.aggregates import NOT_MEASURED, Aggregates, Ranges
from tasks.core.arrays import ColumnNumbers, Floats, Ids, Integers
from tasks.core.dp.workload.cells import cells_of_all_columns, domain_of
from tasks.core.dp.workload.measurement import WorkloadMeasurement
from tasks.core.dp.workload.observations import noisy_tables, whole_tables
from tasks.core.fitting.least_squares import Residuals
from tasks.core.fitting.noisy_tables import merged_tables
from tasks.core.synthesis.records import group_by_columns

#: How often a true count may lie below its range, and how often above.
_TAIL = 0.025
#: Places among the columns of a combination, ascending.
Places = tuple[int, ...]
#: Of some combinations of the same columns the estimates, None where they are only bounded; and both ends.
Range = tuple[Floats | None, Floats, Floats]


#: A weighted sum of independent noisy numbers: by places the weights of residuals, of tables as drawn, and of
#: the counts of people that it is made of, each of which varies by chance where they are a sample.
_Estimator = dict[tuple[str, Places], float]


def _add_up(*parts: tuple[float, _Estimator]) -> _Estimator:
    """The sum of estimators, each times its factor."""
    whole: dict[tuple[str, Places], float] = {}
    for factor, part in parts:
        for key, weight in part.items():
            whole[key] = whole.get(key, 0.0) + factor * weight
    return whole


def _weights(estimator: _Estimator, kind: str) -> Iterator[tuple[Places, float]]:
    return ((places, weight) for (own, places), weight in estimator.items() if own == kind)


class _ReleaseTables:
    """The noisy tables of one release."""

    def __init__(self, measurement: WorkloadMeasurement) -> None:
        domain = domain_of(measurement.cells)
        self.sizes, self.multi_valued = domain.sizes, domain.multi_valued
        self.residuals = Residuals(domain, whole_tables(measurement))
        alone = [
            table.as_noisy() for table in measurement.values if measurement.cells[table.columns[0]].has_other
        ]
        pairs = [
            table.as_noisy() for table in measurement.tables if len({*table.columns}) < len(table.columns)
        ]
        self.drawn = {table.columns: table for table in merged_tables([*alone, *pairs])}
        self.share = float(measurement.sampled_share)


class _Combinations:
    """Combinations of the same columns; a column that stands twice is held with two items."""

    def __init__(self, tables: _ReleaseTables, columns: ColumnNumbers, codes: Integers) -> None:
        self._tables, self._share, self._columns, self._codes = tables, tables.share, columns, codes

    def find_range(self) -> Range:
        every = tuple(range(len(self._columns)))
        exact = self._estimator(every)
        if exact is not None:
            estimate = self._value(exact)
            half = self._half_width(exact, _TAIL)
            return estimate / self._share, (estimate - half) / self._share, (estimate + half) / self._share
        subsets = [places for size in every for places in itertools.combinations(every, size)]
        measured = {places: exact for places in subsets if (exact := self._estimator(places)) is not None}
        largest = [one for one in measured if not any({*one} < {*other} for other in measured)]
        at_least = [
            _add_up((1, measured[one]), (1, measured[other]), (-1, measured[both]))
            for one, other in itertools.combinations(largest, 2)
            if {*one, *other} == {*every} and (both := tuple(sorted({*one} & {*other}))) in measured
        ]
        low, high = self._ends(at_least, -1), self._ends([measured[places] for places in largest], 1)
        least = np.zeros(len(self._codes))
        return None, np.maximum.reduce([least, *low]), np.minimum.reduce([*high])

    def _ends(self, bounds: Sequence[_Estimator], sign: int) -> Iterable[Floats]:
        for each in bounds:
            half = self._half_width(each, _TAIL / len(bounds))
            yield (self._value(each) + sign * half) / self._share

    def _estimator(self, places: Places) -> _Estimator | None:
        """Of those who hold the values at some places; None where the tables don't tell it."""
        columns = tuple(self._columns[place] for place in places)
        whole = self._of_residuals(places, columns) if len({*columns}) == len(columns) else None
        people = {("people", places): 1.0}
        drawn = {("drawn", places): 1.0, **people} if columns in self._tables.drawn else None
        if whole is None or drawn is None:
            return whole or drawn
        first, second = self._variance(whole), self._variance(drawn)
        return _add_up((second / (first + second), whole), (first / (first + second), drawn)) | people

    def _of_residuals(self, places: Places, columns: ColumnNumbers) -> _Estimator | None:
        sizes, kept = self._tables.sizes, {p for p in places if self._columns[p] in self._tables.multi_valued}
        subsets = [
            subset
            for size in range(len(places) + 1)
            for subset in itertools.combinations(places, size)
            if kept <= {*subset}
        ]
        if not all(self._tables.residuals.holds(self._columns_at(subset)) for subset in subsets):
            return None
        weights = {
            ("residual", subset): 1 / prod(sizes[self._columns[p]] for p in places if p not in subset)
            for subset in subsets
        }
        return weights | {("people", places): 1.0}

    def _columns_at(self, places: Places) -> ColumnNumbers:
        return tuple(self._columns[place] for place in places)

    def _value(self, each: _Estimator) -> Floats:
        value = np.zeros(len(self._codes))
        for places, weight in _weights(each, "residual"):
            value += (
                weight * self._tables.residuals.residual(self._columns_at(places)).counts[self._at(places)]
            )
        for places, weight in _weights(each, "drawn"):
            value += weight * self._tables.drawn[self._columns_at(places)].counts[self._at(places)]
        return value

    def _at(self, places: Places) -> tuple[Integers, ...]:
        return tuple(self._codes[:, place] for place in places)

    def _variance(self, each: _Estimator) -> float:
        """Of the noise, which is the same for all combinations."""
        whole = 0.0
        for places, weight in _weights(each, "residual"):
            columns = self._columns_at(places)
            single = [column for column in columns if column not in self._tables.multi_valued]
            centred = prod(1 - 1 / self._tables.sizes[column] for column in single)
            whole += weight**2 * self._tables.residuals.residual(columns).variance * centred
        for places, weight in _weights(each, "drawn"):
            whole += weight**2 * self._tables.drawn[self._columns_at(places)].variance
        return whole

    def _half_width(self, each: _Estimator, tail: float) -> Floats | float:
        """How far a count may be from its estimate; of a sample, chance is added to the noise (W4).

        Chance is itself estimated, from a count that may be too low: the ends are those of the score
        interval, on the side where they are further.
        """
        z, variance = _normal_quantile(tail), self._variance(each)
        if self._share == 1:
            return z * sqrt(variance)
        chance = np.zeros(len(self._codes))
        for places, weight in _weights(each, "people"):
            exact = self._estimator(places)
            assert exact is not None, "an estimator is made of what is measured"
            chance += weight**2 * np.maximum(self._value(exact), 0) * (1 - self._share)
        skew = z**2 * (1 - self._share) / 2
        return skew + np.hypot(z * np.sqrt(variance + chance), skew)


@cache
def _normal_quantile(tail: float) -> float:
    return NormalDist().inv_cdf(1 - tail)


#: What lies so little beyond a whole number is that number.
_HAIR = 1e-9


def ranges(measurement: WorkloadMeasurement, aggregates: Aggregates) -> list[Ranges]:
    found = _Ranges(measurement, aggregates)
    return [found.of_length(ids) for ids in aggregates.combinations]


class _Ranges:
    def __init__(self, measurement: WorkloadMeasurement, aggregates: Aggregates) -> None:
        self._tables = _ReleaseTables(measurement)
        self._drawn = {table.columns: table.counts for table in noisy_tables(measurement)}
        for table in measurement.values:  # of items of an open column their values, which have no `other`
            self._drawn.setdefault(table.columns, table.as_noisy().counts)
        every = cells_of_all_columns(measurement.schema, measurement.cells)
        codes = [{value: code for code, value in enumerate(cells.values)} for cells in every]
        self._columns = np.array([a.column for a in aggregates.attributes], np.int64)
        self._codes = np.array(
            [codes[a.column][a.value if a.item is None else a.item] for a in aggregates.attributes], np.int64
        )

    def of_length(self, ids: Ids) -> Ranges:
        number, length = ids.shape
        noisy, estimate = np.full(number, NOT_MEASURED), np.full(number, NOT_MEASURED)
        low, high = np.zeros(number), np.zeros(number)
        columns = self._columns[ids].reshape(number, length)
        for chosen, codes, rows in group_by_columns(columns, self._codes[ids].reshape(number, length)):
            if chosen in self._drawn:
                noisy[rows] = np.rint(self._drawn[chosen][tuple(codes.T)]).astype(np.int64)
            found = _Combinations(self._tables, chosen, codes).find_range()
            exact, low[rows], high[rows] = found
            if exact is not None:
                estimate[rows] = np.maximum(np.floor(exact + 0.5), 0).astype(np.int64)
        at_least = np.maximum(np.floor(low + _HAIR), 0).astype(np.int64)
        return Ranges(noisy, estimate, at_least, np.maximum(np.ceil(high - _HAIR), at_least).astype(np.int64))


def scale_to_records(counted: Aggregates, number: int) -> Aggregates:
    """Counts of records as counts of so many records, rounded; a combination that rounds to 0 stays at 1.

    Rounding keeps the order of counts, so no combination exceeds its parts. Of no records, as a noisy count
    may have it, nobody holds anything: no combination is left, however many records were asked for.
    """
    if number == 0:
        return replace(counted.up_to(0).up_to(counted.reporting_length), number_of_records=0)
    if counted.number_of_records in (0, number):
        return replace(counted, number_of_records=number)
    factor = number / counted.number_of_records
    counts = tuple(np.maximum(np.rint(found * factor), 1).astype(np.int64) for found in counted.counts)
    return replace(counted, number_of_records=number, counts=counts)
