"""Records column by column: a block of rows and records' random orders in, their values out (sds.md 4.2).

Drawing a value of a column by how many of the present rows hold it is reading that cell of a random one of
them; and given the value, that row is a random one of those that hold it. So each record follows one row
from column to column, and another is drawn only where the present rows are not narrowed to those that
share what was drawn.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tasks.core.arrays import Codes, Ids, Integers
from tasks.core.compiling import njit
from tasks.core.synthesis.narrowing_kernels import (
    BITS,
    HELD,
    KIND,
    Block,
    DrawnColumns,
    RecordRoom,
    begin_with_all,
    keep_seen,
    look_at,
    row_at,
    rows_with,
    rows_without,
)
from tasks.core.synthesis.record_stream_kernels import States, stream_below

Orders = npt.NDArray[np.uint16]

#: What a record was narrowed by: an attribute, or the number of attributes plus the column left empty.
FINISHED = -1


class UnseededDrafts(NamedTuple):
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
    values: Codes
    sizes: Ids
    states: States


@njit(cache=True, nogil=True)
def begin_drafts(drafts: UnseededDrafts, rows: int) -> None:
    """Draw every record's order of columns and the first row it follows."""
    columns = drafts.orders.shape[1]
    for record in range(len(drafts.steps)):
        order = drafts.orders[record]
        for place in range(columns):
            other = stream_below(drafts.states, record, place + 1)
            order[place] = order[other]
            order[other] = place
        drafts.follows[record] = stream_below(drafts.states, record, rows)
        drafts.steps[record], drafts.sizes[record] = 0, 0


@njit(cache=True, nogil=True)
def cell(cells: Codes, columns: DrawnColumns, row: int, column: int, absent: int) -> int:
    """The attribute of a column that a row holds, or ``absent``."""
    item = columns.item[column]
    if item < 0:
        return int(np.int64(cells[row, columns.first_slot[column]]))
    for slot in range(columns.first_slot[column], columns.end_slot[column]):
        if cells[row, slot] == item:
            return int(np.int64(item))
    return absent


@njit(cache=True, nogil=True)
def add_attribute(drafts: UnseededDrafts, record: int, attribute: int) -> None:
    """Add a drawn attribute to a record."""
    drafts.values[record, drafts.sizes[record]] = attribute
    drafts.sizes[record] += 1


@njit(cache=True, nogil=True)
def rest_by_column(held: Integers, rows: int, columns: DrawnColumns) -> Integers:
    """For each column how many of so many rows hold none of its values that enough of them do."""
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
                add_attribute(drafts, record, value)
                if index.held[value] < rows:
                    keys[place] = value
            elif rest[column] < columns.resolution:
                drafts.follows[record] = stream_below(drafts.states, record, rows)
            elif rest[column] < rows:
                keys[place] = absent + column


@njit(cache=True, nogil=True)
def narrow_to(block: Block, room: RecordRoom, column: int, key: int) -> None:
    """Begin with those rows of the block that a key of `step_together` says."""
    begin_with_all(room, len(block.rows.cells))
    if key < len(block.rows.held) - 1:
        rows_with(block.rows, room, key, block.columns.resolution)
    else:
        rows_without(block, room, column)


@njit(cache=True, nogil=True)
def _finish_by_list(block: Block, drafts: UnseededDrafts, room: RecordRoom, record: int, step: int) -> None:
    """Draw the columns of a record from a step on; the present rows are a list."""
    enough, states = block.columns.resolution, drafts.states
    own = int(np.searchsorted(room.rows[: room.now[HELD]], drafts.follows[record]))
    for column in drafts.orders[record, step:]:
        look_at(block, room, column)
        held, value = room.now[HELD], room.seen[own]
        if room.tally[value] >= enough:
            add_attribute(drafts, record, value)
            if room.tally[value] < held:
                own = keep_seen(room, value, own, enough)
        else:
            left = 0
            for seen in room.seen[:held]:
                left += int(np.int64(room.tally[seen] < enough))
            if left < enough:
                own = int(stream_below(states, record, held))
            elif left < held:
                own = keep_seen(room, -1, own, enough)
        for seen in room.seen[:held]:
            room.tally[seen] = 0


@njit(cache=True, nogil=True)
def finish(block: Block, drafts: UnseededDrafts, room: RecordRoom, numbers: Ids, keys: Ids) -> None:
    """Draw what is left of the numbered records, beginning from what their keys narrow the block to."""
    rows, columns = block.rows, block.columns
    absent, width = len(rows.held) - 1, drafts.orders.shape[1]
    for place in range(len(numbers)):
        record = numbers[place]
        step = int(np.int64(drafts.steps[record]))
        narrow_to(block, room, int(np.int64(drafts.orders[record, step - 1])), keys[place])
        while step < width and room.now[KIND] == BITS:
            column = int(np.int64(drafts.orders[record, step]))
            value = cell(rows.cells, columns, drafts.follows[record], column, absent)
            if value != absent and rows_with(rows, room, value, columns.resolution):
                add_attribute(drafts, record, value)
            elif not rows_without(block, room, column):
                drafts.follows[record] = row_at(
                    room, int(stream_below(drafts.states, record, room.now[HELD]))
                )
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
