"""Growth: many records that may all use the same attributes in, all of them drawn out (sds.md 4.1, 4.3).

Records are independent of each other, given their own random streams, so they are drawn together: those
that have chosen the same so far share the rows that hold it, a node of a tree. A node is opened where
sharing is worth it; else its records are finished one by one. The node decides by how many records and
rows there are, never by time or threads, so the outcome depends on the seed alone.
"""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tasks.core.errors import ParameterError
from tasks.core.synthesis.block_kernels import Cells, Index, Integers
from tasks.core.synthesis.blocks import cells_of, held_by, indexed
from tasks.core.synthesis.drafts import drawing_over
from tasks.core.synthesis.pass_kernels import Drafts, Ids, finish_seeded, finish_unseeded
from tasks.core.synthesis.present_row_kernels import Effort
from tasks.core.synthesis.rows import Rows
from tasks.core.synthesis.tree_kernels import grouped, join_seeded, join_unseeded, split

_RECORDS_A_CALL = 2048
_SECONDS_BETWEEN_REPORTS = 0.5

Job = Callable[[], None]
Progress = Callable[[float], None]


class Cost(NamedTuple):
    """About how many nanoseconds things take; the law of the records is the same for all values.

    Attributes:
        finish_a_row: to finish a record, for each row of its node.
        open_a_row, open_a_cell, open_a_node: to open a node, for each of its rows and of its cells, and
            at all.
    """

    finish_a_row: float = 0.3
    open_a_row: float = 10.0
    open_a_cell: float = 2.0
    open_a_node: float = 150_000.0


@dataclass(frozen=True)
class Table:
    """The whole table and its index, and how records are drawn from it.

    Attributes:
        index: of all rows.
        slots_of: as in `Rows`.
        effort: how records are finished.
        cost: when a node is opened.
    """

    index: Index
    slots_of: Ids
    effort: Effort
    cost: Cost = Cost()


def table_of(rows: Rows, effort: Effort | None = None, cost: Cost = Cost()) -> Table:
    """Rows ready to be drawn from."""
    effort = effort or Effort(rows.resolution)
    cells = cells_of(rows)
    index = indexed(cells, held_by(cells, len(rows.attributes)), effort.resolution, effort.rows_a_bit)
    return Table(index, rows.slots_of, effort, cost)


def check_threads(threads: int) -> None:
    """Raise a `ParameterError` for a number of threads below 0."""
    if threads < 0:
        raise ParameterError(f"parallel_jobs must be at least 0, not {threads}.")


@dataclass(frozen=True)
class Node:
    """Rows that hold what was chosen, and the records that chose it.

    Attributes:
        cells: the rows.
        held: how many of them hold each attribute, (attributes + 1,).
        numbers: of the records.
    """

    cells: Cells
    held: Integers
    numbers: Ids


