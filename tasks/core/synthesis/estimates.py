"""Counts that a fitted release reports: records and noisy tables in, counts and ranges out.

Every combination is counted in the fitted records, so that all counts agree with each other. Beside each
stand what was drawn for that very combination, if it was, and what all noisy tables together say: the least
squares estimate, with the range of 95 of 100 draws. Where no table holds the columns together there is no
estimate, and the range is what tables of fewer columns prove of it (`release_counts`). The release's page
computes the same from the same tables, for sums as well.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tasks.core.aggregates.aggregates import NOT_MEASURED, Aggregates, Ranges
from tasks.core.arrays import ColumnNumbers, Ids, Integers
from tasks.core.dp.workload.cells import cells_of_all_columns
from tasks.core.dp.workload.measurement import WorkloadMeasurement
from tasks.core.dp.workload.observations import noisy_tables
from tasks.core.synthesis.release_counts import ReleaseCounts

#: What lies so little beyond a whole number is that number.
_HAIR = 1e-9


def ranges(measurement: WorkloadMeasurement, aggregates: Aggregates) -> list[Ranges]:
    """The ranges of every reported combination, by length."""
    found = _Ranges(measurement, aggregates)
    return [found.of_length(ids) for ids in aggregates.combinations]


class _Ranges:
    """The ranges of combinations, whose columns and codes are looked up once."""

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
        for chosen, rows in _groups(np.take_along_axis(columns, order, axis=1)):
            if chosen in self._drawn:
                noisy[rows] = np.rint(self._drawn[chosen][tuple(codes[rows].T)]).astype(np.int64)
            found = self._tables.of_columns(chosen, codes[rows])
            low[rows], high[rows] = found.low, found.high
            if found.estimate is not None:
                estimate[rows] = np.maximum(np.floor(found.estimate + 0.5), 0).astype(np.int64)
        at_least = np.maximum(np.floor(low + _HAIR), 0).astype(np.int64)
        return Ranges(noisy, estimate, at_least, np.maximum(np.ceil(high - _HAIR), at_least).astype(np.int64))


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
