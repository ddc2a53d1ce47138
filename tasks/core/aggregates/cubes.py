"""Counting in memory, one set of columns after the other, without a query or a file.

For synthetic records, and wherever records are counted a set of columns at a time. Sets that begin alike
share the numbers of what they have in common. Where few of the tuples of codes occur, those that do are
numbered anew: a cube has room for what occurs and the last column's codes, no more.

    sets in order     stack of prefixes         kept from the set before
    sex age town      () (sex) (sex age)        nothing
    sex age job       () (sex) (sex age)        all
    sex town job      () (sex) (sex town)       () (sex)
"""

import functools
import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tasks.core.aggregates import kernels
from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.aggregates.grouping import FilledCells, stored_combinations
from tasks.core.aggregates.stored_marginals import MarginalFacts, Marginals, slot_choices, slots_by_column
from tasks.core.aggregates.wide_form import CountedCells, aggregates_of_cells
from tasks.core.arrays import Codes, ColumnNumbers, Flags, HalfWords, Integers, SlotNumbers
from tasks.core.records.coded import CodedRecords


@dataclass(frozen=True)
class PrefixRows:
    """Rows of sets of columns that agree in all but the last.

    Attributes:
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
        self._slots, self._slot_columns = slots, slot_columns
        self._places = slots_by_column(slot_columns)
        self._records = len(slots[0]) if slots else 0

    def all_rows(self, length: int) -> int:
        return self._records

    def totals(self, prefix: ColumnNumbers, lasts: ColumnNumbers) -> Integers:
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
        codes = [self._slots[slot] for _, slot in blocks]
        return PrefixRows(
            parent=parent,
            rows=slice(0, self._records),
            last=np.stack(codes) if len(codes) > 1 else codes[0][None],
            sets=np.array([[place] for place, _ in blocks], np.uint32),
            slots=np.array([(*before, slot) for _, slot in blocks], np.int64),
        )

    def _following(self, chosen: SlotNumbers, column: int) -> SlotNumbers:
        # A column's slots are chosen in their order.
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
    """

    sets: Sequence[ColumnNumbers]
    bounds: Integers
    codes: Codes
    counts: Integers


class ListedSide:
    """Combinations, by length, that are counted already: a row each."""

    def __init__(self, levels: Mapping[int, CombinationCounts]) -> None:
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
        return self._bounds.get((length, ()), (0, 0))[1]

    def totals(self, prefix: ColumnNumbers, lasts: ColumnNumbers) -> Integers:
        length = len(prefix) + 1
        starts, ends = self._spans(prefix, lasts, length)
        return self._sums[length][ends] - self._sums[length][starts] if length in self._sums else ends

    def parts(self, prefix: ColumnNumbers, lasts: ColumnNumbers, length: int) -> Sequence[PrefixRows]:
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


#: Sets are taken together up to so many counts.
_STORED_CELLS_AT_ONCE = 1 << 20


def stored_sides(
    marginals: Marginals,
    sets: Sequence[ColumnNumbers],
    alike: Callable[[ColumnNumbers], Hashable] = lambda columns: None,
) -> Iterator[tuple[list[ColumnNumbers], ListedSide]]:
    """All sets in their order, some at a time, and the stored counts of these.

    Sets that agree in all but the last are always together, others only where ``alike`` is equal.
    """
    if not sets:
        return
    counts = _Counts(marginals, len(sets[0]))
    for _, every in itertools.groupby(sets, key=alike):
        group: list[ColumnNumbers] = []
        for _, family in itertools.groupby(every, key=lambda columns: columns[:-1]):
            group += family
            counts.take(group)
            if counts.waiting >= _STORED_CELLS_AT_ONCE:
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
            self._ids = {each: number for number, each in enumerate(marginals.facts.combinations(length))}
            self._cells = stored_combinations(marginals.path(length))
        self._head = next(self._cells, None)
        self._taken: list[FilledCells] = []
        self.waiting = 0  # counts that were taken since the last side

    def take(self, group: Sequence[ColumnNumbers]) -> None:
        for columns in group[len(self._taken) :]:
            number = self._ids.get(columns)
            found = FilledCells((np.empty(0, np.uint32),) * self._length, np.empty(0, np.int64))
            while self._head is not None and number is not None and self._head[0] <= number:
                if self._head[0] == number:
                    found = self._head[1]
                self._head = next(self._cells, None)
            self._taken.append(found)
            self.waiting += len(found.counts)

    def side(self, group: Sequence[ColumnNumbers]) -> ListedSide:
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


