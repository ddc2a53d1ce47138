"""Records column by column: a block of rows and records' random orders in, their values out (sds.md 4.2).

Drawing a value of a column by how many of the present rows hold it is reading that cell of a random one of
them; and given the value, that row is a random one of those that hold it. So each record follows one row
from column to column, and another is drawn only where the present rows are not narrowed to those that
share what was drawn.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from tasks.core.synthesis.block_kernels import Cells, Index, Integers
from tasks.core.synthesis.index_kernels import lowest_in, ones_in
from tasks.core.synthesis.record_stream_kernels import States, below

Ids = npt.NDArray[np.int32]
Orders = npt.NDArray[np.uint16]

#: The present rows are: all of the block, a bitset, a list.
WHOLE, BITS, LIST = 0, 1, 2
#: Where `Room.now` keeps: which of these, how many rows, which of the two bitsets or lists.
KIND, HELD, OWN = 0, 1, 2
#: What a record was narrowed by: an attribute, or the number of attributes plus the column left empty.
FINISHED = -1
ONE = np.uint64(1)
#: One row in so many is left, or so few: a list takes the place of the bitset.
ROWS_A_LIST, SHORT = 64, 64


class Columns(NamedTuple):
    """The columns that are drawn: of single values, or of one item each.

    Attributes:
        first_slot, end_slot: int32 (columns,): where in a row its attributes stand.
        item: int32 (columns,): the one attribute of an item's column; -1 otherwise.
        first: int32 (columns + 1,): the attributes of column c are ``attributes[first[c]:first[c + 1]]``.
        attributes: int32 (A,).
        resolution: the fewest rows that a drawn combination stands in.
    """

    first_slot: Ids
    end_slot: Ids
    item: Ids
    first: Ids
    attributes: Ids
    resolution: int


class Drafts(NamedTuple):
    """Records while they are drawn.

    Attributes:
        orders: uint16 (records, columns): the order in which a record's columns are drawn.
        steps: int32 (records,): how many were.
        follows: int32 (records,): the row that it follows, in the block where it is.
        values: (records, slots), of the type of the cells: what was drawn. sizes: int32 (records,).
        states: uint64 (records,), of each record's random stream.
    """

    orders: Orders
    steps: Ids
    follows: Ids
    values: Cells
    sizes: Ids
    states: States


class Room(NamedTuple):
    """Room for one record over a block: uint64 (2, words), int32 (2, rows), int64 (A + 1,), int64 (3,)."""

    words: npt.NDArray[np.uint64]
    lists: Ids
    tally: Integers
    now: Integers


@njit(cache=True, nogil=True)
def begin_drafts(drafts: Drafts, rows: int) -> None:
    """Draw every record's order of columns and the first row it follows."""
    columns = drafts.orders.shape[1]
    for record in range(len(drafts.steps)):
        order = drafts.orders[record]
        for place in range(columns):
            other = below(drafts.states, record, place + 1)
            order[place] = order[other]
            order[other] = place
        drafts.follows[record] = below(drafts.states, record, rows)
        drafts.steps[record], drafts.sizes[record] = 0, 0


@njit(cache=True, nogil=True)
def cell(cells: Cells, columns: Columns, row: int, column: int, absent: int) -> int:
    """The attribute of a column that a row holds, or ``absent``."""
    item = columns.item[column]
    if item < 0:
        return np.int64(cells[row, columns.first_slot[column]])
    for slot in range(columns.first_slot[column], columns.end_slot[column]):
        if cells[row, slot] == item:
            return np.int64(item)
    return absent


@njit(cache=True, nogil=True)
def keep(drafts: Drafts, record: int, attribute: int) -> None:
    """Add a drawn attribute to a record."""
    drafts.values[record, drafts.sizes[record]] = attribute
    drafts.sizes[record] += 1


@njit(cache=True, nogil=True)
def rest_by_column(held: Integers, rows: int, columns: Columns) -> Integers:
    """For each column how many of so many rows hold none of its values that enough of them do."""
    rest = np.full(len(columns.item), rows)
    for column in range(len(rest)):
        for attribute in columns.attributes[columns.first[column] : columns.first[column + 1]]:
            if held[attribute] >= columns.resolution:
                rest[column] -= held[attribute]
    return rest


@njit(cache=True, nogil=True)
def step_together(
    index: Index, columns: Columns, rest: Integers, drafts: Drafts, numbers: Ids, keys: Ids
) -> None:
    """Draw the numbered records' columns until the rows of the block are narrowed.

    ``keys``, aligned with the numbers, becomes what by: an attribute, the number of attributes plus the
    column that is left empty, or `FINISHED`.
    """
    rows, absent = len(index.cells), len(index.held) - 1
    for place in range(len(numbers)):
        record = numbers[place]
        keys[place] = FINISHED
        while drafts.steps[record] < drafts.orders.shape[1] and keys[place] == FINISHED:
            column = np.int64(drafts.orders[record, drafts.steps[record]])
            drafts.steps[record] += 1
            value = cell(index.cells, columns, drafts.follows[record], column, absent)
            if index.held[value] >= columns.resolution:
                keep(drafts, record, value)
                if index.held[value] < rows:
                    keys[place] = value
            elif rest[column] < columns.resolution:
                drafts.follows[record] = below(drafts.states, record, rows)
            elif rest[column] < rows:
                keys[place] = absent + column


