"""Exact counts, for a draw to put noise on.

A draw asks two things of the records: how many hold each value, and how many are in each cell of a table.
Either is a sum of what single records answer. So a table may be whole or lie in partitions, in one process
or in many: its counts are the same whole numbers.
"""

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from tasks.core.arrays import ColumnNumbers, Ids, Integers
from tasks.core.dp.tags import records_below
from tasks.core.dp.workload.cells import ColumnCells, domain_of, map_records
from tasks.core.fitting.noisy_tables import table_counts
from tasks.core.parts.store import StoredPart
from tasks.core.parts.workers import Counts, total
from tasks.core.records.coded import CodedRecords
from tasks.core.records.table import RecordTable

#: Tables of partitions are asked for together up to so many cells: a partition is read once for all of them.
_CELLS_AT_ONCE = 1 << 25


@dataclass(frozen=True)
class Look:
    """How a draw looks at each record: by public constants, and by numbers that were drawn before.

    Attributes:
        below: as of `tallies.Sample`.
        filled: columns in which an empty cell counts as the declared value for what is outside (W1).
        cells: of each column, once they are known.
    """

    below: int | None = None
    filled: tuple[int, ...] = ()
    cells: tuple[ColumnCells, ...] = field(default=(), repr=False)

    def at(self, records: CodedRecords) -> CodedRecords:
        """The records that are looked at, each repaired by itself."""
        return filled(records_below(records.measured, self.below), self.filled)


class ExactCounts:
    """A table of the public schema, to be asked wherever its parts are.

    A part in this process is coded by cell once for all tables.

    Attributes:
        facts: of the whole table, columns that others decide included.
    """

    def __init__(self, table: RecordTable) -> None:
        # Read now, while nothing is charged yet.
        self.facts, self._table, self._only = table.facts, table, table.only
        self._mapped: tuple[Look, Ids] | None = None

    def of_values(self, look: Look) -> Counts:
        """For each measured column how many records hold each of its values, and then how many hold none."""
        if self._only is not None:
            return value_counts(look.at(self._only))
        return total(self._table.workers, "values", partial(_values_of, look=look), self._table.parts)

    def of_tables(self, look: Look, tables: Sequence[ColumnNumbers]) -> Iterator[Integers]:
        """For each set of columns the records in each cell, as `table_counts` gives them."""
        if self._only is not None:
            return self._tables_here(self._only, look, tables)
        return self._tables_in_parts(look, tables)

    def _tables_here(
        self, records: CodedRecords, look: Look, tables: Sequence[ColumnNumbers]
    ) -> Iterator[Integers]:
        if self._mapped is None or self._mapped[0] != look:
            self._mapped = look, map_records(look.at(records), look.cells)
        domain, slots = domain_of(look.cells), self._mapped[1]
        return (table_counts(domain, columns, slots) for columns in tables)

    def _tables_in_parts(self, look: Look, tables: Sequence[ColumnNumbers]) -> Iterator[Integers]:
        for together in _together(look, tables):
            asked = partial(_tables_of, look=look, tables=together)
            yield from total(self._table.workers, "tables", asked, self._table.parts)


def _values_of(part: StoredPart, look: Look) -> Counts:
    with part.folder() as folder:
        return ExactCounts(RecordTable.in_folder(folder)).of_values(look)


def _tables_of(part: StoredPart, look: Look, tables: Sequence[ColumnNumbers]) -> Counts:
    with part.folder() as folder:
        return list(ExactCounts(RecordTable.in_folder(folder)).of_tables(look, tables))


def _together(look: Look, tables: Sequence[ColumnNumbers]) -> Iterator[list[ColumnNumbers]]:
    """The tables, in order, in groups of so many cells."""
    domain, group, cells = domain_of(look.cells), list[ColumnNumbers](), 0
    for columns in tables:
        size = math.prod(domain.shape(columns))
        if group and cells + size > _CELLS_AT_ONCE:
            yield group
            group, cells = [], 0
        group.append(columns)
        cells += size
    if group:
        yield group


def filled(records: CodedRecords, columns: Collection[int]) -> CodedRecords:
    """The records with `other` in every empty cell of some columns: each record is repaired alone (W1)."""
    slots = list(records.slots)
    for slot, column in enumerate(records.slot_columns):
        about = records.schema.columns[column]
        if column in columns and about.domain is not None and about.other is not None:
            other = about.domain.index(about.other) + 1
            slots[slot] = np.where(slots[slot] == 0, slots[slot].dtype.type(other), slots[slot])
    return replace(records, slots=tuple(slots))


def value_counts(records: CodedRecords) -> Counts:
    """For each column how many records hold each of its values, and then how many hold none.

    >>> from tasks.core.records.columns import Column, Schema
    >>> town = (np.array([1, 2, 1, 0], np.uint8),)
    >>> [counts.tolist() for counts in value_counts(CodedRecords(
    ...     Schema((Column("town"),)), town, (0,), (("Lille", "Lyon"),), 4))]
    [[2, 1, 1]]
    """
    return [_of_column(records, column, len(values)) for column, values in enumerate(records.values)]


def _of_column(records: CodedRecords, column: int, number: int) -> Integers:
    counts = np.zeros(number + 1, np.int64)
    holds = np.zeros(records.number_of_records, bool)
    for codes, of_slot in zip(records.slots, records.slot_columns, strict=True):
        if of_slot == column:
            counts[:number] += np.bincount(codes, minlength=number + 1)[1 : number + 1]
            holds |= codes > 0
    counts[-1] = records.number_of_records - int(holds.sum())
    return counts
