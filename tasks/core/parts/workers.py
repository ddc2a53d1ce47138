"""Who works on parts: a function and parts go in, what it gives for each comes out, in the parts' order.

Where the work is done, in this process or on a cluster, nobody here knows. So the function is one of a
module (or a `functools.partial` of one), and what it takes and gives can be sent. It may be called twice for
a part, where a machine is lost: it gives the same again.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeVar

from tasks.core.arrays import Integers

P = TypeVar("P")
R = TypeVar("R")
#: Whole numbers of one part, or of all: an array a question.
Counts = list[Integers]
#: Numbers are added up where they are counted, so that no more answers than these come to one place.
_MOST_ANSWERS = 64


class Workers(Protocol):
    """Somebody who does the same work for each of many parts."""

    def each(self, name: str, work: Callable[[P], R], parts: Sequence[P]) -> Iterator[R]:
        """What the work gives for each part, in their order.

        Args:
            name: of the work, for who watches: a word or two.
            work: can be sent; gives the same for the same part.
            parts: can be sent.

        Raises:
            MarginaliaError: what the work of a part raised.
        """


@dataclass(frozen=True)
class InProcess(Workers):
    """One part after the other, in this process."""

    def each(self, name: str, work: Callable[[P], R], parts: Sequence[P]) -> Iterator[R]:
        """See `Workers`.

        >>> list(InProcess().each("count", len, ["Lyon", "Lille"]))
        [4, 5]
        """
        return map(work, parts)


def total(workers: Workers, name: str, work: Callable[[P], Counts], parts: Sequence[P]) -> Counts:
    """The sums of whole numbers that are counted in each part: the same, however parts are grouped.

    >>> import numpy as np
    >>> total(InProcess(), "count", lambda town: [np.array([len(town)])], ["Lyon", "Lille"])
    [array([9])]

    Args:
        workers: who counts.
        name: see `Workers.each`.
        work: counts in one part.
        parts: at least one.
    """
    return _added(workers.each(name, partial(_of_group, work), groups_of(parts)))


def groups_of(parts: Sequence[P]) -> list[Sequence[P]]:
    """The parts in order, neighbours together, in so few groups that one place can take an answer of each.

    >>> [len(group) for group in groups_of(range(130))][:2], len(groups_of(range(130)))
    ([3, 3], 44)
    """
    size = max(1, -(-len(parts) // _MOST_ANSWERS))
    return [parts[start : start + size] for start in range(0, len(parts), size)]


def _of_group(work: Callable[[P], Counts], group: Sequence[P]) -> Counts:
    return _added(map(work, group))


def _added(answers: Iterator[Counts]) -> Counts:
    sums = [counts.copy() for counts in next(answers)]
    for counts in answers:
        for sum_, one in zip(sums, counts, strict=True):
            sum_ += one
    return sums
