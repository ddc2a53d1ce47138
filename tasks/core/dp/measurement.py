"""A measurement: every noisy count exactly as drawn, and the public facts of how it was drawn.

It is the one thing that crosses from ``sensitive/``, it is differentially private as a whole, and
everything published is rebuilt from it and public configuration alone.

On disk, a folder: ``measurement.json`` (schema, parameters, levels), ``attributes.parquet``
(column_id, code, value) and ``counts_<k>.parquet`` (combination_id, code_1..code_k, count, survives).
"""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import TypeAdapter

from tasks.core.arrays import Flags, HalfWords, Integers
from tasks.core.dp.parameters import DpParameters
from tasks.core.records.columns import Schema
from tasks.core.stored_files import read_parquet


@dataclass(frozen=True)
class LengthOne:
    """How the counts of single values were drawn, or will be.

    Attributes:
        threshold: the least noisy count of a released value of an open column; None where all are declared.
        scale: s_1, standard deviation of the noise, in records; above 0.
        sensitivity: Delta_1, the most values of one subject that are counted.
        open_sensitivity: Delta_open, the most of them that are of open columns.
    """

    threshold: int | None
    scale: float
    sensitivity: int
    open_sensitivity: int


def sampled_share(record_limit: int | None, noisy_count: int) -> Fraction:
    """The probability p = limit / n-hat with which a record is looked at, at most 1 (R14)."""
    if record_limit is None or noisy_count <= record_limit:
        return Fraction(1)
    return Fraction(record_limit, noisy_count)


@dataclass(frozen=True)
class Level:
    """What was measured at one length k.

    Rows are sorted by (combination, codes) and each names a tuple once. Kept are all survivors, and
    also the non-surviving cells of combinations whose columns are all declared where the level was
    measured densely there.

    Attributes:
        sigma: sigma_k, the noise multiplier; 1 / sigma_k^2 is this level's charge to mu^2.
        sensitivity: Delta_k, the largest number of tuples of one subject that are counted.
        scale: s_k, standard deviation of the rounded Gaussian in records (a multiple of 1/64).
        threshold: the least integer noisy count of a survivor; None where there is no threshold
            (declared columns at length 1 have none even where it is set).
        candidates: |V_k|, public for k >= 2; None at length 1 if a column is open.
        expected_spurious: expected number of survivors among candidates that nobody holds; an upper
            bound, from the noise alone; None at length 1 if a column is open.
        combinations: uint32 (N,), ids in ``schema.combinations(k)``.
        codes: uint32 (N, k), codes in the measurement's own ``values``.
        counts: int64 (N,), signed, as drawn.
        survives: bool (N,).
    """

    sigma: float
    sensitivity: int
    scale: float
    threshold: int | None
    candidates: int | None
    expected_spurious: float | None
    combinations: HalfWords
    codes: HalfWords
    counts: Integers
    survives: Flags


