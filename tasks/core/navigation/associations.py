"""Associations between columns: released pair counts and synthetic records go in, Cramer's V comes out.

Noise, rounding and what is not published make columns look associated that are not, so the released side is
an estimate that takes them off. Where its counts come from is a `PairCounts`:

* Of a draw by lengths: noisy counts of values and of pairs of values.
* Of a fitted release: every cell of every measured pair.
* Rounded down to multiples of a resolution: a pair that is not reported is held by fewer records than the
  resolution; one that is, by its count and up to the resolution less one more. The middle of its range
  stands for either, and the spread of an even distribution over the range is taken off.

Multi-valued columns are left out: their items are not one two-way table.
"""

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.arrays import Flags, Floats, Ids, Integers
from tasks.core.dp.measurement import Measurement
from tasks.core.dp.workload.cells import cells_of_all_columns
from tasks.core.dp.workload.measurement import WorkloadMeasurement
from tasks.core.dp.workload.observations import noisy_tables
from tasks.core.normal import each_above
from tasks.core.records.columns import Schema
from tasks.core.synthesis.records import AnySynthetic

#: Places among the values that are compared, of which there are at most `MOST_VALUES`. Each record has one a
#: column, so they are kept narrow.
_Places = npt.NDArray[np.int16]

#: Columns beyond this many are not compared: their number of pairs grows with the square.
MOST_CHARTED_COLUMNS = 40
#: Of a column with more values, the most frequent are compared.
MOST_VALUES = 300


class Associations(NamedTuple):
    """Cramer's V (n, n) of every two of some columns, ascending, 0..1; NaN where there is no table."""

    columns: tuple[int, ...]
    released: Floats
    synthetic: Floats


class PairTable(NamedTuple):
    """The two-way table (r, c) of two columns, as released, 0 where nothing is known; one-way counts."""

    counts: Floats
    known: Flags
    rows: Floats
    columns: Floats


class PairCounts(ABC):
    """Where released counts of pairs come from; a column's values have codes 1, 2, ... in its order."""

    #: Whether any pair's count was released.
    has_pairs: bool

    @abstractmethod
    def values(self, column: int) -> tuple[str, ...]: ...

    @abstractmethod
    def held(self, column: int) -> tuple[Integers, Floats]:
        """Codes of the values that enough hold, the most frequent first, at most `MOST_VALUES`; counts."""

    @abstractmethod
    def cells(self, pair: tuple[int, int]) -> tuple[Integers, Floats]:
        """Codes (N, 2) of the released cells of two columns, and their counts."""

    @abstractmethod
    def v(self, pair: tuple[int, int], table: PairTable) -> float:
        """Cramer's V of two columns' table, corrected for what was done to the counts."""

    def table(self, pair: tuple[int, int], places: tuple[Integers, Integers]) -> tuple[Floats, Flags]:
        """Counts of two columns by the places of their codes (-1: not compared), and which are known."""
        shape = int(places[0].max()) + 1, int(places[1].max()) + 1
        table, known = np.zeros(shape), np.zeros(shape, dtype=np.bool_)
        codes, counts = self.cells(pair)
        rows, columns = places[0][codes[:, 0]], places[1][codes[:, 1]]
        compared = (rows >= 0) & (columns >= 0)
        table[rows[compared], columns[compared]] = counts[compared]
        known[rows[compared], columns[compared]] = True
        return table, known


def associations(pairs: PairCounts, schema: Schema, synthetic: AnySynthetic) -> Associations:
    """Cramer's V of the first `MOST_CHARTED_COLUMNS` single-valued columns, over the same values."""
    single = tuple(i for i, column in enumerate(schema.columns) if not column.is_multi_valued)
    columns = single[:MOST_CHARTED_COLUMNS]
    size = len(columns)
    released, drawn = np.full((size, size), np.nan), np.full((size, size), np.nan)
    if pairs.has_pairs:
        values = [pairs.values(column) for column in columns]
        held = [pairs.held(column) for column in columns]
        places = [_places(codes, len(own)) for (codes, _), own in zip(held, values, strict=True)]
        records = _places_of_records(dict(zip(columns, values, strict=True)), synthetic, places)
        for one, other in itertools.combinations(range(size), 2):
            pair = columns[one], columns[other]
            counts, known = pairs.table(pair, (places[one], places[other]))
            table = PairTable(counts, known, held[one][1], held[other][1])
            released[one, other] = released[other, one] = pairs.v(pair, table)
            seen = count_pairs(records[one], records[other], counts.shape)
            drawn[one, other] = drawn[other, one] = cramers_v(seen)
    return Associations(columns, released, drawn)


