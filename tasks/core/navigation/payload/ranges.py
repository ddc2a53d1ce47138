"""Where the true counts behind published counts of a draw by lengths lie: a draw goes in, ranges come out.

A count that was drawn and published lies within the noise of the true one in 95 of 100 draws. But where only
counts from a threshold on are published, those just above it are the lucky ones. The lower end therefore
allows for the selection: it is the least true count that would give so large a noisy count in 2.5 of 100
*published* draws. (Above, the selection helps: of published draws fewer lie far below the truth.)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tasks.core.aggregates.aggregates import NOT_MEASURED, Aggregates
from tasks.core.arrays import Floats, Ids, Integers
from tasks.core.dp.measurement import Level, Measurement
from tasks.core.dp.thresholds import error_bar
from tasks.core.navigation.payload.columns import held_value
from tasks.core.navigation.payload.counts import CountRanges
from tasks.core.normal import normal_above

#: The part of published draws in which a true count may lie below its range.
_TAIL = 0.025
#: So many standard deviations above the threshold, the selection changes nothing that is seen.
_FAR = 8
_HALVINGS = 50


def ranges_of_lengths(measurement: Measurement, aggregates: Aggregates) -> list[CountRanges]:
    """The ranges of every reported combination, by length, in the order of the aggregates.

    A combination that was not published by itself, but is part of one that was, lies between none and the
    least upper end of its own parts.
    """
    found: list[CountRanges] = []
    for length, combinations in enumerate(aggregates.combinations, start=1):
        if not len(combinations):
            found.append(CountRanges(*(np.zeros(0, np.int64) for _ in range(3))))
            continue
        level = measurement.levels[length - 1]
        noisy = _drawn(measurement, aggregates, length)
        least = _least_published(measurement, aggregates, length)
        low, high = _within(level, noisy, least)
        missing = np.flatnonzero(noisy == NOT_MEASURED)
        if len(missing):
            shorter = _Places(aggregates.combinations[length - 2], len(aggregates.attributes))
            low[missing] = 0
            high[missing] = _least_of_parts(shorter, found[-1].high, combinations[missing])
        found.append(CountRanges(low, high, noisy))
    return found


@dataclass(frozen=True)
class _Places:
    """Where combinations stand among those of one length, which ascend.

    Attributes:
        combinations: (N, length) attribute ids.
        attributes: how many there are.
    """

    combinations: Ids
    attributes: int

    def of(self, wanted: Ids) -> Integers:
        """The row of each wanted combination, or -1."""
        if self.attributes ** self.combinations.shape[1] < 1 << 62:
            keys, asked = self._keys(self.combinations), self._keys(wanted)
        else:  # too many to be packed: by the place among the different ones
            both = np.concatenate([self.combinations, wanted])
            _, numbers = np.unique(both, axis=0, return_inverse=True)
            keys, asked = np.split(numbers.astype(np.int64), [len(self.combinations)])
        at = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
        return np.where(keys[at] == asked, at, -1)

    def _keys(self, rows: Ids) -> Integers:
        keys = np.zeros(len(rows), np.int64)
        for place in range(rows.shape[1]):
            keys = keys * self.attributes + rows[:, place]
        return keys


def _drawn(measurement: Measurement, aggregates: Aggregates, length: int) -> Integers:
    """The noisy count of each reported combination; `NOT_MEASURED` where it was not published by itself."""
    level, reported = measurement.levels[length - 1], aggregates.combinations[length - 1]
    columns = np.array(measurement.schema.combinations(length), np.int64).reshape(-1, length)
    kept = level.survives & (level.counts > 0)
    rows = _attribute_ids(measurement, aggregates)[columns[level.combinations[kept]], level.codes[kept]]
    rows, counts = np.sort(rows.reshape(-1, length), axis=1), level.counts[kept]
    known = (rows >= 0).all(axis=1)
    at = _Places(reported, len(aggregates.attributes)).of(rows[known].astype(np.int32))
    noisy = np.full(len(reported), NOT_MEASURED)
    noisy[at[at >= 0]] = counts[known][at >= 0]
    return noisy


def _attribute_ids(measurement: Measurement, aggregates: Aggregates) -> Integers:
    """(columns, most codes) the attribute id of each column's code, -1 for none."""
    place = {(each.column, held_value(each)): number for number, each in enumerate(aggregates.attributes)}
    most = max((len(values) for values in measurement.values), default=0) + 1
    ids = np.full((len(measurement.values), most), -1, np.int64)
    for column, values in enumerate(measurement.values):
        for code, value in enumerate(values, start=1):
            ids[column, code] = place.get((column, value), -1)
    return ids


def _least_published(measurement: Measurement, aggregates: Aggregates, length: int) -> Integers:
    """The least noisy count with which each combination is published; what is not above 0 never is."""
    threshold = max(measurement.levels[length - 1].threshold or 1, 1)
    if length > 1:
        return np.full(len(aggregates.combinations[length - 1]), threshold)
    is_open = np.array(
        [measurement.schema.columns[each.column].is_open for each in aggregates.attributes], np.bool_
    )
    return np.where(is_open[aggregates.combinations[0][:, 0]], threshold, 1)


def _within(level: Level, noisy: Integers, least: Integers) -> tuple[Integers, Integers]:
    """The ends of the range of each noisy count."""
    if not level.scale:  # a draw without noise exists in tests alone
        return np.maximum(noisy, 0), np.maximum(noisy, 0)
    half = error_bar(Fraction(level.scale), 0.95)
    low = np.maximum(noisy, half) - half
    near = np.flatnonzero((noisy != NOT_MEASURED) & (noisy < least + _FAR * level.scale))
    if len(near):
        pairs, place = np.unique(np.stack([noisy[near], least[near]], axis=1), axis=0, return_inverse=True)
        ends = [_lower_end(count, threshold, level.scale) for count, threshold in pairs.tolist()]
        low[near] = np.minimum(low[near], np.array(ends, np.int64)[place.reshape(-1)])
    return low, np.maximum(noisy, 0) + half


def _lower_end(count: int, least: int, scale: float) -> int:
    """The least true count that gives at least this noisy one in 2.5 of 100 draws that are published."""
    sd = (scale**2 + 1 / 12) ** 0.5

    def share(true: float) -> float:
        return normal_above((count - 0.5 - true) / sd) / normal_above((least - 0.5 - true) / sd)

    low, high = 0.0, float(max(count, 0))
    if share(low) >= _TAIL:
        return 0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if share(middle) >= _TAIL else (middle, high)
    return int(high)


def _least_of_parts(shorter: _Places, high: Integers, combinations: Ids) -> Integers:
    """The least upper end of the parts that lack one attribute; all of them are reported."""
    ends: Sequence[Floats | Integers] = [
        high[shorter.of(np.delete(combinations, place, axis=1))] for place in range(combinations.shape[1])
    ]
    least: Integers = np.minimum.reduce(ends)
    return least