@njit(cache=True, nogil=True)
def _spell(bits: npt.NDArray[np.uint64], into: Ids) -> None:
    used = 0
    for word in range(len(bits)):
        left = bits[word]
        while left:
            into[used] = (word << 6) + np.int64(lowest_in(left))
            used += 1
            left &= left - ONE


@njit(cache=True, nogil=True)
def _set_bits(room: Room, into: int, held: int, rows: int) -> None:
    """Make one of the bitsets, which holds so many rows, the present rows; or spell it as a list."""
    room.now[KIND], room.now[HELD], room.now[OWN] = BITS, held, into
    if held <= SHORT or held * ROWS_A_LIST <= rows:
        _spell(room.words[into], room.lists[0])
        room.now[KIND], room.now[OWN] = LIST, 0


@njit(cache=True, nogil=True)
def _whole(room: Room, rows: int) -> None:
    """Turn all rows of the block into a bitset."""
    room.words[0, :] = ~np.uint64(0)
    if rows & 63:
        room.words[0, -1] = (ONE << np.uint64(rows & 63)) - ONE
    room.now[KIND], room.now[HELD], room.now[OWN] = BITS, rows, 0


@njit(cache=True, nogil=True)
def _in_both(mine: npt.NDArray[np.uint64], other: npt.NDArray[np.uint64]) -> int:
    found = np.uint64(0)
    for word in range(len(mine)):
        found += ones_in(mine[word] & other[word])
    return np.int64(found)


@njit(cache=True, nogil=True)
def _bits_with(index: Index, room: Room, attribute: int, resolution: int) -> bool:
    """`_rows_with` where the present rows are a bitset."""
    mine, into = room.words[room.now[OWN]], 1 - room.now[OWN]
    dense = index.dense[attribute]
    if dense >= 0:
        other, target = index.bits[dense], room.words[into]
        found = np.uint64(0)
        for word in range(len(mine)):
            target[word] = mine[word] & other[word]
            found += ones_in(target[word])
        if np.int64(found) < resolution:
            return False
        _set_bits(room, into, np.int64(found), len(index.cells))
        return True
    used = 0
    for row in index.listed[index.first[attribute] : index.first[attribute + 1]]:
        room.lists[0, used] = row
        used += np.int64((mine[row >> 6] >> np.uint64(row & 63)) & ONE)
    if used < resolution:
        return False
    room.now[KIND], room.now[HELD], room.now[OWN] = LIST, used, 0
    return True


@njit(cache=True, nogil=True)
def _list_with(index: Index, columns: Columns, room: Room, column: int, attribute: int) -> bool:
    """`_rows_with` where the present rows are a list."""
    rows, into = room.lists[room.now[OWN]][: room.now[HELD]], room.lists[1 - room.now[OWN]]
    cells, first, end = index.cells, columns.first_slot[column], columns.end_slot[column]
    used = 0
    for row in rows:
        into[used] = row
        holds = False
        for slot in range(first, end):
            holds |= cells[row, slot] == attribute
        used += np.int64(holds)
    if used < columns.resolution:
        return False
    room.now[HELD], room.now[OWN] = used, 1 - room.now[OWN]
    return True


@njit(cache=True, nogil=True)
def _rows_with(index: Index, columns: Columns, room: Room, column: int, attribute: int) -> bool:
    """Keep the rows that hold an attribute of a column; False, and no change, where those are too few."""
    if room.now[KIND] == LIST:
        return _list_with(index, columns, room, column, attribute)
    if room.now[KIND] == WHOLE:
        _whole(room, len(index.cells))
    return _bits_with(index, room, attribute, columns.resolution)


@njit(cache=True, nogil=True)
def _bits_without(index: Index, columns: Columns, room: Room, column: int) -> bool:
    """`_rows_without` where the present rows are a bitset."""
    mine, into = room.words[room.now[OWN]], 1 - room.now[OWN]
    target, left = room.words[into], room.now[HELD]
    target[:] = mine
    for attribute in columns.attributes[columns.first[column] : columns.first[column + 1]]:
        dense = index.dense[attribute]
        if dense >= 0:
            other = index.bits[dense]
            found = _in_both(mine, other)
            if found >= columns.resolution:
                left -= found
                for word in range(len(target)):
                    target[word] &= ~other[word]
            continue
        found, listed = 0, index.listed[index.first[attribute] : index.first[attribute + 1]]
        for row in listed:
            found += np.int64((mine[row >> 6] >> np.uint64(row & 63)) & ONE)
        if found >= columns.resolution:
            left -= found
            for row in listed:
                target[row >> 6] &= ~(ONE << np.uint64(row & 63))
    if left < columns.resolution:
        return False
    _set_bits(room, into, left, len(index.cells))
    return True