def cramers_v(table: Floats) -> float:
    """Cramer's V of a two-way table of counts; NaN where a side has fewer than two filled values.

    >>> smoking_by_sex = np.array([[40.0, 10.0], [10.0, 40.0]])
    >>> round(cramers_v(smoking_by_sex), 3)
    0.6
    """
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    if min(table.shape, default=0) < 2:
        return float("nan")
    return v_of(table, table.sum(axis=1), table.sum(axis=0), 0.0)


def v_of(table: Floats, rows: Floats, columns: Floats, noise: float | Floats) -> float:
    """Cramer's V by the sums of rows and columns, the part of the cells' variance ``noise`` taken off.

    V = sqrt(phi^2 / (min(r, c) - 1)), phi^2 = sum ((n_ij - e_ij)^2 - noise_ij) / e_ij / n.
    """
    total = math.sqrt(float(rows.sum()) * float(columns.sum()))
    expected = np.outer(rows, columns) / total
    phi_squared = float(np.sum(((table - expected) ** 2 - noise) / expected)) / total
    return math.sqrt(min(max(phi_squared, 0.0) / (min(table.shape) - 1), 1.0))


def _places(codes: Integers, values: int) -> Integers:
    """For each code its place among those compared, -1 for none; code 0 is absent."""
    place = np.full(values + 1, -1, dtype=np.int64)
    place[codes] = np.arange(len(codes))
    return place


def _places_of_records(
    values: dict[int, tuple[str, ...]], synthetic: AnySynthetic, places: list[Integers]
) -> _Places:
    """(columns, n) places of the synthetic records' values among those compared, -1 where there is none."""
    target, place = (np.full(len(synthetic.attributes), -1, dtype=np.int64) for _ in range(2))
    code_of = {(column, value): code for column, own in values.items() for code, value in enumerate(own, 1)}
    index_of = {column: index for index, column in enumerate(values)}
    for number, attribute in enumerate(synthetic.attributes):
        code = code_of.get((attribute.column, attribute.value))
        if code is not None:
            target[number] = index_of[attribute.column]
            place[number] = places[target[number]][code]
    table = np.full((len(values), synthetic.number_of_records), -1, dtype=np.int16)
    for first, records, ids in _record_parts(synthetic):
        wanted = target[ids] >= 0
        table[target[ids][wanted], first + records[wanted]] = place[ids][wanted]
    return table


#: So many records are looked at in one go.
_AT_ONCE = 1 << 16


def _record_parts(records: AnySynthetic) -> Iterator[tuple[int, Ids, Ids]]:
    """Some records at a time: the first one's place, of each attribute its record from there, and its id."""
    before = 0
    for part in records.parts():
        for first in range(0, part.number_of_records, _AT_ONCE):
            bounds = part.offsets[first : first + _AT_ONCE + 1]
            rows = np.repeat(np.arange(len(bounds) - 1, dtype=np.int32), np.diff(bounds))
            yield before + first, rows, part.attribute_ids[bounds[0] : bounds[-1]]
        before += part.number_of_records


def count_pairs(one: _Places | Integers, other: _Places | Integers, shape: tuple[int, ...]) -> Floats:
    """How many records have each two places; one below 0 is none."""
    filled = (one >= 0) & (other >= 0)
    keys = one[filled].astype(np.int64) * shape[1] + other[filled]
    return np.bincount(keys, minlength=shape[0] * shape[1]).astype(np.float64).reshape(shape)


def ranked(found: Associations, schema: Schema, most: int = 15) -> list[tuple[str, float, float]]:
    """The strongest pairs by the released counts, as ("one × other", released V, synthetic V)."""
    pairs = []
    for one, other in itertools.combinations(range(len(found.columns)), 2):
        released, drawn = float(found.released[one, other]), float(found.synthetic[one, other])
        if math.isfinite(released):
            names = f"{schema.columns[found.columns[one]].name} × {schema.columns[found.columns[other]].name}"
            pairs.append((names, released, drawn if math.isfinite(drawn) else 0.0))
    return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:most]


#: A value must be held by so many standard deviations of a pair's noise, or its cells drown in it.
_LEAST_HELD = 4