#: A cube has at most so many cells, and (unless they are few) so many a row.
_MOST_CELLS = 1 << 22
_CELLS_A_ROW = 64
_FEW_CELLS = 1 << 12
#: Beyond so few rows a cell, cells that do not occur cost more than numbering those anew that do.
_ROWS_A_CELL = 32
_MOST_OF_32_BITS = 1 << 32
#: Several sets are counted in one table up to so many rows and cells: a table costs more than its counts.
_ROWS_AT_ONCE = 1 << 15
_CELLS_AT_ONCE = 1 << 15


@dataclass(frozen=True)
class _Prefix:
    """What sets of columns begin with.

    Attributes:
        numbers: by side and part, the number of each row's cell.
        held: by side and part, which rows these are; None: all of them.
        codes: of each cell, (cells, columns).
        whole: whether none of them is 0, (cells,).
    """

    columns: ColumnNumbers
    length: int
    numbers: Sequence[Sequence[HalfWords]]
    held: Sequence[Sequence[Integers | None]]
    codes: HalfWords
    whole: Flags


@dataclass(frozen=True)
class CountedRows:
    """Rows that were counted.

    Attributes:
        numbers: of each one's prefix.
        counts: what each stands for; None: for one.
        slots: (blocks, length): rows are blocks of all records, each of other slots; of no slots (1, 0).
    """

    numbers: HalfWords
    last: Codes
    counts: Integers | None
    slots: Integers


