"""What is counted side by side: records or listed combinations in, rows of a set of columns out."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from tasks.core.aggregates.stored_marginals import slot_choices
from tasks.core.records.coded import Codes

Integers = npt.NDArray[np.int64]
#: Indexes of columns, ascending; a multi-valued column once for each item.
Columns = tuple[int, ...]


@dataclass(frozen=True)
class Part:
    """Rows of a set of columns.

    Attributes:
        parent: which part of the set without its last column they are of.
        rows: which rows of it.
        last: their codes of the last column.
        counts: what they stand for; None: each for one.
    """

    parent: int
    rows: slice
    last: Codes
    counts: Integers | None = None


class Side(Protocol):
    """What is counted."""

    def number_of_rows(self, columns: Columns) -> int:
        """How many rows a set of columns has."""

    def largest_count(self, columns: Columns) -> int:
        """No cell of a set has more."""

    def total(self, columns: Columns) -> int:
        """The sum of a set's counts."""

    def parts(self, columns: Columns, length: int) -> Sequence[Part]:
        """The rows of the first columns of sets of so many columns."""


class RecordSide:
    """Records: a row each, once for each choice of a multi-valued column's slots."""

    def __init__(self, slots: Sequence[Codes], slot_columns: tuple[int, ...]) -> None:
        """Args: slots: codes by slot. slot_columns: their columns."""
        self._slots, self._slot_columns = slots, slot_columns
        self._records = len(slots[0]) if slots else 0

    def number_of_rows(self, columns: Columns) -> int:
        """Records times choices of slots."""
        return self._records * len(_choices(columns, self._slot_columns))

    largest_count = total = number_of_rows

    def parts(self, columns: Columns, length: int) -> Sequence[Part]:
        """A part a choice of slots."""
        before = {slots: place for place, slots in enumerate(_choices(columns[:-1], self._slot_columns))}
        every = slice(0, self._records)
        return [
            Part(before[slots[:-1]], every, self._slots[slots[-1]])
            for slots in _choices(columns, self._slot_columns)
        ]


@functools.lru_cache(maxsize=1 << 12)
def _choices(columns: Columns, slot_columns: tuple[int, ...]) -> list[tuple[int, ...]]:
    return list(slot_choices(columns, slot_columns))


@dataclass(frozen=True)
class Listed:
    """Combinations of one length, those of a set of columns together, sets ascending.

    Attributes:
        sets: of columns, each once.
        bounds: where the combinations of each set begin, and the last ones end, (sets + 1,).
        codes: by place in the set, of each combination, none of them 0, (length, N).
        counts: of each combination, (N,).
    """

    sets: Sequence[Columns]
    bounds: Integers
    codes: Codes
    counts: Integers


class ListedSide:
    """Combinations that are counted already: a row each."""

    def __init__(self, levels: Mapping[int, Listed]) -> None:
        """Args: levels: by length."""
        self._levels = levels
        self._most = max((int(level.counts.max(initial=0)) for level in levels.values()), default=0)
        self._bounds: dict[tuple[int, Columns], tuple[int, int]] = {}
        for length, level in levels.items():
            for place, columns in enumerate(level.sets):
                start, end = level.bounds[place : place + 2].tolist()
                for depth in range(length + 1):
                    first, _ = self._bounds.get((length, columns[:depth]), (start, end))
                    self._bounds[length, columns[:depth]] = (first, end)

    def number_of_rows(self, columns: Columns) -> int:
        """How many combinations of the set there are."""
        start, end = self._bounds.get((len(columns), columns), (0, 0))
        return end - start

    def largest_count(self, columns: Columns) -> int:
        """Of all combinations."""
        return self._most

    def total(self, columns: Columns) -> int:
        """The sum of the set's counts."""
        start, end = self._bounds.get((len(columns), columns), (0, 0))
        return int(self._levels[len(columns)].counts[start:end].sum()) if end else 0

    def parts(self, columns: Columns, length: int) -> Sequence[Part]:
        """One part."""
        nothing = (0, 0)
        start, end = self._bounds.get((length, columns), nothing)
        before, _ = self._bounds.get((length, columns[:-1]), nothing)
        if start == end:
            return [Part(0, slice(0, 0), np.empty(0, np.uint8), np.empty(0, np.int64))]
        level, depth = self._levels[length], len(columns)
        counts = level.counts[start:end] if depth == length else None
        return [Part(0, slice(start - before, end - before), level.codes[depth - 1, start:end], counts)]

    def all_rows(self, length: int) -> int:
        """How many combinations of a length there are."""
        return self._bounds.get((length, ()), (0, 0))[1]
