"""Consolidation: what is still to be used in, records that use exactly that out (sds.md 4.1, 4.3).

The law is the sequential one: a record is drawn from the attributes that are available when it begins, and
uses up one of each that it holds. Which are available matters, not how many times, and a record holds no
attribute twice; so until an attribute is used up, records are independent and of one law, and are drawn as
a batch. Counted down in order, some record of it uses up an attribute x. Those behind it were drawn as if x
were available. Each step of such a record is a draw from weights of which that of x should have been 0: if
it did not give x, it is a draw by the right law already, by which x is just rejected; where it first gave
x, the record is cut, and goes on from there without x. What it would have held behind x is not looked at.
"""

import numpy as np

from tasks.core.arrays import Integers, ShareDone
from tasks.core.random_kernels import stream
from tasks.core.synthesis.drafts import DrawnRecords, drafts_of, drawing_over, drawn_of, joined
from tasks.core.synthesis.record_kernels import cut_used_up, draw_in_turn, use_up_in_order
from tasks.core.synthesis.tree import GrowingBatch, TableTree

#: Tables of fewer rows are drawn from in turn, so many records at a time.
_FEW_ROWS = 1 << 16
_RECORDS_IN_TURN = 256
#: The more records are drawn together, the more of them share the nodes that they pass.
_RECORDS_A_BATCH = 1 << 17
#: Towards the end one attribute after the other is used up, and records behind that are drawn anew: batches
#: become smaller, of about so many times fewer records than are to come, but no smaller than this.
_BATCHES_TO_COME, _FEWEST_A_BATCH = 8, 1 << 13


class Consolidation:
    """What is available, and the records that have used the rest."""

    def __init__(self, table: TableTree, available: Integers, seed: int) -> None:
        """Prepare to draw.

        Args:
            table: what is drawn from.
            available: int64 (attributes,), how often each is to be used; above 0 only where at least as
                many rows as the resolution hold it.
            seed: names the random streams.
        """
        self._table = table
        self._base = stream("consolidation", seed)[0]
        self._left, self._total = available.astype(np.int64), int(available.sum())
        self._streams = 0
        self._parts: list[DrawnRecords] = []

    def run(self, threads: int, report: ShareDone, records_a_batch: int | None = None) -> DrawnRecords:
        """Draw until nothing is available any more.

        Args:
            threads: 0 for all cores; tables of few rows are drawn from on one.
            report: told the share that is done.
            records_a_batch: 0 for one record after the other; None for what is faster. The law is the same.
        """
        if records_a_batch is None:
            records_a_batch = _RECORDS_A_BATCH if len(self._table.root.cells) >= _FEW_ROWS else 0
        while self._left.any():
            drawn = self._batch(records_a_batch, threads) if records_a_batch else self._in_turn()
            self._parts.append(drawn)
            report(1.0 - int(self._left.sum()) / self._total)
        return joined(self._parts)

    def _batch(self, size: int, threads: int) -> DrawnRecords:
        uses, slots = int(self._left.sum()), self._table.root.cells.shape[1]
        # No more are left than there are uses.
        size = min(size, uses, max(_FEWEST_A_BATCH, uses // (_BATCHES_TO_COME * slots)))
        drafts = drafts_of(self._table.root.cells, size, self._base, self._next(size))
        numbers, taken = np.arange(size, dtype=np.int32), 0
        while taken < size and self._left.any():
            GrowingBatch(self._table, drafts, self._left).run(numbers, threads, lambda share: None)
            taken = use_up_in_order(drafts, taken, self._left)
            numbers = cut_used_up(drafts, taken, self._left)
        return drawn_of(drafts, taken)

    def _in_turn(self) -> DrawnRecords:
        size = _RECORDS_IN_TURN
        drafts = drafts_of(self._table.root.cells, size, self._base, self._next(size))
        drawing = drawing_over(self._table.index, self._table.effort, self._left)
        return drawn_of(drafts, draw_in_turn(drawing, drafts, self._left))

    def _next(self, size: int) -> int:
        """The first of so many streams that were never used."""
        first = self._streams
        self._streams += size
        return first
