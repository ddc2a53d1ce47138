"""Growth: many records that may all use the same attributes in, all of them drawn out (sds.md 4.1, 4.3).

Records are independent of each other, given their own random streams, so they are drawn together: those
that have chosen the same so far share a node, the rows that hold it. Where a node of their own is not worth
it, records are finished one by one in the one above. The outcome depends on the seed alone.
"""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait

import numpy as np

from tasks.core.arrays import Ids, Integers, ShareDone
from tasks.core.errors import ParameterError
from tasks.core.synthesis.drafts import drawing_over
from tasks.core.synthesis.nodes import Node, TableTree
from tasks.core.synthesis.record_kernels import Drafts, finish_seeded, finish_unseeded
from tasks.core.synthesis.tree_kernels import grouped, join_seeded, join_unseeded

_RECORDS_A_CALL = 2048
_WORTH_THREADS = 512
_SECONDS_BETWEEN_REPORTS = 0.5

#: What a worker does next.
Job = Callable[[], None]


def check_threads(threads: int) -> None:
    """Raise a `ParameterError` for a number of threads below 0."""
    if threads < 0:
        raise ParameterError(f"parallel_jobs must be at least 0, not {threads}.")


class GrowingBatch:
    """A batch of records while it grows."""

    def __init__(self, table: TableTree, drafts: Drafts, available: Integers | None = None) -> None:
        """Prepare to grow.

        Args:
            table: what they are drawn from.
            drafts: the records; they go on from what they hold.
            available: (attributes,), what may be used (above 0) by records without seeds; None where
                record i may use what row i of the table holds.
        """
        self._table, self._drafts, self._available = table, drafts, available
        self._stopped = False
        self._finished: list[int] = []

    def run(self, numbers: Ids, threads: int, report: ShareDone) -> None:
        """Finish the numbered records, on so many threads (0: on all cores)."""
        if len(numbers) == 0:
            return
        self._table.index_of(self._table.root)
        jobs = list(self._jobs(self._table.root, numbers))
        if threads == 1 or len(numbers) < _WORTH_THREADS:
            for job in jobs:
                job()
                report(sum(self._finished) / len(numbers))
        else:
            self._run_together(jobs, threads or os.cpu_count() or 1, len(numbers), report)

    def _run_together(self, jobs: list[Job], workers: int, number: int, report: ShareDone) -> None:
        """Run jobs on threads; the kernels let go of the interpreter. An interrupt ends the run soon."""
        with ThreadPoolExecutor(workers) as pool:
            running: set[Future[None]] = {pool.submit(job) for job in jobs}
            try:
                while running:
                    ended, running = wait(running, timeout=_SECONDS_BETWEEN_REPORTS)
                    for each in ended:
                        each.result()
                    report(sum(self._finished) / number)
            except BaseException:
                self._stopped = True
                raise

    def _jobs(self, node: Node, numbers: Ids) -> Iterator[Job]:
        """What is to be done for records that have come to a node, once they have their next attribute."""
        table, starts = self._table, np.empty(len(node.held) + 1, np.int64)
        order = grouped(numbers, self._join(node, numbers), starts)
        records = np.diff(starts)[:-1]
        self._finished.append(len(numbers) - len(order))

        def of(attribute: int) -> Ids:
            return order[starts[attribute] : starts[attribute + 1]]

        there = table.worth_visiting(node, records)
        kept = table.to_keep(node, records)
        alone = table.worth_opening(node, records)
        alone[[*node.children, *kept]] = False
        passing = np.flatnonzero(alone).tolist()
        for attribute in there:
            yield self._descending(node.children[attribute], of(attribute))
        for keep, attributes in ((True, kept), (False, passing)):
            groups = table.groups(node, attributes)
            for group in sorted(groups, key=lambda each: -int(records[each].sum())):
                yield self._opening(node, group, [of(attribute) for attribute in group], keep)
        alone[there + kept + passing] = True
        left = order[np.repeat(~alone, records)]
        for first in range(0, len(left), _RECORDS_A_CALL):
            yield self._finishing(node, left[first : first + _RECORDS_A_CALL])

    def _join(self, node: Node, numbers: Ids) -> Ids:
        """Give records at a node their next attribute, if they have none yet; -1 for finished ones."""
        weights = np.where(node.held >= self._table.effort.resolution, node.held, 0)
        # All rows of the node hold what its records have chosen on the way.
        weights[self._drafts.records[numbers[0], : node.depth]] = 0
        joined = np.empty(len(numbers), np.int32)
        if self._available is None:
            seeds = self._table.root.cells
            join_seeded(weights, seeds, self._drafts, numbers, joined)
        else:
            weights[:-1][self._available <= 0] = 0
            join_unseeded(weights, node.depth, self._drafts, numbers, joined)
        return joined

    def _descending(self, node: Node, numbers: Ids) -> Job:
        """Do all that is to be done below a node."""

        def run() -> None:
            if not self._stopped:
                for job in self._jobs(node, numbers):
                    job()

        return run

    def _opening(self, node: Node, attributes: list[int], numbers: list[Ids], keep: bool) -> Job:
        """Open nodes of attributes of the same slots, and do all that is to be done below them."""

        def run() -> None:
            if self._stopped:
                return
            opened = self._table.opened(node, attributes)
            if keep:
                node.children.update(zip(attributes, opened, strict=True))
            for child, own in zip(opened, numbers, strict=True):
                self._descending(child, own)()

        return run

    def _finishing(self, node: Node, numbers: Ids) -> Job:
        """Finish records one by one."""

        def run() -> None:
            if self._stopped:
                return
            drawing = drawing_over(self._table.index_of(node), self._table.effort, self._available)
            if self._available is None:
                finish_seeded(drawing, self._table.root.cells, self._drafts, numbers)
            else:
                finish_unseeded(drawing, self._drafts, numbers)
            self._finished.append(len(numbers))

        return run
