"""Unseeded synthesis: raw rows in, synthetic records out (S4.2).

A record draws its columns in a random order. Among the rows that share everything drawn before, a value is
drawn by how many hold it. Values that fewer hold than the resolution are folded into one option with the
empty cell. A value narrows the rows to those that hold it. The empty option narrows them to those it stands
for, rows with an empty cell and rows of folded values, if they are at least as many as the resolution; else
the rows stay as they were. So what is drawn later always follows at least as many rows as the resolution,
and an empty cell does not leave all later ones empty.

The number of draws is that of the records rounded down to the resolution, and records that end up without
any value are left out: the exact number of records is not told.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from tasks.core.arrays import Codes, Flags, Ids, Integers, ShareDone
from tasks.core.pool import Job, run_jobs
from tasks.core.random_kernels import stream
from tasks.core.synthesis.assembly import order_records
from tasks.core.synthesis.records import SyntheticRecords
from tasks.core.synthesis.row_set_kernels import BlockIndex, present_rows
from tasks.core.synthesis.rows import FrequentRows, block_cells, build_block_index, count_held, row_set
from tasks.core.synthesis.tree import DrawnRecords, drafts_of, drawn_of, join_drawn
from tasks.core.synthesis.unseeded_kernels import (
    Block,
    DrawnColumns,
    RecordRoom,
    UnseededDrafts,
    begin_drafts,
    fill_rests,
    finish,
    follow_into,
    gathered_cells,
    narrow_to,
    rest_by_column,
    step_together,
)

#: Nanoseconds, about: to finish a record for each row of its block; to open a block of its own, for each
#: cell, and at all. They decide how records are drawn, never which.
_FINISH_A_ROW = 0.05
_OPEN_A_CELL = 3.0
_OPEN = 400_000.0
_RECORDS_A_CALL = 2048
#: The orders of so many columns, over all records, are kept at once.
_ORDERS_AT_ONCE = 1 << 25


def draw_unseeded(
    rows: FrequentRows, seed: int, *, threads: int = 1, progress: ShareDone | None = None
) -> SyntheticRecords:
    """Draw synthetic records by the law above, in the published order (S4.0); the same on any machine.

    Every combination of any length in a synthetic record is in at least ``rows.resolution`` rows. The seed
    is as sensitive as the rows.
    """
    report = progress or (lambda share: None)
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
                report((first + share * size) / number)

            RecordBatch(block, drafts).run(threads, tell)
            parts.append(drawn_of(drafts.drawn))
    report(1.0)
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
        rest = rest_by_column(index.held, len(index.cells), block.columns)
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
        cells = np.empty((len(rows), index.cells.shape[1]), index.cells.dtype)
        held = np.zeros(len(index.held), np.int64)
        gathered_cells(index.cells, rows, cells, held)
        follow_into(rows, self.drafts, numbers)
        return self._jobs(block_of(cells, held, block.columns), numbers)

    def _finish(self, block: Block, numbers: Ids, keys: Ids) -> tuple[Job, ...]:
        finish(block, self.drafts, _room(block), numbers, keys)
        self.finished.append(len(numbers))
        return ()
