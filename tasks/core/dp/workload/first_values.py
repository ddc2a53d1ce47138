"""Length 1: noisy counts of every column's values, and with them the cells of all later tables.

A declared column's values have their cells whatever the table holds. An open column's must pass the
threshold; what passed is ordered by code point, and beyond a public number the smallest noisy counts give
their cells up (W5, W12). What missed is nowhere kept, not even as a sum or a number (W11).
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from tasks.core.arrays import Integers
from tasks.core.dp.sampling import noise
from tasks.core.dp.sampling.stream import WordSource
from tasks.core.dp.workload.cells import ColumnCells
from tasks.core.errors import InternalError
from tasks.core.records.coded import CodedRecords


@dataclass(frozen=True)
class FirstValues:
    """How length 1 is drawn.

    Attributes:
        scale: s_1, one for all columns, as they are one query.
        threshold: tau, the least noisy count of a released value of an open column; None if all are declared.
        most: the most values of an open column that keep a cell of their own.
        filled: the columns that have no cell for `absent`.
        stream: where the noise comes from.
    """

    scale: Fraction
    threshold: int | None
    most: int
    filled: Collection[int]
    stream: WordSource

    def draw(self, records: CodedRecords, column: int) -> tuple[ColumnCells, Integers]:
        """The cells of one column, and the noisy counts of its values and, where it has it, of `absent`."""
        about = records.schema.columns[column]
        if about.domain is None:
            return self._open(records, column)
        cells = ColumnCells(about.domain, has_absent=column not in self.filled, cap=about.max_items)
        exact = _counts(records, column, cells)
        return cells, exact + self._noise(len(exact))

    def _open(self, records: CodedRecords, column: int) -> tuple[ColumnCells, Integers]:
        texts, cap = records.values[column], records.schema.columns[column].max_items
        exact = _counts(records, column, ColumnCells(texts, cap=cap))
        # A value that no record holds is no candidate (C7): its noise could pass, and nobody would hold it.
        held = np.flatnonzero(exact[:-1] > 0)
        noisy = exact[held] + self._noise(len(held))
        absent = exact[-1] + int(self._noise(1)[0])
        if len(held) and self.threshold is None:
            raise InternalError("An open column needs a threshold.")
        passed = {
            texts[place]: int(count)
            for place, count in zip(held, noisy, strict=True)
            if count >= (self.threshold or 1)
        }
        kept = sorted(sorted(passed, key=lambda text: (-passed[text], text))[: self.most])
        counts = np.array([*(passed[text] for text in kept), absent], np.int64)
        return ColumnCells(tuple(kept), has_other=True, cap=cap), counts

    def _noise(self, cells: int) -> Integers:
        return noise.RoundedGaussian(self.scale).draw(self.stream, cells)


def filled(records: CodedRecords, columns: Collection[int]) -> CodedRecords:
    """The records with `other` in every empty cell of some columns: each record is repaired alone (W1)."""
    slots = list(records.slots)
    for slot, column in enumerate(records.slot_columns):
        about = records.schema.columns[column]
        if column in columns and about.domain is not None and about.other is not None:
            other = about.domain.index(about.other) + 1
            slots[slot] = np.where(slots[slot] == 0, slots[slot].dtype.type(other), slots[slot])
    return replace(records, slots=tuple(slots))


def _counts(records: CodedRecords, column: int, cells: ColumnCells) -> Integers:
    """Exact counts of a column's values, then, where it has it, of `absent`: records that hold none."""
    number = len(cells.values)
    whole = np.zeros(cells.size, np.int64)
    holds = np.zeros(records.number_of_records, bool)
    for codes, of_slot in zip(records.slots, records.slot_columns, strict=True):
        if of_slot == column:
            whole[:number] += np.bincount(codes, minlength=number + 1)[1 : number + 1]
            holds |= codes > 0
    if cells.has_absent:
        whole[-1] = records.number_of_records - int(holds.sum())
    return whole
