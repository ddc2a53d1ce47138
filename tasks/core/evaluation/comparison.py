"""Counts beside each other: records or aggregates in, sums by length and bin of the compared count out.

The sides may have dictionaries of their own: they meet by column and value's text. A set of columns is an
ascending tuple of column indexes, a multi-valued column standing in it once per item; its *cells* are
tuples of codes, 0 for absent, the items of a column ascending.

Records are counted as they are compared, one set of columns at a time, so that memory is that of the sides
and of one set's counts. Which zone the result belongs to is that of its inputs.
"""

import itertools
import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from typing import Any, NamedTuple

import numpy as np

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.aggregates.cubes import (
    CombinationCounts,
    CountedSide,
    CubeTable,
    ListedSide,
    RecordSide,
    Tabulator,
    stored_sides,
)
from tasks.core.aggregates.stored_marginals import Marginals
from tasks.core.arrays import Codes, ColumnNumbers, Floats, HalfWords, Ids, Integers, ShareDone
from tasks.core.errors import ParameterError
from tasks.core.evaluation import kernels
from tasks.core.evaluation.measures import Comparison, MarginalDistance, named_sums
from tasks.core.pool import map_on_threads
from tasks.core.queries import QueryResources
from tasks.core.records.coded import CodedFacts, CodedRecords, code_type
from tasks.core.records.columns import Schema
from tasks.core.synthesis.records import AnySynthetic


def code_synthetic(records: AnySynthetic, schema: Schema) -> CodedRecords:
    """Code the records: declared domains in declared order, other values in code-point order.

    A column has as many slots as the schema's cap or as its fullest record needs, whichever is more:
    synthesis draws items one by one and knows no cap.
    """
    number = len(schema.columns)
    held: list[set[str]] = [set() for _ in range(number)]
    texts = [a.value if a.item is None else a.item for a in records.attributes]
    for attribute, text in zip(records.attributes, texts, strict=True):
        held[attribute.column].add(text)
    values = tuple(
        (*(column.domain or ()), *sorted(own - set(column.domain or ())))
        for column, own in zip(schema.columns, held, strict=True)
    )
    code_of = [{value: code for code, value in enumerate(own, start=1)} for own in values]
    columns = np.array([attribute.column for attribute in records.attributes], np.int64)
    codes = np.array([code_of[c][text] for c, text in zip(columns.tolist(), texts, strict=True)], np.int64)
    most = np.array([column.max_items for column in schema.columns], np.int64)
    slots = slots_of_records(records, columns, codes, most)
    slot_columns = tuple(np.repeat(np.arange(number), most).tolist())
    narrow = (
        own.astype(code_type(len(values[column])), copy=False)
        for own, column in zip(slots, slot_columns, strict=True)
    )
    return CodedRecords(schema, tuple(narrow), slot_columns, values, records.number_of_records)


def slots_of_records(records: AnySynthetic, columns: Integers, codes: Integers, most: Integers) -> Codes:
    """The codes (slots, records) that records hold, by column and ascending; 0 stands for none.

    Args:
        columns, codes: of each attribute, codes from 1 on.
        most: of each column how many slots it has at least; filled with how many it gets.
    """
    for part in records.parts():
        kernels.most_items(part.offsets, part.attribute_ids, columns, most)
    first, kind, filled = np.cumsum(most) - most, code_type(int(codes.max(initial=0))), []
    for part in records.parts():
        own = np.zeros((int(most.sum()), part.number_of_records), kind)
        kernels.fill_slots((part.offsets, part.attribute_ids), columns, codes, first, own)
        filled.append(own)
    return filled[0] if len(filled) == 1 else np.concatenate(filled, axis=1)


@dataclass(frozen=True)
class CountedTable:
    """A table whose records are elsewhere: their counts, read a few sets of columns at a time.

    Attributes:
        cells: of each set of columns all cells, absent values among them, in the numbering of all sides and
            by its slots; of each length from 1 on.
    """

    facts: CodedFacts
    cells: Marginals

    @property
    def number_of_records(self) -> int:
        return self.facts.number_of_records


ComparedData = CodedRecords | CountedTable | Aggregates

#: Sets of columns that agree in so many at their beginning are compared by one thread.
_ALIKE = 2
#: A table of so many numbers of sets, or of as many as there are rows, is faster than sorting.
_FEW_SETS = 1 << 16


class SlotNumbering:
    """The values of all sides by column, and the slots that records of any side need."""

    def __init__(self, sides: Sequence[ComparedData | CodedFacts]) -> None:
        """Args: sides: of the same columns in the same order; of records it is enough what they are about."""
        about = [_facts_of(side) for side in sides]
        named = sorted({value for side in about for value in _named_values(side)})
        tables = [side for side in about if isinstance(side, CodedFacts)]
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


