"""Synthetic records as codes: lists of attributes go in, an array for each slot of each column comes out."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tasks.core.arrays import Codes, Ids
from tasks.core.navigation.payload.block import Buffers, narrowest
from tasks.core.navigation.payload.columns import ShownColumn, value_codes
from tasks.core.navigation.payload.sample import places_in_page
from tasks.core.synthesis.records import AnySynthetic

#: So many records are looked at in one go.
_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class RecordCodes:
    """Codes of the records that a page holds.

    Attributes:
        columns: with as many slots as the fullest record fills, at least one.
        slots: of each slot of each column in turn, a code a record: 0 is missing, v the value
            ``values[v - 1]``.
    """

    columns: tuple[ShownColumn, ...]
    slots: tuple[Codes, ...]

    def put_into(self, block: Buffers) -> None:
        """Add them as ``column/<column>/<slot>``."""
        slots = iter(self.slots)
        for place, column in enumerate(self.columns):
            for slot in range(column.slots):
                block.put(f"column/{place}/{slot}", next(slots))


def record_codes(columns: Sequence[ShownColumn], synthetic: AnySynthetic) -> RecordCodes:
    """The records by column; items of a record stand in ascending order of their codes.

    Args:
        columns: of the page.
        synthetic: all records of the release, of which the page may hold a sample.
    """
    places = places_in_page(synthetic.number_of_records)
    records = synthetic if places is None else synthetic.at(places)
    of_column, code = value_codes(columns, records.attributes)
    held = tuple(
        replace(column, slots=most)
        for column, most in zip(columns, _most_items(columns, records, of_column), strict=True)
    )
    slots = tuple(
        np.zeros(records.number_of_records, narrowest(len(column.values)))
        for column in held
        for _ in range(column.slots)
    )
    firsts = np.cumsum([0, *(column.slots for column in held)])
    has_items = np.array([column.slots > 1 for column in held], np.bool_)
    for first, rows, ids in _parts(records):
        columns_here, codes_here = of_column[ids], code[ids]
        order = (
            np.lexsort((codes_here, rows, columns_here))
            if has_items.any()
            else np.argsort(columns_here, kind="stable")
        )
        columns_here, codes_here, rows = columns_here[order], codes_here[order], rows[order]
        bounds = np.searchsorted(columns_here, np.arange(len(held) + 1))
        for column, about in enumerate(held):
            mine = slice(bounds[column], bounds[column + 1])
            rows_here = rows[mine]
            slot = _rank(rows_here) if about.slots > 1 else None
            for number in range(about.slots):
                chosen = slice(None) if slot is None else slot == number
                slots[firsts[column] + number][first + rows_here[chosen]] = codes_here[mine][chosen]
    return RecordCodes(held, slots)


def _parts(records: AnySynthetic) -> Iterator[tuple[int, Ids, Ids]]:
    """Some records at a time: the first one's place, of each attribute its record from there, and its id."""
    before = 0
    for part in records.parts():
        for first in range(0, part.number_of_records, _AT_ONCE):
            bounds = part.offsets[first : first + _AT_ONCE + 1]
            rows = np.repeat(np.arange(len(bounds) - 1, dtype=np.int32), np.diff(bounds))
            yield before + first, rows, part.attribute_ids[bounds[0] : bounds[-1]]
        before += part.number_of_records


def _rank(rows: Ids) -> Ids:
    """The place of each item within its record; equal records stand together."""
    if not len(rows):
        return rows
    begins = np.flatnonzero(np.concatenate([[True], rows[1:] != rows[:-1]]))
    lengths = np.diff(np.append(begins, len(rows)))
    ranks: Ids = (np.arange(len(rows)) - np.repeat(begins, lengths)).astype(np.int32)
    return ranks


def _most_items(columns: Sequence[ShownColumn], records: AnySynthetic, of_column: Ids) -> list[int]:
    """How many values the fullest record has in each column, at least one."""
    most = np.ones(len(columns), np.int64)
    several = [place for place, column in enumerate(columns) if column.kind == "items"]
    for _, rows, ids in _parts(records):
        here = of_column[ids]
        for place in several:
            most[place] = max(most[place], np.bincount(rows[here == place], minlength=1).max())
    found: list[int] = most.tolist()
    return found
