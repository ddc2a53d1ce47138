"""What the fit reads of a draw: its noisy counts in, noisy tables of whole columns out."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tasks.core.dp.workload.cells import ColumnCells
from tasks.core.dp.workload.measurement import WorkloadMeasurement
from tasks.core.dp.workload.scores import Ints
from tasks.core.dp.workload.tables import MeasuredTable
from tasks.core.fitting.noisy_tables import Counts, NoisyTable


@dataclass(frozen=True)
class Observations:
    """What the fit reads of a draw; see `measurement.WorkloadMeasurement`."""

    number_of_records: int
    count_scale: float
    cells: tuple[ColumnCells, ...]
    values: Sequence[MeasuredTable]
    tables: Sequence[MeasuredTable]


def noisy_tables(drawn: Observations | WorkloadMeasurement) -> list[NoisyTable]:
    """Everything drawn, in the form that the fit takes: the number of records, each column, the tables."""
    count = NoisyTable((), np.array(float(drawn.number_of_records)), drawn.count_scale**2 + 1 / 12)
    singles = [
        NoisyTable(
            table.columns,
            first_margin(cells, table.counts, float(drawn.number_of_records)),
            table.scale**2 + 1 / 12,
        )
        for cells, table in zip(drawn.cells, drawn.values, strict=True)
        if cells.cap == 1 or not cells.has_other
    ]
    return [count, *singles, *(table.as_noisy() for table in drawn.tables)]


def first_margin(cells: ColumnCells, counts: Ints, total: float) -> Counts:
    """The counts of a column's cells from length 1; `other` is what is left of the records (W11)."""
    noisy = counts.astype(np.float64)
    if not cells.has_other:
        return noisy
    left = total - noisy.sum() if cells.cap == 1 else 0.0
    return np.concatenate([noisy[:-1], [left], noisy[-1:]])
