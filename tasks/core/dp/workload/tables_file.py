"""Every noisy count of a fitted release as a Parquet file that anybody can read.

    columns    list of text     the columns that were counted together, in the order of the file
    cells      list of text     for each: value, other or absent
    values     list of text     for each its value; null for other and absent
    noisy_count                 as drawn: signed, zero cells included
    scale                       s, standard deviation of its noise before rounding, in records

Length 1 comes first. ``other`` stands for all values of an open column that were not released; it has no
count of its own at length 1.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tasks.core.dp.workload.cells import ColumnCells, MeasuredTable
from tasks.core.dp.workload.measurement import WorkloadMeasurement

_TEXTS = pa.list_(pa.string())
_SCHEMA = pa.schema(
    [
        ("columns", _TEXTS),
        ("cells", _TEXTS),
        ("values", _TEXTS),
        ("noisy_count", pa.int64()),
        ("scale", pa.float64()),
    ]
)
#: Cells that are turned into text at once.
_AT_ONCE = 1 << 18


def write_noisy_tables(measurement: WorkloadMeasurement, path: Path) -> int:
    """Write the file; return how many rows it has."""
    rows = 0
    with pq.ParquetWriter(path, _SCHEMA, compression="zstd") as writer:
        for table in measurement.values:
            (column,) = table.columns
            labels = _labels_of_cells(measurement.cells[column], other=False)
            rows += _write(writer, measurement, table, [labels])
        for table in measurement.tables:
            labelled = [_labels_of_cells(measurement.cells[column]) for column in table.columns]
            rows += _write(writer, measurement, table, labelled)
    return rows


def _labels_of_cells(cells: ColumnCells, *, other: bool = True) -> tuple[list[str], list[str | None]]:
    """The kind and the value of each cell."""
    special = ["other"] * (cells.has_other and other) + ["absent"] * cells.has_absent
    return ["value"] * len(cells.values) + special, [*cells.values, *[None] * len(special)]


def _write(
    writer: pq.ParquetWriter,
    measurement: WorkloadMeasurement,
    table: MeasuredTable,
    labels: list[tuple[list[str], list[str | None]]],
) -> int:
    names = [measurement.schema.columns[column].name for column in table.columns]
    for batch in _batches(table, names, labels):
        writer.write_batch(batch)
    return int(table.counts.size)


def _batches(
    table: MeasuredTable, names: list[str], labels: list[tuple[list[str], list[str | None]]]
) -> Iterator[pa.RecordBatch]:
    kinds, values = ([pa.array(cells[part], pa.string()) for cells in labels] for part in (0, 1))
    counts = table.counts.ravel()
    for start in range(0, len(counts), _AT_ONCE):
        number = len(counts[start : start + _AT_ONCE])
        places = np.unravel_index(np.arange(start, start + number), table.counts.shape)
        columns = [
            _lists([pa.array([name] * number) for name in names]),
            _lists([kind.take(pa.array(place)) for kind, place in zip(kinds, places, strict=True)]),
            _lists([value.take(pa.array(place)) for value, place in zip(values, places, strict=True)]),
            pa.array(counts[start : start + number]),
            pa.array(np.full(number, table.scale)),
        ]
        yield pa.RecordBatch.from_arrays(columns, schema=_SCHEMA)


def _lists(columns: list[pa.Array]) -> pa.Array:
    number, width = len(columns[0]), len(columns)
    together = pa.concat_arrays(columns)
    order = np.arange(number * width).reshape(width, number).T.ravel()
    offsets = pa.array(np.arange(0, number * width + 1, width, dtype=np.int32))
    return pa.ListArray.from_arrays(offsets, together.take(pa.array(order)))
