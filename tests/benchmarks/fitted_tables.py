"""The coded tables that fitted synthesis is measured on: names in, tables of small whole numbers out.

Real ones from ``$MARGINALIA_DATA``, else ``../shared/data``, with public bins: ``adult13``, ``natdemo10`` and
``nat20``, as the published figures use them. `_TABLES` names all.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tasks.core.records.coded import CodedRecords, code_type
from tasks.core.records.columns import Column, Schema
from tests.benchmarks.data import shared_file

Cells = npt.NDArray[np.int64]

_DEMOGRAPHIC = "AGEP SEX MSP RAC1P HOUSING_TYPE OWN_RENT EDU PINCP_DECILE DVET DEYE"
_SIMPLE = (
    "PUMA AGEP SEX MSP HISP RAC1P NOC NPF HOUSING_TYPE OWN_RENT "
    "INDP_CAT EDU PINCP PINCP_DECILE POVPIP DVET DREM DPHY DEYE DEAR"
)
_THOUSANDS = (2.5, 5, 7.5, 10, 15, 20, 25, 30, 35, 40, 50, 60, 75, 90, 110, 150, 250)
_EDGES = {
    "PINCP": np.array([-1e9, -0.5, 0.5, *(1000 * edge for edge in _THOUSANDS), 1e9]),
    "POVPIP": np.array([-1, *range(24, 500, 25), 500.5, 501.5]),
}


@dataclass(frozen=True)
class CellTable:
    """A table whose every cell is a code of its column's public domain.

    Attributes:
        name: what to call it.
        cells: int64 (n, columns), 0 up to the column's size - 1.
        sizes: of the domains.
        holdout: records of the same people that no draw sees, or None.
        target: the column to be predicted, or None.
        group: the column that stands in every set of the k-marginal score, or None.
        planted: sets of columns in which a relation was hidden.
    """

    name: str
    headers: tuple[str, ...]
    cells: Cells
    sizes: tuple[int, ...]
    holdout: Cells | None = None
    target: str | None = None
    group: str | None = None
    planted: tuple[tuple[int, ...], ...] = ()

    def records(self, *, declared: bool) -> CodedRecords:
        """The same as coded records, with declared or open domains."""
        texts = tuple(tuple(map(str, range(size))) for size in self.sizes)
        schema = Schema(
            tuple(
                Column(header, domain=values if declared else None)
                for header, values in zip(self.headers, texts, strict=True)
            )
        )
        slots = [
            (column + 1).astype(code_type(size))
            for column, size in zip(self.cells.T, self.sizes, strict=True)
        ]
        return CodedRecords(schema, tuple(slots), tuple(range(len(slots))), texts, len(self.cells))


def table_named(name: str) -> CellTable:
    """One of the tables.

    Raises:
        SystemExit: there is no table of this name, or its file is missing.
    """
    if name not in _TABLES:
        raise SystemExit(f"No table is called {name}: the tables are {', '.join(_TABLES)}.")
    maker, *options = _TABLES[name]
    return maker(name, *options)


def _source(name: str) -> Path:
    path = shared_file(name)
    if not path.is_file():
        raise SystemExit(f"Skipped: {path} is missing. Set MARGINALIA_DATA to the folder that holds it.")
    return path


def _adult(name: str) -> CellTable:
    """13 columns without fnlwgt; a fifth of the records is held out."""
    sizes = json.loads(_source("adult-domain.json").read_text())
    frame = pd.read_csv(_source("adult.csv")).drop(columns="fnlwgt")
    for header, step in (("age", 5), ("hours-per-week", 10)):
        frame[header] //= step
    for header in ("capital-gain", "capital-loss"):
        frame[header] = (frame[header] + 4) // 5
    sizes |= {"age": 17, "capital-gain": 21, "capital-loss": 21, "hours-per-week": 10}
    order = np.random.default_rng(20240601).permutation(len(frame))
    fifth = len(frame) // 5
    cells = frame.to_numpy(np.int64)
    return CellTable(
        name,
        tuple(frame.columns),
        cells[np.sort(order[fifth:])],
        tuple(sizes[header] for header in frame.columns),
        holdout=cells[np.sort(order[:fifth])],
        target="income>50K",
    )


def _national(name: str, named: str, years: int, group: str | None = None) -> CellTable:
    frame = pd.read_csv(_source("national2019.csv"), dtype=str, keep_default_na=False)
    schema = json.loads(_source("national2019.json").read_text())["schema"]
    headers, columns, sizes = named.split(), [], []
    for header in headers:
        if header == "AGEP":
            codes, size = frame[header].astype(int).to_numpy() // years, 96 if years == 1 else 20
        elif header in _EDGES:
            codes, size = _binned(frame[header], _EDGES[header])
        else:
            codes, size = _listed(frame[header], schema[header])
        columns.append(codes.astype(np.int64))
        sizes.append(size)
    return CellTable(name, tuple(headers), np.stack(columns, axis=1), tuple(sizes), group=group)


def _binned(texts: "pd.Series[str]", edges: npt.NDArray[np.float64]) -> tuple[Cells, int]:
    numbers = pd.to_numeric(texts, errors="coerce").to_numpy(float)
    bins = len(edges) - 1
    codes = np.clip(np.searchsorted(edges, numbers, side="left") - 1, 0, bins - 1)
    return np.where(np.isnan(numbers), bins, codes), bins + 1


def _listed(texts: "pd.Series[str]", about: dict[str, object]) -> tuple[Cells, int]:
    values = [str(value) for value in about["values"]]  # type: ignore[attr-defined]
    if about.get("has_null") and "N" not in values:
        values = ["N", *values]
    values += sorted(set(texts) - set(values))
    codes: Cells = texts.map({value: code for code, value in enumerate(values)}).to_numpy(np.int64)
    return codes, len(values)


def _hidden(name: str, columns: int, modulus: int) -> CellTable:
    """30,000 x 12: one column is the sum of others modulo something; a record in twenty breaks the rule."""
    generator = np.random.default_rng(7)
    sizes = [modulus] * (columns + 1) + [int(size) for size in generator.integers(2, 9, 11 - columns)]
    cells = np.stack([generator.integers(0, size, 30_000) for size in sizes], axis=1)
    broken = generator.random(30_000) < 0.05
    whole = cells[:, :columns].sum(axis=1) + np.where(broken, generator.integers(1, modulus, 30_000), 0)
    cells[:, columns] = whole % modulus
    order = generator.permutation(12)
    places = tuple(sorted(int(place) for place in np.flatnonzero(order <= columns)))
    return _plain(name, cells[:, order], tuple(sizes[column] for column in order), (places,))


def _leaning(name: str, records: int, columns: int) -> CellTable:
    """Sizes 2 to 20; each column leans on the one before it."""
    generator = np.random.default_rng(11)
    sizes = generator.permutation(np.linspace(2, 20, columns).astype(int))
    made, before = [], generator.integers(0, 1000, records)
    for size in sizes:
        own = np.minimum(generator.geometric(min(2.5 / size, 0.7), records) - 1, size - 1)
        before = np.where(generator.random(records) < 0.6, before * 7 % size, own)
        made.append(before)
    return _plain(name, np.stack(made, axis=1), tuple(map(int, sizes)))


def _tailed(name: str, records: int, largest: int) -> CellTable:
    """Ten columns of up to ``largest`` values with Zipf's shares, in no order, that follow hidden groups."""
    generator = np.random.default_rng(13)
    group = generator.choice(6, records, p=[0.4, 0.25, 0.15, 0.1, 0.06, 0.04])
    sizes = np.geomspace(2, largest, 10).astype(int)
    made = []
    for size in sizes:
        shares = 1 / np.arange(1, size + 1) ** 1.2
        orders = np.stack([generator.permutation(size) for _ in range(6)])
        ranks = generator.choice(size, records, p=shares / shares.sum())
        made.append(np.where(generator.random(records) < 0.5, orders[group, ranks], orders[0, ranks]))
    return _plain(name, np.stack(made, axis=1), tuple(map(int, sizes)))


def _plain(
    name: str, cells: Cells, sizes: tuple[int, ...], planted: tuple[tuple[int, ...], ...] = ()
) -> CellTable:
    headers = tuple(f"c{place}" for place in range(len(sizes)))
    return CellTable(name, headers, cells.astype(np.int64), sizes, planted=planted)


#: How each table is made. Generated ones need no file: hidden relations, heavy tails and few records, and
#: many columns or records.
_TABLES: dict[str, tuple[Any, ...]] = {
    "adult13": (_adult,),
    "natdemo10": (_national, _DEMOGRAPHIC, 1),
    "nat20": (_national, _SIMPLE, 5, "PUMA"),
    "xor2": (_hidden, 2, 2),
    "xor3": (_hidden, 3, 2),
    "sum3": (_hidden, 3, 4),
    "tails": (_tailed, 20_000, 300),
    "few": (_tailed, 1_000, 30),
    **{f"{columns}x100k": (_leaning, 100_000, columns) for columns in (10, 20, 40, 80)},
    "15x1m": (_leaning, 1_000_000, 15),
    "200x20k": (_leaning, 20_000, 200),
}
