"""The raw records as the modes that read them see them: rows of attribute ids, as sensitive as the records.

An attribute that fewer records hold than the resolution can't be in any synthetic record, so it is left out
here, and with it the header of an item that must not be shown.

What a record has chosen is held by ever fewer rows of a *block*, a matrix (rows, slots) of attributes, in C
order; the number of attributes stands for an empty cell. Its index says of each attribute which rows hold it:
by a bitset where they are many, by a list where they are few. A set of its rows is in one of three states,
and only goes on from one to the next:

    WHOLE ──common attribute──▶ BITS ──few rows are left──▶ LIST ─┐
      │     (the index's bitset)  │ └─┐ (two of its own,      ▲ └──┘ (two of its own,
      │                           │ ◀─┘  in turn)             │       in turn)
      └─────rare attribute────────┴───────────────────────────┘

Narrowing never writes where the rows of the step before are. A caller that keeps a copy of ``now`` can
go back one step.

Arrays are *borrowed*, without an owner: every function that is handed an array counts itself among its
owners and no longer, atomically, and with a few dozen arrays that takes as long as the work, and threads
wait for each other. The owner of what is borrowed must outlive it, as a kernel's arguments outlive the
call.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types
from numba.extending import intrinsic

from tasks.core.aggregates.aggregates import Attribute
from tasks.core.aggregates.wide_form import wide_headers
from tasks.core.arrays import Codes, Ids, Integers, Words
from tasks.core.compiling.decorator import njit
from tasks.core.errors import ParameterError
from tasks.core.records.coded import CodedRecords
from tasks.core.synthesis.index import ONE, lowest_in, ones_in
from tasks.core.synthesis.records import number_attributes

#: An attribute has a bitset where at least one row in so many holds it, else a list. A bitset takes a bit
#: for each row of the block, a list four bytes for each that holds the attribute.
ROWS_A_BIT = 256
#: The states of a set.
WHOLE, BITS, LIST = 0, 1, 2
#: Where `RowSet.now` keeps: its state, how many rows it has, which bitset of the index it is (-1: one of its
#: own), which of its own bitsets or lists.
KIND, HELD, SHARED, OWN = 0, 1, 2, 3
NO_ATTRIBUTE = -1
#: So many words of a bitset are counted before it is asked whether that is enough.
_WORDS_AT_ONCE = 32


class BlockIndex(NamedTuple):
    """Which rows of a block hold an attribute.

    Attributes:
        cells: the block, (rows, slots).
        held: int64 (attributes + 1,): how many rows hold each; 0 for the empty cell.
        dense: int32 (attributes + 1,): which bitset is its, or -1.
        bits: uint64 (bitsets, words): bit b of word w is row 64 w + b.
        first: int64 (attributes + 2,): the list of attribute a is ``listed[first[a]:first[a + 1]]``.
        listed: int32: rows, ascending for each attribute; of those that have no bitset.
    """

    cells: Codes
    held: Integers
    dense: Ids
    bits: Words
    first: Integers
    listed: Ids


class RowSet(NamedTuple):
    """A set of rows, with room for what it is narrowed to; the law of records is the same for all settings.

    Attributes:
        words: uint64 (2, words). lists: int32 (2, longest).
        now: int64 (4,), see above.
        least: to fewer rows it is not narrowed.
        short: so few rows are always a list, unless they are all, or a bitset of the index.
    """

    block: BlockIndex
    words: npt.NDArray[np.uint64]
    lists: npt.NDArray[np.int32]
    now: Integers
    least: int
    short: int
    rows_a_list: int


def _without_owner(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """An array, or every array in a tuple of anything, without the object that counts who holds it."""
    if isinstance(kind, types.Array):
        view = context.make_array(kind)(context, builder, value)
        view.meminfo, view.parent = view.meminfo.type(None), view.parent.type(None)
        return view._getvalue()
    for place, inner in enumerate(getattr(kind, "types", ())):
        part = _without_owner(context, builder, inner, builder.extract_value(value, place))
        value = builder.insert_value(value, part, place)
    return value


def _borrowed(typing_context: Any, kind: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _without_owner(context, builder, signature.args[0], arguments[0])

    return kind(kind), generate


#: The same array, or tuple of whatever holds arrays, not owned.
borrowed: Any = intrinsic(_borrowed)


@njit(cache=True, nogil=True)
def count_attribute_cells(cells: Codes, held: Integers) -> None:
    for row in range(cells.shape[0]):
        for slot in range(cells.shape[1]):
            held[cells[row, slot]] += 1


@njit(cache=True, nogil=True)
def fill_bits(cells: Codes, bitset_of: Ids, bits: Words) -> None:
    """Set each row's bit in the bitsets of its cells; every cell has one, if only one that nobody reads."""
    for row in range(cells.shape[0]):
        word, bit = row >> 6, np.uint64(1) << np.uint64(row & 63)
        for slot in range(cells.shape[1]):
            bits[bitset_of[cells[row, slot]], word] |= bit


