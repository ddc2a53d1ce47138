"""Pair counts of a fitted release, for associations: every cell of every measured pair."""

import numpy as np

from tasks.core.dp.workload.cells import cells_of_all_columns
from tasks.core.dp.workload.measurement import WorkloadMeasurement
from tasks.core.dp.workload.observations import noisy_tables
from tasks.core.navigation.associations import MOST_VALUES, Floats, Ids, Known, PairTable, v_of

#: A value must be held by so many standard deviations of a pair's noise, or its cells drown in it.
_LEAST_HELD = 4


class MeasuredTables:
    """Length 1 and the measured pairs; a `PairCounts`."""

    def __init__(self, measurement: WorkloadMeasurement) -> None:
        """See the class."""
        self._measurement = measurement
        self._pairs = {
            (table.columns[0], table.columns[1]): table
            for table in noisy_tables(measurement)
            if len(table.columns) == 2
        }
        scales = [table.variance**0.5 for table in self._pairs.values()]
        self._least = max(_LEAST_HELD * float(np.median(scales)), 1.0) if scales else 1.0

    def has_pairs(self) -> bool:
        """Whether any pair was measured."""
        return bool(self._pairs)

    def values(self, column: int) -> tuple[str, ...]:
        """The measurement's own."""
        return cells_of_all_columns(self._measurement.schema, self._measurement.cells)[column].values

    def held(self, column: int) -> tuple[Ids, Floats]:
        """Values whose count stands out of a pair's noise."""
        counts = self._measurement.counts_of(column).astype(np.float64)
        places = np.flatnonzero(counts >= self._least)
        order = places[np.lexsort((places, -counts[places]))][:MOST_VALUES]
        return order + 1, counts[order]

    def table(self, pair: tuple[int, int], places: tuple[Ids, Ids]) -> tuple[Floats, Known]:
        """Noisy counts, all of them known where the pair was measured, with the variance of their noise."""
        shape = int(places[0].max(initial=-1)) + 1, int(places[1].max(initial=-1)) + 1
        found = self._pairs.get(pair)
        if found is None:
            return np.zeros(shape), np.zeros(shape, np.bool_)
        rows, columns = (np.flatnonzero(place[1:] >= 0) for place in places)
        counts = np.zeros(shape)
        at = np.ix_(places[0][rows + 1], places[1][columns + 1])
        counts[at] = found.counts[np.ix_(rows, columns)]
        return counts, np.ones(shape, np.bool_)

    def v(self, pair: tuple[int, int], table: PairTable) -> float:
        """Corrected for the noise's own part of phi^2; NaN where fewer than two values are left."""
        if min(table.counts.shape) < 2 or not table.known.any():
            return float("nan")
        whole = max(
            float(self._measurement.number_of_records), float(table.rows.sum()), float(table.columns.sum())
        )
        rows = table.rows * (table.columns.sum() / whole)
        columns = table.columns * (table.rows.sum() / whole)
        return v_of(table.counts, rows, columns, self._pairs[pair].variance)
