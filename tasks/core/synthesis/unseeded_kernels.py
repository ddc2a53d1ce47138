"""Records column by column, in random orders (S4.2).

Drawing a value of a column by how many of the present rows hold it is reading that cell of a random one of
them; and given the value, that row is a random one of those that hold it. So each record follows one row
from column to column, and another is drawn only where the present rows are not narrowed to those that
share what was drawn:

    the row that it follows holds    and the present rows             become, and it follows
    a value that enough hold                                          those with the value; the same row
    a rarer one, or an empty cell    have enough without a value      those; the same row
                                     that enough hold
    a rarer one, or an empty cell    have not                         the same rows; another one of them
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tasks.core.arrays import Codes, Ids, Integers, Words
from tasks.core.compiling.decorator import njit
from tasks.core.random_kernels import state_below
from tasks.core.synthesis.index_kernels import ONE, ones_in
from tasks.core.synthesis.record_kernels import Drafts
from tasks.core.synthesis.row_set_kernels import (
    HELD,
    KIND,
    LIST,
    OWN,
    WHOLE,
    BlockIndex,
    RowSet,
    begin_with_all,
    bits_of,
    count_with,
    list_of,
    narrow,
    row_at,
    rows_with,
    to_bits,
)

Orders = npt.NDArray[np.uint16]

#: What a record was narrowed by: an attribute, or the number of attributes plus the column left empty.
FINISHED = -1


class DrawnColumns(NamedTuple):
    """The columns that are drawn: of single values, or of one item each.

    Attributes:
        first_slot, end_slot: int32 (columns,): where in a row its attributes stand.
        item: int32 (columns,): the one attribute of an item's column; -1 otherwise.
        first: int32 (columns + 1,): the attributes of column c are ``attributes[first[c]:first[c + 1]]``.
        attributes: int32 (A,).
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
        rests: uint64 (columns, words): the rows that hold none of a column's values that enough of the block
            do. They stand for the empty option of whatever the block is narrowed to.
    """

    rows: BlockIndex
    rests: Words
    columns: DrawnColumns


class RecordRoom(NamedTuple):
    """Room for one record over a block.

    Attributes:
        seen: int32, as long as a list of them can be: what they hold of a column.
        tally: int64 (A + 1,), all 0 between draws.
    """

    rows: RowSet
    seen: Ids
    tally: Integers


class UnseededDrafts(NamedTuple):
    """Records while they are drawn.

    Attributes:
        orders: uint16 (records, columns): the order in which a record's columns are drawn.
        steps: int32 (records,): how many were.
        follows: int32 (records,): the row that it follows, in the block where it is.
    """

    orders: Orders
    steps: Ids
    follows: Ids
    drawn: Drafts


@njit(cache=True, nogil=True)
def fill_rests(block: Block) -> None:
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
                for row in rows_with(index, attribute):
                    rest[row >> 6] &= ~(ONE << np.uint64(row & 63))


@njit(cache=True, nogil=True)
def begin_drafts(drafts: UnseededDrafts, rows: int) -> None:
    columns = drafts.orders.shape[1]
    for record in range(len(drafts.steps)):
        order = drafts.orders[record]
        for place in range(columns):
            other = state_below(drafts.drawn.states, record, place + 1)
            order[place] = order[other]
            order[other] = place
        drafts.follows[record] = state_below(drafts.drawn.states, record, rows)
        drafts.steps[record] = 0


@njit(cache=True, nogil=True)
def cell(cells: Codes, columns: DrawnColumns, row: int, column: int, absent: int) -> int:
    item = columns.item[column]
    if item < 0:
        return int(np.int64(cells[row, columns.first_slot[column]]))
    for slot in range(columns.first_slot[column], columns.end_slot[column]):
        if cells[row, slot] == item:
            return int(np.int64(item))
    return absent


@njit(cache=True, nogil=True)
def add_attribute(drafts: Drafts, record: int, attribute: int) -> None:
    drafts.records[record, drafts.sizes[record]] = attribute
    drafts.sizes[record] += 1


@njit(cache=True, nogil=True)
def rest_by_column(held: Integers, rows: int, columns: DrawnColumns) -> Integers:
    rest = np.full(len(columns.item), rows)
    for column in range(len(rest)):
        for attribute in columns.attributes[columns.first[column] : columns.first[column + 1]]:
            if held[attribute] >= columns.resolution:
                rest[column] -= held[attribute]
    return rest


@njit(cache=True, nogil=True)
def step_together(block: Block, rest: Integers, drafts: UnseededDrafts, numbers: Ids, keys: Ids) -> None:
    """Draw the numbered records' columns until the rows of the block are narrowed.

    ``keys``, aligned with the numbers, becomes what by: an attribute, the number of attributes plus the
    column that is left empty, or `FINISHED`.
    """
    index, columns = block.rows, block.columns
    rows, absent = len(index.cells), len(index.held) - 1
    for place in range(len(numbers)):
        record = numbers[place]
        keys[place] = FINISHED
        while drafts.steps[record] < drafts.orders.shape[1] and keys[place] == FINISHED:
            column = int(np.int64(drafts.orders[record, drafts.steps[record]]))
            drafts.steps[record] += 1
            value = cell(index.cells, columns, drafts.follows[record], column, absent)
            if index.held[value] >= columns.resolution:
                add_attribute(drafts.drawn, record, value)
                if index.held[value] < rows:
                    keys[place] = value
            elif rest[column] < columns.resolution:
                drafts.follows[record] = state_below(drafts.drawn.states, record, rows)
            elif rest[column] < rows:
                keys[place] = absent + column


@njit(cache=True, nogil=True)
def _add_both(index: BlockIndex, mine: Words, attribute: int, target: Words) -> None:
    if index.dense[attribute] >= 0:
        other = index.bits[index.dense[attribute]]
        for word in range(len(mine)):
            target[word] |= mine[word] & other[word]
        return
    for row in rows_with(index, attribute):
        target[row >> 6] |= mine[row >> 6] & (ONE << np.uint64(row & 63))


@njit(cache=True, nogil=True)
def narrow_to_rest(block: Block, rows: RowSet, column: int) -> bool:
    """Keep the rows, no list, that hold no value of a column that enough of them do; False where too few."""
    index, columns, rest = block.rows, block.columns, block.rests[column]
    mine = rest if rows.now[KIND] == WHOLE else bits_of(rows)
    target, ones = rows.words[1 - rows.now[OWN]], np.uint64(0)
    for word in range(len(mine)):
        target[word] = mine[word] & rest[word]
        ones += ones_in(target[word])
    left = int(np.int64(ones))
    for attribute in columns.attributes[columns.first[column] : columns.first[column + 1]]:
        if index.held[attribute] >= columns.resolution:
            found = count_with(rows, attribute, columns.resolution)
            if 0 < found < columns.resolution:
                left += found
                _add_both(index, mine, attribute, target)
    return to_bits(rows, left)


@njit(cache=True, nogil=True)
def narrow_to(block: Block, rows: RowSet, column: int, key: int) -> None:
    begin_with_all(rows)
    if key < len(block.rows.held) - 1:
        narrow(rows, key)
    else:
        narrow_to_rest(block, rows, column)


@njit(cache=True, nogil=True)
def _look_at(block: Block, room: RecordRoom, column: int) -> None:
    """Fill ``seen`` with what each present row, of a list, holds of a column, and count it in ``tally``."""
    rows, absent = list_of(room.rows), len(room.tally) - 1
    for place in range(len(rows)):
        value = cell(block.rows.cells, block.columns, rows[place], column, absent)
        room.seen[place] = value
        room.tally[value] += 1
    room.tally[absent] = 0


@njit(cache=True, nogil=True)
def _keep_seen(room: RecordRoom, value: int, own: int, enough: int) -> int:
    """Keep the present rows, of a list, that hold a value, or (below 0) what fewer of them do than enough.

    Returns the new place of the row in place ``own``, which is kept.
    """
    rows, seen, tally, kept, place_of_own = list_of(room.rows), room.seen, room.tally, 0, 0
    for place in range(len(rows)):
        if place == own:
            place_of_own = kept
        stays = seen[place] == value if value >= 0 else tally[seen[place]] < enough
        rows[kept] = rows[place]
        kept += int(np.int64(stays))
    room.rows.now[HELD] = kept
    return place_of_own


@njit(cache=True, nogil=True)
def _finish_by_list(block: Block, drafts: UnseededDrafts, room: RecordRoom, record: int, step: int) -> None:
    """Draw the columns of a record from a step on; the present rows are a list."""
    enough = block.columns.resolution
    own = int(np.searchsorted(list_of(room.rows), drafts.follows[record]))
    for column in drafts.orders[record, step:]:
        _look_at(block, room, column)
        held, value = room.rows.now[HELD], room.seen[own]
        if room.tally[value] >= enough:
            add_attribute(drafts.drawn, record, value)
            if room.tally[value] < held:
                own = _keep_seen(room, value, own, enough)
        else:
            left = 0
            for seen in room.seen[:held]:
                left += int(np.int64(room.tally[seen] < enough))
            if left < enough:
                own = int(state_below(drafts.drawn.states, record, held))
            elif left < held:
                own = _keep_seen(room, -1, own, enough)
        for seen in room.seen[:held]:
            room.tally[seen] = 0


@njit(cache=True, nogil=True)
def finish(block: Block, drafts: UnseededDrafts, room: RecordRoom, numbers: Ids, keys: Ids) -> None:
    """Draw what is left of the numbered records, beginning from what their keys narrow the block to."""
    columns, rows, cells, drawn = block.columns, room.rows, block.rows.cells, drafts.drawn
    absent, width = len(block.rows.held) - 1, drafts.orders.shape[1]
    for place in range(len(numbers)):
        record = numbers[place]
        step = int(np.int64(drafts.steps[record]))
        narrow_to(block, rows, int(np.int64(drafts.orders[record, step - 1])), keys[place])
        while step < width and rows.now[KIND] != LIST:
            column = int(np.int64(drafts.orders[record, step]))
            value = cell(cells, columns, drafts.follows[record], column, absent)
            if value != absent and narrow(rows, value):
                add_attribute(drawn, record, value)
            elif not narrow_to_rest(block, rows, column):
                other = int(state_below(drawn.states, record, rows.now[HELD]))
                drafts.follows[record] = row_at(bits_of(rows), other)
            step += 1
        if step < width:
            _finish_by_list(block, drafts, room, record, step)
        drafts.steps[record] = width


@njit(cache=True, nogil=True)
def follow_into(rows: Ids, drafts: UnseededDrafts, numbers: Ids) -> None:
    """Renumber the rows that the numbered records follow by their places among the rows of a new block."""
    for record in numbers:
        drafts.follows[record] = np.searchsorted(rows, drafts.follows[record])


@njit(cache=True, nogil=True)
def gathered_cells(cells: Codes, rows: Ids, into: Codes, held: Integers) -> None:
    """Copy rows into a block of their own and count its cells; the empty one counts 0."""
    for place in range(len(rows)):
        for slot in range(cells.shape[1]):
            into[place, slot] = cells[rows[place], slot]
            held[cells[rows[place], slot]] += 1
    held[-1] = 0