class Growth:
    """One batch of records while it grows."""

    def __init__(self, table: Table, drafts: Drafts, available: Integers | None = None) -> None:
        """Prepare to grow.

        Args:
            table: what they are drawn from.
            drafts: the records, empty at first, whole in the end.
            available: (attributes,), what may be used (above 0) by records without seeds; None where
                record i may use what row i of the table holds.
        """
        self._table, self._drafts, self._available = table, drafts, available
        self._stopped = False
        self._finished: list[int] = []

    def run(self, threads: int, report: Progress) -> None:
        """Grow all records, on so many threads (0: on all cores)."""
        number = len(self._drafts.sizes)
        if number == 0:
            return
        index = self._table.index
        root = Node(index.cells, index.held, np.arange(number, dtype=np.int32))
        jobs = list(self._jobs(root, index))
        if threads == 1:
            for job in jobs:
                job()
                report(sum(self._finished) / number)
        else:
            self._run_together(jobs, threads or os.cpu_count() or 1, report)

    def _run_together(self, jobs: list[Job], workers: int, report: Progress) -> None:
        """Run jobs on threads; the kernels let go of the interpreter. An interrupt ends the run soon."""
        with ThreadPoolExecutor(workers) as pool:
            running: set[Future[None]] = {pool.submit(job) for job in jobs}
            try:
                while running:
                    ended, running = wait(running, timeout=_SECONDS_BETWEEN_REPORTS)
                    for each in ended:
                        each.result()
                    report(sum(self._finished) / len(self._drafts.sizes))
            finally:
                self._stopped = True

    def _jobs(self, node: Node, index: Index | None = None) -> Iterator[Job]:
        """Give the records of a node their next attribute; what is to be done then, most records first."""
        starts = np.empty(len(node.held) + 1, np.int64)
        order = grouped(node.numbers, self._join(node), starts)
        records = np.diff(starts)[:-1]
        self._finished.append(len(node.numbers) - len(order))
        opened = self._worth_opening(node, records)
        groups = self._groups(node, np.flatnonzero(opened))
        for group in sorted(groups, key=lambda each: -int(records[each].sum())):
            yield self._opening(node, group, [order[starts[a] : starts[a + 1]] for a in group])
        alone = order[np.repeat(~opened, records)]
        if len(alone) == 0:
            return
        inverted = index or self._indexed(node)
        for first in range(0, len(alone), _RECORDS_A_CALL):
            yield self._finishing(inverted, alone[first : first + _RECORDS_A_CALL])

    def _join(self, node: Node) -> Ids:
        """Give the records of a node their next attribute; -1 for those that are finished."""
        weights = np.where(node.held >= self._table.effort.resolution, node.held, 0)
        # All rows of the node hold what its records have chosen.
        first = node.numbers[0]
        weights[self._drafts.records[first, : self._drafts.sizes[first]]] = 0
        joined = np.empty(len(node.numbers), np.int32)
        if self._available is None:
            join_seeded(weights, self._table.index.cells, self._drafts, node.numbers, joined)
        else:
            weights[:-1][self._available <= 0] = 0
            join_unseeded(weights, self._drafts, node.numbers, joined)
        return joined

    def _worth_opening(self, node: Node, records: Integers) -> npt.NDArray[np.bool_]:
        """For which attributes a node of their own costs less than finishing their records in this one."""
        rows, slots = node.cells.shape
        held = node.held[:-1]
        saved = records * self._table.cost.finish_a_row * (rows - held)
        opening = held * (self._table.cost.open_a_row + self._table.cost.open_a_cell * slots)
        worth: npt.NDArray[np.bool_] = saved > opening + self._table.cost.open_a_node
        return worth & (records > 0)

    def _groups(self, node: Node, attributes: npt.NDArray[np.int64]) -> list[list[int]]:
        """Attributes of the same slots whose blocks have no more rows together than the node."""
        groups: list[list[int]] = []
        slots, room = (-1, -1), 0
        for attribute in attributes.tolist():
            first, end = self._table.slots_of[attribute].tolist()
            room -= int(node.held[attribute])
            if (first, end) != slots or room < 0:
                groups.append([])
                slots, room = (first, end), len(node.cells) - int(node.held[attribute])
            groups[-1].append(attribute)
        return groups

    def _opening(self, node: Node, attributes: list[int], numbers: list[Ids]) -> Job:
        """Make nodes of attributes of the same slots, and do all that is to be done in them."""

        def run() -> None:
            if self._stopped:
                return
            starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(node.held[attributes])])
            place_of = np.full(len(node.held), -1, np.int64)
            place_of[attributes] = starts[:-1]
            into = np.empty((int(starts[-1]), node.cells.shape[1]), node.cells.dtype)
            first_slot, end_slot = self._table.slots_of[attributes[0]].tolist()
            split(node.cells, first_slot, end_slot, place_of, into)
            for start, end, of in zip(starts, starts[1:], numbers, strict=False):
                cells = into[start:end]
                for job in self._jobs(Node(cells, held_by(cells, len(node.held) - 1), of)):
                    job()

        return run

    def _indexed(self, node: Node) -> Index:
        effort = self._table.effort
        return indexed(node.cells, node.held, effort.resolution, effort.rows_a_bit)

    def _finishing(self, index: Index, numbers: Ids) -> Job:
        """Finish records one by one."""

        def run() -> None:
            if self._stopped:
                return
            drawing = drawing_over(index, self._table.effort, self._available)
            if self._available is None:
                finish_seeded(drawing, self._table.index.cells, self._drafts, numbers)
            else:
                finish_unseeded(drawing, self._drafts, numbers)
            self._finished.append(len(numbers))

        return run
