"""Pair counts of a measurement, for associations: noisy counts of values and of pairs of values."""

import math

import numpy as np

from tasks.core.dp.measurement import Measurement
from tasks.core.navigation.associations import MOST_VALUES, Floats, Ids, Known, PairTable, v_of

#: A value must be held by so many standard deviations of a pair's noise, or its cells drown in it.
_LEAST_HELD = 4


class MeasuredPairs:
    """Levels 1 and 2 of a measurement."""

    def __init__(self, measurement: Measurement) -> None:
        """See the class."""
        self._measurement = measurement
        self._place = {pair: place for place, pair in enumerate(measurement.schema.combinations(2))}

    def has_pairs(self) -> bool:
        """Whether any pair was measured."""
        levels = self._measurement.levels
        return len(levels) >= 2 and len(levels[1].counts) > 0

    def values(self, column: int) -> tuple[str, ...]:
        """The measurement's own."""
        return self._measurement.values[column]

    def held(self, column: int) -> tuple[Ids, Floats]:
        """Values whose count stands out of a pair's noise."""
        levels = self._measurement.levels
        level, least = levels[0], max(_LEAST_HELD * levels[1].scale, 1)
        place = self._measurement.schema.combinations(1).index((column,))
        mine = (level.combinations == place) & level.survives & (level.counts >= least)
        codes, counts = level.codes[mine, 0].astype(np.int64), level.counts[mine].astype(np.float64)
        order = np.lexsort((codes, -counts))[:MOST_VALUES]
        return codes[order], counts[order]

    def table(self, pair: tuple[int, int], places: tuple[Ids, Ids]) -> tuple[Floats, Known]:
        """Noisy counts, known where they were kept."""
        level = self._measurement.levels[1]
        shape = int(places[0].max()) + 1, int(places[1].max()) + 1
        counts, known = np.zeros(shape), np.zeros(shape, dtype=np.bool_)
        first, last = np.searchsorted(level.combinations, [self._place[pair], self._place[pair] + 1])
        codes = level.codes[first:last]
        rows, columns = places[0][codes[:, 0]], places[1][codes[:, 1]]
        kept = (rows >= 0) & (columns >= 0)
        counts[rows[kept], columns[kept]] = level.counts[first:last][kept]
        known[rows[kept], columns[kept]] = True
        return counts, known

    def v(self, pair: tuple[int, int], table: PairTable) -> float:
        """Corrected for noise and selection."""
        return measured_v(table, self._measurement)


def measured_v(table: PairTable, measurement: Measurement) -> float:
    """Cramer's V of a measured table, corrected for noise and for what was not published.

    The noise's own part of phi^2, s^2 / e_ij of each known cell, is taken off. Where only survivors are
    known, a survivor's count is lowered by what the selection is expected to have added,
    s phi(a) / (1 - Phi(a)) with a = (tau - 1/2 - count) / s, and the other cells are taken to be what
    columns without association would have there, or the threshold where that is less: the estimate errs
    towards no association. NaN where fewer than two values are left.
    """
    level = measurement.levels[1]
    if min(table.counts.shape) < 2 or not table.known.any():
        return float("nan")
    whole = max(float(measurement.number_of_records), float(table.rows.sum()), float(table.columns.sum()))
    rows, columns = table.rows * (table.columns.sum() / whole), table.columns * (table.rows.sum() / whole)
    counts = table.counts
    if not table.known.all():
        threshold = level.threshold or 0
        lowered = np.maximum(counts - _selection(counts, threshold, level.scale), 0)
        unrelated = np.outer(rows, columns) / math.sqrt(float(rows.sum()) * float(columns.sum()))
        counts = np.where(table.known, lowered, np.minimum(unrelated, threshold))
    return v_of(counts, rows, columns, np.where(table.known, level.scale**2, 0.0))


def _selection(counts: Floats, threshold: int, scale: float) -> Floats:
    """How much of each survivor's count its passing the threshold is expected to have added."""
    above = np.minimum((threshold - 0.5 - counts) / scale, 0)
    tails = np.array([0.5 * math.erfc(a / math.sqrt(2)) for a in above.ravel()]).reshape(above.shape)
    added: Floats = scale * np.exp(-above * above / 2) / math.sqrt(2 * math.pi) / tails
    return added
