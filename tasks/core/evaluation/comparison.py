"""Counts beside each other: records or aggregates in, sums by length and bin of the compared count out.

See `measures` for what they are. Records are counted as they are compared, one set of columns at a time: no
table of all combinations is made, so that memory is that of the sides and of one set's counts. Which zone
the result belongs to is that of its inputs.

The sides may have dictionaries of their own: they meet by column and value's text. A set of columns is an
ascending tuple of column indexes, a multi-valued column standing in it once per item; its *cells* are
tuples of codes, 0 for absent, the items of a column ascending.
"""

import itertools
import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

import numpy as np

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.aggregates.cubes import CubeTable, Tabulator
from tasks.core.aggregates.sides import CombinationCounts, ListedSide, RecordSide
from tasks.core.arrays import Codes, ColumnNumbers, Floats, HalfWords, Ids, Integers
from tasks.core.errors import ParameterError
from tasks.core.evaluation import kernels
from tasks.core.evaluation.kernels import order_by_column, put_together
from tasks.core.evaluation.measures import Comparison, MarginalDistance, named_sums
from tasks.core.pool import mapped
from tasks.core.queries import QueryResources
from tasks.core.records.coded import CodedRecords, code_type

ComparedData = CodedRecords | Aggregates

#: A table of so many numbers of sets, or of as many as there are rows, is faster than sorting.
_FEW_SETS = 1 << 16


class SlotNumbering:
    """The values of all sides by column, and the slots that records of any side need."""

    def __init__(self, sides: Sequence[ComparedData]) -> None:
        """Args: sides: of the same columns in the same order."""
        named = sorted({value for side in sides for value in _named_values(side)})
        tables = [side for side in sides if isinstance(side, CodedRecords)]
        held = [column + 1 for column, _ in named]
        #: How many columns there are.
        self.columns = max([0, *held, *(len(side.schema.columns) for side in tables)])
        self.values: list[list[str]] = [[] for _ in range(self.columns)]
        for column, text in named:
            self.values[column].append(text)
        self._sizes = [len(own) + 1 for own in self.values]
        self._codes = [{text: code for code, text in enumerate(own, start=1)} for own in self.values]
        columns = sorted({column for side in tables for column in side.slot_columns})
        most = {column: max(side.slot_columns.count(column) for side in tables) for column in columns}
        self.slot_columns = tuple(column for column in columns for _ in range(most[column]))

    def sizes(self, columns: Iterable[int]) -> tuple[int, ...]:
        """Number of codes of each, 0 among them."""
        return tuple([self._sizes[column] for column in columns])

    def codes(self, column: int, texts: Sequence[str]) -> Integers:
        """The codes of 0 (absent) and of texts."""
        own = self._codes[column]
        return np.array([0, *(own[text] for text in texts)], np.int64)


class ComparedSides:
    """What is counted side by side: records by their slots, aggregates by their combinations."""

    def __init__(self, sides: Sequence[ComparedData]) -> None:
        """Args: sides: of the same columns in the same order; records are taken in full."""
        self.numbering = SlotNumbering(sides)
        self._sides = sides
        self._listed = {
            place: _listed(side, self.numbering)
            for place, side in enumerate(sides)
            if isinstance(side, Aggregates)
        }
        #: For a `Tabulator`, with the sizes.
        self.counted = [
            ListedSide(self._listed[place])
            if isinstance(side, Aggregates)
            else RecordSide(codes_by_slot(side, self.numbering), self.numbering.slot_columns)
            for place, side in enumerate(sides)
        ]
        self.sizes = self.numbering.sizes(range(self.numbering.columns))

    def column_sets(self, length: int) -> list[ColumnNumbers]:
        """The sets of columns that any side can have combinations of, ascending."""
        found: set[ColumnNumbers] = set()
        if len(self._listed) < len(self._sides):
            found.update(itertools.combinations(self.numbering.slot_columns, length))
        for levels in self._listed.values():
            if length in levels:
                found.update(levels[length].sets)
        return sorted(found)


def codes_by_slot(records: CodedRecords, numbering: SlotNumbering) -> list[Codes]:
    """The records by slot of the numbering and in its codes, items ascending, empty slots last."""
    slots: list[Codes] = []
    for column, same in itertools.groupby(numbering.slot_columns):
        codes = numbering.codes(column, records.values[column])
        unchanged = np.array_equal(codes, np.arange(len(codes)))
        table = codes.astype(code_type(*numbering.sizes((column,))))
        pairs = zip(records.slots, records.slot_columns, strict=True)
        own = [held if unchanged else table[held] for held, owner in pairs if owner == column]
        if len(own) > 1 and not unchanged:
            own = _ascending(own)
        missing = len(list(same)) - len(own)
        slots += [*own, *[np.zeros(records.number_of_records, np.uint8)] * missing]
    return slots


