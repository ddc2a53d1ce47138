"""Exact counts, for the draw by lengths to put noise on: coded records go in, sums over all of them come out.

The draw asks at each length how many records hold each candidate. Where a record counts for a part of its
candidates alone, it first asks how many records hold how many of them, and then who keeps which. A record
answers by itself: by its codes, by its tag, and by the numbers that the question brings. So a table may be
whole or lie in partitions: the sums are the same whole numbers.

    question ──▶ how many hold 0, 1, 2, ... candidates ──▶ Delta_k ──▶ counts of candidates, at most Delta_k
                 (only where contributions are bounded)                each record
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from tasks.core.arrays import Integers, ShareDone
from tasks.core.dp.contribution import Sensitivity
from tasks.core.dp.counting import Answer, Portion
from tasks.core.parts.store import StoredPart
from tasks.core.parts.workers import in_groups
from tasks.core.records.coded import CodedFacts, CodedRecords, read_coded_records
from tasks.core.records.partitioned import AnyRecords, PartitionedRecords

T = TypeVar("T")
R = TypeVar("R")
Seen_co = TypeVar("Seen_co", covariant=True)
Seen_contra = TypeVar("Seen_contra", contravariant=True)
#: Partitions that one place asks one after the other.
Group = Sequence[StoredPart]


class Seeing(Protocol[Seen_co]):
    """How a question looks at each record: by public constants, and by numbers that were drawn before."""

    def at(self, records: CodedRecords) -> Seen_co:
        """The records that are looked at, as they are counted."""


class LengthTally(Protocol[Seen_contra]):
    """The candidates of one length, and how many records hold each, so far as they were counted."""

    def count(self, records: Seen_contra, with_sensitivity: bool, report: ShareDone) -> Sensitivity | None:
        """Count every record; where it is asked for, give the number of candidates each one holds."""

    def drop(self, records: Seen_contra, sensitivity: Sensitivity, limit: int) -> None:
        """Take back what records that were counted lose, as they hold more than ``limit`` candidates."""

    def portions(self) -> Sequence[Portion]:
        """All candidates in order, in portions whose counts can be sent at once."""

    def answer(self) -> Answer:
        """The exact counts, to be added to those of other records."""

    def add(self, answer: Answer, portion: Portion | None = None) -> None:
        """Add what was counted of other records, of all candidates or those of a portion."""


class AskedLength(Protocol[T]):
    """What the draw asks at one length; can be sent.

    Attributes:
        look: how each record is looked at.
        bounded: whether a record counts for a part of its candidates alone.
    """

    @property
    def look(self) -> Seeing[T]:
        """How each record is looked at."""

    @property
    def bounded(self) -> bool:
        """Whether a record counts for a part of its candidates alone."""

    def blank(self, portion: Portion | None = None) -> LengthTally[T]:
        """The candidates, or those of a portion, and no record."""


class CountedLength(Protocol):
    """One length, counted but for which candidates each record keeps.

    Attributes:
        sizes: entry s is the number of records that hold s candidates, s = 0, 1, ...; None where a record
            counts for all of them.
    """

    sizes: Integers | None

    def bound(self, limit: int) -> None:
        """Bring into the tally what it lacks: no record counts for more than ``limit``. Called once."""


class LengthCounts(Protocol):
    """A table of the public schema, wherever its records are.

    Attributes:
        facts: of the whole table.
    """

    facts: CodedFacts

    def counted(self, question: AskedLength[T], into: LengthTally[T], report: ShareDone) -> CountedLength:
        """Answer a question about all records.

        Args:
            question: of one length.
            into: its blank tally; complete once `CountedLength.bound` was called.
            report: told the share of the records that was read.
        """


def length_counts(records: AnyRecords) -> LengthCounts:
    """A table, whole or in partitions, to be asked."""
    return WholeLengths(records) if isinstance(records, CodedRecords) else PartitionedLengths(records)


class WholeLengths(LengthCounts):
    """A table in memory; its records are re-encoded once for all lengths that look at them alike."""

    def __init__(self, records: CodedRecords) -> None:
        """Args: records: all of them. Raises InternalError where they have other slots than they say."""
        self.facts = records.facts
        self._records = records
        self._seen: tuple[object, Any] | None = None

    def counted(self, question: AskedLength[T], into: LengthTally[T], report: ShareDone) -> CountedLength:
        """See `LengthCounts`."""
        if self._seen is None or self._seen[0] is not question.look:
            self._seen = question.look, question.look.at(self._records)
        seen: T = self._seen[1]
        return _WholeLength(into, seen, into.count(seen, question.bounded, report))


class _WholeLength(CountedLength):
    def __init__(self, tally: LengthTally[T], seen: T, sensitivity: Sensitivity | None) -> None:
        self.sizes = None if sensitivity is None else sizes_of(sensitivity)
        self._bound = None if sensitivity is None else partial(tally.drop, seen, sensitivity)

    def bound(self, limit: int) -> None:
        if self._bound is not None:
            self._bound(limit)


class PartitionedLengths(LengthCounts):
    """A table in partitions, each asked where it is, and read again for each question."""

    def __init__(self, records: PartitionedRecords) -> None:
        """Args: records: of one table."""
        self.facts, self._records = records.facts, records

    def counted(self, question: AskedLength[T], into: LengthTally[T], report: ShareDone) -> CountedLength:
        """See `LengthCounts`."""
        return _PartitionedLength(self._records, question, into, report)


class _PartitionedLength(CountedLength, Generic[T]):
    """How often a partition is read depends on public facts alone.

    Once a portion; or twice, where contributions are bounded: a record's coins go through all it holds.
    """

    def __init__(
        self, records: PartitionedRecords, question: AskedLength[T], tally: LengthTally[T], report: ShareDone
    ) -> None:
        self.sizes = None
        self._records, self._report = records, report
        self._question, self._tally = question, tally
        if question.bounded:
            self.sizes = added_sizes(self._each("sensitivities", partial(_sizes_in, question), (0, 2)))
            return
        portions = tally.portions()
        for place, portion in enumerate(portions):
            self._fill(portion, None, (place, len(portions)))

    def bound(self, limit: int) -> None:
        if self._question.bounded:
            self._fill(None, limit, (1, 2))

    def _fill(self, portion: Portion | None, limit: int | None, step: tuple[int, int]) -> None:
        for answer in self._each("candidates", partial(_counts_in, self._question, portion, limit), step):
            self._tally.add(answer, portion)

    def _each(self, name: str, work: Callable[[Group], R], step: tuple[int, int]) -> Iterator[R]:
        """The answers of all groups. Args: step: which of how many times that all are asked."""
        place, times = step

        def report(share: float) -> None:
            self._report((place + share) / times)

        return in_groups(self._records.workers, name, work, self._records.partitions, report)


def _sizes_in(question: AskedLength[T], group: Group) -> Integers:
    counted = (length for length in _counted_in(question, question.blank(), group))
    return added_sizes(length.sizes for length in counted if length.sizes is not None)


def _counts_in(question: AskedLength[T], portion: Portion | None, limit: int | None, group: Group) -> Answer:
    tally = question.blank(portion)
    for length in _counted_in(question, tally, group):
        if limit is not None:
            length.bound(limit)
    return tally.answer()


def _counted_in(question: AskedLength[T], tally: LengthTally[T], group: Group) -> Iterator[CountedLength]:
    """Each partition as a table of its own: who looks at one has seen the last of the one before."""
    for partition in group:
        with partition.folder() as folder:
            yield WholeLengths(read_coded_records(folder)).counted(question, tally, lambda share: None)


def sizes_of(sensitivity: Sensitivity) -> Integers:
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
