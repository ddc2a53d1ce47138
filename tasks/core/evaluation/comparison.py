"""Two sets of counts beside each other: marginals or aggregates in, sums by length and count bin out.

Every measure of evaluation (sds.md 5) is a ratio of these sums. The two sides may have dictionaries of
their own: they meet by column and value's text. s is a combination's count on the reference side
(sensitive, or reportable), y on the compared side (reportable, or synthetic); 0 where it is absent.
Which zone the result belongs to is that of its inputs.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt

from tasks.core.errors import ParameterError
from tasks.core.evaluation.places import (
    Side,
    common_places,
    fill_side,
    lengths_of,
    place_names,
    records_of,
    side_rows,
)
from tasks.core.queries import Resources, listed, render

Numbers = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
_Measure = Callable[[Integers, Integers, int], npt.NDArray[Any]]

_ROWS_A_READ = 1 << 18
_FIRST_BIN = 10


@dataclass(frozen=True)
class Comparison:
    """Sums over combinations, by length and by bin of the compared count.

    Attributes:
        resolution: the reporting resolution; a count below it is rare.
        reference_records, compared_records: number of records of the two sides.
        lengths: the lengths compared, ascending.
        sums: by name (see `MEASURES`) float64 (lengths, bins).
    """

    resolution: int
    reference_records: int
    compared_records: int
    lengths: tuple[int, ...]
    sums: Mapping[str, Numbers]

    @property
    def bins(self) -> tuple[int, ...]:
        """Upper bounds of the bins, ascending: 10, 20, 40, ..."""
        return tuple(_FIRST_BIN << index for index in range(self.sums["combinations"].shape[1]))

    def total(self, measure: str) -> float:
        """Over all combinations."""
        return float(self.sums[measure].sum())

    def by_length(self, measure: str) -> Numbers:
        """Over the combinations of each length."""
        return np.asarray(self.sums[measure].sum(axis=1), np.float64)

    def by_bin(self, measure: str) -> Numbers:
        """Over the combinations of each bin."""
        return np.asarray(self.sums[measure].sum(axis=0), np.float64)


def ratio(numerator: float, denominator: float) -> float:
    """The ratio, 0 where there is nothing to divide by."""
    return numerator / denominator if denominator else 0.0


def number_of_bins(largest: int) -> int:
    """How many bins of upper bounds 10, 20, 40, ... reach the largest compared count; at least one."""
    return int(bins_of(np.array([largest]))[0]) + 1


def bins_of(counts: Integers) -> Integers:
    """The bin of each count: 0 up to 10, 1 up to 20, 2 up to 40, ..."""
    multiples = np.maximum(-(-counts // _FIRST_BIN), 1)
    # frexp is exact: the exponent of m - 1 is the number of doublings that reach m.
    return np.frexp((multiples - 1).astype(np.float64))[1].astype(np.int64)


def compare(
    reference: Side, compared: Side, resolution: int, resources: Resources = Resources()
) -> Comparison:
    """Compare counts of the lengths that both sides have.

    Args:
        reference: the counts that are taken as right.
        compared: the counts that are judged; of the same columns in the same order.
        resolution: at least 1.
        resources: memory, threads, scratch; the join spills to scratch.

    Raises:
        ParameterError: if the resolution is below 1.
    """
    if resolution < 1:
        raise ParameterError(f"A reporting resolution is at least 1, not {resolution}.")
    lengths = tuple(sorted(set(lengths_of(reference)) & set(lengths_of(compared))))
    places = common_places(reference, compared)
    rows = []
    with resources.connect() as connection:
        for length in lengths:
            fill_side(connection, "reference", side_rows(reference, length, places[0]), length)
            fill_side(connection, "compared", side_rows(compared, length, places[1]), length)
            rows.append(_sums(connection, length, resolution))
    bins = max((sums.shape[1] for sums in rows), default=1)
    stacked = np.zeros((len(MEASURES), len(lengths), bins))
    for index, sums in enumerate(rows):
        stacked[:, index, : sums.shape[1]] = sums
    return Comparison(
        resolution=resolution,
        reference_records=records_of(reference),
        compared_records=records_of(compared),
        lengths=lengths,
        sums=dict(zip(MEASURES, stacked, strict=True)),
    )


#: What is summed over combinations; each holds arrays of s, y and the resolution.
#: ``population`` is SDS's {s >= resolution} or {y > 0}; shares of a missing s are SDS's too.
MEASURES: dict[str, _Measure] = {
    "combinations": lambda s, y, r: np.ones(len(s)),
    "reference": lambda s, y, r: s > 0,
    "compared": lambda s, y, r: y > 0,
    "kept": lambda s, y, r: (s > 0) & (y > 0),
    "suppressed": lambda s, y, r: (s > 0) & (y == 0),
    "fabricated": lambda s, y, r: (s == 0) & (y > 0),
    "reference_count": lambda s, y, r: s,
    "compared_count": lambda s, y, r: y,
    "error_kept": lambda s, y, r: np.where((s > 0) & (y > 0), np.abs(s - y), 0),
    "error_reference": lambda s, y, r: np.where(s > 0, np.abs(s - y), 0),
    "error_union": lambda s, y, r: np.abs(s - y),
    "rare": lambda s, y, r: (s > 0) & (s < r),
    "unique": lambda s, y, r: s == 1,
    "leaked": lambda s, y, r: (s > 0) & (s < r) & (y > 0) & (y < r),
    "leaked_anywhere": lambda s, y, r: (s > 0) & (s < r) & (y > 0),
    "population": lambda s, y, r: (s >= r) | (y > 0),
    "population_count": lambda s, y, r: np.where((s >= r) | (y > 0), y, 0),
    "preservation": lambda s, y, r: np.where((s > 0) & (y > 0), np.minimum(y / np.maximum(s, 1), 1), 0),
    "proportional_error": lambda s, y, r: np.where(
        (s >= r) | (y > 0), np.where(s > 0, np.abs(y - s) / np.maximum(s, 1), 1), 0
    ),
}


def _sums(connection: duckdb.DuckDBPyConnection, length: int, resolution: int) -> Numbers:
    """Every measure's sums by bin, float64 (measures, bins)."""
    text = render("evaluation/pair_counts", places=listed(place_names(length)))
    total = np.zeros((len(MEASURES), 1))
    for rows in connection.sql(text).to_arrow_reader(_ROWS_A_READ):
        s, y = rows["reference_count"].to_numpy(), rows["compared_count"].to_numpy()
        weights = rows["combinations"].to_numpy().astype(np.float64)
        bins = bins_of(y)
        size = max(total.shape[1], int(bins.max(initial=0)) + 1)
        total = np.pad(total, ((0, 0), (0, size - total.shape[1])))
        for index, measure in enumerate(MEASURES.values()):
            total[index] += np.bincount(bins, weights=weights * measure(s, y, resolution), minlength=size)
    return total