def _facts_of(side: ComparedData | CodedFacts) -> Aggregates | CodedFacts:
    if isinstance(side, CodedRecords):
        return side.facts
    return side.facts if isinstance(side, CountedTable) else side


class Unit(NamedTuple):
    """Sets of columns of one length that one thread compares, ascending.

    Those that agree in all but the last column are of one unit.

    Attributes: stored: their counts on the side that is read, where there is one.
    """

    sets: list[ColumnNumbers]
    stored: ListedSide | None = None


def _beginning(columns: ColumnNumbers) -> ColumnNumbers:
    return columns[:-1][:_ALIKE]


class ComparedSides:
    """What is counted side by side: records by their slots, aggregates by their combinations."""

    def __init__(self, sides: Sequence[ComparedData]) -> None:
        """Args: sides: of the same columns in the same order; records are taken in full."""
        self.numbering = SlotNumbering(sides)
        self._sides = sides
        self._listed = {
            place: _list_combinations(side, self.numbering)
            for place, side in enumerate(sides)
            if isinstance(side, Aggregates)
        }
        #: The side that is read while it is compared; None: all are in memory.
        self.stored = next((n for n, side in enumerate(sides) if isinstance(side, CountedTable)), None)
        #: For a `Tabulator`, with the sizes; without the side that is read.
        self.counted = [self._side(side, place) for place, side in enumerate(sides)]
        self.sizes = self.numbering.sizes(range(self.numbering.columns))

    def tabulator(self, unit: Unit | None = None) -> Tabulator:
        """Counts all sides; where one is read, those of a unit."""
        sides = list(self.counted)
        if self.stored is not None and unit is not None and unit.stored is not None:
            sides[self.stored] = unit.stored
        return Tabulator(sides, self.sizes)

    def units(self, sets: Sequence[ColumnNumbers]) -> Iterator[Unit]:
        """What of sets of one length is counted together, in order: those that begin alike share work."""
        side = None if self.stored is None else self._sides[self.stored]
        if isinstance(side, CountedTable):
            return itertools.starmap(Unit, stored_sides(side.cells, sets, _beginning))
        return (Unit(list(alike)) for _, alike in itertools.groupby(sets, key=_beginning))

    def _side(self, side: ComparedData, place: int) -> CountedSide:
        if isinstance(side, CodedRecords):
            return RecordSide(codes_by_slot(side, self.numbering), self.numbering.slot_columns)
        return ListedSide(self._listed.get(place, {}))

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


def _list_combinations(aggregates: Aggregates, numbering: SlotNumbering) -> dict[int, CombinationCounts]:
    columns = np.array([attribute.column for attribute in aggregates.attributes], np.int64)
    codes = np.array(
        [numbering.codes(column, [text])[1] for column, text in _named_values(aggregates)], np.uint32
    )
    levels = enumerate(zip(aggregates.combinations, aggregates.counts, strict=True), start=1)
    return {length: _list_length(ids, counts, columns, codes) for length, (ids, counts) in levels}


def _list_length(ids: Ids, counts: Integers, columns: Integers, codes: HalfWords) -> CombinationCounts:
    base = int(columns.max(initial=0)) + 1
    length = ids.shape[1]
    rows, sets = np.empty_like(ids), np.empty(len(ids), np.int64)
    kernels.order_by_column(ids, columns, codes, base, rows, sets)
    found, places = _numbered(sets, base**length)
    sizes = np.bincount(places, minlength=len(found))
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    grouped, own = np.empty((length, len(ids)), np.uint32), np.empty(len(ids), np.int64)
    kernels.put_together(rows, counts, codes, (places, bounds[:-1].copy()), (grouped, own))
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


def _named_values(side: Aggregates | CodedFacts) -> Iterator[tuple[int, str]]:
    if isinstance(side, Aggregates):
        return ((a.column, a.value if a.item is None else a.item) for a in side.attributes)
    return ((column, value) for column, values in enumerate(side.values) for value in values)


#: Sets of columns of so few records are compared by one thread: several would wait for the interpreter.
_FEW_RECORDS = 1 << 12