@njit(cache=True, nogil=True)
def _list_without(index: Index, columns: Columns, room: Room, column: int) -> bool:
    """`_rows_without` where the present rows are a list."""
    rows, into = room.lists[room.now[OWN]][: room.now[HELD]], room.lists[1 - room.now[OWN]]
    cells, first, end = index.cells, columns.first_slot[column], columns.end_slot[column]
    tally, absent, item, enough = room.tally, len(index.held) - 1, columns.item[column], columns.resolution
    for row in rows:
        for slot in range(first, end):
            tally[cells[row, slot]] += 1
    tally[absent] = 0
    used = 0
    for row in rows:
        into[used] = row
        stays = True
        for slot in range(first, end):
            value = cells[row, slot]
            stays &= tally[value] < enough or (item >= 0 and value != item)
        used += np.int64(stays)
    for row in rows:
        for slot in range(first, end):
            tally[cells[row, slot]] = 0
    if used < columns.resolution:
        return False
    room.now[HELD], room.now[OWN] = used, 1 - room.now[OWN]
    return True


@njit(cache=True, nogil=True)
def rows_without(index: Index, columns: Columns, room: Room, column: int) -> bool:
    """Keep the rows that hold no value of a column that enough of them do; False where those are too few."""
    if room.now[KIND] == LIST:
        return _list_without(index, columns, room, column)
    if room.now[KIND] == WHOLE:
        _whole(room, len(index.cells))
    return _bits_without(index, columns, room, column)


@njit(cache=True, nogil=True)
def _row_at(room: Room, place: int) -> int:
    """The present row, a bitset or list, in some place."""
    if room.now[KIND] == LIST:
        return np.int64(room.lists[room.now[OWN], place])
    bits, word = room.words[room.now[OWN]], 0
    while np.int64(ones_in(bits[word])) <= place:
        place -= np.int64(ones_in(bits[word]))
        word += 1
    left = bits[word]
    for _ in range(place):
        left &= left - ONE
    return (word << 6) + np.int64(lowest_in(left))


@njit(cache=True, nogil=True)
def narrow_to(index: Index, columns: Columns, room: Room, column: int, key: int) -> None:
    """Begin with those rows of the block that a key of `step_together` says."""
    room.now[KIND], room.now[HELD], room.now[OWN] = WHOLE, len(index.cells), 0
    if key < len(index.held) - 1:
        _rows_with(index, columns, room, column, key)
    else:
        rows_without(index, columns, room, column)


@njit(cache=True, nogil=True)
def finish(index: Index, columns: Columns, drafts: Drafts, room: Room, numbers: Ids, keys: Ids) -> None:
    """Draw what is left of the numbered records, beginning from what their keys narrow the block to."""
    absent = len(index.held) - 1
    for place in range(len(numbers)):
        record = numbers[place]
        last = np.int64(drafts.orders[record, drafts.steps[record] - 1])
        narrow_to(index, columns, room, last, keys[place])
        row = np.int64(drafts.follows[record])
        for step in range(drafts.steps[record], drafts.orders.shape[1]):
            column = np.int64(drafts.orders[record, step])
            value = cell(index.cells, columns, row, column, absent)
            if value != absent and _rows_with(index, columns, room, column, value):
                keep(drafts, record, value)
            elif not rows_without(index, columns, room, column):
                row = _row_at(room, below(drafts.states, record, room.now[HELD]))
        drafts.steps[record] = drafts.orders.shape[1]


@njit(cache=True, nogil=True)
def present_rows(room: Room) -> Ids:
    """The present rows, a bitset or list, ascending."""
    if room.now[KIND] == LIST:
        return room.lists[room.now[OWN], : room.now[HELD]].copy()
    into = np.empty(room.now[HELD], np.int32)
    _spell(room.words[room.now[OWN]], into)
    return into


@njit(cache=True, nogil=True)
def follow_into(rows: Ids, drafts: Drafts, numbers: Ids) -> None:
    """Renumber the rows that the numbered records follow by their places among the rows of a new block."""
    for record in numbers:
        drafts.follows[record] = np.searchsorted(rows, drafts.follows[record])


@njit(cache=True, nogil=True)
def gathered_cells(cells: Cells, rows: Ids, into: Cells, held: Integers) -> None:
    """Copy rows into a block of their own and count its cells; the empty one counts 0."""
    for place in range(len(rows)):
        for slot in range(cells.shape[1]):
            into[place, slot] = cells[rows[place], slot]
            held[cells[rows[place], slot]] += 1
    held[-1] = 0
