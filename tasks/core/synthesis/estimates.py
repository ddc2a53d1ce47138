"""Counts that a fitted release reports: records and noisy tables in, counts and ranges out.

Every combination is counted in the fitted records, so that all counts agree with each other. Beside each
stands what was drawn for that very combination, if it was measured, and a range from the noise alone: of a
measured set of columns the least squares estimate with the noise of 95 of 100 draws; of any other what the
ranges of its parts leave possible.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tasks.core.aggregates.aggregates import NOT_MEASURED, Aggregates, Ranges
from tasks.core.arrays import ColumnNumbers, Floats, Ids, Integers
from tasks.core.dp.workload.cells import cells_of_all_columns, domain_of
from tasks.core.dp.workload.measurement import WorkloadMeasurement
from tasks.core.dp.workload.observations import noisy_tables
from tasks.core.fitting.least_squares import Residuals
from tasks.core.fitting.noisy_tables import NoisyTable
from tasks.core.normal import WITHIN_95


def ranges(measurement: WorkloadMeasurement, aggregates: Aggregates) -> list[Ranges]:
    """The ranges of every reported combination, by length."""
    return _Ranges(measurement, aggregates).found


class _Ranges:
    """The ranges, one length after the other."""

    def __init__(self, measurement: WorkloadMeasurement, aggregates: Aggregates) -> None:
        tables = noisy_tables(measurement)
        self._domain = domain_of(measurement.cells, measurement.schema)
        self._residuals = Residuals(self._domain, tables)
        self._drawn = {table.columns: table for table in tables}
        self._values = measurement.values
        self._share = float(measurement.sampled_share)
        every = cells_of_all_columns(measurement.schema, measurement.cells)
        codes = [{value: code for code, value in enumerate(cells.values)} for cells in every]
        self._columns = np.array([a.column for a in aggregates.attributes], np.int64)
        self._codes = np.array(
            [codes[a.column][a.value if a.item is None else a.item] for a in aggregates.attributes], np.int64
        )
        half = WITHIN_95 * measurement.count_deviation
        self._whole = (measurement.number_of_records - half, measurement.number_of_records + half)
        self._keys: list[Integers] = []
        self.found: list[Ranges] = []
        for ids in aggregates.combinations:
            self.found.append(self._of_length(ids))
            self._keys.append(self._key(self._place(ids[:, :-1]), ids[:, -1]))

    def _of_length(self, ids: Ids) -> Ranges:
        number, length = ids.shape
        noisy = np.full(number, NOT_MEASURED)
        low, high = self._possible(ids)
        columns = self._columns[ids].reshape(number, length)
        order = np.argsort(columns, axis=1, kind="stable")  # attributes are in the order of their text
        codes = np.take_along_axis(self._codes[ids].reshape(number, length), order, axis=1)
        for chosen, rows in _groups(np.take_along_axis(columns, order, axis=1)):
            table = self._measured(chosen)
            if table is None:
                continue
            at = tuple(codes[rows].T)
            noisy[rows] = np.rint(table.counts[at]).astype(np.int64)
            low[rows], high[rows] = self._within(*self._estimate(chosen, table, at))
        at_least = np.maximum(np.floor(low), 0).astype(np.int64)
        return Ranges(noisy, at_least, np.maximum(np.ceil(high), at_least).astype(np.int64))

    def _measured(self, columns: ColumnNumbers) -> NoisyTable | None:
        """What was drawn of a set; of items of an open column their values, which have no `other`."""
        found = self._drawn.get(columns)
        if found is None and len(columns) == 1 and columns[0] < len(self._values):
            return self._values[columns[0]].as_noisy()
        return found

    def _estimate(
        self, columns: ColumnNumbers, table: NoisyTable, at: tuple[Integers, ...]
    ) -> tuple[Floats, float]:
        """The least squares estimate of some cells of a measured set, and its variance."""
        if len(set(columns)) < len(columns) or not self._residuals.holds(columns):
            return table.counts[at], table.variance  # no other table knows of it
        estimate, variance = self._residuals.marginal(columns)[at], self._residuals.variance(columns)
        if columns in self._drawn:
            return estimate, variance
        whole = 1 / variance + 1 / table.variance
        return (estimate / variance + table.counts[at] / table.variance) / whole, 1 / whole

    def _within(self, estimate: Floats, variance: float) -> tuple[Floats, Floats]:
        """The range of the count of all records; of a sample, chance is added to the noise (W4)."""
        chance = np.maximum(estimate, 0.0) * (1 - self._share)
        half = WITHIN_95 * np.sqrt(variance + chance)
        return (estimate - half) / self._share, (estimate + half) / self._share

    def _possible(self, ids: Ids) -> tuple[Floats, Floats]:
        """What the ranges of parts leave: at most the least of them, at least what two must share."""
        number, length = ids.shape
        low, high = np.zeros(number), np.full(number, self._whole[1])
        if length == 1:
            return low, high
        parts = [self._bounds(np.delete(ids, place, axis=1)) for place in range(length)]
        for one in range(length):
            high = np.minimum(high, parts[one][1])
            for other in range(one):
                shared = self._bounds(np.delete(ids, [one, other], axis=1))[1]
                low = np.maximum(low, parts[one][0] + parts[other][0] - shared)
        return low, high

    def _bounds(self, ids: Ids) -> tuple[Floats, Floats]:
        """The ranges found for combinations that are shorter."""
        if ids.shape[1] == 0:
            return np.full(len(ids), self._whole[0]), np.full(len(ids), self._whole[1])
        known, rows = self.found[ids.shape[1] - 1], self._place(ids)
        return known.at_least[rows].astype(float), known.at_most[rows].astype(float)

    def _key(self, places: Integers, last: Ids) -> Integers:
        """Ascending over the rows of a length: the place of all but the last attribute, and that one."""
        return places * len(self._columns) + last

    def _place(self, ids: Ids) -> Integers:
        """The place of combinations among those of their length; every part of a held one is held."""
        places = np.zeros(len(ids), np.int64)
        for length in range(ids.shape[1]):
            places = np.searchsorted(self._keys[length], self._key(places, ids[:, length]))
        return places


def _groups(columns: Integers) -> Sequence[tuple[ColumnNumbers, Integers]]:
    """The rows of each different list of columns; a list ascending, as tables have it."""
    if not len(columns):
        return []
    different, group = np.unique(columns, axis=0, return_inverse=True)
    order = np.argsort(group, kind="stable")
    bounds = np.searchsorted(group[order], np.arange(len(different) + 1))
    return [
        (tuple(row.tolist()), order[bounds[place] : bounds[place + 1]]) for place, row in enumerate(different)
    ]


def scaled_to_records(counted: Aggregates, number: int) -> Aggregates:
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
