"""The cells of each column, and which of them each record is in.

A column has a cell for each of its values, `other` where it is open (or where a value was left out for
space), and `absent` unless every record must hold something. Which cells there are follows from the schema
and from released values alone, never from what the table holds (W1, W12). `other` and `absent` are codes,
not texts: a value spelt "other" is a value.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from tasks.core.arrays import ColumnNumbers, Ids, Integers
from tasks.core.fitting.noisy_tables import Domain, ImpossibleCells, NoisyTable
from tasks.core.records.coded import CodedRecords
from tasks.core.records.columns import Schema
from tasks.core.records.rulebook import Coding, Rulebook


@dataclass(frozen=True)
class ColumnCells:
    """The cells of one column: its values, then `other`, then `absent`, so far as it has them.

    >>> town = ColumnCells(("Lille", "Lyon"), has_other=True)
    >>> town.size, town.other, town.absent
    (4, 2, 3)

    Attributes:
        values: what codes 0, 1, ... stand for; declared, or released at length 1 in code-point order.
        cap: the most items of one record; 1 is an ordinary column.
    """

    values: tuple[str, ...]
    has_other: bool = False
    has_absent: bool = True
    cap: int = 1

    @property
    def size(self) -> int:
        return len(self.values) + self.has_other + self.has_absent

    @property
    def other(self) -> int | None:
        return len(self.values) if self.has_other else None

    @property
    def absent(self) -> int | None:
        return self.size - 1 if self.has_absent else None

    @property
    def most_items(self) -> int:
        """w: the most cells but `absent` that one record is in (workloads, section 1)."""
        return 1 if self.cap == 1 else max(1, min(self.cap, len(self.values) + self.has_other))


def cells_of_all_columns(schema: Schema, measured: tuple[ColumnCells, ...]) -> tuple[ColumnCells, ...]:
    """The cells of measured columns, then of those that others decide."""
    decided = schema.columns[len(schema.measured.columns) :]
    return (*measured, *(ColumnCells(column.domain or ()) for column in decided))


def domain_of(cells: tuple[ColumnCells, ...], schema: Schema | None = None) -> Domain:
    """The sizes, caps and absent cells, as the fit takes them; with a schema also the cells it rules out."""
    domain = Domain(
        sizes=tuple(column.size for column in cells),
        caps=tuple(column.cap for column in cells),
        absent=tuple(column.absent for column in cells),
    )
    if schema is None or not schema.constraints:
        return domain
    masks = Rulebook(schema, coding_of_cells(cells, schema)).masks()
    impossible = tuple(
        ImpossibleCells(columns, mask[tuple(slice(size) for size in domain.shape(columns))])
        for columns, mask in masks
    )
    return replace(domain, impossible=impossible)


def coding_of_cells(cells: tuple[ColumnCells, ...], schema: Schema) -> Coding:
    """What cells stand for. `other` becomes some released value, or nothing where none was released.

    In a column without a cell for absence, the declared value for what is outside stands for an empty one.
    """
    domain = domain_of(cells)
    texts: list[tuple[tuple[str, ...], ...]] = []
    absent: list[int] = []
    for place, (column, about) in enumerate(zip(cells, schema.columns, strict=False)):
        known = [(value,) for value in column.values]
        others = [column.values or ("",)] if column.has_other else []
        if not column.has_absent and about.other is not None:
            texts.append(tuple(known))
            absent.append(column.values.index(about.other))
        else:
            texts.append((*known, *others, ("",)))  # the last one also where it is only an empty slot
            absent.append(domain.empty(place))
    return Coding(
        tuple(texts),
        tuple(absent),
        tuple(
            range(domain.first_slot(column), domain.first_slot(column) + about.cap)
            for column, about in enumerate(cells)
        ),
    )


def map_records(records: CodedRecords, cells: tuple[ColumnCells, ...]) -> Ids:
    """phi: each record's cells, slot by slot; a function of that record alone.

    A single value becomes itself, `other`, or `absent`. Items become the set of those that have a cell, and
    `other` once if any has none; a slot that holds nothing holds the column's `absent`, or its size where
    it has none.

    Returns:
        int32 (n, slots).
    """
    domain = domain_of(cells)
    slots = np.empty((records.number_of_records, len(records.slots)), np.int32, order="F")
    for place, (codes, column) in enumerate(zip(records.slots, records.slot_columns, strict=True)):
        slots[:, place] = _translation(records.values[column], cells[column], domain.empty(column))[codes]
    for column, about in enumerate(cells):
        if about.cap > 1 and about.other is not None:
            first = domain.first_slot(column)
            _keep_one(slots[:, first : first + about.cap], about.other, domain.empty(column))
    return slots


def _translation(texts: tuple[str, ...], cells: ColumnCells, empty: int) -> Ids:
    known = {value: code for code, value in enumerate(cells.values)}
    instead = empty if cells.other is None else cells.other
    return np.array([empty, *(known.get(text, instead) for text in texts)], np.int32)


def _keep_one(slots: Ids, other: int, empty: int) -> None:
    seen = np.zeros(len(slots), bool)
    for place in range(slots.shape[1]):
        is_other = slots[:, place] == other
        slots[is_other & seen, place] = empty
        seen |= is_other


CellType = TypeVar("CellType", bound=np.generic)


@dataclass(frozen=True)
class MeasuredTable:
    """One table as drawn.

    Attributes:
        columns: places in the schema, ascending; a multi-valued column may stand several times.
        sensitivity: Delta_T, the most cells that one record is in.
        scale: s_T, standard deviation of the rounded Gaussian, in records.
        counts: int64, one axis a column, signed, as drawn, zero cells included.
    """

    columns: ColumnNumbers
    sensitivity: int
    scale: float
    counts: Integers

    @property
    def variance(self) -> float:
        """Of each count's noise; rounding to whole records adds a twelfth."""
        return self.scale**2 + 1 / 12

    def as_noisy(self) -> NoisyTable:
        return NoisyTable(self.columns, self.counts.astype(np.float64), self.variance)


def sensitivity(cells: tuple[ColumnCells, ...], columns: ColumnNumbers) -> int:
    """Delta_T: the product over the columns of C(w, k), k the times that the column stands in the table.

    One record is in at most so many cells, once in each; so it changes the counts by Delta_T in L1 and by
    its root in L2.

    >>> town, speaks = ColumnCells(("Lille", "Lyon")), ColumnCells(("Arabic", "Dari", "French"), cap=3)
    >>> sensitivity((town, speaks), (0, 1)), sensitivity((town, speaks), (1, 1))
    (3, 3)
    """
    return most_tuples_in_cells({column: cells[column].most_items for column in columns}, columns)


def most_tuples_in_cells(items: Mapping[int, int] | Sequence[int], columns: ColumnNumbers) -> int:
    """The same by the most items of each column."""
    return max(1, math.prod(math.comb(items[column], columns.count(column)) for column in set(columns)))


def one_half(table: npt.NDArray[CellType]) -> npt.NDArray[CellType]:
    """A table of a column with itself, each pair of different items once; 0 elsewhere."""
    return np.tril(table, -1)
