"""Stored counts, to be counted beside others: marginals go in, a few sets of columns at a time come out.

Read in the order of the file, so that what is in memory are the counts of a few sets, whatever the table.
"""

import itertools
from collections.abc import Callable, Hashable, Iterator, Sequence

import numpy as np

from tasks.core.aggregates.grouping import FilledCells
from tasks.core.aggregates.merging import stored_combinations
from tasks.core.aggregates.sides import CombinationCounts, ListedSide
from tasks.core.aggregates.stored_marginals import Marginals
from tasks.core.arrays import ColumnNumbers

#: Sets are taken together up to so many counts.
_CELLS_AT_ONCE = 1 << 20


def stored_sides(
    marginals: Marginals,
    sets: Sequence[ColumnNumbers],
    alike: Callable[[ColumnNumbers], Hashable] = lambda columns: None,
) -> Iterator[tuple[list[ColumnNumbers], ListedSide]]:
    """All sets in their order, some at a time, and the stored counts of these.

    Args:
        marginals: all combinations of the sets' length; sets that they do not know have no counts.
        sets: of columns, of one length, ascending.
        alike: sets are together only where this is equal; those that agree in all but the last always are.
    """
    if not sets:
        return
    counts = _Counts(marginals, len(sets[0]))
    for _, every in itertools.groupby(sets, key=alike):
        group: list[ColumnNumbers] = []
        for _, family in itertools.groupby(every, key=lambda columns: columns[:-1]):
            group += family
            counts.take(group)
            if counts.waiting >= _CELLS_AT_ONCE:
                yield group, counts.side(group)
                group = []
        if group:
            yield group, counts.side(group)


class _Counts:
    """The counts of one length, read on as sets are asked for."""

    def __init__(self, marginals: Marginals, length: int) -> None:
        self._length = length
        self._ids: dict[ColumnNumbers, int] = {}
        self._cells: Iterator[tuple[int, FilledCells]] = iter(())
        if length in marginals.lengths:
            self._ids = {columns: number for number, columns in marginals.facts.counted(length).items()}
            self._cells = stored_combinations(marginals.path(length))
        self._head = next(self._cells, None)
        self._taken: list[FilledCells] = []
        #: How many counts have been taken since the last side.
        self.waiting = 0

    def take(self, group: Sequence[ColumnNumbers]) -> None:
        """Read the counts of those sets of a group that have not been read."""
        for columns in group[len(self._taken) :]:
            number, found = self._ids.get(columns), _none(self._length)
            while self._head is not None and number is not None and self._head[0] <= number:
                if self._head[0] == number:
                    found = self._head[1]
                self._head = next(self._cells, None)
            self._taken.append(found)
            self.waiting += len(found.counts)

    def side(self, group: Sequence[ColumnNumbers]) -> ListedSide:
        """What has been taken, which is of these sets."""
        sizes = [len(cells.counts) for cells in self._taken]
        codes = [
            np.concatenate([cells.codes[place] for cells in self._taken], dtype=np.uint32)
            for place in range(self._length)
        ]
        counts = CombinationCounts(
            sets=group,
            bounds=np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]),
            codes=np.stack(codes),
            counts=np.concatenate([cells.counts for cells in self._taken], dtype=np.int64),
        )
        self._taken, self.waiting = [], 0
        return ListedSide({self._length: counts})


def _none(length: int) -> FilledCells:
    return FilledCells((np.empty(0, np.uint32),) * length, np.empty(0, np.int64))