@dataclass(frozen=True)
class Measurement:
    """One draw.

    Attributes:
        private: False for a draw of the seeded test engine, which must never be released.
        mu_squared: the nominal charge (R9).
        threshold_delta: delta_t, the nominal charge to delta.
        number_of_records: the noisy count as drawn, signed.
        count_scale: standard deviation of its noise (gdp), or 1 / eps_N (zcdp).
        values: for each column the text of codes 1, 2, ...: declared domains whole and in order; of
            an open column the survivors of length 1 alone, in code-point order.
        levels: lengths 1..R; a length after the last that had candidates is empty.
    """

    schema: Schema
    parameters: DpParameters
    private: bool
    mu_squared: float
    threshold_delta: float
    number_of_records: int
    count_scale: float
    values: tuple[tuple[str, ...], ...]
    levels: tuple[Level, ...]

    @property
    def count_deviation(self) -> float:
        """Standard deviation of the count's noise: a Gaussian's, or a Laplace's of that scale."""
        return self.count_scale * (math.sqrt(2) if self.parameters.accountant == "zcdp" else 1)

    @property
    def sampled_share(self) -> Fraction:
        """The share of all records that values were counted of; 1 unless there is a record limit."""
        return sampled_share(self.parameters.record_limit, self.number_of_records)

    @property
    def never_empty(self) -> tuple[int, ...]:
        """Columns in which an empty cell counts as a value: none."""
        return ()

    @property
    def length_one(self) -> LengthOne | None:
        """How single values were counted; None where there was nothing to count."""
        if not self.levels or not self.levels[0].scale:
            return None
        level = self.levels[0]
        opened = min(level.sensitivity, self.schema.open_items)
        return LengthOne(level.threshold, level.scale, level.sensitivity, opened)

    def counts_of(self, column: int) -> Integers:
        """The noisy counts of one column's values that were kept, as drawn."""
        level = self.levels[0]
        return level.counts[np.equal(level.combinations, self.schema.combinations(1).index((column,)))]

    def texts_of(self, column: int) -> tuple[str, ...]:
        """The values of one column that were declared or released."""
        return self.values[column]

    def empties_of(self, column: int) -> int | None:
        """The noisy count of records that hold nothing in one column: nobody counted them."""
        return None

    def write(self, folder: Path) -> None:
        """Write into an existing empty folder; equal measurements give equal bytes."""
        sizes = [len(column) for column in self.values]
        attributes = pa.table(
            {
                "column_id": pa.array(np.repeat(np.arange(len(sizes)), sizes), pa.uint32()),
                "code": pa.array([c for size in sizes for c in range(1, size + 1)], pa.uint32()),
                "value": pa.array([v for column in self.values for v in column], pa.string()),
            }
        )
        pq.write_table(attributes, folder / "attributes.parquet", compression="zstd")
        for length, level in enumerate(self.levels, start=1):
            columns: dict[str, pa.Array] = {"combination_id": pa.array(level.combinations)}
            for place in range(length):
                columns[f"code_{place + 1}"] = pa.array(np.ascontiguousarray(level.codes[:, place]))
            columns["count"] = pa.array(level.counts)
            columns["survives"] = pa.array(level.survives)
            pq.write_table(pa.table(columns), folder / f"counts_{length}.parquet", compression="zstd")
        plain = ("sigma", "sensitivity", "scale", "threshold", "candidates", "expected_spurious")
        levels = [{name: getattr(level, name) for name in plain} for level in self.levels]
        write_facts(self, folder, without=("values",), levels=levels)


def write_facts(measurement: Any, folder: Path, *, without: Sequence[str] = (), **told: object) -> None:
    """Write ``measurement.json``: each field of a measurement, but those that are elsewhere or told apart."""
    body = {
        field.name: getattr(measurement, field.name)
        for field in fields(measurement)
        if field.name not in without
    }
    body |= {"schema": json.loads(measurement.schema.to_json()), **told}
    text = json.dumps(body, sort_keys=True, indent=1, ensure_ascii=False, default=_as_json)
    (folder / "measurement.json").write_text(text + "\n", encoding="utf-8")


def _as_json(value: Any) -> object:
    return str(value) if isinstance(value, Fraction) else asdict(value)


def read_facts(kind: type, folder: Path, *apart: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The fields of a measurement of this kind but those apart, as they were, and then all of the JSON."""
    body = json.loads((folder / "measurement.json").read_text(encoding="utf-8"))
    types = get_type_hints(kind)
    simple = {
        name: TypeAdapter(types[name]).validate_python(value)
        for name, value in body.items()
        if name not in ("schema", *apart)
    }
    return simple | {"schema": Schema.from_json(json.dumps(body["schema"]))}, body


def read_measurement(folder: Path) -> Measurement:
    """The measurement that `Measurement.write` wrote."""
    known, body = read_facts(Measurement, folder, "levels")
    values: list[list[str]] = [[] for _ in known["schema"].columns]
    for row in read_parquet(folder / "attributes.parquet").to_pylist():
        values[row["column_id"]].append(row["value"])
    levels = []
    for length, facts in enumerate(body["levels"], start=1):
        table = read_parquet(folder / f"counts_{length}.parquet")
        codes = [table[f"code_{place + 1}"].to_numpy() for place in range(length)]
        levels.append(
            Level(
                **facts,
                combinations=table["combination_id"].to_numpy(),
                codes=np.stack(codes, axis=1),
                counts=table["count"].to_numpy(),
                survives=table["survives"].to_numpy(zero_copy_only=False),
            )
        )
    return Measurement(**known, values=tuple(map(tuple, values)), levels=tuple(levels))


def measurement_sha256(folder: Path) -> str:
    """SHA-256 over the names and bytes of a measurement's files: what a ledger's commit records."""
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"{path.name} {content}\n".encode())
    return digest.hexdigest()
