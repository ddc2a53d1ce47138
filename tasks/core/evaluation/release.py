"""Evaluation that may be released: synthetic records against the reportable aggregates, and the noise.

Nothing here has seen the table: what comes out says how well the synthetic records keep what was
reported, and, from the measurement's public scales, how far what was reported may be from the truth.
"""

import math
from collections.abc import Iterable, Iterator
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from tasks.core.aggregates.aggregates import Aggregates, Attribute
from tasks.core.aggregates.cubes import count_in_memory
from tasks.core.aggregates.wide_form import sort_combinations, wide_headers
from tasks.core.arrays import Ids, Integers, Json
from tasks.core.dp.measurement import Measurement
from tasks.core.errors import InternalError
from tasks.core.evaluation.comparison import code_synthetic, compare_two
from tasks.core.evaluation.measures import (
    errors_by_length,
    preservation_by_count,
    preservation_by_length,
    summary,
)
from tasks.core.queries import QueryResources
from tasks.core.records.columns import Schema
from tasks.core.synthesis.records import SyntheticRecords


def count_in_parts(parts: Iterable[SyntheticRecords], schema: Schema, reporting_length: int) -> Aggregates:
    """`count_in_memory` of all records (see `code_synthetic`): what their combinations are held by.

    Args:
        parts: at least one, all with the same attributes.
        reporting_length: the most attributes of a combination; -1: all lengths.

    Raises:
        ParameterError: the length is 0 or below -1.
    """
    counted = (_count_part(part, schema, reporting_length) for part in parts)
    return reduce(_add_counts, counted).aggregates(schema, reporting_length)


def count_synthetic(parts: Iterable[SyntheticRecords], aggregates: Aggregates, schema: Schema) -> Aggregates:
    """The records' counts over the attributes of the aggregates that they were drawn from.

    Attributes that only the records have, by a constraint, come behind those.
    """
    counted = count_in_parts(parts, schema, max(aggregates.reporting_length, 1))
    known = set(map(_text_order, aggregates.attributes))
    more = [each for each in counted.attributes if _text_order(each) not in known]
    place = {_text_order(each): number for number, each in enumerate((*aggregates.attributes, *more))}
    ids = np.array([place[_text_order(each)] for each in counted.attributes], np.int32)
    levels = [
        # Both lists are in the same order, so the ids of a row stay ascending, unless there are more.
        sort_combinations([(np.sort(ids[rows], axis=1), counts)], length, len(place))
        if more
        else (ids[rows], counts)
        for length, (rows, counts) in enumerate(zip(counted.combinations, counted.counts, strict=True), 1)
    ]
    return Aggregates(
        aggregates.headers,
        (*aggregates.attributes, *more),
        counted.number_of_records,
        tuple(rows for rows, _ in levels),
        tuple(counts for _, counts in levels),
    ).up_to(aggregates.reporting_length)


class _Counted(NamedTuple):
    """Combinations of some parts over the attributes that all of them share.

    Attributes:
        attributes: in the order of their texts.
        slots: int64, of each column how many its fullest record needs.
        levels: of each length the combinations, in order, and their counts, all above 0.
    """

    attributes: tuple[Attribute, ...]
    number: int
    slots: Integers
    levels: tuple[tuple[Ids, Integers], ...]

    def aggregates(self, schema: Schema, longest: int) -> Aggregates:
        """Over the attributes that somebody holds; as many lengths as one coding of all records has."""
        used = self.levels[0][0][:, 0] if self.levels else np.empty(0, np.int32)
        attributes = tuple(self.attributes[place] for place in used.tolist())
        numbers = np.zeros(len(self.attributes), np.int32)
        numbers[used] = np.arange(len(used), dtype=np.int32)
        most = int(self.slots.sum())
        return Aggregates(
            wide_headers(schema, attributes),
            attributes,
            self.number,
            tuple(numbers[ids] for ids, _ in self.levels),
            tuple(counts for _, counts in self.levels),
        ).up_to(most if longest == -1 else min(longest, most))


