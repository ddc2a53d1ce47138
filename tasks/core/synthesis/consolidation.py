"""Consolidation: what is still to be used in, records that use exactly that out (sds.md 4.1, 4.3).

The law is the sequential one: a record is drawn from the attributes that are available when it begins, and
uses up one of each that it holds. Which are available matters, not how many times, and a record holds no
attribute twice, so all records up to the one that uses up an attribute have the same law and are
independent. They are drawn as one batch; the batch is counted down in order and cut behind the record that
uses up an attribute. What is behind the cut is thrown away, with its random streams, without having been
looked at. Where an attribute is soon used up, records are drawn one after the other.
"""

import numpy as np

from tasks.core.synthesis.block_kernels import Integers
from tasks.core.synthesis.drafts import drafts_of, drawing_over, drawn_of, joined
from tasks.core.synthesis.growth import Growth, Progress, Table
from tasks.core.synthesis.pass_kernels import draw_in_turn, use_up_in_order
from tasks.core.synthesis.record_stream_kernels import base_of
from tasks.core.synthesis.shards import Drawn

#: Fewer are drawn in turn, so many at once; and the most that are drawn in one batch.
_SMALLEST_BATCH = 2048
_RECORDS_IN_TURN = 256
_LARGEST_BATCH = 1 << 19


class Consolidation:
    """What is available, and the records that have used the rest."""

    def __init__(self, table: Table, available: Integers, seed: int, smallest_batch: int = _SMALLEST_BATCH):
        """Prepare to draw.

        Args:
            table: what is drawn from.
            available: int64 (attributes,), how often each is to be used; above 0 only where at least as
                many rows as the resolution hold it.
            seed: names the random streams.
            smallest_batch: fewer records are drawn in turn; the law is the same for all values.
        """
        self._table, self._smallest = table, smallest_batch
        self._base = base_of(seed, "consolidation")
        self._left, self._total = available.astype(np.int64), int(available.sum())
        self._streams = 0
        self._uses, self._seen = np.zeros(len(available)), 0.0
        self._parts: list[Drawn] = []

    def run(self, threads: int, report: Progress) -> Drawn:
        """Draw until nothing is available any more, on so many threads (0: on all cores)."""
        while self._left.any():
            kinds = np.count_nonzero(self._left)
            size = min(max(self._soonest(), 1), _LARGEST_BATCH)
            drawn = self._batch(size, threads) if size >= self._smallest else self._in_turn()
            self._parts.append(drawn)
            self._uses += np.bincount(drawn.attribute_ids, minlength=len(self._left))
            self._seen += len(drawn.sizes)
            if np.count_nonzero(self._left) != kinds:
                # What is available has changed, and with it how often each is used.
                self._uses, self._seen = self._uses / 2, self._seen / 2
            report(1.0 - int(self._left.sum()) / self._total)
        return joined(self._parts)

    def _soonest(self) -> int:
        """About how many records until some attribute is used up."""
        left = np.flatnonzero(self._left)
        return int((self._left[left] * self._seen / (self._uses[left] + 1)).min())

    def _batch(self, size: int, threads: int) -> Drawn:
        drafts = drafts_of(self._table.index.cells, size, self._base, self._next(size))
        Growth(self._table, drafts, self._left).run(threads, lambda share: None)
        return drawn_of(drafts, use_up_in_order(drafts, self._left))

    def _in_turn(self) -> Drawn:
        size = _RECORDS_IN_TURN
        drafts = drafts_of(self._table.index.cells, size, self._base, self._next(size))
        drawing = drawing_over(self._table.index, self._table.effort, self._left)
        return drawn_of(drafts, draw_in_turn(drawing, drafts, self._left))

    def _next(self, size: int) -> int:
        """The first of so many streams that were never used."""
        first = self._streams
        self._streams += size
        return first