@dataclass(frozen=True)
class CubeTable:
    """The counts of sets of columns that agree in all but the last: of one, or of several if rows are few.

    Attributes:
        cubes: (sides, cells) counts, set by set, the last column's codes running fastest, absent ones (code
            0) among them; of a multi-valued column every choice of slots counts. The next table takes their
            room.
        totals: their sums, (sets, sides).
        first: the first of the last column's codes that is not absent.
        codes: of each set's prefixes, (sets * prefixes, length - 1).
        whole: by prefix, whether nothing in it is absent.
    """

    sets: Sequence[ColumnNumbers]
    cubes: kernels.Cube
    totals: Integers
    size: int
    first: int
    codes: HalfWords
    whole: Flags
    rows: Sequence[Sequence[CountedRows]]

    @property
    def length(self) -> int:
        return len(self.sets[0])

    def cells(self, side: int = 0) -> tuple[HalfWords, Integers]:
        """Codes (N, length) of a side's filled cells without an absent value, and their numbers, in order."""
        cube = self.cubes[side]
        most = min(len(cube), sum(len(part.last) for part in self.rows[side]))
        codes, cells = np.empty((most, self.length), np.uint32), np.empty(most, np.int64)
        number = kernels.list_present(cube, (self.codes, self.whole), self.first, codes, cells)
        return codes[:number], cells[:number]

    def filled_cells(self) -> tuple[HalfWords, Integers]:
        """As `cells`, of the first side, those with an absent value among them, whose code is 0."""
        cells = np.flatnonzero(self.cubes[0])
        prefixes = cells // max(self.size, 1)
        last = cells - prefixes * self.size
        codes = self.codes[prefixes]
        if self.first:  # where it is 0, prefixes are all there is
            codes = np.column_stack([codes, last.astype(np.uint32)])
        return codes, cells

    def sets_of(self, cells: Integers) -> Integers:
        cells_a_set = self.cubes.shape[1] // len(self.sets)
        return np.asarray(cells // max(cells_a_set, 1), np.int64)


class Tabulator:
    """Counts the sides' rows by cells of sets of columns. One thread's; it remembers where it was."""

    def __init__(self, sides: Sequence[CountedSide], sizes: Sequence[int], *, absent: bool = True) -> None:
        """Count sides of the same codes.

        Rows with an absent value are left out as soon as they have one, unless these cells are wanted.
        """
        self._sides, self._sizes, self._absent = sides, sizes, absent
        self._stack: list[_Prefix] = []
        self._room: kernels.Cube = np.empty(0, np.uint32)

    def tables(self, sets: Iterable[ColumnNumbers]) -> Iterator[CubeTable]:
        """The counts of all sets in their order, each table gone when the next is asked for.

        Sets that begin alike should stand together: they share work, and a table where rows are few.
        """
        for columns, alike in itertools.groupby(sets, key=lambda columns: columns[:-1]):
            lasts = tuple(own[-1] for own in alike)
            prefix = self._prefix(columns, len(columns) + 1)
            step = self._at_once(prefix, lasts)
            for start in range(0, len(lasts), step):
                yield self._table(prefix, lasts[start : start + step])

    def _at_once(self, prefix: _Prefix, lasts: ColumnNumbers) -> int:
        rows = sum(len(numbers) for side in prefix.numbers for numbers in side)
        cells = len(prefix.whole) * max(self._sizes[last] for last in lasts)
        return max(1, min(_ROWS_AT_ONCE // max(rows, 1), min(_CELLS_AT_ONCE, _MOST_CELLS) // max(cells, 1)))

    def _prefix(self, columns: ColumnNumbers, length: int) -> _Prefix:
        while self._stack and (
            self._stack[-1].length != length
            or columns[: len(self._stack[-1].columns)] != self._stack[-1].columns
        ):
            self._stack.pop()
        if not self._stack:
            self._stack.append(self._nothing(length))
        for depth in range(len(self._stack[-1].columns), len(columns)):
            own = self._longer(self._stack[-1], columns[depth])
            self._stack.append(own)
        return self._stack[-1]

    def _nothing(self, length: int) -> _Prefix:
        numbers = []
        for side in self._sides:
            numbers.append([np.zeros(side.all_rows(length), np.uint32)])
        held = [[None] for _ in self._sides]
        return _Prefix((), length, numbers, held, np.empty((1, 0), np.uint32), np.ones(1, np.bool_))

    def _parts(self, prefix: _Prefix, lasts: ColumnNumbers) -> list[list[tuple[HalfWords, PrefixRows]]]:
        parts = []
        for side, numbers, held in zip(self._sides, prefix.numbers, prefix.held, strict=True):
            found = []
            for part in side.parts(prefix.columns, lasts, prefix.length):
                rows = held[part.parent]
                own = part if rows is None else replace(part, last=part.last[:, rows])
                found.append((numbers[part.parent][part.rows], own))
            parts.append(found)
        return parts

    def _held(
        self, prefix: _Prefix, parts: list[list[tuple[HalfWords, PrefixRows]]]
    ) -> list[list[Integers | None]]:
        """Which rows parts are of; those without the last value are taken out of them, if unwanted."""
        found: list[list[Integers | None]] = []
        for side, before in zip(parts, prefix.held, strict=True):
            found.append([before[part.parent] for _, part in side])
            for place, (numbers, part) in enumerate(side):
                if self._absent or part.last.all():
                    continue
                present, rows = np.flatnonzero(part.last[0]), found[-1][place]
                side[place] = (numbers[present], replace(part, last=part.last[:, present]))
                found[-1][place] = present if rows is None else rows[present]
        return found

    def _longer(self, prefix: _Prefix, column: int, *, anew: bool = False) -> _Prefix:
        """One column more; ``anew``: cells that occur are numbered anew, however few do not."""
        parts, size = self._parts(prefix, (column,)), self._sizes[column]
        held = self._held(prefix, parts)
        bound = len(prefix.whole) * size
        rows = sum(len(numbers) for side in parts for numbers, _ in side)
        # Beyond the largest table, numbers are found by sorting.
        sorts = bound > _largest(rows)
        kind: type[np.integer[Any]] = np.int64 if sorts else np.uint32
        numbers = [
            [before.astype(kind) * kind(size) + part.last[0] for before, part in side] for side in parts
        ]
        if sorts:
            numbers, cells = _sorted_anew(numbers)
        elif anew or bound > rows // _ROWS_A_CELL:
            cells = _marked_anew(numbers, bound)
        else:
            cells = np.arange(bound)
        codes = np.empty((len(cells), len(prefix.columns) + 1), np.uint32)
        whole = np.empty(len(cells), np.bool_)
        kernels.spell_out(cells, size, prefix.codes, codes, whole)
        return _Prefix((*prefix.columns, column), prefix.length, numbers, held, codes, whole)

    def _table(self, prefix: _Prefix, lasts: ColumnNumbers) -> CubeTable:
        size, first = max(self._sizes[last] for last in lasts), 1
        parts = self._parts(prefix, lasts)
        prefixes = len(prefix.whole) if len(lasts) > 1 else 0
        rows = [[_rows_of(before, part, prefixes) for before, part in side] for side in parts]
        number = sum(len(own.last) for side in rows for own in side)
        if len(lasts) == 1 and len(prefix.whole) * size > _largest(number):
            longer = self._longer(prefix, *lasts, anew=True)
            rows = [
                [
                    replace(own, numbers=numbers, last=np.zeros(len(numbers), np.uint8))
                    for own, numbers in zip(*both, strict=True)
                ]
                for both in zip(rows, longer.numbers, strict=True)
            ]
            size, first, prefix = 1, 0, longer
        sets = [(*prefix.columns[: prefix.length - 1], last) for last in lasts]
        totals = np.stack([side.totals(sets[0][:-1], lasts) for side in self._sides], axis=1)
        cubes = self._cubes(int(totals.max(initial=0)), len(sets) * len(prefix.whole) * size)
        for cube, side in zip(cubes, rows, strict=True):
            _add(side, size, cube)
        codes, whole = prefix.codes, prefix.whole
        if len(sets) > 1:
            codes, whole = np.tile(codes, (len(sets), 1)), np.tile(whole, len(sets))
        return CubeTable(sets, cubes, totals, size, first, codes, whole, rows)

    def _cubes(self, most: int, cells: int) -> kernels.Cube:
        """Zeros for every side, all of one type, the smaller one where counts up to ``most`` fit."""
        kind, size = np.dtype(np.uint32 if most < _MOST_OF_32_BITS else np.int64), len(self._sides) * cells
        if len(self._room) < size or self._room.dtype != kind:
            self._room = np.empty(1 << size.bit_length(), kind)
        self._room[:size] = 0
        return self._room[:size].reshape(len(self._sides), cells)


def _largest(rows: int) -> int:
    """The most cells of a cube of so many rows."""
    return min(_MOST_CELLS, max(_FEW_CELLS, _CELLS_A_ROW * rows))


def _rows_of(before: HalfWords, part: PrefixRows, prefixes: int) -> CountedRows:
    """The rows of a part; each set has so many prefixes of its own (0: there is one set)."""
    numbers = (before + part.sets * np.uint32(prefixes)).ravel() if prefixes else before
    return CountedRows(numbers, part.last.reshape(-1), part.counts, part.slots)


def _add(rows: Sequence[CountedRows], size: int, cube: kernels.Cube) -> None:
    for own in rows:
        if own.counts is None:
            kernels.add_cells(own.numbers, own.last, size, cube)
        else:
            kernels.add_counts(own.numbers, own.last, size, own.counts, cube)


def _marked_anew(numbers: Sequence[Sequence[HalfWords]], bound: int) -> Integers:
    """Number cells anew by a table of all of them; the ones that occur, by their new number."""
    marks = np.zeros(bound, np.int32)
    for own in (own for side in numbers for own in side):
        kernels.mark_cells(own, marks)
    cells = np.empty(np.count_nonzero(marks), np.int64)
    kernels.number_marked(marks, cells)
    for own in (own for side in numbers for own in side):
        kernels.renumber(own, marks)
    return cells


def _sorted_anew(numbers: Sequence[Sequence[npt.NDArray[Any]]]) -> tuple[list[list[HalfWords]], Integers]:
    """The same by sorting: new numbers, and the cells that occur."""
    every = [own for side in numbers for own in side]
    cells, found = np.unique(np.concatenate([np.empty(0, np.int64), *every]), return_inverse=True)
    ends = np.cumsum([len(own) for own in every])
    pieces = iter(np.split(found.astype(np.uint32), ends[:-1]))
    return [[next(pieces) for _ in side] for side in numbers], cells


def count_in_memory(records: CodedRecords, longest: int) -> Aggregates:
    """The counts of all combinations of up to so many attributes (-1: all lengths).

    >>> from tasks.core.records.columns import Column, Schema
    >>> slots = np.array([1, 2, 1], np.uint8), np.array([2, 1, 0], np.uint8)
    >>> values = ("female", "male"), ("Lille", "Lyon")
    >>> people = CodedRecords(Schema((Column("sex"), Column("town"))), slots, (0, 1), values, 3)
    >>> found = count_in_memory(people, longest=2)
    >>> [attribute.text for attribute in found.attributes]
    ['sex:female', 'sex:male', 'town:Lille', 'town:Lyon']
    >>> found.combinations[1].tolist(), found.counts[1].tolist()
    ([[0, 3], [1, 2]], [1, 1])
    """
    facts, levels = counted_cells(records, longest)
    return aggregates_of_cells(facts, records.number_of_records, levels.values())


def counted_cells(
    records: CodedRecords, longest: int
) -> tuple[MarginalFacts, dict[int, Iterator[CountedCells]]]:
    """What `count_in_memory` is made of: by length the cells of each set of columns, counted when read."""
    size = records.number_of_records
    facts = MarginalFacts(records.schema, records.slot_columns, records.values, size).up_to(longest)
    counter = tabulator(records, absent=False)
    return facts, {length: cells_of_length(facts, counter, length) for length in facts.lengths}


def tabulator(records: CodedRecords, *, absent: bool = True) -> Tabulator:
    sides = [RecordSide(records.slots, records.slot_columns)]
    return Tabulator(sides, [len(values) + 1 for values in records.values], absent=absent)


def cells_of_length(
    facts: MarginalFacts, counter: Tabulator, length: int, *, absent: bool = False
) -> Iterator[CountedCells]:
    """The cells of each set of columns of a length, in the order of stored marginals."""
    first = 0
    for table in counter.tables(facts.combinations(length)):
        codes, cells = table.filled_cells() if absent else table.cells()
        ids = (first + table.sets_of(cells)).astype(np.uint32)
        yield CountedCells(ids, codes, table.cubes[0][cells].astype(np.int64))
        first += len(table.sets)
