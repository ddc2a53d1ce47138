"""Noisy tables: what was measured of one set of columns, with the variance of its noise.

A column stands in a table as one axis. Its codes are the *cells* of the column: its values, `other` where the
column has it, `absent` where the column has it. A column of which each record holds exactly one cell can be
summed over; a multi-valued one, of which a record holds several, can't (a sum would count records several
times).
"""

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tasks.core.arrays import Flags, Floats, Ids, Integers
from tasks.core.fitting.kernels import count_record_cells


@dataclass(frozen=True)
class ImpossibleCells:
    """Cells of a set of columns that no record may be in.

    Attributes:
        columns: ascending, each once.
        mask: one axis a column.
    """

    columns: tuple[int, ...]
    mask: Flags

    def among(self, columns: Sequence[int]) -> Flags:
        """The same in a table that has these columns and more: an axis of 1 for each other one."""
        shape = [
            self.mask.shape[self.columns.index(column)] if column in self.columns else 1 for column in columns
        ]
        return self.mask.reshape(shape)


@dataclass(frozen=True)
class Domain:
    """How many cells each column has, and of which columns a record may hold several.

    Attributes:
        sizes: for each column the number of its cells, at least 1.
        caps: for each column the most items of a record; 1 is an ordinary column. Empty: all are.
        absent: for each column its cell that says that a record holds nothing, or None. Empty: all None.
        impossible: cells that no record may be in.
    """

    sizes: tuple[int, ...]
    caps: tuple[int, ...] = ()
    absent: tuple[int | None, ...] = ()
    impossible: tuple[ImpossibleCells, ...] = ()

    def shape(self, columns: Sequence[int]) -> tuple[int, ...]:
        return tuple(self.sizes[column] for column in columns)

    def impossible_in(self, columns: Sequence[int]) -> Flags | None:
        """Which cells of a table no record may be in; None for none, or where a column stands twice."""
        found = [cells for cells in self.impossible if {*cells.columns} <= {*columns}]
        if not found or len(set(columns)) < len(columns):
            return None
        mask = np.zeros(self.shape(columns), np.bool_)
        for cells in found:
            mask |= cells.among(columns)
        return mask

    @cached_property
    def multi_valued(self) -> frozenset[int]:
        return frozenset(column for column, cap in enumerate(self.caps) if cap > 1)

    def slots_of(self, column: int) -> int:
        return self.caps[column] if self.caps else 1

    def empty(self, column: int) -> int:
        """What a slot holds that holds nothing: the column's `absent` cell, else its size."""
        absent = self.absent[column] if self.absent else None
        return self.sizes[column] if absent is None else absent

    def first_slot(self, column: int) -> int:
        return sum(self.slots_of(before) for before in range(column))

    def choices_of_slots(self, columns: Sequence[int]) -> Iterator[tuple[int, ...]]:
        """For a table's columns, which slot of each to look at: every choice that counts a record's items.

        A column that stands twice gets two different slots, in both orders.

        >>> people = Domain(sizes=(3, 5), caps=(1, 2))
        >>> list(people.choices_of_slots((0, 1))), list(people.choices_of_slots((1, 1)))
        ([(0, 0), (0, 1)], [(0, 1), (1, 0)])
        """
        for slots in itertools.product(*(range(self.slots_of(column)) for column in columns)):
            used = list(zip(columns, slots, strict=True))
            if len(set(used)) == len(used):
                yield slots

    def cells(self, column: int, slot: int, records: Ids) -> Integers:
        """The cell that each record is in by one of its slots, or -1 where that slot puts it in none.

        An empty slot puts a record in `absent` if it is the column's first slot and all others are empty,
        too.
        """
        first, slots, empty = self.first_slot(column), self.slots_of(column), self.empty(column)
        codes = records[:, first + slot].astype(np.int64)
        if slots == 1:
            return codes
        alone = np.logical_and.reduce([records[:, first + other] == empty for other in range(slots)])
        is_absent = alone & (slot == 0) & (empty < self.sizes[column])
        return np.where((codes != empty) | is_absent, codes, -1)


@dataclass(frozen=True)
class NoisyTable:
    """Noisy counts of one set of columns.

    Attributes:
        columns: places in the domain, ascending; none is the number of records. A multi-valued column may
            stand twice in a table of its own: counts of unordered pairs of different items, in both (u, v)
            and (v, u).
        counts: float64, one axis a column; signed.
        variance: of each cell's noise, > 0, in squared records.
    """

    columns: tuple[int, ...]
    counts: Floats
    variance: float


def merged_tables(tables: Iterable[NoisyTable]) -> list[NoisyTable]:
    """One table for each set of columns: the inverse-variance mean of those that it has."""
    found: dict[tuple[int, ...], NoisyTable] = {}
    for table in tables:
        known = found.get(table.columns)
        if known is None:
            found[table.columns] = table
            continue
        weight, weight_of_known = 1 / table.variance, 1 / known.variance
        whole = weight + weight_of_known
        mean = (weight * table.counts + weight_of_known * known.counts) / whole
        found[table.columns] = NoisyTable(table.columns, mean, 1 / whole)
    return list(found.values())


def strides_of(shape: Sequence[int]) -> Integers:
    """By how many cells each axis moves in a table that lies row by row."""
    return np.cumprod([1, *reversed(shape[1:])], dtype=np.int64)[::-1][: len(shape)].copy()


def table_counts(domain: Domain, columns: tuple[int, ...], records: Ids) -> Integers:
    """How many records are in each cell of a table: int64, one axis a column.

    A record that holds several items of a column is counted once for each. A column that stands twice is
    counted by unordered pairs of different items; both (u, v) and (v, u) hold the count of the pair.

    >>> sex_and_town = np.array([[0, 1], [0, 1], [1, 0]], np.int32)
    >>> table_counts(Domain((2, 3)), (0, 1), sex_and_town).tolist()
    [[0, 2, 0], [1, 0, 0]]

    Args:
        columns: ascending.
        records: (n, slots), in each slot a cell of its column or its `Domain.empty`; fastest column by column
            in memory.
    """
    shape = domain.shape(columns)
    counts = np.zeros(math.prod(shape), np.int64)
    if not domain.multi_valued & set(columns):
        slots = np.array([domain.first_slot(column) for column in columns], np.int64)
        by_column = records.T
        if not (by_column.flags.c_contiguous and by_column.flags.writeable):
            # The kernel is compiled for one layout.
            by_column, slots = np.ascontiguousarray(by_column[slots]), np.arange(len(slots))
        count_record_cells(by_column, slots, strides_of(shape), counts)
        return counts.reshape(shape)
    for chosen in domain.choices_of_slots(columns):
        codes = [domain.cells(column, slot, records) for column, slot in zip(columns, chosen, strict=True)]
        inside = np.ones(len(records), bool)
        for code in codes:
            inside &= code >= 0
        at = np.zeros(int(inside.sum()), np.int64)
        for code, size in zip(codes, shape, strict=True):
            at = at * size + code[inside]
        counts += np.bincount(at, minlength=counts.size)
    return counts.reshape(shape)
