"""Associations between columns: released counts and synthetic records go in, Cramer's V comes out.

Multi-valued columns are left out: their items are not one two-way table.
"""

import itertools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tasks.core.aggregates.aggregates import Aggregates, Attribute
from tasks.core.records.columns import Schema
from tasks.core.synthesis.records import SyntheticRecords

Floats = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]

#: Columns beyond this many are not compared: their number of pairs grows with the square.
MOST_COLUMNS = 40
#: Of a column with more published values, the most frequent are compared.
MOST_VALUES = 400
#: Fitting of what was not published to what the margins leave; it settles within a few rounds.
_ROUNDS = 30


@dataclass(frozen=True)
class Associations:
    """Cramer's V of every two columns.

    Attributes:
        columns: indices into the schema's columns, ascending.
        noisy, synthetic: (n, n), symmetric, in 0..1; NaN where a side has no table.
    """

    columns: tuple[int, ...]
    noisy: Floats
    synthetic: Floats


@dataclass(frozen=True)
class _Values:
    """The published values of one column: attribute ids, descending by count, and their counts."""

    ids: Ids
    counts: Floats


def associations(
    schema: Schema, aggregates: Aggregates, synthetic: SyntheticRecords, pair_scale: float
) -> Associations:
    """Cramer's V of the first `MOST_COLUMNS` single-valued columns, pair by pair.

    Args:
        schema: the public schema.
        aggregates: the released counts.
        synthetic: records over the same attributes.
        pair_scale: standard deviation of the noise of a two-way count, 0 for none.
    """
    columns = tuple(i for i, column in enumerate(schema.columns) if not column.is_multi_valued)[:MOST_COLUMNS]
    size = len(columns)
    noisy, drawn = np.full((size, size), np.nan), np.full((size, size), np.nan)
    if aggregates.reporting_length >= 2 and len(aggregates.combinations[1]):
        values = [_published(aggregates, column) for column in columns]
        place = _places(values, len(aggregates.attributes))
        released = _pairs_by_column(aggregates, columns)
        records = _by_column(synthetic, columns, place)
        for one, other in itertools.combinations(range(size), 2):
            shape = len(values[one].ids), len(values[other].ids)
            pairs, counts = released.get((one, other), (np.zeros((0, 2), np.int64), np.zeros(0)))
            table = np.zeros(shape)
            rows, across = place[pairs[:, 0]], place[pairs[:, 1]]
            kept = (rows >= 0) & (across >= 0)
            table[rows[kept], across[kept]] = counts[kept]
            margins = _margins(values[one], values[other], aggregates.number_of_records)
            noisy[one, other] = noisy[other, one] = released_v(table, *margins, pair_scale)
            drawn[one, other] = drawn[other, one] = cramers_v(_counted(records[one], records[other], shape))
    return Associations(columns, noisy, drawn)


def cramers_v(table: Floats, noise: float = 0.0) -> float:
    """Cramer's V of a two-way table; NaN where a side has fewer than two filled values.

    V = sqrt(phi^2 / (min(r, c) - 1)), phi^2 = sum n_ij^2 / (n_i. n_.j) - 1 - noise.
    """
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    smaller = min(table.shape)
    if smaller < 2:
        return float("nan")
    expected = np.outer(table.sum(axis=1), table.sum(axis=0))
    phi_squared = float(np.sum(table * table / expected)) - 1 - noise
    return float(np.sqrt(min(max(phi_squared, 0.0) / (smaller - 1), 1.0)))


def released_v(table: Floats, rows: Floats, columns: Floats, pair_scale: float) -> float:
    """Cramer's V of published pairs, those that were not published filled in without association.

    Leaving unpublished cells at 0 would make columns look associated that are not. They get what the
    one-way counts leave over, by iterative proportional fitting, and the noise's own expected part of
    phi^2, s^2 times the sum of 1 / (n_i. n_.j) over published cells, is taken off.

    Args:
        table: published two-way counts, 0 where there is none.
        rows: the margin that one-way counts lead to expect.
        columns: the other margin.
        pair_scale: s, standard deviation of the noise of a published cell.
    """
    if not table.any():
        return float("nan")
    published = table > 0
    filled = np.where(published, 0.0, 1.0)
    left_rows = np.maximum(rows - table.sum(axis=1), 0)
    left_columns = np.maximum(columns - table.sum(axis=0), 0)
    for _ in range(_ROUNDS):
        filled *= _ratio(left_rows, filled.sum(axis=1))[:, np.newaxis]
        filled *= _ratio(left_columns, filled.sum(axis=0))[np.newaxis, :]
    whole = table + filled
    expected = np.outer(whole.sum(axis=1), whole.sum(axis=0))[published]
    return cramers_v(whole, pair_scale**2 * float(np.sum(1 / expected)))


