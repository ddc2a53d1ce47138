"""Exact counts, for the draw by lengths to put noise on.

It asks at each length how many records hold each candidate. Where a record counts for a part of its
candidates alone, it first asks how many records hold how many of them, and then who keeps which. A record
answers by itself: by its codes, by its tag, and by the numbers that the question brings. So a table may be
whole or lie in partitions: the sums are the same whole numbers.

    question ──▶ how many hold 0, 1, 2, ... candidates ──▶ Delta_k ──▶ counts of candidates, at most Delta_k
                 (only where contributions are bounded)                each record
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np

from tasks.core.arrays import HalfWords, Integers, ShareDone
from tasks.core.dp.tallies import Answer, Portion, Question, Tally
from tasks.core.parts.store import StoredPart
from tasks.core.parts.workers import each_group
from tasks.core.records.coded import CodedRecords
from tasks.core.records.table import RecordTable

R = TypeVar("R")
#: Partitions that one place asks one after the other.
Group = Sequence[StoredPart]


#: One length, counted but for which candidates each record keeps. First the sizes: entry s is the number of
#: records that hold s candidates, s = 0, 1, ...; None where a record counts for all of them. Then what brings
#: into the tally what it lacks, called once: no record counts for more than so many candidates.
CountedLength = tuple[Integers | None, Callable[[int], None]]


class LengthCounts:
    """A table of the public schema, to be asked wherever its parts are.

    A part in this process is re-encoded once for all lengths that look at it alike. Parts elsewhere are read
    again for each question, how often depends on public facts alone: once a portion; or twice, where
    contributions are bounded: a record's coins go through all it holds.
    """

    def __init__(self, table: RecordTable) -> None:
        # Read now, while nothing is charged yet.
        self.facts, self._table, self._only = table.facts, table, table.only
        self._seen: tuple[object, Any] | None = None

    def counted(self, question: Question, into: Tally, report: ShareDone) -> CountedLength:
        """Count all records into the question's blank tally, which is then to be completed."""
        if self._only is not None:
            return self._counted_here(self._only, question, into, report)
        return self._counted_in_parts(question, into, report)

    def _counted_here(
        self, records: CodedRecords, question: Question, tally: Tally, report: ShareDone
    ) -> CountedLength:
        if self._seen is None or self._seen[0] is not question.look:
            self._seen = question.look, question.look.at(records)
        seen: Any = self._seen[1]  # as this question's tally takes it
        sensitivity = tally.count(seen, question.bounded, report)
        if sensitivity is None:
            return None, _unbounded
        return sizes_of(sensitivity), partial(tally.drop, seen, sensitivity)

    def _counted_in_parts(self, question: Question, tally: Tally, report: ShareDone) -> CountedLength:
        def each(name: str, work: Callable[[Group], R], place: int, times: int) -> Iterator[R]:
            def share(done: float) -> None:
                report((place + done) / times)

            return each_group(self._table.workers, name, work, self._table.parts, share)

        def fill(portion: Portion | None, limit: int | None, place: int, times: int) -> None:
            work = partial(_counts_in, question, portion, limit)
            for answer in each("candidates", work, place, times):
                tally.add(answer, portion)

        if question.bounded:
            sizes = added_sizes(each("sensitivities", partial(_sizes_in, question), 0, 2))
            return sizes, lambda limit: fill(None, limit, 1, 2)
        portions = tally.portions()
        for place, portion in enumerate(portions):
            fill(portion, None, place, len(portions))
        return None, _unbounded


def _unbounded(limit: int) -> None:
    """A record counts for all its candidates."""


def _sizes_in(question: Question, group: Group) -> Integers:
    counted = _counted_in(question, question.blank(), group)
    return added_sizes(sizes for sizes, _ in counted if sizes is not None)


def _counts_in(question: Question, portion: Portion | None, limit: int | None, group: Group) -> Answer:
    tally = question.blank(portion)
    for _, bound in _counted_in(question, tally, group):
        if limit is not None:
            bound(limit)
    return tally.answer()


def _counted_in(question: Question, tally: Tally, group: Group) -> Iterator[CountedLength]:
    """Each partition as a table of its own: who looks at one has seen the last of the one before."""
    for partition in group:
        with partition.folder() as folder:
            part = LengthCounts(RecordTable.in_folder(folder))
            yield part.counted(question, tally, lambda share: None)


def sizes_of(sensitivity: HalfWords) -> Integers:
    """How many records hold 0, 1, 2, ... candidates.

    >>> sizes_of(np.array([2, 0, 2], np.uint32)).tolist()
    [1, 0, 2]
    """
    return np.bincount(sensitivity).astype(np.int64, copy=False)


def added_sizes(histograms: Iterable[Integers]) -> Integers:
    """The sum of histograms, each as long as its largest size needs.

    >>> added_sizes([np.array([1, 0, 2]), np.array([5])]).tolist()
    [6, 0, 2]
    """
    whole = np.zeros(0, np.int64)
    for sizes in histograms:
        short, whole = sorted((whole, sizes), key=len)
        whole = whole.copy()
        whole[: len(short)] += short
    return whole
