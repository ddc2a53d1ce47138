"""Unseeded synthesis: raw rows in, synthetic records out (S4.2).

A record draws its columns in a random order. Among the rows that share everything drawn before, a value is
drawn by how many hold it. Values that fewer hold than the resolution are folded into one option with the
empty cell. A value narrows the rows to those that hold it. The empty option narrows them to those it stands
for, rows with an empty cell and rows of folded values, if they are at least as many as the resolution; else
the rows stay as they were. So what is drawn later always follows at least as many rows as the resolution,
and an empty cell does not leave all later ones empty.

The number of draws is that of the records rounded down to the resolution, and records that end up without
any value are left out: the exact number of records is not told.

To draw a value by how many of the present rows hold it is to read that cell of a random one of them; and
given the value, that row is a random one of those that hold it. So each record follows one row from column to
column, and another is drawn only where the present rows are not narrowed to those that share what was drawn:

    the row that it follows holds    and the present rows             become, and it follows
    a value that enough hold                                          those with the value; the same row
    a rarer one, or an empty cell    have enough without a value      those; the same row
                                     that enough hold
    a rarer one, or an empty cell    have not                         the same rows; another one of them
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tasks.core.arrays import Codes, Flags, Ids, Integers, ShareDone, Words
from tasks.core.compiling.decorator import njit
from tasks.core.pool import Job, run_jobs
from tasks.core.random_kernels import state_below, stream
from tasks.core.synthesis.assembly import order_records
from tasks.core.synthesis.index import ONE, ones_in
from tasks.core.synthesis.record_kernels import Drafts
from tasks.core.synthesis.records import SyntheticRecords
from tasks.core.synthesis.rows import (
    HELD,
    KIND,
    LIST,
    OWN,
    WHOLE,
    BlockIndex,
    FrequentRows,
    RowSet,
    begin_with_all,
    bits_of,
    block_cells,
    build_block_index,
    count_held,
    count_with,
    list_of,
    narrow,
    present_rows,
    row_at,
    row_set,
    rows_with,
    to_bits,
)
from tasks.core.synthesis.tree import DrawnRecords, drafts_of, drawn_of, join_drawn

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


#: Nanoseconds, about: to finish a record for each row of its block; to open a block of its own, for each
#: cell, and at all. They decide how records are drawn, never which.
_FINISH_A_ROW = 0.05
_OPEN_A_CELL = 3.0
_OPEN = 400_000.0
_RECORDS_A_CALL = 2048
#: The orders of so many columns, over all records, are kept at once.
_ORDERS_AT_ONCE = 1 << 25


def draw_unseeded(
    rows: FrequentRows, seed: int, *, threads: int = 1, progress: ShareDone = lambda share: None
) -> SyntheticRecords:
    """Draw synthetic records by the law above, in the published order (S4.0); the same on any machine.

    Every combination of any length in a synthetic record is in at least ``rows.resolution`` rows. The seed
    is as sensitive as the rows.
    """
    number = rows.number_of_records // rows.resolution * rows.resolution
    columns = columns_of(rows)
    parts: list[DrawnRecords] = []
    if number and len(columns.item):
        cells = block_cells(rows)
        block = block_of(cells, count_held(cells, len(rows.attributes)), columns)
        step = max(_ORDERS_AT_ONCE // len(columns.item), 1)
        base = stream("unseeded", seed)[0]
        for first in range(0, number, step):
            drafts = _drafts(block, min(step, number - first), base, first)

            def tell(share: float, first: int = first, size: int = len(drafts.steps)) -> None:
                progress((first + share * size) / number)

            RecordBatch(block, drafts).run(threads, tell)
            parts.append(drawn_of(drafts.drawn))
    progress(1.0)
    drawn = join_drawn(parts)
    return order_records(rows.headers, rows.attributes, drawn.sizes[drawn.sizes > 0], drawn.attribute_ids)


def columns_of(rows: FrequentRows) -> DrawnColumns:
    """The columns that have an attribute; each item of a multi-valued column is one."""
    order = np.argsort(rows.column_of, kind="stable").astype(np.int32)
    _, first, size = np.unique(rows.column_of[order], return_index=True, return_counts=True)
    heads = order[first]
    of_item = np.array([rows.attributes[head].item is not None for head in heads], np.bool_)
    return DrawnColumns(
        first_slot=rows.slots_of[heads, 0],
        end_slot=rows.slots_of[heads, 1],
        item=np.where(of_item, heads, -1).astype(np.int32),
        first=np.append(first, first[-1:] + size[-1:] if len(first) else 0).astype(np.int32),
        attributes=order,
        resolution=rows.resolution,
    )


def block_of(cells: Codes, held: Integers, columns: DrawnColumns) -> Block:
    """Rows with their index; ``held`` as `count_held` counts."""
    index = build_block_index(cells, held, columns.resolution)
    block = Block(index, np.empty((len(columns.item), index.bits.shape[1]), np.uint64), columns)
    fill_rests(block)
    return block


def _drafts(block: Block, number: int, base: np.uint64, first: int) -> UnseededDrafts:
    """Records ``first``, ``first + 1``, ..., each at its beginning."""
    width = len(block.columns.item)
    drafts = UnseededDrafts(
        orders=np.empty((number, width), np.uint16 if width < 1 << 16 else np.uint32),
        steps=np.empty(number, np.int32),
        follows=np.empty(number, np.int32),
        drawn=drafts_of(block.rows.cells, number, base, first),
    )
    begin_drafts(drafts, len(block.rows.cells))
    return drafts


def _room(block: Block) -> RecordRoom:
    rows = row_set(block.rows, least=block.columns.resolution)
    return RecordRoom(rows, np.empty_like(rows.lists[0]), np.zeros(len(block.rows.held), np.int64))


@dataclass
class RecordBatch:
    """Records while they are drawn, those together that were narrowed to the same rows."""

    block: Block
    drafts: UnseededDrafts
    finished: list[int] = field(default_factory=list)  # by job: one sum would lose what two threads add

    def run(self, threads: int, report: ShareDone) -> None:
        numbers = np.arange(len(self.drafts.steps), dtype=np.int32)
        jobs = list(self._jobs(self.block, numbers))
        run_jobs(jobs, threads, lambda: report(sum(self.finished) / len(numbers)))

    def _jobs(self, block: Block, numbers: Ids) -> Iterator[Job]:
        """Draw the records of a block until it is narrowed; then what is left to do, largest first."""
        keys = np.empty(len(numbers), np.int32)
        index = block.rows
        common = np.where(index.held >= block.columns.resolution, index.held, 0)[block.columns.attributes]
        rest = len(index.cells) - np.add.reduceat(common, block.columns.first[:-1])
        step_together(block, rest, self.drafts, numbers, keys)
        order = np.argsort(keys, kind="stable")
        keys, numbers = keys[order], numbers[order]
        found, starts, records = np.unique(keys, return_index=True, return_counts=True)
        left = np.concatenate([index.held[:-1], rest])[found]
        opened = (found >= 0) & self._worth_opening(index, left, records)
        for place in np.flatnonzero(opened)[np.argsort(-records[opened], kind="stable")]:
            own = numbers[starts[place] : starts[place] + records[place]]
            yield partial(self._opened, block, int(found[place]), own)
        alone = np.repeat((found >= 0) & ~opened, records)
        self.finished.append(int(records[found < 0].sum()))
        keys, numbers = keys[alone], numbers[alone]
        for first in range(0, len(numbers), _RECORDS_A_CALL):
            part = slice(first, first + _RECORDS_A_CALL)
            yield partial(self._finish, block, numbers[part], keys[part])

    def _worth_opening(self, index: BlockIndex, left: Integers, records: Integers) -> Flags:
        rows, slots = index.cells.shape
        worth: Flags = records * _FINISH_A_ROW * (rows - left) > left * slots * _OPEN_A_CELL + _OPEN
        return worth

    def _opened(self, block: Block, key: int, numbers: Ids) -> Iterator[Job]:
        """Open the block that a key narrows one to; what is then to be done in it."""
        index, narrowed = block.rows, row_set(block.rows, least=block.columns.resolution)
        column = int(self.drafts.orders[numbers[0], self.drafts.steps[numbers[0]] - 1])
        narrow_to(block, narrowed, column, key)
        rows = present_rows(narrowed)
        cells = index.cells[rows]
        self.drafts.follows[numbers] = np.searchsorted(rows, self.drafts.follows[numbers])
        held = count_held(cells, len(index.held) - 1)
        return self._jobs(block_of(cells, held, block.columns), numbers)

    def _finish(self, block: Block, numbers: Ids, keys: Ids) -> tuple[Job, ...]:
        finish(block, self.drafts, _room(block), numbers, keys)
        self.finished.append(len(numbers))
        return ()
