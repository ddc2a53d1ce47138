"""What is counted for one set of columns, and how much one record can change it."""

import math
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from tasks.core.arrays import ColumnNumbers, Integers
from tasks.core.dp.workload.cells import ColumnCells
from tasks.core.fitting.noisy_tables import NoisyTable

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

    def as_noisy(self) -> NoisyTable:
        """The form that the fit takes; rounding to whole records adds a twelfth to the variance."""
        return NoisyTable(self.columns, self.counts.astype(np.float64), self.scale**2 + 1 / 12)


def sensitivity(cells: tuple[ColumnCells, ...], columns: ColumnNumbers) -> int:
    """Delta_T: the product over the columns of C(w, k), k the times that the column stands in the table.

    One record is in at most so many cells, once in each; so it changes the counts by Delta_T in L1 and by
    its root in L2.

    >>> town, speaks = ColumnCells(("Lille", "Lyon")), ColumnCells(("Arabic", "Dari", "French"), cap=3)
    >>> sensitivity((town, speaks), (0, 1)), sensitivity((town, speaks), (1, 1))
    (3, 3)
    """
    found = 1
    for column in sorted(set(columns)):
        found *= math.comb(cells[column].most_items, columns.count(column))
    return max(1, found)


def one_half(table: npt.NDArray[CellType]) -> npt.NDArray[CellType]:
    """A table of a column with itself, each pair of different items once; 0 elsewhere."""
    return np.tril(table, -1)
