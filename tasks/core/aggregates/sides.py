"""What is counted side by side: records or listed combinations in, rows of a set of columns out."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from tasks.core.aggregates.stored_marginals import slot_choices, slots_by_column
from tasks.core.arrays import Codes, ColumnNumbers, HalfWords, Integers, SlotNumbers


@dataclass(frozen=True)
class PrefixRows:
    """Rows of sets of columns that agree in all but the last.

    Attributes:
        parent: which part of the columns that they agree in they are of.
        rows: which rows of it.
        last: their codes of the last column, (blocks, rows).
        sets: which of the sets they are of, (blocks, 1) or (1, rows).
        counts: what they stand for, (rows,); None: each for one.
        slots: that hold the codes of each block, (blocks, length); of no slots, (1, 0).
    """

    parent: int
    rows: slice | Integers
    last: Codes
    sets: HalfWords
    counts: Integers | None = None
    slots: Integers = field(default_factory=lambda: np.empty((1, 0), np.int64))


class CountedSide(Protocol):
    """What is counted. Sets of columns are given by what they agree in, and the last column of each."""

    def all_rows(self, length: int) -> int:
        """How many rows there are before a column is looked at, of sets of so many columns."""

    def totals(self, prefix: ColumnNumbers, lasts: ColumnNumbers) -> Integers:
        """The sum of each set's counts."""

    def parts(self, prefix: ColumnNumbers, lasts: ColumnNumbers, length: int) -> Sequence[PrefixRows]:
        """The rows of each set; sets are the first columns of sets of ``length``."""


class RecordSide:
    """Records: a row each, once for each choice of a multi-valued column's slots."""

    def __init__(self, slots: Sequence[Codes], slot_columns: tuple[int, ...]) -> None:
        """Args: slots: codes by slot. slot_columns: their columns."""
        self._slots, self._slot_columns = slots, slot_columns
        self._places = slots_by_column(slot_columns)
        self._records = len(slots[0]) if slots else 0

    def all_rows(self, length: int) -> int:
        """Every record."""
        return self._records

    def totals(self, prefix: ColumnNumbers, lasts: ColumnNumbers) -> Integers:
        """Records times choices of slots."""
        chosen = _choices(prefix, self._slot_columns)
        choices = [sum(len(self._following(slots, last)) for slots in chosen) for last in lasts]
        return self._records * np.array(choices, np.int64)

    def parts(self, prefix: ColumnNumbers, lasts: ColumnNumbers, length: int) -> Sequence[PrefixRows]:
        """A part a choice of slots; of several sets, a part a choice of the slots that they agree in."""
        parts = []
        for parent, before in enumerate(_choices(prefix, self._slot_columns)):
            pairs = [
                (place, slot) for place, last in enumerate(lasts) for slot in self._following(before, last)
            ]
            # The codes of one block are taken as they are, not copied.
            together = [[pair] for pair in pairs] if len(lasts) == 1 else [pairs] if pairs else []
            parts += [self._part(parent, before, blocks) for blocks in together]
        return parts

    def _part(self, parent: int, before: SlotNumbers, blocks: list[tuple[int, int]]) -> PrefixRows:
        """A block for each set and slot."""
        codes = [self._slots[slot] for _, slot in blocks]
        return PrefixRows(
            parent=parent,
            rows=slice(0, self._records),
            last=np.stack(codes) if len(codes) > 1 else codes[0][None],
            sets=np.array([[place] for place, _ in blocks], np.uint32),
            slots=np.array([(*before, slot) for _, slot in blocks], np.int64),
        )

    def _following(self, chosen: SlotNumbers, column: int) -> SlotNumbers:
        """The slots of a column that may be chosen after others."""
        own = self._places.get(column, ())
        if not chosen or self._slot_columns[chosen[-1]] != column:
            return own
        return own[own.index(chosen[-1]) + 1 :]


@functools.lru_cache(maxsize=1 << 12)
def _choices(columns: ColumnNumbers, slot_columns: tuple[int, ...]) -> list[tuple[int, ...]]:
    return list(slot_choices(columns, slot_columns))


@dataclass(frozen=True)
class CombinationCounts:
    """Combinations of one length, those of a set of columns together, sets ascending.

    Attributes:
        sets: of columns, each once.
        bounds: where the combinations of each set begin, and the last ones end, (sets + 1,).
        codes: by place in the set, of each combination, none of them 0, (length, N).
        counts: of each combination, (N,).
    """

    sets: Sequence[ColumnNumbers]
    bounds: Integers
    codes: Codes
    counts: Integers


class ListedSide:
    """Combinations that are counted already: a row each."""

    def __init__(self, levels: Mapping[int, CombinationCounts]) -> None:
        """Args: levels: by length."""
        self._levels = levels
        self._sums = {
            length: np.concatenate([[0], np.cumsum(level.counts)]) for length, level in levels.items()
        }
        self._bounds: dict[tuple[int, ColumnNumbers], tuple[int, int]] = {}
        for length, level in levels.items():
            for place, columns in enumerate(level.sets):
                start, end = level.bounds[place : place + 2].tolist()
                for depth in range(length + 1):  # sets that begin alike stand together, and so do their rows
                    first, _ = self._bounds.get((length, columns[:depth]), (start, end))
                    self._bounds[length, columns[:depth]] = (first, end)

    def all_rows(self, length: int) -> int:
        """How many combinations of a length there are."""
        return self._bounds.get((length, ()), (0, 0))[1]

    def totals(self, prefix: ColumnNumbers, lasts: ColumnNumbers) -> Integers:
        """The sum of each set's counts."""
        length = len(prefix) + 1
        starts, ends = self._spans(prefix, lasts, length)
        return self._sums[length][ends] - self._sums[length][starts] if length in self._sums else ends

    def parts(self, prefix: ColumnNumbers, lasts: ColumnNumbers, length: int) -> Sequence[PrefixRows]:
        """One part, if there is a row."""
        starts, ends = self._spans(prefix, lasts, length)
        sizes = ends - starts
        if not sizes.any():
            return []
        before, _ = self._bounds[length, prefix]
        first, number = int(starts[0]), int(sizes.sum())
        rows: slice | Integers = slice(first, first + number)
        if len(lasts) > 1:
            # The ranges from starts to ends, one behind the other, as one list.
            rows = np.arange(number) + np.repeat(starts - np.cumsum(sizes) + sizes, sizes)
        level, sets = self._levels[length], np.repeat(np.arange(len(lasts), dtype=np.uint32), sizes)
        counts = level.counts[rows] if len(prefix) + 1 == length else None
        inside = slice(first - before, first - before + number) if isinstance(rows, slice) else rows - before
        return [PrefixRows(0, inside, level.codes[len(prefix)][None, rows], sets[None], counts)]

    def _spans(self, prefix: ColumnNumbers, lasts: ColumnNumbers, length: int) -> tuple[Integers, Integers]:
        spans = [self._bounds.get((length, (*prefix, last)), (0, 0)) for last in lasts]
        starts, ends = np.array(spans, np.int64).T
        return starts, ends