def _ascending(slots: list[Codes]) -> list[Codes]:
    """Each record's items in order; less one, an absent one wraps around and comes last."""
    return list(np.sort(np.stack(slots) - slots[0].dtype.type(1), axis=0) + slots[0].dtype.type(1))


def _listed(aggregates: Aggregates, numbering: SlotNumbering) -> dict[int, CombinationCounts]:
    columns = np.array([attribute.column for attribute in aggregates.attributes], np.int64)
    codes = np.array(
        [numbering.codes(column, [text])[1] for column, text in _named_values(aggregates)], np.uint32
    )
    levels = enumerate(zip(aggregates.combinations, aggregates.counts, strict=True), start=1)
    return {length: _level(ids, counts, columns, codes) for length, (ids, counts) in levels}


def _level(ids: Ids, counts: Integers, columns: Integers, codes: HalfWords) -> CombinationCounts:
    base = int(columns.max(initial=0)) + 1
    length = ids.shape[1]
    rows, sets = np.empty_like(ids), np.empty(len(ids), np.int64)
    order_by_column(ids, columns, codes, base, rows, sets)
    found, places = _numbered(sets, base**length)
    sizes = np.bincount(places, minlength=len(found))
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    grouped, own = np.empty((length, len(ids)), np.uint32), np.empty(len(ids), np.int64)
    put_together(rows, counts, codes, (places, bounds[:-1].copy()), (grouped, own))
    # A set's number has its columns as digits.
    named = [tuple(int(key) // base**place % base for place in range(length - 1, -1, -1)) for key in found]
    return CombinationCounts(named, bounds, grouped, own)


def _numbered(sets: Integers, bound: int) -> tuple[Integers, Integers]:
    """The numbers below ``bound`` that occur, ascending, and of each given one its place among them."""
    if bound > max(_FEW_SETS, len(sets)):
        found, places = np.unique(sets, return_inverse=True)
        return found, places
    occurs = np.bincount(sets, minlength=bound) > 0
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[sets]


def _named_values(side: ComparedData) -> Iterator[tuple[int, str]]:
    if isinstance(side, Aggregates):
        return ((a.column, a.value if a.item is None else a.item) for a in side.attributes)
    return ((column, value) for column, values in enumerate(side.values) for value in values)


#: Sets of columns that agree in so many at their beginning are compared by one thread.
_ALIKE = 2
#: Sets of columns of so few records are compared by one thread: several would wait for the interpreter.
_FEW_RECORDS = 1 << 12


@dataclass(frozen=True)
class Listener:
    """Who is told while sides are compared.

    Attributes:
        progress: called with the fraction done, 0..1.
        visit: called by any thread with the counts of each set of columns, sides in order, or of some sets;
            may use them up.
        take: called with what ``visit`` gave, shortest sets first, otherwise in the order of the columns.
    """

    progress: Callable[[float], None] = lambda fraction: None
    visit: Callable[[CubeTable], Any] | None = None
    take: Callable[[Any], None] = lambda told: None


def compare_two(
    reference: ComparedData,
    compared: ComparedData,
    resolution: int,
    longest: int | None = None,
    resources: QueryResources = QueryResources(),
) -> Comparison:
    """Compare two sides (see `compare_sides`).

    >>> from tasks.core.records.columns import Column, Schema
    >>> def women_and_men(*codes):
    ...     sex = (np.array(codes, np.uint8),)
    ...     return CodedRecords(Schema((Column("sex"),)), sex, (0,), (("female", "male"),), len(codes))
    >>> found = compare_two(women_and_men(1, 1, 1, 2), women_and_men(1, 1, 1, 1), resolution=2)
    >>> found.total("suppressed"), found.total("error_kept"), float(found.distances[0].largest)
    (1.0, 1.0, 0.25)
    """
    return compare_sides((reference, compared), ((0, 1),), resolution, longest, resources)[0]


def compare_sides(
    sides: Sequence[ComparedData],
    pairs: Sequence[tuple[int, int]],
    resolution: int,
    longest: int | None = None,
    resources: QueryResources = QueryResources(),
    listener: Listener = Listener(),
) -> list[Comparison]:
    """Compare sides in pairs, each side counted once; equal results whatever the number of threads.

    Args:
        sides: of the same columns in the same order; records are taken in full.
        pairs: places in ``sides``: the one whose counts are taken as right, the one that is judged.
        resolution: at least 1.
        longest: longest length compared; None: the shortest reporting length of aggregates. Aggregates that
            end before report nothing of the lengths beyond.
        resources: number of threads.
        listener: who is told meanwhile.

    Raises:
        ParameterError: if the resolution is below 1.
    """
    if resolution < 1:
        raise ParameterError(f"A reporting resolution is at least 1, not {resolution}.")
    own = ComparedSides(sides)
    lengths = tuple(range(1, _longest(sides, own.numbering, longest) + 1))
    units = [unit for length in lengths for unit in _units(own.column_sets(length))]
    totals = [_Total(len(lengths)) for _ in pairs]
    done, number = 0, sum(map(len, units))

    places = _Pairs(np.array(pairs, np.int64), resolution)

    def run(counter: Tabulator, unit: list[ColumnNumbers]) -> list[_Family]:
        return list(_compared(counter, unit, places, listener.visit))

    rows = sum(side.number_of_records for side in sides)
    threads = (resources.threads or os.cpu_count() or 1) if rows > _FEW_RECORDS else 1
    for unit, families in zip(units, _mapped(run, own, units, threads), strict=True):
        for family in families:
            for place, total in enumerate(totals):
                total.add(len(unit[0]), family.sums[place], [found[place] for found in family.distances])
            for told in family.told:
                listener.take(told)
        done += len(unit)
        listener.progress(done / number)
    return [
        total.comparison((sides[first], sides[second]), resolution)
        for total, (first, second) in zip(totals, pairs, strict=True)
    ]


@dataclass(frozen=True)
class _Pairs:
    """Which sides are compared, (pairs, 2), and the resolution."""

    places: Integers
    resolution: int


@dataclass
class _Family:
    """What was found of sets of columns that agree in all but the last.

    Attributes:
        sums: by pair, bin and measure.
        distances: by set and pair.
        told: what was told of each table.
    """

    sums: Floats
    distances: list[Floats]
    told: list[Any]


class _Total:
    """What is found of one pair of sides, added up in one order whoever found it first."""

    def __init__(self, lengths: int) -> None:
        self._sums = np.zeros((lengths, kernels.MOST_BINS, len(kernels.MEASURES)))
        self._distances: list[list[float]] = [[] for _ in range(lengths)]

    def add(self, length: int, sums: Floats, distances: Iterable[float]) -> None:
        self._sums[length - 1] += sums
        self._distances[length - 1] += distances

    def comparison(self, sides: tuple[ComparedData, ComparedData], resolution: int) -> Comparison:
        both_records = all(isinstance(side, CodedRecords) for side in sides)
        distances = (
            MarginalDistance(length, len(own), math.fsum(own) / len(own), max(own))
            for length, own in enumerate(self._distances, start=1)
            if own
        )
        return Comparison(
            resolution=resolution,
            reference_records=sides[0].number_of_records,
            compared_records=sides[1].number_of_records,
            lengths=tuple(range(1, len(self._sums) + 1)),
            sums=named_sums(self._sums),
            distances=tuple(distances) if both_records else (),
        )


def _longest(sides: Sequence[ComparedData], numbering: SlotNumbering, longest: int | None) -> int:
    reported = [side.reporting_length for side in sides if isinstance(side, Aggregates)]
    if len(reported) == len(sides):
        return min(reported) if longest is None else longest
    # No side can have a combination of more attributes than records have slots.
    wanted = min(reported, default=len(numbering.slot_columns)) if longest is None else longest
    return min(wanted, len(numbering.slot_columns))


def _units(sets: Sequence[ColumnNumbers]) -> Iterator[list[ColumnNumbers]]:
    """What one thread does at a time: sets of columns that begin alike share work."""
    for _, unit in itertools.groupby(sets, key=lambda columns: columns[:-1][:_ALIKE]):
        yield list(unit)


def _mapped(
    run: Callable[[Tabulator, list[ColumnNumbers]], list[_Family]],
    sides: ComparedSides,
    units: Sequence[list[ColumnNumbers]],
    threads: int,
) -> Iterator[list[_Family]]:
    free: SimpleQueue[Tabulator] = SimpleQueue()
    for _ in range(threads):
        free.put(Tabulator(sides.counted, sides.sizes))

    def with_counter(unit: list[ColumnNumbers]) -> list[_Family]:
        counter = free.get()
        try:
            return run(counter, unit)
        finally:
            free.put(counter)

    return mapped(with_counter, units, threads)


def _compared(
    counter: Tabulator, sets: list[ColumnNumbers], pairs: _Pairs, visit: Callable[[CubeTable], Any] | None
) -> Iterator[_Family]:
    """Compare sets of columns; sums are taken family by family, whoever does it."""
    number = len(pairs.places)
    for _, family in itertools.groupby(sets, key=lambda columns: columns[:-1]):
        found = _Family(np.zeros((number, kernels.MOST_BINS, len(kernels.MEASURES))), [], [])
        for table in counter.tables(family):
            distances = np.empty((len(table.sets), number))
            of = (table.cubes, table.totals, (table.whole, table.first))
            kernels.compare_cubes(*of, pairs.places, pairs.resolution, found.sums, distances)
            found.distances += list(distances)
            if visit is not None:
                found.told.append(visit(table))
        yield found
