"""Where the true counts behind published counts of a draw by lengths lie: a draw goes in, ranges come out.

A count that was drawn and published lies within the noise of the true one in 95 of 100 draws. But where only
counts from a threshold on are published, those just above it are the lucky ones. The lower end therefore
allows for the selection: it is the least true count that would give so large a noisy count in 2.5 of 100
*published* draws. (Above, the selection helps: of published draws fewer lie far below the truth.)
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.arrays import Floats, Integers
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
    drawn = [_drawn(measurement, aggregates, length) for length in range(1, len(aggregates.counts) + 1)]
    found: list[CountRanges] = []
    for noisy, combinations, level in zip(drawn, aggregates.combinations, measurement.levels, strict=True):
        low, high = _within(level, noisy)
        for row in np.flatnonzero(np.isnan(noisy)).tolist():
            low[row], high[row] = 0, _least_of_parts(aggregates, found, combinations[row])
        found.append(CountRanges(low.astype(np.int64), high.astype(np.int64)))
    return found


def _within(level: Level, noisy: Floats) -> tuple[Floats, Floats]:
    """The ends of the range of each noisy count; NaN where there is none."""
    if not level.scale:
        return noisy.copy(), noisy.copy()
    half = error_bar(Fraction(level.scale), 0.95)
    least = max(level.threshold or 1, 1)  # what is not above 0 is not published either
    different, place = np.unique(noisy, return_inverse=True)
    low = np.array([_lower_end(count, least, level.scale, half) for count in different])
    return low[place], noisy + half


def _lower_end(count: float, least: int, scale: float, half: int) -> float:
    """The least true count that gives at least this noisy one in 2.5 of 100 draws that are published."""
    if np.isnan(count) or count >= least + _FAR * scale:
        return max(count - half, 0.0)
    sd = (scale**2 + 1 / 12) ** 0.5

    def share(true: float) -> float:
        return normal_above((count - 0.5 - true) / sd) / normal_above((least - 0.5 - true) / sd)

    low, high = 0.0, max(count, 0.0)
    if share(low) >= _TAIL:
        return low
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if share(middle) >= _TAIL else (middle, high)
    return float(np.floor(high))


def _drawn(measurement: Measurement, aggregates: Aggregates, length: int) -> Floats:
    """The noisy count of each reported combination, NaN where it was not published by itself."""
    level = measurement.levels[length - 1]
    columns = np.array(measurement.schema.combinations(length), np.int64).reshape(-1, length)
    rows = np.sort(_attribute_ids(measurement, aggregates)[columns[level.combinations], level.codes], axis=1)
    kept = level.survives & (rows >= 0).all(axis=1)
    rows, counts = rows[kept], level.counts[kept]
    wanted = aggregates.combinations[length - 1]
    _, numbers = np.unique(np.concatenate([rows, wanted]), axis=0, return_inverse=True)
    drawn = np.full(int(numbers.max(initial=-1)) + 1, np.nan)
    drawn[numbers[: len(rows)]] = counts
    return drawn[numbers[len(rows) :]]


def _attribute_ids(measurement: Measurement, aggregates: Aggregates) -> Integers:
    """(columns, most codes) the attribute id of each column's code, -1 for none."""
    place = {(each.column, held_value(each)): number for number, each in enumerate(aggregates.attributes)}
    most = max((len(values) for values in measurement.values), default=0) + 1
    ids = np.full((len(measurement.values), most), -1, np.int64)
    for column, values in enumerate(measurement.values):
        for code, value in enumerate(values, start=1):
            ids[column, code] = place.get((column, value), -1)
    return ids


def _least_of_parts(
    aggregates: Aggregates, shorter: Sequence[CountRanges], combination: Integers
) -> int:
    """The least upper end of the parts that lack one attribute; all of them are reported."""
    of_length = aggregates.combinations[len(shorter) - 1]
    parts = [np.delete(combination, place) for place in range(len(combination))]
    rows = [int(np.flatnonzero((of_length == part).all(axis=1))[0]) for part in parts]
    return int(shorter[-1].high[rows].min())
