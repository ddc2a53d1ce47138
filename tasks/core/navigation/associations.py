"""Associations between columns: a measurement and synthetic records go in, Cramer's V comes out.

Noise and thresholds make columns look associated that are not, so the noisy side is an estimate that takes
both off (`released_v`). Multi-valued columns are left out: their items are not one two-way table.
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tasks.core.dp.measurement import Measurement
from tasks.core.records.columns import Schema
from tasks.core.synthesis.records import SyntheticRecords

Floats = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]

#: Columns beyond this many are not compared: their number of pairs grows with the square.
MOST_COLUMNS = 40
#: Of a column with more values, the most frequent are compared.
MOST_VALUES = 300
#: A value must be held by so many standard deviations of a pair's noise, or its cells drown in it.
_LEAST_HELD = 4


@dataclass(frozen=True)
class Associations:
    """Cramer's V of every two columns.

    Attributes:
        columns: indices into the schema's columns, ascending.
        noisy: (n, n), symmetric, in 0..1, from the measurement; NaN where there is no table.
        synthetic: likewise, from the records.
    """

    columns: tuple[int, ...]
    noisy: Floats
    synthetic: Floats


@dataclass(frozen=True)
class PairTable:
    """The two-way table of two columns, as measured.

    Attributes:
        counts: (r, c) noisy counts, 0 where nothing is known.
        known: (r, c) whether the noisy count is known.
        rows: (r,) noisy one-way counts.
        columns: (c,) likewise.
    """

    counts: Floats
    known: npt.NDArray[np.bool_]
    rows: Floats
    columns: Floats


def associations(measurement: Measurement, synthetic: SyntheticRecords) -> Associations:
    """Cramer's V of the first `MOST_COLUMNS` single-valued columns, pair by pair, over the same values."""
    schema = measurement.schema
    columns = tuple(i for i, column in enumerate(schema.columns) if not column.is_multi_valued)[:MOST_COLUMNS]
    size = len(columns)
    noisy, drawn = np.full((size, size), np.nan), np.full((size, size), np.nan)
    if len(measurement.levels) >= 2 and len(measurement.levels[1].counts):
        held = [_held(measurement, column) for column in columns]
        places = [
            _places(codes, len(measurement.values[c])) for (codes, _), c in zip(held, columns, strict=True)
        ]
        records = _by_column(measurement, synthetic, columns, places)
        pairs = _Pairs(measurement)
        for one, other in itertools.combinations(range(size), 2):
            counts, known = pairs.table((columns[one], columns[other]), (places[one], places[other]))
            table = PairTable(counts, known, held[one][1], held[other][1])
            noisy[one, other] = noisy[other, one] = released_v(table, measurement)
            seen = _counted(records[one], records[other], counts.shape)
            drawn[one, other] = drawn[other, one] = cramers_v(seen)
    return Associations(columns, noisy, drawn)


def cramers_v(table: Floats) -> float:
    """Cramer's V of a two-way table of counts; NaN where a side has fewer than two filled values."""
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    if min(table.shape, default=0) < 2:
        return float("nan")
    return _v(table, table.sum(axis=1), table.sum(axis=0), 0.0)


def _v(table: Floats, rows: Floats, columns: Floats, noise: float | Floats) -> float:
    """V = sqrt(phi^2 / (min(r, c) - 1)), phi^2 = sum ((n_ij - e_ij)^2 - noise_ij) / e_ij / n."""
    total = math.sqrt(float(rows.sum()) * float(columns.sum()))
    expected = np.outer(rows, columns) / total
    phi_squared = float(np.sum(((table - expected) ** 2 - noise) / expected)) / total
    return math.sqrt(min(max(phi_squared, 0.0) / (min(table.shape) - 1), 1.0))


def released_v(table: PairTable, measurement: Measurement) -> float:
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
    return _v(counts, rows, columns, np.where(table.known, level.scale**2, 0.0))


def _selection(counts: Floats, threshold: int, scale: float) -> Floats:
    """How much of each survivor's count its passing the threshold is expected to have added."""
    above = np.minimum((threshold - 0.5 - counts) / scale, 0)
    tails = np.array([0.5 * math.erfc(a / math.sqrt(2)) for a in above.ravel()]).reshape(above.shape)
    added: Floats = scale * np.exp(-above * above / 2) / math.sqrt(2 * math.pi) / tails
    return added


