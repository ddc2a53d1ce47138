"""Counts of two or more sides in one numbering, one set of columns at a time: records or aggregates in.

The sides may have dictionaries of their own: they meet by column and value's text. A set of columns is an
ascending tuple of column indexes, a multi-valued column standing in it once per item; its *cells* are tuples
of codes, 0 for absent, the items of a column ascending. So nothing but one set's counts is ever in memory
beside the sides themselves.
"""

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.aggregates.dense import CellCounter, Cube
from tasks.core.aggregates.keys import joint_keys, run_lengths, run_starts
from tasks.core.records.coded import CodedRecords, Codes, code_type

Integers = npt.NDArray[np.int64]
Columns = tuple[int, ...]
Side = CodedRecords | Aggregates


class Numbering:
    """The values of all sides by column, and the slots that records of any side need."""

    def __init__(self, sides: Sequence[Side]) -> None:
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
        columns = sorted({column for side in tables for column in side.slot_columns})
        most = {column: max(side.slot_columns.count(column) for side in tables) for column in columns}
        self.slot_columns = tuple(column for column in columns for _ in range(most[column]))

    def sizes(self, columns: Iterable[int]) -> tuple[int, ...]:
        """Number of codes of each, 0 among them."""
        return tuple([self._sizes[column] for column in columns])

    def codes(self, column: int, texts: Sequence[str]) -> Integers:
        """The codes of 0 (absent) and of texts."""
        place = {text: code for code, text in enumerate(self.values[column], start=1)}
        return np.array([0, *(place[text] for text in texts)], np.int64)


class RecordCells:
    """Coded records, counted as they are asked for."""

    def __init__(self, slots: Sequence[Codes], numbering: Numbering) -> None:
        """Args: slots: by slot of the numbering, in its codes (see `recoded`)."""
        self._slots, self._numbering = slots, numbering
        self._owned = Counter(numbering.slot_columns)
        self._records = len(slots[0]) if slots else 0
        sizes = numbering.sizes(range(numbering.columns))
        self.counter = CellCounter(slots, numbering.slot_columns, sizes)

    def again(self) -> "RecordCells":
        """The same records for another thread: a counter remembers where it was."""
        return RecordCells(self._slots, self._numbering)

    def number_of_rows(self, columns: Columns) -> int:
        """How many rows `rows` has."""
        if len(self._owned) == len(self._slots):
            return self._records
        choices = (math.comb(self._owned[column], size) for column, size in Counter(columns).items())
        return self._records * math.prod(choices)

    def column_sets(self, length: int) -> set[Columns]:
        """The sets of columns that a record can have values of."""
        return set(itertools.combinations(self._numbering.slot_columns, length))

    def cube(self, columns: Columns) -> Cube:
        """Counts of all cells, the last column's code running fastest."""
        return self.counter.cube(columns)

    def rows(self, columns: Columns) -> tuple[Sequence[npt.NDArray[np.integer]], None]:
        """For each column the code of each row: a record and a choice of its slots, counted once."""
        return self.counter.rows(columns), None


class AggregateCells:
    """Aggregates by sets of columns; shared by all threads."""

    def __init__(self, aggregates: Aggregates, numbering: Numbering) -> None:
        """Args: aggregates: rows in any order. numbering: made of them among others."""
        self._numbering = numbering
        most = max((int(counts.max(initial=0)) for counts in aggregates.counts), default=0)
        self._count_type: type[np.integer] = np.uint32 if most < 1 << 32 else np.int64
        self._found: dict[Columns, tuple[Integers, Integers]] = {}
        columns = np.array([attribute.column for attribute in aggregates.attributes], np.int64)
        codes = np.array(
            [numbering.codes(column, [text])[1] for column, text in _named_values(aggregates)], np.int64
        )
        # Ascending by column, then by code, so that a row's items end up in order.
        places = columns * (codes.max(initial=0) + 1) + codes
        rank = np.argsort(np.argsort(places))
        by_rank = np.argsort(places)
        for ids, counts in zip(aggregates.combinations, aggregates.counts, strict=True):
            rows = by_rank[np.sort(rank[ids], axis=1)]
            self._group(columns[rows], codes[rows], counts)

    def _group(self, columns: Integers, codes: Integers, counts: Integers) -> None:
        sizes = [int(columns.max(initial=0)) + 1] * columns.shape[1]
        (keys,), _ = joint_keys([list(columns.T)], sizes)
        order = np.argsort(keys, kind="stable")
        starts = run_starts(keys[order])
        for start, end in itertools.pairwise([*starts.tolist(), len(keys)]):
            own = order[start:end]
            self._found[tuple(columns[own[0]].tolist())] = (codes[own], counts[own])

    def again(self) -> "AggregateCells":
        """The same for another thread."""
        return self

    def number_of_rows(self, columns: Columns) -> int:
        """How many combinations there are."""
        return len(self._found[columns][1]) if columns in self._found else 0

    def column_sets(self, length: int) -> set[Columns]:
        """The sets of columns that combinations are of."""
        return {columns for columns in self._found if len(columns) == length}

    def cube(self, columns: Columns) -> Cube:
        """Counts of all cells, the last column's code running fastest; absent ones 0."""
        sizes = self._numbering.sizes(columns)
        cube = np.zeros(math.prod(sizes), self._count_type)
        if columns in self._found:
            codes, counts = self._found[columns]
            cube[np.ravel_multi_index(tuple(codes.T), sizes)] = counts
        return cube

    def rows(self, columns: Columns) -> tuple[Sequence[npt.NDArray[np.integer]], Integers]:
        """For each column the code of each combination, and the counts."""
        nothing = (np.zeros((0, len(columns)), np.int64), np.zeros(0, np.int64))
        codes, counts = self._found.get(columns, nothing)
        return list(codes.T), counts


Cells = RecordCells | AggregateCells


def cells_of(sides: Sequence[Side]) -> tuple[Numbering, list[Cells]]:
    """All sides in one numbering."""
    numbering = Numbering(sides)
    found: list[Cells] = []
    for side in sides:
        if isinstance(side, Aggregates):
            found.append(AggregateCells(side, numbering))
        else:
            found.append(RecordCells(recoded(side, numbering), numbering))
    return numbering, found


def recoded(records: CodedRecords, numbering: Numbering) -> list[Codes]:
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


def distinct(keys: Integers, counts: Integers | None) -> tuple[Integers, Integers]:
    """Ascending keys and their counts; without counts each row counts once, with them keys are distinct."""
    if counts is not None:
        order = np.argsort(keys)
        return keys[order], counts[order]
    keys = np.sort(keys)
    starts = run_starts(keys)
    return keys[starts], run_lengths(starts, len(keys))


def _named_values(side: Side) -> Iterator[tuple[int, str]]:
    """Column and text of each of a side's values."""
    if isinstance(side, Aggregates):
        return ((a.column, a.value if a.item is None else a.item) for a in side.attributes)
    return ((column, value) for column, values in enumerate(side.values) for value in values)