def _most_frequent(codes: Integers, counts: Floats) -> tuple[Integers, Floats]:
    order = np.lexsort((codes, -counts))[:MOST_VALUES]
    return codes[order], counts[order]


class MeasuredPairs(PairCounts):
    """Levels 1 and 2 of a measurement."""

    def __init__(self, measurement: Measurement) -> None:
        self._measurement = measurement
        self._place = {pair: place for place, pair in enumerate(measurement.schema.combinations(2))}
        self.has_pairs = any(len(level.counts) for level in measurement.levels[1:2])

    def values(self, column: int) -> tuple[str, ...]:
        return self._measurement.values[column]

    def held(self, column: int) -> tuple[Integers, Floats]:
        """Values whose count stands out of a pair's noise."""
        levels = self._measurement.levels
        level, least = levels[0], max(_LEAST_HELD * levels[1].scale, 1)
        place = self._measurement.schema.combinations(1).index((column,))
        mine = (level.combinations == place) & level.survives & (level.counts >= least)
        return _most_frequent(level.codes[mine, 0].astype(np.int64), level.counts[mine].astype(np.float64))

    def cells(self, pair: tuple[int, int]) -> tuple[Integers, Floats]:
        level = self._measurement.levels[1]
        first, last = np.searchsorted(level.combinations, [self._place[pair], self._place[pair] + 1])
        return level.codes[first:last].astype(np.int64), level.counts[first:last].astype(np.float64)

    def v(self, pair: tuple[int, int], table: PairTable) -> float:
        """Cramer's V, corrected for noise and for what was not published.

        The noise's own part of phi^2, s^2 / e_ij of each known cell, is taken off. Where only survivors are
        known, a survivor's count is lowered by what the selection is expected to have added,
        s phi(a) / (1 - Phi(a)) with a = (tau - 1/2 - count) / s, and the other cells are taken to be what
        columns without association would have there, or the threshold where that is less: the estimate errs
        towards no association. NaN where fewer than two values are left.
        """
        level = self._measurement.levels[1]
        if min(table.counts.shape) < 2 or not table.known.any():
            return float("nan")
        number = self._measurement.number_of_records
        whole = max(float(number), float(table.rows.sum()), float(table.columns.sum()))
        rows = table.rows * (table.columns.sum() / whole)
        columns = table.columns * (table.rows.sum() / whole)
        counts = table.counts
        if not table.known.all():
            threshold = level.threshold or 0
            lowered = np.maximum(counts - _added_by_selection(counts, threshold, level.scale), 0)
            unrelated = np.outer(rows, columns) / math.sqrt(float(rows.sum()) * float(columns.sum()))
            counts = np.where(table.known, lowered, np.minimum(unrelated, threshold))
        return v_of(counts, rows, columns, np.where(table.known, level.scale**2, 0.0))


def _added_by_selection(counts: Floats, threshold: int, scale: float) -> Floats:
    above = np.minimum((threshold - 0.5 - counts) / scale, 0)
    added: Floats = scale * np.exp(-above * above / 2) / math.sqrt(2 * math.pi) / each_above(above)
    return added


class MeasuredTables(PairCounts):
    """Length 1 and the measured pairs of a fitted release."""

    def __init__(self, measurement: WorkloadMeasurement) -> None:
        self._measurement = measurement
        self._pairs = {
            (table.columns[0], table.columns[1]): table
            for table in noisy_tables(measurement)
            if len(table.columns) == 2
        }
        scales = [table.variance**0.5 for table in self._pairs.values()]
        self._least = max(_LEAST_HELD * float(np.median(scales)), 1.0) if scales else 1.0
        self.has_pairs = bool(self._pairs)

    def values(self, column: int) -> tuple[str, ...]:
        return cells_of_all_columns(self._measurement.schema, self._measurement.cells)[column].values

    def held(self, column: int) -> tuple[Integers, Floats]:
        """Values whose count stands out of a pair's noise."""
        counts = self._measurement.counts_of(column).astype(np.float64)
        places = np.flatnonzero(counts >= self._least)
        return _most_frequent(places + 1, counts[places])

    def cells(self, pair: tuple[int, int]) -> tuple[Integers, Floats]:
        """Every cell of the table, where the pair was measured."""
        if pair not in self._pairs:
            return np.zeros((0, 2), np.int64), np.zeros(0)
        rows, columns = (len(self.values(column)) for column in pair)
        codes = np.indices((rows, columns)).reshape(2, -1).T + 1
        return codes, self._pairs[pair].counts[:rows, :columns].astype(np.float64).ravel()

    def v(self, pair: tuple[int, int], table: PairTable) -> float:
        """Among the records that hold both, as of synthetic ones; without the noise's own part of phi^2.

        The sums are the table's own: who holds a value and nothing in the other column is not in it. NaN
        where fewer than two values stand out of the noise.
        """
        if min(table.counts.shape) < 2 or not table.known.any():
            return float("nan")
        variance = self._pairs[pair].variance
        counts = table.counts
        for axis in (0, 1):
            sums, cells = counts.sum(axis=1 - axis), counts.shape[1 - axis]
            counts = counts.compress(sums > 2 * (cells * variance) ** 0.5, axis=axis)
        rows, columns = counts.sum(axis=1), counts.sum(axis=0)
        if min(counts.shape) < 2 or min(rows.min(), columns.min()) <= 0:
            return float("nan")
        freedom = (counts.shape[0] - 1) * (counts.shape[1] - 1) / counts.size
        return v_of(counts, rows, columns, variance * freedom)


