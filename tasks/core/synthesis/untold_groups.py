"""Groups that nobody declared and noise alone may have made: a measurement in, cells that stay empty out.

Beside its declared values a column has cells for what is in none of them: no value, a number beyond the
first or the last edge, the declared value for what is outside. Where the noisy count of such a group can't be
told from 0, no record is in it: most tables have nobody there, and noise would put somebody into every one. A
column that the contract says is never empty has no record without a value, whatever its count. All of it
reads the measurement alone.
"""

from collections.abc import Iterator, Sequence
from statistics import NormalDist

import numpy as np

from tasks.core.arrays import Flags
from tasks.core.dp.workload.cells import ColumnCells
from tasks.core.dp.workload.measurement import WorkloadMeasurement
from tasks.core.fitting.least_squares import Residuals
from tasks.core.fitting.noisy_tables import Domain, ImpossibleCells
from tasks.core.records.columns import Column

#: In so many releases of a table that has none of these groups, noise alone leaves one of them.
_LEFT_BY_NOISE = 0.05


def untold_groups(
    measurement: WorkloadMeasurement, domain: Domain, residuals: Residuals
) -> list[ImpossibleCells]:
    """For each column with such a group its cells that no record may be in.

    Args:
        measurement: as drawn.
        domain: of its cells.
        residuals: of its tables.
    """
    columns = measurement.schema.measured.columns
    groups = [list(_groups(column, cells)) for column, cells in zip(columns, measurement.cells, strict=True)]
    number = sum(map(len, groups))
    errors = NormalDist().inv_cdf(1 - _LEFT_BY_NOISE / max(1, number))
    found = []
    for place, (column, cells) in enumerate(zip(columns, measurement.cells, strict=True)):
        told = residuals.marginal((place,)) > errors * residuals.variance((place,)) ** 0.5
        empty = _mask(cells, [code for code in groups[place] if not told[code]])
        if column.required and cells.absent is not None:
            empty[cells.absent] = True
        if empty.any() and not empty.all():
            found.append(ImpossibleCells((place,), empty))
    return found


def _groups(column: Column, cells: ColumnCells) -> Iterator[int]:
    """The cells of a column that stand for nothing declared."""
    if cells.absent is not None and not column.required:
        yield cells.absent
    if not column.is_open:
        for text in dict.fromkeys((*column.open_ends, column.other)):
            if text is not None and text in cells.values:
                yield cells.values.index(text)


def _mask(cells: ColumnCells, codes: Sequence[int]) -> Flags:
    mask = np.zeros(cells.size, np.bool_)
    mask[codes] = True
    return mask
