"""The raw records as the modes that read them see them: rows of attribute ids, as sensitive as the records.

An attribute that fewer records hold than the resolution can't be in any synthetic record, so it is left out
here, and with it the header of an item that must not be shown.
"""

from dataclasses import dataclass

import numpy as np

from tasks.core.aggregates.aggregates import Attribute
from tasks.core.aggregates.wide_form import wide_headers
from tasks.core.arrays import Codes, Ids, Integers
from tasks.core.errors import ParameterError
from tasks.core.records.coded import CodedRecords
from tasks.core.synthesis.records import number_attributes
from tasks.core.synthesis.row_set_kernels import (
    ROWS_A_BIT,
    BlockIndex,
    RowSet,
    count_attribute_cells,
    fill_bits,
    fill_lists,
)


@dataclass(frozen=True)
class FrequentRows:
    """Rows of attributes that enough records hold.

    Attributes:
        headers: of the wide form, in output order; of a multi-valued column, its common items alone.
        attributes: ascending by ``text``, as in `Aggregates`; a row's ids are places in it.
        ids: int32 (n, slots), C order: the attribute in each slot, -1 where it is absent or rare. The
            items of a multi-valued column stand in any of the column's slots, each at most once.
        slots_of: int32 (attributes, 2): the slots [first, end) in which an attribute can stand.
        column_of: int32 (attributes,): attributes of one number exclude each other in a record: the
            values of a single-valued column share it, each item has one of its own.
        counts: int64 (attributes,): how many records hold each; at least ``resolution``.
    """

    headers: tuple[str, ...]
    attributes: tuple[Attribute, ...]
    ids: Ids
    slots_of: Ids
    column_of: Ids
    counts: Integers
    resolution: int

    @property
    def number_of_records(self) -> int:
        """The exact one, empty records included."""
        return len(self.ids)


def common_rows(records: CodedRecords, resolution: int) -> FrequentRows:
    """The rows of records, without the attributes that fewer than ``resolution`` >= 1 of them hold."""
    if resolution < 1:
        raise ParameterError(f"A reporting resolution is at least 1, not {resolution}.")
    held = [np.zeros(len(values) + 1, np.int64) for values in records.values]
    for codes, column in zip(records.slots, records.slot_columns, strict=True):
        held[column] += np.bincount(codes, minlength=len(held[column]))
    common = [
        {code: values[code - 1] for code in (np.flatnonzero(counts[1:] >= resolution) + 1).tolist()}
        for values, counts in zip(records.values, held, strict=True)
    ]
    attributes, numbers = number_attributes(records.schema.columns, common, [len(counts) for counts in held])
    ids = np.empty((records.number_of_records, len(records.slots)), np.int32)
    for slot, (codes, column) in enumerate(zip(records.slots, records.slot_columns, strict=True)):
        ids[:, slot] = numbers[column][codes]
    attribute_counts = np.empty(len(attributes), np.int64)
    for places, counts in zip(numbers, held, strict=True):
        attribute_counts[places[places >= 0]] = counts[places >= 0]
    slot_columns = np.array(records.slot_columns, np.int64)
    columns = np.array([each.column for each in attributes], np.int64)
    slots_of = np.stack(
        [np.searchsorted(slot_columns, columns), np.searchsorted(slot_columns, columns, side="right")], axis=1
    )
    return FrequentRows(
        headers=wide_headers(records.schema, attributes),
        attributes=attributes,
        ids=ids,
        slots_of=slots_of.astype(np.int32),
        column_of=np.array(
            [
                each.column if each.item is None else len(records.values) + place
                for place, each in enumerate(attributes)
            ],
            np.int32,
        ),
        counts=attribute_counts,
        resolution=resolution,
    )


def block_cells(rows: FrequentRows) -> Codes:
    """The rows as a block: the narrowest of two types that holds an attribute, their number where empty."""
    absent = len(rows.attributes)
    narrow = absent <= np.iinfo(np.uint16).max
    cells: Codes = rows.ids.astype(np.uint16 if narrow else np.uint32)
    cells[rows.ids < 0] = absent
    return cells


def count_held(cells: Codes, absent: int) -> Integers:
    """How many rows of a block hold each attribute; int64 (attributes + 1,), 0 for the empty cell."""
    held = np.zeros(absent + 1, np.int64)
    count_attribute_cells(cells, held)
    held[absent] = 0
    return held


def build_block_index(
    cells: Codes, held: Integers, resolution: int, rows_a_bit: int = ROWS_A_BIT
) -> BlockIndex:
    """The index of a block; what fewer rows hold than the resolution has neither a bitset nor a list."""
    common = held >= resolution
    in_bits = common & (held * rows_a_bit >= len(cells))
    number = int(np.count_nonzero(in_bits))
    bitset_of = np.where(in_bits, np.cumsum(in_bits) - 1, number).astype(np.int32)
    bits = np.zeros((number + 1, (len(cells) + 63) // 64), np.uint64)
    fill_bits(cells, bitset_of, bits)
    first = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.where(common & ~in_bits, held, 0))])
    listed = np.empty(int(first[-1]), np.int32)
    if len(listed):
        fill_lists(cells, first, listed)
    bitset_of[~in_bits] = -1
    return BlockIndex(cells, held, bitset_of, bits, first, listed)


def row_set(index: BlockIndex, *, least: int, short: int = 48, rows_a_list: int = 128) -> RowSet:
    rows = len(index.cells)
    longest = max(int(np.diff(index.first).max(initial=0)), short, 2 * (rows // rows_a_list)) + 64
    return RowSet(
        block=index,
        words=np.empty((2, (rows + 63) // 64), np.uint64),
        lists=np.empty((2, longest), np.int32),
        now=np.zeros(4, np.int64),
        least=least,
        short=short,
        rows_a_list=rows_a_list,
    )