def _ratio(wanted: Floats, given: Floats) -> Floats:
    """Wanted over given, 0 where nothing is given."""
    return np.divide(wanted, given, out=np.zeros_like(wanted), where=given > 0)


def _published(aggregates: Aggregates, column: int) -> _Values:
    """The most frequent published values of a column."""
    source = np.array([attribute.column for attribute in aggregates.attributes], dtype=np.int64)
    ids = aggregates.combinations[0][:, 0].astype(np.int64)
    mine = source[ids] == column
    ids, counts = ids[mine], aggregates.counts[0][mine].astype(np.float64)
    order = np.lexsort((ids, -counts))[:MOST_VALUES]
    return _Values(ids[order], counts[order])


def _places(values: list[_Values], attributes: int) -> Ids:
    """For each attribute its place among its column's values, -1 for none."""
    place = np.full(attributes, -1, dtype=np.int64)
    for held in values:
        place[held.ids] = np.arange(len(held.ids))
    return place


def _margins(one: _Values, other: _Values, records: int) -> tuple[Floats, Floats]:
    """Expected margins of the records that have both: each column's counts times the other's share."""
    whole = max(float(records), one.counts.sum(), other.counts.sum(), 1.0)
    return one.counts * (other.counts.sum() / whole), other.counts * (one.counts.sum() / whole)


def _pairs_by_column(
    aggregates: Aggregates, columns: tuple[int, ...]
) -> dict[tuple[int, int], tuple[npt.NDArray[np.int64], Floats]]:
    """The published pairs by their two columns' places in ``columns``, the smaller first."""
    target = _targets(aggregates.attributes, columns)
    pairs, counts = aggregates.combinations[1].astype(np.int64), aggregates.counts[1].astype(np.float64)
    held = target[pairs]
    wanted = (held >= 0).all(axis=1) & (held[:, 0] != held[:, 1])
    pairs, held, counts = pairs[wanted], held[wanted], counts[wanted]
    swapped = held[:, 0] > held[:, 1]
    pairs[swapped], held[swapped] = pairs[swapped][:, ::-1], held[swapped][:, ::-1]
    keys = held[:, 0] * len(columns) + held[:, 1]
    order = np.argsort(keys, kind="stable")
    names, starts = np.unique(keys[order], return_index=True)
    parts = np.split(order, starts[1:]) if len(order) else []
    return {
        divmod(name, len(columns)): (pairs[part], counts[part])
        for name, part in zip(names.tolist(), parts, strict=True)
    }


def _targets(attributes: tuple[Attribute, ...], columns: tuple[int, ...]) -> Ids:
    """For each attribute the place of its column in ``columns``, -1 for none."""
    place = {column: index for index, column in enumerate(columns)}
    return np.array([place.get(attribute.column, -1) for attribute in attributes], dtype=np.int64)


def _by_column(synthetic: SyntheticRecords, columns: tuple[int, ...], place: Ids) -> npt.NDArray[np.int32]:
    """(columns, n) places of the synthetic records' values among their column's, -1 where there is none."""
    target = _targets(synthetic.attributes, columns)
    table = np.full((len(columns), synthetic.number_of_records), -1, dtype=np.int32)
    for first in range(0, synthetic.number_of_records, 65536):
        bounds = synthetic.offsets[first : first + 65537]
        ids = synthetic.attribute_ids[bounds[0] : bounds[-1]]
        records = np.repeat(np.arange(first, first + len(bounds) - 1), np.diff(bounds))
        wanted = target[ids] >= 0
        table[target[ids][wanted], records[wanted]] = place[ids][wanted]
    return table


def _counted(one: npt.NDArray[np.int32], other: npt.NDArray[np.int32], shape: tuple[int, int]) -> Floats:
    """The two-way table of two columns of places."""
    filled = (one >= 0) & (other >= 0)
    keys = one[filled].astype(np.int64) * shape[1] + other[filled]
    return np.bincount(keys, minlength=shape[0] * shape[1]).astype(np.float64).reshape(shape)


def ranked(found: Associations, schema: Schema, most: int = 15) -> list[tuple[str, float, float]]:
    """The strongest pairs by the released counts, as ("one × other", released V, synthetic V)."""
    pairs = []
    for one, other in itertools.combinations(range(len(found.columns)), 2):
        released, drawn = float(found.noisy[one, other]), float(found.synthetic[one, other])
        if np.isfinite(released):
            names = f"{schema.columns[found.columns[one]].name} × {schema.columns[found.columns[other]].name}"
            pairs.append((names, released, drawn if np.isfinite(drawn) else 0.0))
    return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:most]
