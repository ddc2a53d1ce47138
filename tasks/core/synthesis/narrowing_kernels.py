"""The rows that share what a record has drawn: one more value or empty cell in, fewer rows out."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from tasks.core.synthesis.block_kernels import Index, Integers
from tasks.core.synthesis.index_kernels import lowest_in, ones_in

Ids = npt.NDArray[np.int32]

#: The present rows are: all of the block, a bitset, a list.
WHOLE, BITS, LIST = 0, 1, 2
#: Where `Room.now` keeps: which of these, how many rows, which of the two bitsets or lists.
KIND, HELD, OWN = 0, 1, 2
ONE = np.uint64(1)
#: One row in so many is left, or so few: a list takes the place of the bitset.
ROWS_A_LIST, SHORT = 256, 64


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


class Room(NamedTuple):
    """Room for one record over a block: uint64 (2, words), int32 (2, rows), int64 (A + 1,), int64 (3,)."""

    words: npt.NDArray[np.uint64]
    lists: Ids
    tally: Integers
    now: Integers


@njit(cache=True, nogil=True)
def _spell(bits: npt.NDArray[np.uint64], into: Ids) -> None:
    used = 0
    for word in range(len(bits)):
        left = bits[word]
        while left:
            into[used] = (word << 6) + int(np.int64(lowest_in(left)))
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
    return int(np.int64(found))


@njit(cache=True, nogil=True)
def _bits_with(index: Index, room: Room, attribute: int, resolution: int) -> bool:
    """`rows_with` where the present rows are a bitset."""
    mine, into = room.words[room.now[OWN]], 1 - room.now[OWN]
    dense = index.dense[attribute]
    if dense >= 0:
        other, target = index.bits[dense], room.words[into]
        found = np.uint64(0)
        for word in range(len(mine)):
            target[word] = mine[word] & other[word]
            found += ones_in(target[word])
        if int(np.int64(found)) < resolution:
            return False
        _set_bits(room, into, int(np.int64(found)), len(index.cells))
        return True
    used = 0
    for row in index.listed[index.first[attribute] : index.first[attribute + 1]]:
        room.lists[0, used] = row
        used += int(np.int64((mine[row >> 6] >> np.uint64(row & 63)) & ONE))
    if used < resolution:
        return False
    room.now[KIND], room.now[HELD], room.now[OWN] = LIST, used, 0
    return True


@njit(cache=True, nogil=True)
def _list_with(index: Index, columns: Columns, room: Room, column: int, attribute: int) -> bool:
    """`rows_with` where the present rows are a list."""
    rows, into = room.lists[room.now[OWN]][: room.now[HELD]], room.lists[1 - room.now[OWN]]
    used = 0
    if index.dense[attribute] >= 0:
        bits = index.bits[index.dense[attribute]]
        for row in rows:
            into[used] = row
            used += int(np.int64((bits[row >> 6] >> np.uint64(row & 63)) & ONE))
    else:
        cells, first, end = index.cells, columns.first_slot[column], columns.end_slot[column]
        for row in rows:
            into[used] = row
            holds = False
            for slot in range(first, end):
                holds |= cells[row, slot] == attribute
            used += int(np.int64(holds))
    if used < columns.resolution:
        return False
    room.now[HELD], room.now[OWN] = used, 1 - room.now[OWN]
    return True


@njit(cache=True, nogil=True)
def rows_with(index: Index, columns: Columns, room: Room, column: int, attribute: int) -> bool:
    """Keep the rows that hold an attribute of a column; False, and no change, where those are too few."""
    if room.now[KIND] == LIST:
        return _list_with(index, columns, room, column, attribute)
    if room.now[KIND] == WHOLE:
        _whole(room, len(index.cells))
    return _bits_with(index, room, attribute, columns.resolution)


@njit(cache=True, nogil=True)
def _bits_without(index: Index, columns: Columns, room: Room, column: int) -> bool:
    """`rows_without` where the present rows are a bitset."""
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
            found += int(np.int64((mine[row >> 6] >> np.uint64(row & 63)) & ONE))
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
    """`rows_without` where the present rows are a list."""
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
        used += int(np.int64(stays))
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
def row_at(room: Room, place: int) -> int:
    """The present row, a bitset or list, in some place."""
    if room.now[KIND] == LIST:
        return int(np.int64(room.lists[room.now[OWN], place]))
    bits, word = room.words[room.now[OWN]], 0
    while int(np.int64(ones_in(bits[word]))) <= place:
        place -= int(np.int64(ones_in(bits[word])))
        word += 1
    left = bits[word]
    for _ in range(place):
        left &= left - ONE
    return (word << 6) + int(np.int64(lowest_in(left)))


@njit(cache=True, nogil=True)
def present_rows(room: Room) -> Ids:
    """The present rows, a bitset or list, ascending."""
    if room.now[KIND] == LIST:
        return room.lists[room.now[OWN], : room.now[HELD]].copy()
    into = np.empty(room.now[HELD], np.int32)
    _spell(room.words[room.now[OWN]], into)
    return into
