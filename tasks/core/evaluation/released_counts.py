"""The counts of one release, with what is known of their error: a release's folder in, `ReleasedCounts` out.

Of a fitted release these are the noisy counts as they were drawn, of one by lengths the published counts, and
under k-anonymity the rounded ones. A count stands for a combination of columns and cells, by name, so that
releases can be held against each other whatever their order of columns.
"""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow.parquet as pq

from tasks.core.arrays import Floats, Integers, Json
from tasks.core.errors import ParameterError

#: Column and cell of each part; no part is the number of records.
Combination = tuple[tuple[str, str], ...]
NUMBER_OF_RECORDS: Combination = ()
#: Cells that are no value.
ABSENT, OTHER = "(no value)", "(other)"


@dataclass(frozen=True)
class ReleasedCounts:
    """The counts of one release.

    Attributes:
        vintage: its label.
        kind: whether counts carry noise, were rounded, or are of a random sample, which is not compared.
        combinations: what is counted, in no order that matters.
        counts: of each; of one that was drawn twice the mean.
        scales: (n, m), standard deviations of the Gaussian noise, before rounding, that can have moved each.
        weights: (n, m), how many draws of each of these; 0: none.
        least: a count below is not compared: that it was published at all is chance.
        resolution: k, where counts were rounded down to its multiples.
        laplace: scale of the noise of the number of records, where that is rounded Laplace; 0: Gaussian.
        columns: the columns that are counted, and the longest combination.
        length: of the longest combination.
    """

    vintage: str
    kind: Literal["noisy", "rounded", "sampled"]
    combinations: tuple[Combination, ...]
    counts: Floats
    scales: Floats
    weights: Floats
    least: Integers
    resolution: int = 1
    laplace: float = 0.0
    columns: frozenset[str] = frozenset()
    length: int = 0


def read_released_counts(folder: Path) -> ReleasedCounts:
    """The counts of a release's folder.

    Raises:
        ParameterError: it holds no counts that can be compared, as one of SynDiffix does.
    """
    stated = json.loads((folder / "privacy.json").read_text(encoding="utf-8"))
    if stated["regime"] == "k_anonymity":
        return _rounded(stated, _one(folder, "reportable_aggregates.parquet"))
    if stated["regime"] != "differential_privacy" or not stated["private"]:
        raise ParameterError(
            "Comparing over time needs counts whose error is stated: those of differential privacy or "
            f"k-anonymity. The release {folder.name} has none. Compare others."
        )
    if "tables" in stated:
        return _fitted(stated, _one(folder, "noisy_tables.parquet"))
    return _by_lengths(stated, _one(folder, "reportable_aggregates.parquet"))


def _one(folder: Path, ending: str) -> Path:
    found = sorted(folder.glob(f"*_{ending}"))
    if len(found) != 1:
        raise ParameterError(
            f"Comparing over time needs the file {ending} of each release; {folder.name} has {len(found)}."
        )
    return found[0]


def _names(stated: Json) -> frozenset[str]:
    return frozenset(column["name"] for column in stated["columns"])


def _published(path: Path) -> Iterator[tuple[int, Combination, int]]:
    """Length, combination and count of each line."""
    table = pq.read_table(path, columns=["length", "selections", "protected_count"])
    lengths, texts, counts = (table.column(name).to_pylist() for name in table.column_names)
    for length, text, count in zip(lengths, texts, counts, strict=True):
        yield length, NUMBER_OF_RECORDS if length == 0 else ((text, ""),), count


def _rounded(stated: Json, path: Path) -> ReleasedCounts:
    found = list(_published(path))
    number = len(found)
    return ReleasedCounts(
        vintage=stated["vintage"],
        kind="rounded",
        combinations=tuple(combination for _, combination, _ in found),
        counts=np.array([count for _, _, count in found], np.float64),
        scales=np.zeros((number, 0)),
        weights=np.zeros((number, 0)),
        least=np.zeros(number, np.int64),
        resolution=stated["guarantee"]["resolution"],
        columns=_names(stated),
        length=stated["guarantee"]["reporting_length"],
    )