@njit(cache=True, nogil=True)
def fill_lists(cells: Codes, first: Integers, listed: Ids) -> None:
    place_of = first.copy()
    for row in range(cells.shape[0]):
        for slot in range(cells.shape[1]):
            attribute = np.int64(cells[row, slot])
            if place_of[attribute] < first[attribute + 1]:
                listed[place_of[attribute]] = row
                place_of[attribute] += 1


@njit(cache=True, nogil=True)
def begin_with_all(rows: RowSet) -> None:
    now = rows.now
    now[KIND], now[HELD], now[SHARED], now[OWN] = WHOLE, len(rows.block.cells), NO_ATTRIBUTE, 0


@njit(cache=True, nogil=True)
def rows_with(index: BlockIndex, attribute: int) -> Ids:
    return index.listed[index.first[attribute] : index.first[attribute + 1]]


@njit(cache=True, nogil=True)
def bits_of(rows: RowSet) -> Words:
    bits: Words = rows.words[rows.now[OWN]]
    if rows.now[SHARED] >= 0:
        bits = rows.block.bits[rows.now[SHARED]]
    return bits


@njit(cache=True, nogil=True)
def list_of(rows: RowSet) -> Ids:
    listed: Ids = rows.lists[rows.now[OWN]]
    return listed[: rows.now[HELD]]


@njit(cache=True, nogil=True)
def present_rows(rows: RowSet) -> Ids:
    """The present rows, ascending, whatever the set is."""
    if rows.now[KIND] == LIST:
        return list_of(rows)
    if rows.now[KIND] == WHOLE:
        return np.arange(rows.now[HELD]).astype(np.int32)
    into = np.empty(rows.now[HELD] + 64, np.int32)
    return into[: _common(bits_of(rows), bits_of(rows), into)]


@njit(cache=True, nogil=True)
def row_at(bits: Words, place: int) -> int:
    word = 0
    while int(np.int64(ones_in(bits[word]))) <= place:
        place -= int(np.int64(ones_in(bits[word])))
        word += 1
    left = bits[word]
    for _ in range(place):
        left &= left - ONE
    return (word << 6) + int(np.int64(lowest_in(left)))


@njit(cache=True, nogil=True)
def _common(mine: Words, other: Words, into: Ids) -> int:
    """The rows of both bitsets as a list; -1 where there might not be room for all."""
    used, room = 0, len(into) - 64
    for word in range(len(mine)):
        left = mine[word] & other[word]
        if left:
            if used > room:
                return -1
            while left:
                into[used] = (word << 6) + np.int64(lowest_in(left))
                used += 1
                left &= left - ONE
    return used


@njit(cache=True, nogil=True)
def _with_bit(rows: Ids, bits: Words, into: Ids) -> int:
    """Those of the rows that are in a bitset; ``into`` may be the rows themselves."""
    used = 0
    for row in rows:
        into[used] = row
        used += int((bits[row >> 6] >> np.uint64(row & 63)) & ONE)
    return used


@njit(cache=True, nogil=True)
def _with_cell(rows: Ids, cells: Codes, attribute: int, into: Ids) -> int:
    used = 0
    for row in rows:
        into[used] = row
        found = 0
        for slot in range(cells.shape[1]):
            found |= cells[row, slot] == attribute
        used += found
    return used


@njit(cache=True, nogil=True)
def _to_list(rows: RowSet, used: int, own: int) -> bool:
    if used < rows.least:
        return False
    rows.now[KIND], rows.now[HELD], rows.now[OWN] = LIST, used, own
    return True


