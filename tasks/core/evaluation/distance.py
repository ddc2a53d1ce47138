"""Total variation distance of marginals: two tables of coded records in, a mean by length out.

Unlike measures of reported combinations this one takes a missing value for a value like any other, so
that leaving cells empty costs what it should. Of raw records it is sensitive.
"""

import itertools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tasks.core.aggregates.dense import CellCounter
from tasks.core.evaluation.synthetic import ordered_values
from tasks.core.records.coded import CodedRecords, Codes, code_type

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class MarginalDistance:
    """Of all marginals of one length: mean and largest total variation distance, 0..1."""

    length: int
    marginals: int
    mean: float
    largest: float


def total_variation(
    reference: CodedRecords, compared: CodedRecords, longest: int = 3
) -> list[MarginalDistance]:
    """Half the L1 distance between the two shares of records, for each set of columns up to a length.

    A multi-valued column stands by its slots: a set's shares are then of records times choices of slots.
    Where one table has no record and the other has, the distance is 1.
    """
    values = _common_values(reference, compared)
    sizes = tuple(len(own) + 1 for own in values)
    sides = [_recoded(side, values) for side in (reference, compared)]
    slot_columns = _common_slots(reference, compared)
    counters = [
        CellCounter(_padded(slots, side, slot_columns), slot_columns, sizes)
        for slots, side in zip(sides, (reference, compared), strict=True)
    ]
    found = []
    for length in range(1, min(longest, len(slot_columns)) + 1):
        combinations = sorted(set(itertools.combinations(slot_columns, length)))
        distances = [_distance(counters, combination) for combination in combinations]
        found.append(MarginalDistance(length, len(distances), float(np.mean(distances)), max(distances)))
    return found


def _distance(counters: list[CellCounter], combination: tuple[int, ...]) -> float:
    (own, counts), (other, other_counts) = (counter.cells(combination) for counter in counters)
    if not counts.sum() or not other_counts.sum():
        return float(counts.sum() != other_counts.sum())
    rows = np.concatenate([own, other])
    shares = np.concatenate([counts / counts.sum(), -other_counts / other_counts.sum()])
    order = np.lexsort(rows.T[::-1])
    rows, shares = rows[order], shares[order]
    starts = np.flatnonzero(np.r_[True, (rows[1:] != rows[:-1]).any(axis=1)])
    return float(np.abs(np.add.reduceat(shares, starts)).sum() / 2)


def _common_values(reference: CodedRecords, compared: CodedRecords) -> tuple[tuple[str, ...], ...]:
    pairs = zip(reference.schema.columns, reference.values, compared.values, strict=True)
    return tuple(ordered_values(column, {*own, *other}) for column, own, other in pairs)


def _recoded(records: CodedRecords, values: tuple[tuple[str, ...], ...]) -> list[Codes]:
    """Slots in codes of the common values; dictionaries are ordered alike, so items stay ascending."""
    slots = []
    for codes, column in zip(records.slots, records.slot_columns, strict=True):
        position = {value: code for code, value in enumerate(values[column], start=1)}
        recode = np.array([0, *(position[v] for v in records.values[column])], np.int64)
        slots.append(recode.astype(code_type(len(values[column])))[codes])
    return slots


def _common_slots(reference: CodedRecords, compared: CodedRecords) -> tuple[int, ...]:
    columns = range(len(reference.schema.columns))
    most = [max(side.slot_columns.count(c) for side in (reference, compared)) for c in columns]
    return tuple(column for column in columns for _ in range(most[column]))


def _padded(slots: list[Codes], records: CodedRecords, slot_columns: tuple[int, ...]) -> list[Codes]:
    """Slots as the wider of the two tables has them, empty ones where this one has none."""
    own: dict[int, list[Codes]] = {}
    for codes, column in zip(slots, records.slot_columns, strict=True):
        own.setdefault(column, []).append(codes)
    nothing = np.zeros(records.number_of_records, np.uint8)
    places = [slot_columns[:index].count(column) for index, column in enumerate(slot_columns)]
    return [
        own[column][place] if place < len(own.get(column, [])) else nothing
        for column, place in zip(slot_columns, places, strict=True)
    ]