def _by_lengths(stated: Json, path: Path) -> ReleasedCounts:
    """Counts that were made to agree: each is the least of noisy counts of itself and of its parts.

    The least of several moves by no more than the one of them that moves most. So what noise can do to a
    count of k attributes is, at most, what it does to one of the 2^k - 1 noisy counts behind it (Boole).
    """
    levels = [level for level in stated["levels"] if not level["empty"]]
    count = stated["noisy_count"]
    every = np.array([count["scale"], *(level["scale"] for level in levels)])
    thresholds = [max(1, level["threshold"] or 0) for level in levels]
    found = list(_published(path))
    scales = np.tile(every, (len(found), 1))
    weights = np.array(
        [
            [float(length == 0), *(float(math.comb(length, part)) for part in range(1, len(every)))]
            for length, _, _ in found
        ]
    ).reshape(len(found), len(every))
    least = [-(2**62) if length == 0 else max(thresholds[:length], default=1) for length, _, _ in found]
    is_laplace = stated["guarantee"]["accountant"]["name"] == "zcdp"
    return ReleasedCounts(
        vintage=stated["vintage"],
        kind="sampled" if stated["sampling"] else "noisy",
        combinations=tuple(combination for _, combination, _ in found),
        counts=np.array([value for _, _, value in found], np.float64),
        scales=scales,
        weights=weights,
        least=np.array(least, np.int64),
        laplace=count["scale"] if is_laplace else 0.0,
        columns=_names(stated),
        length=len(levels),
    )


def _fitted(stated: Json, path: Path) -> ReleasedCounts:
    """Every noisy count as drawn; of a cell that was drawn twice the mean that weighs the surer one more."""
    opened = {column["name"] for column in stated["columns"] if column["domain"] == "open"}
    threshold = (stated["values"] or {}).get("threshold") or 0
    table = pq.read_table(path)
    sums: dict[Combination, list[float]] = {}
    lowest: dict[Combination, int] = {}
    values: dict[str, set[str]] = {}
    for columns, cells, texts, count, scale in zip(
        *(table.column(name).to_pylist() for name in table.column_names), strict=True
    ):
        held = tuple(
            sorted(
                (column, text if cell == "value" else ABSENT if cell == "absent" else OTHER)
                for column, cell, text in zip(columns, cells, texts, strict=True)
            )
        )
        weight = 1 / scale**2
        entry = sums.setdefault(held, [0.0, 0.0])
        entry[0] += weight
        entry[1] += weight * count
        if len(columns) == 1 and cells[0] == "value":
            values.setdefault(columns[0], set()).add(texts[0])
            if columns[0] in opened:
                lowest[held] = threshold
    # What is other depends on which values were released: the cell's name says which.
    named = {column: _named_other(values.get(column, set())) for column in opened}
    count = stated["noisy_count"]
    combinations = [NUMBER_OF_RECORDS, *(_with_other(held, named) for held in sums)]
    counts = [count["value"], *(total / weight for weight, total in sums.values())]
    scales = [count["scale"], *(1 / math.sqrt(weight) for weight, _ in sums.values())]
    least = [-(2**62), *(lowest.get(held, -(2**62)) for held in sums)]
    return ReleasedCounts(
        vintage=stated["vintage"],
        kind="sampled" if stated["sampling"] else "noisy",
        combinations=tuple(combinations),
        counts=np.array(counts, np.float64),
        scales=np.array(scales)[:, None],
        weights=np.ones((len(scales), 1)),
        least=np.array(least, np.int64),
        columns=_names(stated),
        length=max((len(held) for held in sums), default=0),
    )


def _named_other(values: set[str]) -> str:
    """A name of the cell for all values but these."""
    return f"{OTHER} than {', '.join(sorted(values))}" if values else OTHER


def _with_other(held: Combination, named: Mapping[str, str]) -> Combination:
    return tuple((column, named.get(column, cell) if cell == OTHER else cell) for column, cell in held)
