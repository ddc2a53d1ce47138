"""Noisy tables for the page: a fitted release's measurement goes in, its tables as drawn come out."""

from collections.abc import Sequence

import numpy as np

from tasks.core.arrays import Integers, Json
from tasks.core.dp.workload.measurement import WorkloadMeasurement
from tasks.core.navigation.payload.block import Buffers
from tasks.core.navigation.payload.columns import ShownColumn


def put_tables(
    block: Buffers, columns: Sequence[ShownColumn], measurement: WorkloadMeasurement
) -> list[Json]:
    """Add every table as drawn as ``tables/<place>``, in C order; return what is told of each.

    The cells of a column are its values in the page's order, then `other` and `absent` where it has them. Of
    a column alone nobody counted `other`. A set that was measured twice has two tables.
    """
    told: list[Json] = []
    orders = [_order(shown, cells.values) for shown, cells in zip(columns, measurement.cells, strict=False)]
    alone = len(measurement.values)
    for place, table in enumerate((*measurement.values, *measurement.tables)):
        counts = table.counts
        for axis, column in enumerate(table.columns):
            rest = np.arange(len(orders[column]), counts.shape[axis])
            counts = np.take(counts, np.concatenate([orders[column], rest]), axis=axis)
        block.put(f"tables/{place}", np.ascontiguousarray(counts).reshape(-1).astype(np.int32))
        about: Json = {"columns": list(table.columns), "shape": list(counts.shape), "scale": table.scale}
        if place < alone and measurement.cells[table.columns[0]].has_other:
            about["without_other"] = True
        told.append(about)
    return told


def _order(shown: ShownColumn, cells: Sequence[str]) -> Integers:
    """The places among a column's cells of the page's values."""
    place = {value: number for number, value in enumerate(cells)}
    return np.array([place[value] for value in shown.values], np.int64)
