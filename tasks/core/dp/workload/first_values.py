"""Length 1: noisy counts of every column's values, and with them the cells of all later tables.

A declared column's values have their cells whatever the table holds. An open column's must pass the
threshold; what passed is ordered by code point, and beyond a public number the smallest noisy counts give
their cells up (W5, W12). What missed is nowhere kept, not even as a sum or a number (W11).
"""

from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tasks.core.arrays import Integers
from tasks.core.dp.sampling import noise
from tasks.core.dp.sampling.stream import WordSource
from tasks.core.dp.workload.cells import ColumnCells
from tasks.core.errors import InternalError
from tasks.core.records.columns import Column


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

    def draw(
        self, place: int, column: Column, texts: tuple[str, ...], exact: Integers
    ) -> tuple[ColumnCells, Integers]:
        """The cells of one column, and the noisy counts of its values and, where it has it, of `absent`.

        Args:
            place: the column's in the schema.
            column: its public description.
            texts: the values that were counted: the declared ones, or all that some record holds.
            exact: how many records hold each of them, and then how many hold none.
        """
        if column.domain is None:
            return self._open(column, texts, exact)
        cells = ColumnCells(column.domain, has_absent=place not in self.filled, cap=column.max_items)
        return cells, exact[: cells.size] + self._noise(cells.size)

    def _open(self, column: Column, texts: tuple[str, ...], exact: Integers) -> tuple[ColumnCells, Integers]:
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
        return ColumnCells(tuple(kept), has_other=True, cap=column.max_items), counts

    def _noise(self, cells: int) -> Integers:
        return noise.RoundedGaussian(self.scale).draw(self.stream, cells)
