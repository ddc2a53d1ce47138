"""What the fit reads of a draw: its noisy counts in, noisy tables of whole columns out."""

import numpy as np

from tasks.core.arrays import Floats, Integers
from tasks.core.dp.workload.cells import ColumnCells
from tasks.core.dp.workload.measurement import WorkloadMeasurement
from tasks.core.fitting.noisy_tables import NoisyTable, merged_tables


def noisy_tables(drawn: WorkloadMeasurement) -> list[NoisyTable]:
    """Everything drawn, in the form that the fit takes: the number of records, each column, the tables.

    A set that was measured twice is one table, the inverse-variance mean of both (W17). Of an open column
    with several items `other` is not known at length 1: that table is left out where another one holds it.
    """
    total = estimated_records(drawn)
    held = {column for table in drawn.tables for column in table.columns}
    singles = [
        NoisyTable(table.columns, first_margin(cells, table.counts, total), table.variance)
        for cells, table in zip(drawn.cells, drawn.values, strict=True)
        if cells.cap == 1 or not cells.has_other or table.columns[0] not in held
    ]
    return [*_count(drawn), *merged_tables([*singles, *(table.as_noisy() for table in drawn.tables)])]


def whole_tables(drawn: WorkloadMeasurement) -> list[NoisyTable]:
    """The number of records, and the tables of which every cell was drawn.

    Not among them is an open column alone: nobody counted its `other`, and what is left of the records for
    it repeats noise that other tables have, too. So these tables are independent, and their noise is known.
    """
    singles = [
        table.as_noisy()
        for cells, table in zip(drawn.cells, drawn.values, strict=True)
        if not cells.has_other
    ]
    return [*_count(drawn), *merged_tables([*singles, *(table.as_noisy() for table in drawn.tables)])]


def estimated_records(drawn: WorkloadMeasurement) -> float:
    """T, the number of records that the tables were counted of, signed (W6).

    The inverse-variance mean of the noisy count and of the totals of all tables in which a record counts
    once. Of a sample the noisy count says nothing, as it counts everybody (W4); it stands in only where no
    table has a total.
    """
    totals = [*_totals(drawn), *((float(count.counts), count.variance) for count in _count(drawn))]
    weights = [1 / variance for _, variance in totals]
    return sum(w * total for w, (total, _) in zip(weights, totals, strict=True)) / sum(weights)


def first_margin(cells: ColumnCells, counts: Integers, total: float) -> Floats:
    """The counts of a column's cells from length 1; `other` is what is left of the records (W11).

    Of a column with several items nothing is left that way, and `other` is taken to be 0.
    """
    noisy = counts.astype(np.float64)  # of the values, and last of `absent`
    if not cells.has_other:
        return noisy
    left = total - noisy.sum() if cells.cap == 1 else 0.0
    return np.concatenate([noisy[:-1], [left], noisy[-1:]])


def _count(drawn: WorkloadMeasurement) -> list[NoisyTable]:
    """The number of records that were looked at, as the noisy count alone tells it; none where it must not.

    Of a sample that is p n-hat, with the sample's own variance n p (1 - p) on top of the noise's.
    """
    share, noisy = float(drawn.sampled_share), float(drawn.number_of_records)
    if share < 1 and _totals(drawn):
        return []
    variance = share**2 * (drawn.count_scale**2 + 1 / 12) + max(0.0, noisy) * share * (1 - share)
    return [NoisyTable((), np.array(share * noisy), variance)]


def _totals(drawn: WorkloadMeasurement) -> list[tuple[float, float]]:
    firsts = [
        table
        for cells, table in zip(drawn.cells, drawn.values, strict=True)
        if cells.cap == 1 and not cells.has_other
    ]
    later = [table for table in drawn.tables if all(drawn.cells[column].cap == 1 for column in table.columns)]
    return [(float(table.counts.sum()), table.counts.size * table.variance) for table in [*firsts, *later]]