def compare_two(
    reference: ComparedData,
    compared: ComparedData,
    resolution: int,
    longest: int | None = None,
    resources: QueryResources = QueryResources(),
) -> Comparison:
    """Compare two sides (see `compare_sides`).

    >>> from tasks.core.records.coded import CodedRecords
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
    progress: ShareDone = lambda fraction: None,
    visit: Callable[[CubeTable], Any] | None = None,
    take: Callable[[Any], None] = lambda told: None,
) -> list[Comparison]:
    """Compare sides in pairs, each side counted once; equal results whatever the number of threads.

    Args:
        sides: of the same columns in the same order; records are taken in full.
        pairs: places in ``sides``: the one whose counts are taken as right, the one that is judged.
        longest: longest length compared; None: the shortest reporting length of aggregates. Aggregates that
            end before report nothing of the lengths beyond.
        progress: called with the fraction done, 0..1.
        visit: called by any thread with the counts of each set of columns, sides in order, or of some sets;
            may use them up.
        take: called with what ``visit`` gave, shortest sets first, otherwise in the order of the columns.

    Raises:
        ParameterError: if the resolution is below 1.
    """
    if resolution < 1:
        raise ParameterError(f"A reporting resolution is at least 1, not {resolution}.")
    own = ComparedSides(sides)
    sets = [own.column_sets(length + 1) for length in range(_longest(sides, own.numbering, longest))]
    sums = np.zeros((len(pairs), len(sets), kernels.MOST_BINS, len(kernels.MEASURES)))
    distances: list[list[Floats]] = [[] for _ in sets]
    done, number = 0, sum(map(len, sets))
    compare = partial(_compare_unit, pairs=np.array(pairs, np.int64), resolution=resolution, visit=visit)
    rows = sum(side.number_of_records for side in sides)
    threads = (resources.threads or os.cpu_count() or 1) if rows > _FEW_RECORDS else 1
    units = itertools.chain.from_iterable(map(own.units, sets))
    for families in _compare_units(compare, own, units, threads):
        for family in families:  # added up in one order, whoever found it first
            sums[:, family.length - 1] += family.sums
            distances[family.length - 1] += family.distances
            for told in family.told:
                take(told)
            done += len(family.distances)
        progress(done / number)
    return [
        Comparison(
            resolution=resolution,
            reference_records=sides[first].number_of_records,
            compared_records=sides[second].number_of_records,
            lengths=tuple(range(1, len(sets) + 1)),
            sums=named_sums(sums[place]),
            distances=()
            if isinstance(sides[first], Aggregates) or isinstance(sides[second], Aggregates)
            else tuple(_mean_distances([[found[place] for found in own] for own in distances])),
        )
        for place, (first, second) in enumerate(pairs)
    ]


class _Family(NamedTuple):
    """What was found of sets of columns that agree in all but the last, and told of each table."""

    length: int
    sums: Floats
    distances: list[Floats]
    told: list[Any]


def _mean_distances(by_length: Sequence[Sequence[float]]) -> Iterator[MarginalDistance]:
    for length, own in enumerate(by_length, start=1):
        if own:
            yield MarginalDistance(length, len(own), math.fsum(own) / len(own), max(own))


def _longest(sides: Sequence[ComparedData], numbering: SlotNumbering, longest: int | None) -> int:
    reported = [side.reporting_length for side in sides if isinstance(side, Aggregates)]
    if len(reported) == len(sides):
        return min(reported) if longest is None else longest
    # No side can have a combination of more attributes than records have slots.
    wanted = min(reported, default=len(numbering.slot_columns)) if longest is None else longest
    return min(wanted, len(numbering.slot_columns))


def _compare_units(
    compare: Callable[[Tabulator, Unit], list[_Family]],
    sides: ComparedSides,
    units: Iterator[Unit],
    threads: int,
) -> Iterator[list[_Family]]:
    if sides.stored is not None:
        return map_on_threads(
            lambda unit: compare(sides.tabulator(unit), unit), units, threads, ahead=2 * threads
        )
    free: SimpleQueue[Tabulator] = SimpleQueue()
    for _ in range(threads):
        free.put(sides.tabulator())

    def with_counter(unit: Unit) -> list[_Family]:
        counter = free.get()
        try:
            return compare(counter, unit)
        finally:
            free.put(counter)

    return map_on_threads(with_counter, units, threads)


def _compare_unit(
    counter: Tabulator,
    unit: Unit,
    pairs: Integers,
    resolution: int,
    visit: Callable[[CubeTable], Any] | None,
) -> list[_Family]:
    """Compare sets of columns; sums are taken family by family, whoever does it."""
    families = []
    for _, alike in itertools.groupby(unit.sets, key=lambda columns: columns[:-1]):
        sets = list(alike)
        sums = np.zeros((len(pairs), kernels.MOST_BINS, len(kernels.MEASURES)))
        family = _Family(len(sets[0]), sums, [], [])
        for table in counter.tables(sets):
            distances = np.empty((len(table.sets), len(pairs)))
            of = (table.cubes, table.totals, (table.whole, table.first))
            kernels.compare_cubes(*of, pairs, resolution, family.sums, distances)
            family.distances.extend(distances)
            if visit is not None:
                family.told.append(visit(table))
        families.append(family)
    return families
