"""A fitted measurement: every noisy table as drawn, zero cells included, with the public facts of the draw.

On disk, a folder: ``measurement.json`` (schema, parameters, cells, and of each table columns, sensitivity
and scale) and ``counts.parquet`` (table, count), the cells of a table in the order of its columns' codes, the
last one fastest.
"""

import json
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tasks.core.dp.workload.cells import ColumnCells
from tasks.core.dp.workload.parameters import LongerSets, WorkloadParameters
from tasks.core.dp.workload.shares import Shares
from tasks.core.dp.workload.tables import Columns, MeasuredTable
from tasks.core.records.columns import Schema


@dataclass(frozen=True)
class NoisyScores:
    """The scores of all candidates for longer sets, as drawn.

    Attributes:
        candidates: sets of columns, in order.
        scale: s_Q, standard deviation of the noise of each, in records.
        scores: signed.
    """

    candidates: tuple[Columns, ...]
    scale: float
    scores: tuple[int, ...]


@dataclass(frozen=True)
class WorkloadMeasurement:
    """One draw.

    Attributes:
        schema: the public schema.
        parameters: what was asked for.
        private: False for a draw of the seeded test engine, which must never be released.
        mu_squared: the nominal charge.
        threshold_delta: delta_t, the nominal charge to delta.
        threshold: the least noisy count of a released value of an open column; None if all are declared.
        number_of_records: the noisy count as drawn, signed.
        count_scale: standard deviation of its noise.
        cells: of each column.
        values: length 1 as drawn, a table a column: its values, then `absent`; no count of `other` (W11).
        tables: everything measured after length 1.
        scores: of candidates for longer sets; None where there were none.
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

    def write(self, folder: Path) -> None:
        """Write into an existing empty folder; equal measurements give equal bytes."""
        every = [*self.values, *self.tables]
        numbers = np.repeat(np.arange(len(every), dtype=np.uint32), [table.counts.size for table in every])
        counts = np.concatenate([np.zeros(0, np.int64), *(table.counts.ravel() for table in every)])
        table = pa.table({"table": pa.array(numbers), "count": pa.array(counts)})
        pq.write_table(table, folder / "counts.parquet", compression="zstd")
        (folder / "measurement.json").write_text(self._facts(), encoding="utf-8")

    def _facts(self) -> str:
        def facts(table: MeasuredTable) -> dict[str, object]:
            return {
                "columns": table.columns,
                "shape": table.counts.shape,
                "sensitivity": table.sensitivity,
                "scale": table.scale,
            }

        body = {
            "schema": json.loads(self.schema.to_json()),
            "parameters": asdict(self.parameters),
            "private": self.private,
            "mu_squared": self.mu_squared,
            "threshold_delta": self.threshold_delta,
            "threshold": self.threshold,
            "number_of_records": self.number_of_records,
            "count_scale": self.count_scale,
            "cells": [asdict(column) for column in self.cells],
            "values": [facts(table) for table in self.values],
            "tables": [facts(table) for table in self.tables],
            "scores": None if self.scores is None else asdict(self.scores),
        }
        return json.dumps(body, sort_keys=True, indent=1, ensure_ascii=False, default=str) + "\n"


def read_workload_measurement(folder: Path) -> WorkloadMeasurement:
    """The measurement that `WorkloadMeasurement.write` wrote."""
    body = json.loads((folder / "measurement.json").read_text(encoding="utf-8"))
    counts = pq.read_table(folder / "counts.parquet")["count"].to_numpy()
    tables, start = [], 0
    for facts in [*body["values"], *body["tables"]]:
        shape = tuple(facts["shape"])
        end = start + int(np.prod(shape, dtype=np.int64))
        cells = counts[start:end].reshape(shape)
        tables.append(MeasuredTable(tuple(facts["columns"]), facts["sensitivity"], facts["scale"], cells))
        start = end
    number = len(body["values"])
    return WorkloadMeasurement(
        schema=Schema.from_json(json.dumps(body["schema"])),
        parameters=_parameters(body["parameters"]),
        private=body["private"],
        mu_squared=body["mu_squared"],
        threshold_delta=body["threshold_delta"],
        threshold=body["threshold"],
        number_of_records=body["number_of_records"],
        count_scale=body["count_scale"],
        cells=tuple(ColumnCells(**column | {"values": tuple(column["values"])}) for column in body["cells"]),
        values=tuple(tables[:number]),
        tables=tuple(tables[number:]),
        scores=_scores(body["scores"]),
    )


def _parameters(body: dict[str, object]) -> WorkloadParameters:
    shares = {name: Fraction(share) for name, share in body.pop("shares").items()}  # type: ignore[attr-defined]
    tables = body.pop("tables")
    return WorkloadParameters(
        shares=Shares(**shares),
        tables=None if tables is None else tuple(map(tuple, tables)),  # type: ignore[call-overload]
        threshold_delta_share=Fraction(str(body.pop("threshold_delta_share"))),
        longer=LongerSets(**body.pop("longer")),  # type: ignore[arg-type]
        **body,  # type: ignore[arg-type]
    )


def _scores(body: dict[str, object] | None) -> NoisyScores | None:
    if body is None:
        return None
    candidates = tuple(map(tuple, body["candidates"]))  # type: ignore[call-overload]
    return NoisyScores(candidates, body["scale"], tuple(body["scores"]))  # type: ignore[arg-type]