class ReportedPairs(PairCounts):
    """Lengths 1 and 2 of reported counts; a column's codes follow the order of its attributes."""

    def __init__(self, aggregates: Aggregates, columns: int, resolution: int) -> None:
        self._aggregates, self._resolution, self._columns = aggregates, resolution, columns
        self._column = np.array([a.column for a in aggregates.attributes], np.int64)
        self._code = np.zeros(len(aggregates.attributes), np.int64)
        for column in range(columns):
            mine = np.flatnonzero(self._column == column)
            self._code[mine] = np.arange(1, len(mine) + 1)
        self._keys, self._pairs = np.zeros(0, np.int64), np.zeros((0, 2), np.int64)
        self._counts = np.zeros(0)
        self.has_pairs = any(len(counts) for counts in aggregates.counts[1:2])
        if self.has_pairs:
            # The lower column first, ascending by the two columns.
            ids = aggregates.combinations[1].astype(np.int64)
            swapped = self._column[ids[:, 0]] > self._column[ids[:, 1]]
            ids = np.where(swapped[:, np.newaxis], ids[:, ::-1], ids)
            keys = self._column[ids[:, 0]] * columns + self._column[ids[:, 1]]
            order = np.argsort(keys, kind="stable")
            self._keys, self._pairs = keys[order], ids[order]
            self._counts = self._middles(aggregates.counts[1][order])

    def values(self, column: int) -> tuple[str, ...]:
        return tuple(a.value for a in self._aggregates.attributes if a.column == column)

    def held(self, column: int) -> tuple[Integers, Floats]:
        ids = self._aggregates.combinations[0][:, 0]
        mine = self._column[ids] == column
        return _most_frequent(self._code[ids[mine]], self._middles(self._aggregates.counts[0][mine]))

    def cells(self, pair: tuple[int, int]) -> tuple[Integers, Floats]:
        key = pair[0] * self._columns + pair[1]
        first, last = np.searchsorted(self._keys, [key, key + 1])
        return self._code[self._pairs[first:last]], self._counts[first:last]

    def v(self, pair: tuple[int, int], table: PairTable) -> float:
        """Cramer's V of a reported table, by its own sums; NaN where fewer than two values are left.

        A cell that is not reported is taken to be what columns without association would have there, or the
        middle of its range where that is less. The spread of a rounded count, (k^2 - 1) / 12 over e_ij, is
        taken off phi^2. The sums are the table's own and not those of its columns: records may have a value
        in one of them alone.
        """
        if not table.known.any():
            return float("nan")
        k, counts = self._resolution, table.counts
        rows, columns = counts.sum(axis=1), counts.sum(axis=0)
        filled, own = rows > 0, columns > 0
        if min(int(filled.sum()), int(own.sum())) < 2:
            return float("nan")
        unrelated = np.minimum(np.outer(rows, columns) / counts.sum(), (k - 1) / 2)
        kept = np.where(table.known, counts, unrelated)[filled][:, own]
        spread = np.where(table.known, (k * k - 1) / 12, 0.0)[filled][:, own]
        return v_of(kept, kept.sum(axis=1), kept.sum(axis=0), spread)

    def _middles(self, counts: Integers) -> Floats:
        """The middles of the ranges that rounded counts stand for."""
        return counts.astype(np.float64) + (self._resolution - 1) / 2
