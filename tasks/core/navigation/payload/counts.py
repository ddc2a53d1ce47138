"""Reportable counts for the page: aggregates and ranges go in, arrays by length come out."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tasks.core.aggregates.aggregates import NOT_MEASURED, Aggregates, Ranges
from tasks.core.arrays import Ids, Integers, Json
from tasks.core.navigation.payload.block import AnyArray, Buffers
from tasks.core.navigation.payload.columns import ShownColumn, first_attributes, value_codes

#: In place of a noisy count that was not measured; a count is cut off at the type's bounds otherwise.
UNMEASURED = np.iinfo(np.int32).min


@dataclass(frozen=True)
class CountRanges:
    """Where the true counts of one length lie, in the order of the aggregates.

    Attributes:
        low, high: int64, the range of 95 of 100 draws.
        noisy: int64, by lengths: as drawn, or `NOT_MEASURED` where nothing was drawn for this combination.
        estimate: int64, of a fitted release: least squares of all noisy tables, or `NOT_MEASURED`.
    """

    low: Integers
    high: Integers
    noisy: Integers | None = None
    estimate: Integers | None = None

    @classmethod
    def of(cls, ranges: Ranges) -> "CountRanges":
        """Of a fitted release."""
        return cls(ranges.at_least, ranges.at_most, estimate=ranges.least_squares)


def put_counts(
    block: Buffers,
    columns: Sequence[ShownColumn],
    aggregates: Aggregates,
    ranges: Sequence[CountRanges] = (),
) -> list[Json]:
    """Add the counts of every length as ``counts/<length>/...``; return what the page is told of each.

    Args:
        block: what is filled.
        columns: of the page.
        aggregates: what is reported.
        ranges: of each length; none where counts have a resolution instead.
    """
    of_column, code = value_codes(columns, aggregates.attributes)
    numbers = first_attributes(columns)[of_column] + code - 1
    told = []
    for length, (combinations, counts) in enumerate(
        zip(aggregates.combinations, aggregates.counts, strict=True), start=1
    ):
        ids = np.sort(numbers[combinations], axis=1).reshape(len(counts), length)
        order = _in_order(ids)
        told.append(put_rows(block, length, ids[order], counts[order], int(first_attributes(columns)[-1])))
        if ranges:
            _put_range(block, length, ranges[length - 1], order)
    return told


def _in_order(ids: Ids | Integers) -> Integers:
    """The order in which rows ascend."""
    return np.lexsort(ids.T[::-1]) if len(ids) else np.zeros(0, np.int64)


def put_rows(block: Buffers, length: int, ids: Ids | Integers, counts: Integers, attributes: int) -> Json:
    """Add combinations of one length that ascend, and their counts; return what the page is told of them.

    Args:
        block: what is filled.
        length: of the combinations.
        ids: (N, length) attribute ids, ascending within a row.
        counts: of each row.
        attributes: how many there are.
    """
    _put_ids(block, length, ids, attributes)
    block.put(f"counts/{length}/count", counts.astype(np.uint32))
    return {"n": len(counts)}


def _put_ids(block: Buffers, length: int, ids: Ids | Integers, attributes: int) -> None:
    kind = np.uint16 if attributes <= np.iinfo(np.uint16).max + 1 else np.uint32
    for place in range(length):
        block.put(f"counts/{length}/id/{place}", np.ascontiguousarray(ids[:, place]).astype(kind))


def _put_range(block: Buffers, length: int, found: CountRanges, order: Integers) -> None:
    block.put(f"counts/{length}/low", _whole(found.low[order]))
    block.put(f"counts/{length}/high", _whole(found.high[order]))
    for name, numbers in (("noisy", found.noisy), ("estimate", found.estimate)):
        if numbers is None:
            continue
        told = np.where(numbers == NOT_MEASURED, UNMEASURED, _whole(numbers))[order]
        block.put(f"counts/{length}/{name}", told.astype(np.int32))


def _whole(values: Integers) -> AnyArray:
    return np.clip(values, UNMEASURED + 1, np.iinfo(np.int32).max).astype(np.int32)