@njit(cache=True, nogil=True)
def to_bits(rows: RowSet, used: int) -> bool:
    """Make the bitset that is not in use the present rows, or a list of few; False where they are too few."""
    now, own = rows.now, 1 - rows.now[OWN]
    if used < rows.least:
        return False
    now[KIND], now[HELD], now[SHARED], now[OWN] = BITS, used, NO_ATTRIBUTE, own
    if used <= rows.short or used * rows.rows_a_list <= len(rows.block.cells):
        _common(rows.words[own], rows.words[own], rows.lists[0])
        now[KIND], now[OWN] = LIST, 0
    return True


@njit(cache=True, nogil=True)
def _narrow_list(rows: RowSet, attribute: int) -> bool:
    index, mine, into = rows.block, list_of(rows), rows.lists[1 - rows.now[OWN]]
    if index.dense[attribute] >= 0:
        used = _with_bit(mine, index.bits[index.dense[attribute]], into)
    else:
        used = _with_cell(mine, index.cells, attribute, into)
    return _to_list(rows, used, 1 - rows.now[OWN])


@njit(cache=True, nogil=True)
def _narrow_to_listed(rows: RowSet, attribute: int) -> bool:
    """What the attribute's own list and the present rows (all, or a bitset) have in common."""
    listed, into = rows_with(rows.block, attribute), rows.lists[0]
    if rows.now[KIND] == BITS:
        return _to_list(rows, _with_bit(listed, bits_of(rows), into), 0)
    for place in range(len(listed)):
        into[place] = listed[place]
    return _to_list(rows, len(listed), 0)


@njit(cache=True, nogil=True)
def _narrow_bits(rows: RowSet, attribute: int) -> bool:
    """By the attribute's bitset; to a list at once, where few rows can be expected to be left."""
    index, number, mine = rows.block, len(rows.block.cells), bits_of(rows)
    other = index.bits[index.dense[attribute]]
    if rows.now[HELD] * index.held[attribute] * rows.rows_a_list <= number * number:
        used = _common(mine, other, rows.lists[0])
        if used >= 0:
            return _to_list(rows, used, 0)
    into, found = rows.words[1 - rows.now[OWN]], np.uint64(0)
    for word in range(len(mine)):
        into[word] = mine[word] & other[word]
        found += ones_in(into[word])
    return to_bits(rows, int(np.int64(found)))


@njit(cache=True, nogil=True)
def narrow(rows: RowSet, attribute: int) -> bool:
    """Keep only the rows that hold one more attribute; False, and no change, where those are too few."""
    index, now = rows.block, rows.now
    if index.held[attribute] < rows.least:
        return False
    if index.held[attribute] == len(index.cells):
        return True
    if now[KIND] == LIST:
        return _narrow_list(rows, attribute)
    if index.dense[attribute] < 0:
        return _narrow_to_listed(rows, attribute)
    if now[KIND] == BITS:
        return _narrow_bits(rows, attribute)
    now[KIND], now[HELD], now[SHARED] = BITS, index.held[attribute], index.dense[attribute]
    return True


@njit(cache=True, nogil=True)
def row_holds(index: BlockIndex, row: int, attribute: int) -> bool:
    if index.dense[attribute] >= 0:
        return bool((index.bits[index.dense[attribute], row >> 6] >> np.uint64(row & 63)) & ONE)
    found = False
    for slot in range(index.cells.shape[1]):
        found |= index.cells[row, slot] == attribute
    return found


@njit(cache=True, nogil=True)
def count_with(rows: RowSet, attribute: int, enough: int) -> int:
    """How many of the present rows hold an attribute; from ``enough`` on it may tell fewer than there are."""
    index, found = rows.block, np.uint64(0)
    if rows.now[KIND] == WHOLE:
        return int(index.held[attribute])
    if index.held[attribute] == len(index.cells):
        return int(rows.now[HELD])
    if rows.now[KIND] == LIST:
        for row in list_of(rows):
            found += np.uint64(row_holds(index, row, attribute))
            if found >= np.uint64(enough):
                break
        return int(np.int64(found))
    bits = bits_of(rows)
    if index.dense[attribute] < 0:
        for row in rows_with(index, attribute):
            found += (bits[row >> 6] >> np.uint64(row & 63)) & ONE
            if found >= np.uint64(enough):
                break
        return int(np.int64(found))
    other = index.bits[index.dense[attribute]]
    for first in range(0, len(bits), _WORDS_AT_ONCE):
        for word in range(first, min(first + _WORDS_AT_ONCE, len(bits))):
            found += ones_in(bits[word] & other[word])
        if found >= np.uint64(enough):
            break
    return int(np.int64(found))


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
