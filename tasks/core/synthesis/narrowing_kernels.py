"""The rows that share what a record has drawn: one more value or empty cell in, fewer rows out."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tasks.core.arrays import Ids, Integers
from tasks.core.compiling import njit
from tasks.core.synthesis.block_kernels import BlockIndex
from tasks.core.synthesis.index_kernels import ONE, lowest_in, ones_in

#: The present rows are a bitset or a list.
BITS, LIST = 0, 1
#: Where `Room.now` keeps: which of these, how many rows, which of the two bitsets.
KIND, HELD, OWN = 0, 1, 2
#: One row in so many is left, or so few: a list takes the place of the bitset.
ROWS_A_LIST, SHORT = 256, 64


class DrawnColumns(NamedTuple):
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


class Block(NamedTuple):
    """Rows that some records are narrowed to, and what is asked of them.

    Attributes:
        rows: their index.
        rests: uint64 (columns, words): the rows that hold none of a column's values that enough of the block
            do. They stand for the empty option of whatever the block is narrowed to.
        columns: as above.
    """

    rows: BlockIndex
    rests: npt.NDArray[np.uint64]
    columns: DrawnColumns


class RecordRoom(NamedTuple):
    """Room for one record over a block.

    Attributes:
        words: uint64 (2, words): the present rows and what they become.
        rows: int32, the present rows once they are few; seen: as long, what they hold of a column.
        tally: int64 (A + 1,), all 0 between draws.
        now: int64 (3,), see above.
    """

    words: npt.NDArray[np.uint64]
    rows: Ids
    seen: Ids
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
def _set_bits(room: RecordRoom, into: int, held: int, rows: int) -> None:
    """Make one of the bitsets, which holds so many rows, the present rows; or spell it as a list."""
    room.now[KIND], room.now[HELD], room.now[OWN] = BITS, held, into
    if held <= SHORT or held * ROWS_A_LIST <= rows:
        _spell(room.words[into], room.rows)
        room.now[KIND] = LIST


@njit(cache=True, nogil=True)
def begin_with_all(room: RecordRoom, rows: int) -> None:
    """Begin with all rows of the block, as many as given."""
    room.words[0, :] = ~np.uint64(0)
    if rows & 63:
        room.words[0, -1] = (ONE << np.uint64(rows & 63)) - ONE
    room.now[KIND], room.now[HELD], room.now[OWN] = BITS, rows, 0


@njit(cache=True, nogil=True)
def rows_with(index: BlockIndex, room: RecordRoom, attribute: int, resolution: int) -> bool:
    """Keep the rows, a bitset, that hold an attribute; False, and no change, where those are too few."""
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
        room.rows[used] = row
        used += int(np.int64((mine[row >> 6] >> np.uint64(row & 63)) & ONE))
    if used < resolution:
        return False
    room.now[KIND], room.now[HELD] = LIST, used
    return True


@njit(cache=True, nogil=True)
def fill_rests(block: Block) -> None:
    """Set the rests of a block."""
    index, columns, rests = block.rows, block.columns, block.rests
    rests[:] = ~np.uint64(0)
    if len(index.cells) & 63:
        rests[:, -1] = (ONE << np.uint64(len(index.cells) & 63)) - ONE
    for column in range(len(rests)):
        rest = rests[column]
        for attribute in columns.attributes[columns.first[column] : columns.first[column + 1]]:
            dense = index.dense[attribute]
            if dense >= 0:
                bits = index.bits[dense]
                for word in range(len(rest)):
                    rest[word] &= ~bits[word]
            else:
                for row in index.listed[index.first[attribute] : index.first[attribute + 1]]:
                    rest[row >> 6] &= ~(ONE << np.uint64(row & 63))


@njit(cache=True, nogil=True)
def _up_to(index: BlockIndex, mine: npt.NDArray[np.uint64], attribute: int, enough: int) -> int:
    """How many rows of a bitset hold an attribute; where it is ``enough`` or more, no more are looked for."""
    found, dense = 0, index.dense[attribute]
    if dense >= 0:
        other = index.bits[dense]
        for word in range(len(mine)):
            found += int(np.int64(ones_in(mine[word] & other[word])))
            if found >= enough:
                break
        return found
    for row in index.listed[index.first[attribute] : index.first[attribute + 1]]:
        found += int(np.int64((mine[row >> 6] >> np.uint64(row & 63)) & ONE))
        if found >= enough:
            break
    return found


@njit(cache=True, nogil=True)
def _add_both(
    index: BlockIndex, mine: npt.NDArray[np.uint64], attribute: int, target: npt.NDArray[np.uint64]
) -> None:
    """Add to a bitset the rows of another that hold an attribute."""
    dense = index.dense[attribute]
    if dense >= 0:
        other = index.bits[dense]
        for word in range(len(mine)):
            target[word] |= mine[word] & other[word]
        return
    for row in index.listed[index.first[attribute] : index.first[attribute + 1]]:
        target[row >> 6] |= mine[row >> 6] & (ONE << np.uint64(row & 63))


@njit(cache=True, nogil=True)
def rows_without(block: Block, room: RecordRoom, column: int) -> bool:
    """Keep the rows, a bitset, that hold no value of a column that enough of them do; False where too few."""
    index, columns, rest = block.rows, block.columns, block.rests[column]
    mine, into = room.words[room.now[OWN]], 1 - room.now[OWN]
    target, ones = room.words[into], np.uint64(0)
    for word in range(len(mine)):
        target[word] = mine[word] & rest[word]
        ones += ones_in(target[word])
    left = int(np.int64(ones))
    for attribute in columns.attributes[columns.first[column] : columns.first[column + 1]]:
        if index.held[attribute] >= columns.resolution:
            found = _up_to(index, mine, attribute, columns.resolution)
            if 0 < found < columns.resolution:
                left += found
                _add_both(index, mine, attribute, target)
    if left < columns.resolution:
        return False
    _set_bits(room, into, left, len(index.cells))
    return True


@njit(cache=True, nogil=True)
def row_at(room: RecordRoom, place: int) -> int:
    """The present row, of a bitset, in some place."""
    bits, word = room.words[room.now[OWN]], 0
    while int(np.int64(ones_in(bits[word]))) <= place:
        place -= int(np.int64(ones_in(bits[word])))
        word += 1
    left = bits[word]
    for _ in range(place):
        left &= left - ONE
    return (word << 6) + int(np.int64(lowest_in(left)))


@njit(cache=True, nogil=True)
def present_rows(room: RecordRoom) -> Ids:
    """The present rows, ascending."""
    if room.now[KIND] == LIST:
        return room.rows[: room.now[HELD]].copy()
    into = np.empty(room.now[HELD], np.int32)
    _spell(room.words[room.now[OWN]], into)
    return into


@njit(cache=True, nogil=True)
def look_at(block: Block, room: RecordRoom, column: int) -> None:
    """Fill ``seen`` with what each present row, of a list, holds of a column, and count it in ``tally``."""
    cells, seen, rows, absent = block.rows.cells, room.seen, room.rows, len(room.tally) - 1
    first, end, item = (
        block.columns.first_slot[column],
        block.columns.end_slot[column],
        block.columns.item[column],
    )
    for place in range(room.now[HELD]):
        if item < 0:
            value = np.int64(cells[rows[place], first])
        else:
            value = np.int64(absent)
            for slot in range(first, end):
                if cells[rows[place], slot] == item:
                    value = np.int64(item)
        seen[place] = value
        room.tally[value] += 1
    room.tally[absent] = 0


@njit(cache=True, nogil=True)
def keep_seen(room: RecordRoom, value: int, own: int, enough: int) -> int:
    """Keep the present rows, of a list, that hold a value, or (below 0) what fewer of them do than enough.

    Returns the new place of the row in place ``own``, which is kept.
    """
    rows, seen, tally, kept, place_of_own = room.rows, room.seen, room.tally, 0, 0
    for place in range(room.now[HELD]):
        if place == own:
            place_of_own = kept
        stays = seen[place] == value if value >= 0 else tally[seen[place]] < enough
        rows[kept] = rows[place]
        kept += int(np.int64(stays))
    room.now[HELD] = kept
    return place_of_own
