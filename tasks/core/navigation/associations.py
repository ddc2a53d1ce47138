"""Associations between columns: released pair counts and synthetic records go in, Cramer's V comes out.

Noise, rounding and what is not published make columns look associated that are not, so the released side is
an estimate that takes them off. Where its counts come from is a `PairCounts` (see `released_associations`).
Multi-valued columns are left out: their items are not one two-way table.
"""

import itertools
import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from tasks.core.arrays import Floats, Integers
from tasks.core.records.columns import Schema
from tasks.core.synthesis.records import AnySynthetic

Known = npt.NDArray[np.bool_]
#: Places among the values that are compared, of which there are at most `MOST_VALUES`. Each record has one a
#: column, so they are kept narrow.
_Places = npt.NDArray[np.int16]

#: Columns beyond this many are not compared: their number of pairs grows with the square.
MOST_CHARTED_COLUMNS = 40
#: Of a column with more values, the most frequent are compared.
MOST_VALUES = 300


@dataclass(frozen=True)
class Associations:
    """Cramer's V of every two columns.

    Attributes:
        columns: indices into the schema's columns, ascending.
        released: (n, n), symmetric, in 0..1, from the released counts; NaN where there is no table.
        synthetic: likewise, from the records.
    """

    columns: tuple[int, ...]
    released: Floats
    synthetic: Floats


@dataclass(frozen=True)
class PairTable:
    """The two-way table of two columns, as released.

    Attributes:
        counts: (r, c) released counts, 0 where nothing is known.
        known: (r, c) whether the count is known.
        rows: (r,) one-way counts.
        columns: (c,) likewise.
    """

    counts: Floats
    known: Known
    rows: Floats
    columns: Floats


class PairCounts(Protocol):
    """Where released counts of pairs come from; a column's values have codes 1, 2, ... in its order."""

    def has_pairs(self) -> bool:
        """Whether any pair's count was released."""

    def values(self, column: int) -> tuple[str, ...]:
        """The values of a column."""

    def held(self, column: int) -> tuple[Integers, Floats]:
        """Codes of the values that enough hold, the most frequent first, at most `MOST_VALUES`; counts."""

    def table(self, pair: tuple[int, int], places: tuple[Integers, Integers]) -> tuple[Floats, Known]:
        """Counts of two columns by the places of their codes (-1: not compared), and which are known."""

    def v(self, pair: tuple[int, int], table: PairTable) -> float:
        """Cramer's V of two columns' table, corrected for what was done to the counts."""


def associations(pairs: PairCounts, schema: Schema, synthetic: AnySynthetic) -> Associations:
    """Cramer's V of the first `MOST_CHARTED_COLUMNS` single-valued columns, over the same values."""
    single = tuple(i for i, column in enumerate(schema.columns) if not column.is_multi_valued)
    columns = single[:MOST_CHARTED_COLUMNS]
    size = len(columns)
    released, drawn = np.full((size, size), np.nan), np.full((size, size), np.nan)
    if pairs.has_pairs():
        values = [pairs.values(column) for column in columns]
        held = [pairs.held(column) for column in columns]
        places = [_places(codes, len(own)) for (codes, _), own in zip(held, values, strict=True)]
        records = _by_column(dict(zip(columns, values, strict=True)), synthetic, places)
        for one, other in itertools.combinations(range(size), 2):
            pair = columns[one], columns[other]
            counts, known = pairs.table(pair, (places[one], places[other]))
            table = PairTable(counts, known, held[one][1], held[other][1])
            released[one, other] = released[other, one] = pairs.v(pair, table)
            seen = _counted(records[one], records[other], counts.shape)
            drawn[one, other] = drawn[other, one] = cramers_v(seen)
    return Associations(columns, released, drawn)


def cramers_v(table: Floats) -> float:
    """Cramer's V of a two-way table of counts; NaN where a side has fewer than two filled values.

    >>> smoking_by_sex = np.array([[40.0, 10.0], [10.0, 40.0]])
    >>> round(cramers_v(smoking_by_sex), 3)
    0.6
    """
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    if min(table.shape, default=0) < 2:
        return float("nan")
    return v_of(table, table.sum(axis=1), table.sum(axis=0), 0.0)


def v_of(table: Floats, rows: Floats, columns: Floats, noise: float | Floats) -> float:
    """Cramer's V by the sums of rows and columns, the part of the cells' variance ``noise`` taken off.

    V = sqrt(phi^2 / (min(r, c) - 1)), phi^2 = sum ((n_ij - e_ij)^2 - noise_ij) / e_ij / n.
    """
    total = math.sqrt(float(rows.sum()) * float(columns.sum()))
    expected = np.outer(rows, columns) / total
    phi_squared = float(np.sum(((table - expected) ** 2 - noise) / expected)) / total
    return math.sqrt(min(max(phi_squared, 0.0) / (min(table.shape) - 1), 1.0))


def _places(codes: Integers, values: int) -> Integers:
    """For each code its place among those compared, -1 for none; code 0 is absent."""
    place = np.full(values + 1, -1, dtype=np.int64)
    place[codes] = np.arange(len(codes))
    return place


def _by_column(
    values: dict[int, tuple[str, ...]], synthetic: AnySynthetic, places: list[Integers]
) -> _Places:
    """(columns, n) places of the synthetic records' values among those compared, -1 where there is none."""
    target = np.full(len(synthetic.attributes), -1, dtype=np.int64)
    place = np.full(len(synthetic.attributes), -1, dtype=np.int64)
    code_of = {(column, value): code for column, own in values.items() for code, value in enumerate(own, 1)}
    index_of = {column: index for index, column in enumerate(values)}
    for number, attribute in enumerate(synthetic.attributes):
        code = code_of.get((attribute.column, attribute.value))
        if code is not None:
            target[number] = index_of[attribute.column]
            place[number] = places[target[number]][code]
    table = np.full((len(values), synthetic.number_of_records), -1, dtype=np.int16)
    done = 0
    for part in synthetic.parts():
        for first in range(0, part.number_of_records, 65536):
            bounds = part.offsets[first : first + 65537]
            ids = part.attribute_ids[bounds[0] : bounds[-1]]
            records = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds)) + (done + first)
            wanted = target[ids] >= 0
            table[target[ids][wanted], records[wanted]] = place[ids][wanted]
        done += part.number_of_records
    return table


def _counted(one: _Places, other: _Places, shape: tuple[int, ...]) -> Floats:
    """The two-way table of two columns of places."""
    filled = (one >= 0) & (other >= 0)
    keys = one[filled].astype(np.int64) * shape[1] + other[filled]
    return np.bincount(keys, minlength=shape[0] * shape[1]).astype(np.float64).reshape(shape)


def ranked(found: Associations, schema: Schema, most: int = 15) -> list[tuple[str, float, float]]:
    """The strongest pairs by the released counts, as ("one × other", released V, synthetic V)."""
    pairs = []
    for one, other in itertools.combinations(range(len(found.columns)), 2):
        released, drawn = float(found.released[one, other]), float(found.synthetic[one, other])
        if math.isfinite(released):
            names = f"{schema.columns[found.columns[one]].name} × {schema.columns[found.columns[other]].name}"
            pairs.append((names, released, drawn if math.isfinite(drawn) else 0.0))
    return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:most]
