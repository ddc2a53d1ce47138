"""A fitted measurement: every noisy table as drawn, zero cells included, with the public facts of the draw.

On disk, a folder: ``measurement.json`` (schema, parameters, cells, and of each table columns, sensitivity
and scale) and ``counts.parquet`` (table, count), the cells of a table in the order of its columns' codes, the
last one fastest. Tables come in this order: length 1, those measured after it, and of each set that was
chosen by its score what was expected in it (M16), then what was allowed for noise and chance (c16).
"""

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tasks.core.arrays import ColumnNumbers, Integers
from tasks.core.dp.measurement import LengthOne, Measurement, read_facts, sampled_share, write_facts
from tasks.core.dp.workload.cells import ColumnCells, MeasuredTable
from tasks.core.dp.workload.parameters import WorkloadParameters
from tasks.core.records.columns import Schema
from tasks.core.stored_files import read_parquet

#: Its file of counts, which no other measurement has.
COUNTS = "counts.parquet"


@dataclass(frozen=True)
class NoisyScores:
    """The scores of all candidates of one choice, as drawn; scale: s_Q, standard deviation of their noise."""

    candidates: tuple[ColumnNumbers, ...]
    scale: float
    scores: tuple[int, ...]


@dataclass(frozen=True)
class ExpectedTable:
    """What the score of a chosen set was measured against; made of released numbers alone (W16, W18).

    Attributes:
        expected16: M16, one axis a column, in sixteenths of records.
        allowed16: c16, likewise.
    """

    columns: ColumnNumbers
    expected16: Integers
    allowed16: Integers


@dataclass(frozen=True)
class WorkloadMeasurement:
    """One draw.

    Attributes:
        schema: the public schema. Columns that others decide are its last ones, and were not measured: all
            else here is of `Schema.measured`.
        private, mu_squared, threshold_delta: as of `Measurement`.
        threshold: the least noisy count of a released value of an open column; None if all are declared.
        number_of_records: the noisy count as drawn, signed.
        count_scale: standard deviation of its noise.
        values: length 1 as drawn, a table a column: its values, then `absent`; no count of `other` (W11).
        tables: everything measured after length 1; a set that was measured twice stands in it twice (W17).
        scores: of candidates for longer sets; None where there were none.
        pair_scores: of all pairs, where there were too many to measure; else None.
        expected: of each set that was chosen by its score.
    """

    schema: Schema
    parameters: WorkloadParameters
    private: bool
    mu_squared: float
    threshold_delta: float
    threshold: int | None
    number_of_records: int
    count_scale: float
    cells: tuple[ColumnCells, ...]
    values: tuple[MeasuredTable, ...]
    tables: tuple[MeasuredTable, ...]
    scores: NoisyScores | None = None
    pair_scores: NoisyScores | None = None
    expected: tuple[ExpectedTable, ...] = ()

    @property
    def sampled_share(self) -> Fraction:
        """The share of all records that was looked at; 1 unless there is a record limit (W4)."""
        return sampled_share(self.parameters.record_limit, self.number_of_records)

    @property
    def signal(self) -> float:
        """How far the records stand above the noise, by which the shares of the budget go."""
        return self.parameters.signal(self.number_of_records, self.mu_squared)

    @property
    def measured_pairs(self) -> tuple[int, int]:
        """How many pairs of columns stand together in a measured set, and how many pairs there are."""
        pairs = {
            pair for table in self.tables for pair in itertools.combinations(sorted({*table.columns}), 2)
        }
        return len(pairs), math.comb(len(self.cells), 2)

    @property
    def never_empty(self) -> tuple[int, ...]:
        return self.parameters.filled

    @property
    def count_deviation(self) -> float:
        return self.count_scale

    @property
    def length_one(self) -> LengthOne | None:
        if not self.values:
            return None
        scale, sensitivity = self.values[0].scale, self.values[0].sensitivity
        return LengthOne(self.threshold, scale, sensitivity, min(sensitivity, self.schema.open_items))

    def counts_of(self, column: int) -> Integers:
        if column >= len(self.cells):  # others decide it, and nothing of it was counted
            return np.zeros(0, np.int64)
        return self.values[column].counts[: len(self.cells[column].values)]

    def texts_of(self, column: int) -> tuple[str, ...]:
        return self.cells[column].values if column < len(self.cells) else ()

    def empties_of(self, column: int) -> int | None:
        """The noisy count of `absent`, as drawn; None for a column without it, or that others decide."""
        if column >= len(self.cells) or not self.cells[column].has_absent:
            return None
        return int(self.values[column].counts[-1])

    def write(self, folder: Path) -> None:
        """Write into an existing empty folder; equal measurements give equal bytes."""
        every = [table.counts for table in (*self.values, *self.tables)]
        every += [cells for table in self.expected for cells in (table.expected16, table.allowed16)]
        numbers = np.repeat(np.arange(len(every), dtype=np.uint32), [cells.size for cells in every])
        counts = np.concatenate([np.zeros(0, np.int64), *(cells.ravel() for cells in every)])
        table = pa.table({"table": pa.array(numbers), "count": pa.array(counts)})
        pq.write_table(table, folder / "counts.parquet", compression="zstd")
        values, tables = ([_facts(table) for table in drawn] for drawn in (self.values, self.tables))
        expected = [{"columns": each.columns, "shape": each.expected16.shape} for each in self.expected]
        write_facts(self, folder, values=values, tables=tables, expected=expected)


def _facts(table: MeasuredTable) -> dict[str, object]:
    return {
        "columns": table.columns,
        "shape": table.counts.shape,
        "sensitivity": table.sensitivity,
        "scale": table.scale,
    }


#: What every draw has, whichever way it was made, is documented at `Measurement`.
DrawnMeasurement = Measurement | WorkloadMeasurement


def read_workload_measurement(folder: Path) -> WorkloadMeasurement:
    """The measurement that `WorkloadMeasurement.write` wrote."""
    known, body = read_facts(WorkloadMeasurement, folder, "values", "tables", "expected")
    counts = read_parquet(folder / "counts.parquet")["count"].to_numpy()
    start = 0

    def cells(facts: dict[str, Any]) -> Integers:
        nonlocal start
        shape = tuple(facts["shape"])
        end = start + int(np.prod(shape, dtype=np.int64))
        found: Integers = counts[start:end].reshape(shape)
        start = end
        return found

    tables = [
        MeasuredTable(tuple(facts["columns"]), facts["sensitivity"], facts["scale"], cells(facts))
        for facts in [*body["values"], *body["tables"]]
    ]
    expected = [
        ExpectedTable(tuple(facts["columns"]), cells(facts), cells(facts)) for facts in body["expected"]
    ]
    number = len(body["values"])
    return WorkloadMeasurement(
        **known, values=tuple(tables[:number]), tables=tuple(tables[number:]), expected=tuple(expected)
    )