def _held(measurement: Measurement, column: int) -> tuple[Ids, Floats]:
    """Codes of a column's values that enough hold, the most frequent first, and their counts."""
    level, least = measurement.levels[0], max(_LEAST_HELD * measurement.levels[1].scale, 1)
    place = measurement.schema.combinations(1).index((column,))
    mine = (level.combinations == place) & level.survives & (level.counts >= least)
    codes, counts = level.codes[mine, 0].astype(np.int64), level.counts[mine].astype(np.float64)
    order = np.lexsort((codes, -counts))[:MOST_VALUES]
    return codes[order], counts[order]


def _places(codes: Ids, values: int) -> Ids:
    """For each code its place among those compared, -1 for none; code 0 is absent."""
    place = np.full(values + 1, -1, dtype=np.int64)
    place[codes] = np.arange(len(codes))
    return place


class _Pairs:
    """Level 2 of a measurement, by combination."""

    def __init__(self, measurement: Measurement) -> None:
        self._level = measurement.levels[1]
        self._place = {pair: place for place, pair in enumerate(measurement.schema.combinations(2))}

    def table(self, pair: tuple[int, int], places: tuple[Ids, Ids]) -> tuple[Floats, npt.NDArray[np.bool_]]:
        """Noisy counts of two columns over the values compared, and which of them are known."""
        shape = int(places[0].max()) + 1, int(places[1].max()) + 1
        counts, known = np.zeros(shape), np.zeros(shape, dtype=np.bool_)
        first, last = np.searchsorted(self._level.combinations, [self._place[pair], self._place[pair] + 1])
        codes = self._level.codes[first:last]
        rows, columns = places[0][codes[:, 0]], places[1][codes[:, 1]]
        kept = (rows >= 0) & (columns >= 0)
        counts[rows[kept], columns[kept]] = self._level.counts[first:last][kept]
        known[rows[kept], columns[kept]] = True
        return counts, known


def _by_column(
    measurement: Measurement, synthetic: SyntheticRecords, columns: tuple[int, ...], places: list[Ids]
) -> npt.NDArray[np.int32]:
    """(columns, n) places of the synthetic records' values among those compared, -1 where there is none."""
    target = np.full(len(synthetic.attributes), -1, dtype=np.int64)
    place = np.full(len(synthetic.attributes), -1, dtype=np.int64)
    code_of = {
        (column, value): code
        for column in columns
        for code, value in enumerate(measurement.values[column], 1)
    }
    index_of = {column: index for index, column in enumerate(columns)}
    for number, attribute in enumerate(synthetic.attributes):
        code = code_of.get((attribute.column, attribute.value))
        if code is not None:
            target[number] = index_of[attribute.column]
            place[number] = places[target[number]][code]
    table = np.full((len(columns), synthetic.number_of_records), -1, dtype=np.int32)
    for first in range(0, synthetic.number_of_records, 65536):
        bounds = synthetic.offsets[first : first + 65537]
        ids = synthetic.attribute_ids[bounds[0] : bounds[-1]]
        records = np.repeat(np.arange(first, first + len(bounds) - 1), np.diff(bounds))
        wanted = target[ids] >= 0
        table[target[ids][wanted], records[wanted]] = place[ids][wanted]
    return table


def _counted(one: npt.NDArray[np.int32], other: npt.NDArray[np.int32], shape: tuple[int, ...]) -> Floats:
    """The two-way table of two columns of places."""
    filled = (one >= 0) & (other >= 0)
    keys = one[filled].astype(np.int64) * shape[1] + other[filled]
    return np.bincount(keys, minlength=shape[0] * shape[1]).astype(np.float64).reshape(shape)


def ranked(found: Associations, schema: Schema, most: int = 15) -> list[tuple[str, float, float]]:
    """The strongest pairs by the noisy counts, as ("one × other", noisy V, synthetic V)."""
    pairs = []
    for one, other in itertools.combinations(range(len(found.columns)), 2):
        released, drawn = float(found.noisy[one, other]), float(found.synthetic[one, other])
        if math.isfinite(released):
            names = f"{schema.columns[found.columns[one]].name} × {schema.columns[found.columns[other]].name}"
            pairs.append((names, released, drawn if math.isfinite(drawn) else 0.0))
    return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:most]
