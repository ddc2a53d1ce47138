"""Rare and unique combinations: how many there are, and which records they single out (S2.3, S5.1).

What comes out is as sensitive as the records that go in.

It takes one pass over the lengths. A record with a rare combination of fewer attributes than are counted
has, with any other attribute of its own, a rare combination again. So which attributes a rare combination
contains needs to be looked at for the longest length alone, and only for the records that no shorter one
made unique.

    Ana, rare by her town alone: with any two of her other attributes it is rare again, so all of hers count
    Ben, rare by nothing shorter than a triple: his triples tell which of his attributes count
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tasks.core.aggregates.aggregates import Attribute
from tasks.core.aggregates.cubes import CubeTable, RecordSide, Tabulator, stored_sides, tabulator
from tasks.core.aggregates.kernels import look_up_marks, mark_rare
from tasks.core.aggregates.protection import round_down
from tasks.core.aggregates.stored_marginals import ROWS_A_READ, Marginals, table_schema
from tasks.core.aggregates.wide_form import CountedCells, attribute
from tasks.core.arrays import Bytes, ColumnNumbers, Flags, Integers
from tasks.core.records.coded import CodedFacts, CodedRecords

#: Combinations of up to so many attributes are listed as text in every run; all of them on request.
LISTED = 2


def percentage(part: int, whole: int) -> float:
    """0..100, and 0 of nothing."""
    return 100 * part / whole if whole else 0.0


@dataclass(frozen=True)
class RareByLength:
    """Distinct combinations of one length, those that few hold, and those that one record holds."""

    length: int
    combinations: int
    rare: int
    unique: int

    @property
    def proportion(self) -> float:
        return self.rare / self.combinations if self.combinations else 0.0


@dataclass(frozen=True)
class RecordAnalysis:
    """Records by the shortest length at which one of their combinations singles them out (S2.3).

    Attributes:
        unique: by length 1, 2, ...: records whose shortest unique combination has this length.
        rare: the same for rare combinations, of the records that have no unique one.
    """

    number_of_records: int
    unique: tuple[int, ...]
    rare: tuple[int, ...]

    def __add__(self, other: "RecordAnalysis") -> "RecordAnalysis":
        return RecordAnalysis(
            self.number_of_records + other.number_of_records,
            tuple(one + more for one, more in zip(self.unique, other.unique, strict=True)),
            tuple(one + more for one, more in zip(self.rare, other.rare, strict=True)),
        )

    @property
    def risky(self) -> tuple[int, ...]:
        return tuple(u + r for u, r in zip(self.unique, self.rare, strict=True))

    def protected(self, resolution: int) -> "RecordAnalysis":
        return RecordAnalysis(
            round_down(self.number_of_records, resolution),
            tuple(round_down(count, resolution) for count in self.unique),
            tuple(round_down(count, resolution) for count in self.rare),
        )


def rare_by_length(marginals: Marginals, resolution: int) -> list[RareByLength]:
    """How many combinations of each length are rare (count below the resolution)."""
    found = []
    for length in marginals.lengths:
        number, rare, unique = 0, 0, 0
        with pq.ParquetFile(marginals.path(length)) as file:
            for rows in file.iter_batches(ROWS_A_READ, columns=["count"]):
                counts = rows["count"].to_numpy()
                number += len(counts)
                rare += int(np.count_nonzero(counts < resolution))
                unique += int(np.count_nonzero(counts == 1))
        found.append(RareByLength(length, number, rare, unique))
    return found


def analysis_of(unique: Bytes, rare: Bytes, longest: int) -> RecordAnalysis:
    """How many records are singled out at which length first, of the lengths of each, 0 for none.

    Here are three records: one of nothing rare, one of a unique pair, one of a rare value. The second one's
    value is rare, too, but who is unique is not counted twice.

    >>> analysis_of(unique=np.array([0, 2, 0], np.uint8), rare=np.array([0, 1, 1], np.uint8), longest=2)
    RecordAnalysis(number_of_records=3, unique=(0, 1), rare=(1, 0))
    """
    ends = longest + 1
    found = (np.bincount(lengths, minlength=ends)[1:ends].tolist() for lengths in (unique, rare[unique == 0]))
    return RecordAnalysis(len(unique), *map(tuple, found))


def rarest_cells(marginals: Marginals, length: int, most: int) -> CountedCells:
    """The cells of one length with the smallest counts, those that come first in the file of equal ones.

    Reads counts alone wherever none is small enough; at most ``most`` cells, the smallest counts first.
    """
    parts = [table_schema(length).empty_table()]
    largest, found = 0, 0
    with pq.ParquetFile(marginals.path(length)) as file:
        for group in range(file.num_row_groups):
            counts = file.read_row_group(group, columns=["count"])["count"].to_numpy()
            if found == most and counts.min() >= largest:  # of equal counts those that came first stay
                continue
            places = np.sort(np.argsort(counts, kind="stable")[:most])
            rows = pa.concat_tables([*parts, file.read_row_group(group).take(pa.array(places))])
            order = np.argsort(rows["count"].to_numpy(), kind="stable")[:most]
            parts = [rows.take(pa.array(order))]
            largest, found = rows["count"].to_numpy()[order[-1]], len(order)
    (rows,) = parts
    return CountedCells.of(rows)


_RARE, _UNIQUE = np.uint8(1), np.uint8(2)


@dataclass(frozen=True)
class SingledOut:
    """What rare and unique combinations of 1 to R attributes do to records and attributes (S2.3).

    Attributes:
        unique_length: uint8 (n,): the shortest length at which one of the record's combinations is held
            by nobody else; 0 where there is none.
    """

    lengths: int
    unique_length: Bytes
    rare_length: Bytes
    linked: "LinkedAttributes"


@dataclass(frozen=True)
class LinkedAttributes:
    """Records by attribute; those of the partitions of one table add up.

    Attributes:
        held: for each column int64 by code: records that hold the value; code 0 stands for nothing.
    """

    held: tuple[Integers, ...]
    rare: tuple[Integers, ...]
    unique: tuple[Integers, ...]

    def __add__(self, other: "LinkedAttributes") -> "LinkedAttributes":
        pairs = ((self.held, other.held), (self.rare, other.rare), (self.unique, other.unique))
        return LinkedAttributes(
            *(tuple(one + more for one, more in zip(*both, strict=True)) for both in pairs)
        )


def single_out(records: CodedRecords, marginals: Marginals, resolution: int) -> SingledOut:
    """Find which records and which of their attributes rare and unique combinations single out.

    Args:
        records: what the marginals were counted from, all of it; they are counted again, which is less work
            than reading what was counted, in some four times their memory.
    """
    return _single_out(records, marginals, resolution, tabulator(records).tables, whole=0)


def single_out_of_whole(records: CodedRecords, marginals: Marginals, resolution: int) -> SingledOut:
    """The same of one partition of a table; of the whole table's ``marginals`` a few are read at a time."""
    tables = partial(_beside_the_whole, records, marginals)
    return _single_out(records, marginals, resolution, tables, whole=1)


