"""What a page has of counts: released counts and noisy tables go in, buffers and ranges come out.

A count that was drawn and published lies within the noise of the true one in 95 of 100 draws. But where only
counts from a threshold on are published, those just above it are the lucky ones. The lower end therefore
allows for the selection: it is the least true count that would give so large a noisy count in 2.5 of 100
*published* draws. (Above, the selection helps: of published draws fewer lie far below the truth.)
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from tasks.core.aggregates.aggregates import NOT_MEASURED, Aggregates
from tasks.core.arrays import Ids, Integers, Json
from tasks.core.dp.measurement import Level, Measurement
from tasks.core.dp.thresholds import error_bar
from tasks.core.dp.workload.measurement import WorkloadMeasurement
from tasks.core.navigation.fidelity import places_of_rows
from tasks.core.navigation.payload.block import AnyArray, Buffers
from tasks.core.navigation.payload.columns import (
    ShownColumn,
    first_attributes,
    value_codes,
    value_of_attribute,
)
from tasks.core.normal import normal_above

#: In place of a noisy count that was not measured; a count is cut off at the type's bounds otherwise.
UNMEASURED = np.iinfo(np.int32).min


#: Where the true counts of one length lie, int64 in the order of the aggregates: ``low`` and ``high``, the
#: range of 95 of 100 draws; by lengths ``noisy``, as drawn; of a fitted release ``estimate``, least squares
#: of all noisy tables: both `NOT_MEASURED` where nothing was drawn for this combination.
CountRanges = Mapping[str, Integers]


def put_counts(
    block: Buffers,
    columns: Sequence[ShownColumn],
    aggregates: Aggregates,
    ranges: Sequence[CountRanges] = (),
) -> list[Json]:
    """Add the counts of every length as ``counts/<length>/...``; return what the page is told of each."""
    of_column, code = value_codes(columns, aggregates.attributes)
    first = first_attributes(columns)
    numbers = first[of_column] + code - 1
    sizes = []
    for length, (combinations, counts) in enumerate(
        zip(aggregates.combinations, aggregates.counts, strict=True), start=1
    ):
        ids = np.sort(numbers[combinations], axis=1).reshape(len(counts), length)
        order = np.lexsort(ids.T[::-1]) if len(ids) else np.zeros(0, np.int64)
        sizes.append(put_rows(block, length, ids[order], counts[order], int(first[-1])))
        if ranges:
            for name, bounds in ranges[length - 1].items():
                told = np.where(bounds == NOT_MEASURED, UNMEASURED, _clip_to_int32(bounds))[order]
                block.put(f"counts/{length}/{name}", told.astype(np.int32))
    return sizes


def put_rows(block: Buffers, length: int, ids: Ids | Integers, counts: Integers, attributes: int) -> Json:
    """Add combinations of one length, ascending ids (N, length), and counts; return what is told of them."""
    kind = np.uint16 if attributes <= np.iinfo(np.uint16).max + 1 else np.uint32
    for place in range(length):
        block.put(f"counts/{length}/id/{place}", np.ascontiguousarray(ids[:, place]).astype(kind))
    block.put(f"counts/{length}/count", counts.astype(np.uint32))
    return {"n": len(counts)}


def _clip_to_int32(values: Integers) -> AnyArray:
    return np.clip(values, UNMEASURED + 1, np.iinfo(np.int32).max).astype(np.int32)


def put_tables(
    block: Buffers, columns: Sequence[ShownColumn], measurement: WorkloadMeasurement
) -> list[Json]:
    """Add every table as drawn as ``tables/<place>``, in C order; return what is told of each.

    The cells of a column are its values in the page's order, then `other` and `absent` where it has them. Of
    a column alone nobody counted `other`. A set that was measured twice has two tables.
    """
    told: list[Json] = []
    orders = [
        _order_of_cells(shown, cells.values) for shown, cells in zip(columns, measurement.cells, strict=False)
    ]
    alone = len(measurement.values)
    for place, table in enumerate((*measurement.values, *measurement.tables)):
        counts = table.counts
        for axis, column in enumerate(table.columns):
            rest = np.arange(len(orders[column]), counts.shape[axis])
            counts = np.take(counts, np.concatenate([orders[column], rest]), axis=axis)
        block.put(f"tables/{place}", np.ascontiguousarray(counts).reshape(-1).astype(np.int32))
        about: Json = {"columns": list(table.columns), "shape": list(counts.shape), "scale": table.scale}
        if place < alone and measurement.cells[table.columns[0]].has_other:
            about["without_other"] = True
        told.append(about)
    return told


def _order_of_cells(shown: ShownColumn, cells: Sequence[str]) -> Integers:
    place = {value: number for number, value in enumerate(cells)}
    return np.array([place[value] for value in shown.values], np.int64)


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
            found.append({name: np.zeros(0, np.int64) for name in ("low", "high", "noisy")})
            continue
        level = measurement.levels[length - 1]
        noisy = _noisy_counts(measurement, aggregates, length)
        least = _least_published(measurement, aggregates, length)
        low, high = _ranges_of_noise(level, noisy, least)
        missing = np.flatnonzero(noisy == NOT_MEASURED)
        if len(missing):
            shorter = aggregates.combinations[length - 2]
            low[missing] = 0
            high[missing] = _least_of_parts(shorter, found[-1]["high"], combinations[missing])
        found.append({"low": low, "high": high, "noisy": noisy})
    return found


def _noisy_counts(measurement: Measurement, aggregates: Aggregates, length: int) -> Integers:
    """The noisy count of each reported combination; `NOT_MEASURED` where it was not published by itself."""
    level, reported = measurement.levels[length - 1], aggregates.combinations[length - 1]
    columns = np.array(measurement.schema.combinations(length), np.int64).reshape(-1, length)
    kept = level.survives & (level.counts > 0)
    rows = _attribute_ids(measurement, aggregates)[columns[level.combinations[kept]], level.codes[kept]]
    rows, counts = np.sort(rows.reshape(-1, length), axis=1), level.counts[kept]
    known = (rows >= 0).all(axis=1)
    at = places_of_rows(reported, rows[known].astype(np.int32))
    noisy = np.full(len(reported), NOT_MEASURED)
    noisy[at[at >= 0]] = counts[known][at >= 0]
    return noisy


def _attribute_ids(measurement: Measurement, aggregates: Aggregates) -> Integers:
    """(columns, most codes) the attribute id of each column's code, -1 for none."""
    place = {
        (each.column, value_of_attribute(each)): number for number, each in enumerate(aggregates.attributes)
    }
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


def _ranges_of_noise(level: Level, noisy: Integers, least: Integers) -> tuple[Integers, Integers]:
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


def _least_of_parts(shorter: Ids, high: Integers, combinations: Ids) -> Integers:
    """The least upper end of the parts that lack one attribute; all of them are reported."""
    parts = (np.delete(combinations, place, axis=1) for place in range(combinations.shape[1]))
    least: Integers = np.minimum.reduce([high[places_of_rows(shorter, part)] for part in parts])
    return least
