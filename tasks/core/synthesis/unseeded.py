"""Unseeded synthesis: raw rows in, synthetic records out (sds.md 4.2).

A record draws its columns in a random order. Among the rows that share everything drawn before, a value is
drawn by how many hold it. Values that fewer hold than the resolution are folded into one option with the
empty cell. A value narrows the rows to those that hold it. The empty option narrows them to those it stands
for, rows with an empty cell and rows of folded values, if they are at least as many as the resolution; else
the rows stay as they were. So what is drawn later always follows at least as many rows as the resolution,
and an empty cell does not leave all later ones empty.

The number of draws is that of the records rounded down to the resolution, and records that end up without
any value are left out: the exact number of records is not told.
"""

import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

import numpy as np

from tasks.core.arrays import Codes, Ids, Integers, ShareDone
from tasks.core.synthesis.assembly import ordered
from tasks.core.synthesis.block_kernels import BlockIndex
from tasks.core.synthesis.growth import Job, check_threads
from tasks.core.synthesis.narrowing_kernels import (
    ROWS_A_LIST,
    SHORT,
    Block,
    DrawnColumns,
    RecordRoom,
    fill_rests,
    present_rows,
)
from tasks.core.synthesis.record_stream_kernels import begin, stream_base
from tasks.core.synthesis.records import SyntheticRecords
from tasks.core.synthesis.rows import FrequentRows, block_cells, held_by, indexed
from tasks.core.synthesis.shards import DrawnRecords
from tasks.core.synthesis.unseeded_kernels import (
    UnseededDrafts,
    begin_drafts,
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
_SECONDS_BETWEEN_REPORTS = 0.5


def synthesize(
    rows: FrequentRows, seed: int, *, threads: int = 1, progress: ShareDone | None = None
) -> SyntheticRecords:
    """Draw synthetic records by the law above, in the published order (sds.md 4.0).

    Every combination of any length in a synthetic record is in at least ``rows.resolution`` rows. The same
    rows and seed give the same records on any number of threads.

    Args:
        rows: of the raw records.
        seed: any integer; as sensitive as the rows.
        threads: at least 0; 0 is all cores.
        progress: told the share that is done, 0 to 1; the last time 1.

    Raises:
        ParameterError: threads below 0.
    """
    check_threads(threads)
    report = progress or (lambda share: None)
    number = rows.number_of_records // rows.resolution * rows.resolution
    columns = columns_of(rows)
    parts = []
    if number and len(columns.item):
        cells = block_cells(rows)
        block = block_of(cells, held_by(cells, len(rows.attributes)), columns)
        step = max(_ORDERS_AT_ONCE // len(columns.item), 1)
        base = stream_base(seed, "unseeded")
        for first in range(0, number, step):
            drafts = _drafts(block, min(step, number - first), base, first)

            def tell(share: float, first: int = first, size: int = len(drafts.steps)) -> None:
                report((first + share * size) / number)

            RecordBatch(block, drafts).run(threads, tell)
            parts.append(_drawn(drafts))
    report(1.0)
    sizes = np.concatenate([np.empty(0, np.int32), *(part.sizes for part in parts)])
    ids = np.concatenate([np.empty(0, np.int32), *(part.attribute_ids for part in parts)])
    return ordered(rows.headers, rows.attributes, sizes, ids)


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
    """Rows with their index; ``held`` as `held_by` counts."""
    index = indexed(cells, held, columns.resolution)
    block = Block(index, np.empty((len(columns.item), index.bits.shape[1]), np.uint64), columns)
    fill_rests(block)
    return block


def _drafts(block: Block, number: int, base: int, first: int) -> UnseededDrafts:
    """Records ``first``, ``first + 1``, ..., each at its beginning."""
    width, cells = len(block.columns.item), block.rows.cells
    drafts = UnseededDrafts(
        orders=np.empty((number, width), np.uint16 if width < 1 << 16 else np.uint32),
        steps=np.empty(number, np.int32),
        follows=np.empty(number, np.int32),
        values=np.empty((number, cells.shape[1]), cells.dtype),
        sizes=np.empty(number, np.int32),
        states=np.empty(number, np.uint64),
    )
    begin(drafts.states, np.uint64(base), first)
    begin_drafts(drafts, len(cells))
    return drafts


def _drawn(drafts: UnseededDrafts) -> DrawnRecords:
    """The records that hold something."""
    filled = np.arange(drafts.values.shape[1], dtype=np.int32) < drafts.sizes[:, None]
    return DrawnRecords(drafts.sizes[drafts.sizes > 0], drafts.values[filled].astype(np.int32))


def _room(index: BlockIndex) -> RecordRoom:
    rows = len(index.cells)
    longest = max(int(np.diff(index.first).max(initial=0)), SHORT, rows // ROWS_A_LIST) + 1
    return RecordRoom(
        words=np.empty((2, (rows + 63) // 64), np.uint64),
        rows=np.empty(longest, np.int32),
        seen=np.empty(longest, np.int32),
        tally=np.zeros(len(index.held), np.int64),
        now=np.zeros(3, np.int64),
    )


@dataclass
class RecordBatch:
    """Records while they are drawn, those together that were narrowed to the same rows.

    Attributes:
        block: all rows.
        drafts: the records.
        stopped: set to end soon, with the records unfinished.
        done: how many records are finished.
    """

    block: Block
    drafts: UnseededDrafts
    stopped: bool = False
    done: int = 0

    def run(self, threads: int, report: ShareDone) -> None:
        """Draw all records, on so many threads (0: on all cores)."""
        numbers = np.arange(len(self.drafts.steps), dtype=np.int32)
        jobs = list(self._jobs(self.block, numbers))
        if threads == 1:
            for job in jobs:
                job()
                report(self.done / len(numbers))
        else:
            self._run_together(jobs, threads or os.cpu_count() or 1, report)

    def _run_together(self, jobs: list[Job], workers: int, report: ShareDone) -> None:
        """Run jobs on threads; the kernels let go of the interpreter. An interrupt ends the run soon."""
        with ThreadPoolExecutor(workers) as pool:
            running: set[Future[None]] = {pool.submit(job) for job in jobs}
            try:
                while running:
                    ended, running = wait(running, timeout=_SECONDS_BETWEEN_REPORTS)
                    for each in ended:
                        each.result()
                    report(min(self.done / len(self.drafts.steps), 1.0))
            finally:
                self.stopped = True

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
            yield self._opening(block, int(found[place]), own)
        alone = np.repeat((found >= 0) & ~opened, records)
        self.done += int(records[found < 0].sum())
        keys, numbers = keys[alone], numbers[alone]
        for first in range(0, len(numbers), _RECORDS_A_CALL):
            yield self._finishing(
                block, numbers[first : first + _RECORDS_A_CALL], keys[first : first + _RECORDS_A_CALL]
            )

    def _worth_opening(self, index: BlockIndex, left: Integers, records: Integers) -> np.ndarray:
        """For which keys a block of their own costs less than finishing their records in this one."""
        rows, slots = index.cells.shape
        worth: np.ndarray = records * _FINISH_A_ROW * (rows - left) > left * slots * _OPEN_A_CELL + _OPEN
        return worth

    def _opening(self, block: Block, key: int, numbers: Ids) -> Job:
        def run() -> None:
            if self.stopped:
                return
            index, room = block.rows, _room(block.rows)
            column = int(self.drafts.orders[numbers[0], self.drafts.steps[numbers[0]] - 1])
            narrow_to(block, room, column, key)
            rows = present_rows(room)
            cells = np.empty((len(rows), index.cells.shape[1]), index.cells.dtype)
            held = np.zeros(len(index.held), np.int64)
            gathered_cells(index.cells, rows, cells, held)
            follow_into(rows, self.drafts, numbers)
            for job in self._jobs(block_of(cells, held, block.columns), numbers):
                job()

        return run

    def _finishing(self, block: Block, numbers: Ids, keys: Ids) -> Job:
        def run() -> None:
            if self.stopped:
                return
            finish(block, self.drafts, _room(block.rows), numbers, keys)
            self.done += len(numbers)

        return run