def _beside_the_whole(
    records: CodedRecords, marginals: Marginals, sets: Sequence[ColumnNumbers]
) -> Iterator[CubeTable]:
    own, sizes = RecordSide(records.slots, records.slot_columns), [len(of) + 1 for of in records.values]
    for group, whole in stored_sides(marginals, sets):
        yield from Tabulator([own, whole], sizes).tables(group)


#: Counts sets of columns of one length, ascending; the first side of its tables are the records looked at.
_CountTables = Callable[[Sequence[ColumnNumbers]], Iterator[CubeTable]]


def _single_out(
    records: CodedRecords, marginals: Marginals, resolution: int, tables: _CountTables, whole: int
) -> SingledOut:
    """``whole`` is the side of the tables that is the whole table."""
    facts = marginals.facts
    size, longest = records.number_of_records, max(marginals.lengths, default=0)
    unique_at, rare_at = np.zeros(size, np.uint8), np.zeros(size, np.uint8)
    rare, unique = _Linked(records), _Linked(records)
    for length in marginals.lengths:
        still = np.flatnonzero(unique_at == 0)
        if length == longest:
            rare.add(np.flatnonzero(rare_at > 0))
            unique.add(np.flatnonzero(unique_at > 0))
        marks = np.zeros((len(records.slots), len(still)), np.uint8)
        for table in tables(facts.combinations(length)) if len(still) else ():
            for slots, of_slots in _found(table, still, resolution, whole):
                for targets, own in zip(slots, of_slots, strict=True):
                    marks[targets] |= own
        if length == longest:
            fresh = rare_at[still] == 0
            rare.add(still[fresh], (marks[:, fresh] & _RARE) > 0)
            unique.add(still, (marks & _UNIQUE) > 0)
        found = np.bitwise_or.reduce(marks, axis=0)
        rare_at[still[(found & _RARE > 0) & (rare_at[still] == 0)]] = length
        unique_at[still[found & _UNIQUE > 0]] = length
    held = _Linked(records)
    held.add(np.arange(size))
    linked = LinkedAttributes(held.counts, rare.counts, unique.counts)
    return SingledOut(longest, unique_at, rare_at, linked)


