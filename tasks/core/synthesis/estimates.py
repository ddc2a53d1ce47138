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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import prod, sqrt
from statistics import NormalDist

import numpy as np

from tasks.core.aggregates.aggregates import NOT_MEASURED, Aggregates, Ranges
from tasks.core.arrays import ColumnNumbers, Floats, Ids, Integers
from tasks.core.dp.workload.cells import cells_of_all_columns, domain_of
from tasks.core.dp.workload.measurement import WorkloadMeasurement
from tasks.core.dp.workload.observations import merged_tables, noisy_tables, whole_tables
from tasks.core.fitting.least_squares import Residuals

#: How often a true count may lie below its range, and how often above.
_TAIL = 0.025
#: Places among the columns of a combination, ascending.
Places = tuple[int, ...]
#: Of some combinations of the same columns the estimates, None where they are only bounded; and both ends.
Range = tuple[Floats | None, Floats, Floats]


@dataclass(frozen=True)
class _Estimator:
    """A weighted sum of independent noisy numbers.

    Attributes:
        people: weights of the counts that it is made of, by places: of a sample, each varies by chance.
    """

    residuals: Mapping[Places, float]
    drawn: Mapping[Places, float]
    people: Mapping[Places, float]

    def times(self, factor: float) -> "_Estimator":
        parts = (self.residuals, self.drawn, self.people)
        return _Estimator(*({place: factor * weight for place, weight in part.items()} for part in parts))

    def plus(self, other: "_Estimator") -> "_Estimator":
        return _Estimator(
            _add_weights(self.residuals, other.residuals),
            _add_weights(self.drawn, other.drawn),
            _add_weights(self.people, other.people),
        )


def _add_weights(one: Mapping[Places, float], other: Mapping[Places, float]) -> Mapping[Places, float]:
    return {place: one.get(place, 0.0) + other.get(place, 0.0) for place in {**one, **other}}


class ReleaseCounts:
    """The counts of combinations, by the noisy tables of one release."""

    def __init__(self, measurement: WorkloadMeasurement) -> None:
        self._domain = domain_of(measurement.cells)
        self._residuals = Residuals(self._domain, whole_tables(measurement))
        alone = [
            table.as_noisy() for table in measurement.values if measurement.cells[table.columns[0]].has_other
        ]
        pairs = [
            table.as_noisy() for table in measurement.tables if len({*table.columns}) < len(table.columns)
        ]
        self._drawn = {table.columns: table for table in merged_tables([*alone, *pairs])}
        self._share = float(measurement.sampled_share)

    def of_columns(self, columns: ColumnNumbers, codes: Integers) -> Range:
        """Where the true counts of combinations lie; a column that stands twice is held with two items."""
        return _Combinations(self, columns, codes).find_range()


class _Combinations:
    def __init__(self, tables: ReleaseCounts, columns: ColumnNumbers, codes: Integers) -> None:
        self._residuals, self._drawn = tables._residuals, tables._drawn
        self._sizes, self._several = tables._domain.sizes, tables._domain.multi_valued
        self._share, self._columns, self._codes = tables._share, columns, codes

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
            measured[one].plus(measured[other]).plus(measured[both].times(-1))
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
        drawn = _Estimator({}, {places: 1.0}, {places: 1.0}) if columns in self._drawn else None
        if whole is None or drawn is None:
            return whole or drawn
        first, second = self._variance(whole), self._variance(drawn)
        mean = whole.times(second / (first + second)).plus(drawn.times(first / (first + second)))
        return _Estimator(mean.residuals, mean.drawn, {places: 1.0})

    def _of_residuals(self, places: Places, columns: ColumnNumbers) -> _Estimator | None:
        kept = {place for place in places if self._columns[place] in self._several}
        subsets = [
            subset
            for size in range(len(places) + 1)
            for subset in itertools.combinations(places, size)
            if kept <= {*subset}
        ]
        if not all(self._residuals.holds(self._columns_at(subset)) for subset in subsets):
            return None
        weights = {
            subset: 1 / prod(self._sizes[self._columns[p]] for p in places if p not in subset)
            for subset in subsets
        }
        return _Estimator(weights, {}, {places: 1.0})

    def _columns_at(self, places: Places) -> ColumnNumbers:
        return tuple(self._columns[place] for place in places)

    def _value(self, each: _Estimator) -> Floats:
        value = np.zeros(len(self._codes))
        for places, weight in each.residuals.items():
            value += weight * self._residuals.residual(self._columns_at(places))[self._at(places)]
        for places, weight in each.drawn.items():
            value += weight * self._drawn[self._columns_at(places)].counts[self._at(places)]
        return value

    def _at(self, places: Places) -> tuple[Integers, ...]:
        return tuple(self._codes[:, place] for place in places)

    def _variance(self, each: _Estimator) -> float:
        """Of the noise, which is the same for all combinations."""
        whole = 0.0
        for places, weight in each.residuals.items():
            columns = self._columns_at(places)
            centred = prod(1 - 1 / self._sizes[c] for c in columns if c not in self._several)
            whole += weight**2 * self._residuals.residual_variance(columns) * centred
        for places, weight in each.drawn.items():
            whole += weight**2 * self._drawn[self._columns_at(places)].variance
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
        for places, weight in each.people.items():
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
        self._tables = ReleaseCounts(measurement)
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
        order = np.argsort(columns, axis=1, kind="stable")  # attributes are in the order of their text
        codes = np.take_along_axis(self._codes[ids].reshape(number, length), order, axis=1)
        for chosen, rows in _group_by_columns(np.take_along_axis(columns, order, axis=1)):
            if chosen in self._drawn:
                noisy[rows] = np.rint(self._drawn[chosen][tuple(codes[rows].T)]).astype(np.int64)
            exact, low[rows], high[rows] = self._tables.of_columns(chosen, codes[rows])
            if exact is not None:
                estimate[rows] = np.maximum(np.floor(exact + 0.5), 0).astype(np.int64)
        at_least = np.maximum(np.floor(low + _HAIR), 0).astype(np.int64)
        return Ranges(noisy, estimate, at_least, np.maximum(np.ceil(high - _HAIR), at_least).astype(np.int64))


def _group_by_columns(columns: Integers) -> Sequence[tuple[ColumnNumbers, Integers]]:
    """The rows of each different list of columns; a list ascending, as tables have it."""
    if not len(columns):
        return []
    different, group = np.unique(columns, axis=0, return_inverse=True)
    order = np.argsort(group, kind="stable")
    bounds = np.searchsorted(group[order], np.arange(len(different) + 1))
    return [
        (tuple(row.tolist()), order[bounds[place] : bounds[place + 1]]) for place, row in enumerate(different)
    ]


def scale_to_records(counted: Aggregates, number: int) -> Aggregates:
    """Counts of records as counts of so many records, rounded; a combination that rounds to 0 stays at 1.

    Rounding keeps the order of counts, so no combination exceeds its parts. Of no records, as a noisy count
    may have it, nobody holds anything: no combination is left, however many records were asked for.
    """
    if number == 0:
        lengths = range(1, counted.reporting_length + 1)
        return replace(
            counted,
            number_of_records=0,
            combinations=tuple(np.empty((0, length), np.int32) for length in lengths),
            counts=tuple(np.empty(0, np.int64) for _ in lengths),
        )
    if counted.number_of_records in (0, number):
        return replace(counted, number_of_records=number)
    factor = number / counted.number_of_records
    counts = tuple(np.maximum(np.rint(found * factor), 1).astype(np.int64) for found in counted.counts)
    return replace(counted, number_of_records=number, counts=counts)