def _count_part(records: SyntheticRecords, schema: Schema, longest: int) -> _Counted:
    coded = code_synthetic(records, schema)
    counted = count_in_memory(coded, longest)
    # Counted attributes are in the order of their texts; those of records may not be.
    attributes = tuple(sorted(records.attributes, key=_text_order))
    place = {_text_order(each): number for number, each in enumerate(attributes)}
    numbers = np.array([place[_text_order(each)] for each in counted.attributes], np.int32)
    slots = np.bincount(np.array(coded.slot_columns, np.int64), minlength=len(schema.columns))
    levels = tuple(
        (numbers[ids].reshape(ids.shape), counts)
        for ids, counts in zip(counted.combinations, counted.counts, strict=True)
    )
    return _Counted(attributes, counted.number_of_records, slots, levels)


def _text_order(attribute: Attribute) -> tuple[str, int]:
    return attribute.text, attribute.column


def _add_counts(one: _Counted, other: _Counted) -> _Counted:
    if one.attributes != other.attributes:
        raise InternalError("Parts of the same records have the same attributes.")
    longest = max(len(one.levels), len(other.levels))
    return _Counted(
        one.attributes,
        one.number + other.number,
        np.maximum(one.slots, other.slots),
        tuple(_merge_length(length, (one, other)) for length in range(1, longest + 1)),
    )


def _merge_length(length: int, counted: tuple[_Counted, _Counted]) -> tuple[Ids, Integers]:
    bound = len(counted[0].attributes)
    rows: Iterator[tuple[Ids, Integers]] = (
        own.levels[length - 1] for own in counted if len(own.levels) >= length
    )
    ids, counts = sort_combinations(rows, length, bound)
    if not len(ids):
        return ids, counts
    starts = np.flatnonzero(np.concatenate([[True], (ids[1:] != ids[:-1]).any(axis=1)]))
    return ids[starts], np.add.reduceat(counts, starts)


def compare_release(
    reportable: Aggregates,
    recounted: Aggregates,
    measurement: Measurement | None = None,
    resources: QueryResources = QueryResources(),
) -> Json:
    """Compare the synthetic records' counts with the reported ones, at every reported length.

    Args:
        recounted: counts of the synthetic records, of the same columns (see `count_synthetic`).
        measurement: what the counts were drawn in, for its noise; None where there was none.

    Returns:
        What a release says of itself: ``summary`` over all lengths (see `measures.summary`, reference =
        reported), rows ``by_length`` and ``by_count``, and ``noise`` by length (see `noise_errors`).
    """
    found = compare_two(reportable, recounted, 1, resources=resources)
    preserved = {row["length"]: row for row in preservation_by_length(found)}
    names = ("preservation", "proportional_error")
    return {
        "summary": name_sides(summary(found)),
        "by_length": [
            {**row, **{name: preserved[row["length"]][name] for name in names}}
            for row in map(name_sides, errors_by_length(found))
        ],
        "by_count": preservation_by_count(found),
        "noise": noise_errors(measurement) if measurement else [],
    }


def noise_errors(measurement: Measurement) -> list[Json]:
    """What the noise alone does to the counts of each length, in records; bounding bias excluded.

    ``mean_absolute_error`` is s_k sqrt(2 / pi), ``error_bar_95`` half the width of the interval that holds 95
    of 100 draws.
    """
    return [
        {
            "length": length,
            "scale": level.scale,
            "mean_absolute_error": level.scale * math.sqrt(2 / math.pi),
            "error_bar_95": level.scale * 1.959963984540054,  # the normal's 97.5th percentile
        }
        for length, level in enumerate(measurement.levels, start=1)
    ]


def name_sides(row: dict[str, Any]) -> dict[str, Any]:
    """The reference here is what was reported, and the compared side is synthetic: call them so.

    Suppressed and fabricated would be read as of the table: here they are missed and unreported.
    """
    names = {
        "reference": "reported",
        "compared": "synthetic",
        "suppressed": "missed",
        "fabricated": "unreported",
        "suppressed_pct": "missed_pct",
        "fabricated_pct": "unreported_pct",
        "fabricated_pct_of_compared": "unreported_pct_of_synthetic",
    }
    return {names.get(name, name): value for name, value in row.items()}