class FirstLengths:
    """At which length a record is rare first, and unique: told of tables by any thread, in any order."""

    def __init__(self, number_of_records: int, resolution: int) -> None:
        self._records, self._resolution = number_of_records, resolution
        self._marks: dict[int, tuple[Integers, Bytes]] = {}
        self._lock = threading.Lock()

    def look_at(self, table: CubeTable) -> None:
        length = table.length
        with self._lock:
            if length not in self._marks:
                # No length is the first beyond one at which a record is unique. A longer one says nothing:
                # another thread may have been told of it before.
                left = np.flatnonzero(self._first(_UNIQUE, length) == 0)
                self._marks[length] = (left, np.zeros(len(left), np.uint8))
            left, marks = self._marks[length]
        for _, found in _found(table, left, self._resolution):
            with self._lock:
                marks |= np.bitwise_or.reduce(found, axis=0)

    @property
    def unique(self) -> Bytes:
        return self._first(_UNIQUE)

    @property
    def rare(self) -> Bytes:
        """By record, unique ones among them; where a record is unique, lengths beyond are not looked at."""
        return self._first(_RARE)

    def _first(self, mark: np.uint8, below: int = 256) -> Bytes:
        first = np.zeros(self._records, np.uint8)
        for length in sorted((length for length in self._marks if length < below), reverse=True):
            left, marks = self._marks[length]
            first[left[marks & mark > 0]] = length
        return first


class _Linked:
    def __init__(self, records: CodedRecords) -> None:
        self._records = records
        self.counts = tuple(np.zeros(len(values) + 1, np.int64) for values in records.values)

    def add(self, rows: Integers, linked: Flags | None = None) -> None:
        """Add some records: every attribute of theirs, or those whose (slot, row) is linked."""
        for slot, column in enumerate(self._records.slot_columns):
            chosen = rows if linked is None else rows[linked[slot]]
            codes = self._records.slots[slot][chosen]
            held = np.bincount(codes, minlength=len(self.counts[column]))
            held[0] = 0
            self.counts[column][:] += held


def _found(
    table: CubeTable, records: Integers, resolution: int, whole: int = 0
) -> Iterator[tuple[Integers, Bytes]]:
    """The marks that the counts of a side leave on records, the first side: by choice of slots, and these."""
    marks = np.empty(table.cubes.shape[1], np.uint8)
    mark_rare(table.cubes[whole], table.whole, table.first, resolution, marks)
    for part in table.rows[0]:
        found = np.empty((len(part.slots), len(records)), np.uint8)
        look_up_marks(records, (part.numbers, part.last, table.size), marks, found)
        yield part.slots, found


@dataclass(frozen=True)
class LinkableAttribute:
    """An attribute, and how many of its records it helps to single out; percentages are 0..100."""

    attribute: Attribute
    records: int
    rare: int
    unique: int

    @property
    def rare_pct(self) -> float:
        return percentage(self.rare, self.records)

    @property
    def unique_pct(self) -> float:
        return percentage(self.unique, self.records)


@dataclass(frozen=True)
class LinkableColumn:
    """A column (its items together): how many attributes somebody holds, and their plain means, 0..100."""

    name: str
    attributes: int
    rare_pct: float
    unique_pct: float


@dataclass(frozen=True)
class Linkability:
    """How linkable a table is at a resolution and a reporting length; the most linkable come first."""

    attributes: tuple[LinkableAttribute, ...]
    columns: tuple[LinkableColumn, ...]


def linkability_of(found: LinkedAttributes, facts: CodedFacts) -> Linkability:
    """How linkable a table is; equally linkable ones stand by the other percentage, then in order."""
    of_columns = [_attributes_of(found, facts, column) for column in range(len(facts.values))]
    columns = [
        LinkableColumn(
            name=facts.schema.columns[index].name,
            attributes=len(attributes),
            rare_pct=_mean([each.rare_pct for each in attributes]),
            unique_pct=_mean([each.unique_pct for each in attributes]),
        )
        for index, attributes in enumerate(of_columns)
    ]
    attributes = sorted((each for own in of_columns for each in own), key=lambda each: each.attribute.text)
    return Linkability(
        attributes=tuple(sorted(attributes, key=lambda each: (-each.rare_pct, -each.unique_pct))),
        columns=tuple(sorted(columns, key=lambda each: (-each.rare_pct, -each.unique_pct))),
    )


def _attributes_of(found: LinkedAttributes, facts: CodedFacts, column: int) -> list[LinkableAttribute]:
    held, rare, unique = (counts[column].tolist() for counts in (found.held, found.rare, found.unique))
    of = facts.schema.columns[column]
    return [
        LinkableAttribute(attribute(of, column, value), held[code], rare[code], unique[code])
        for code, value in enumerate(facts.values[column], start=1)
        if held[code]
    ]


def _mean(percentages: list[float]) -> float:
    return float(np.mean(percentages)) if percentages else 0.0
