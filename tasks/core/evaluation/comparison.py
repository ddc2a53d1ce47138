"""Two sets of counts beside each other: marginals or aggregates in, sums by length and count bin out.

Every measure of evaluation (sds.md 5) is a ratio of these sums. The two sides may have dictionaries of
their own: they meet by column and value's text. s is a combination's count on the reference side
(sensitive, or reportable), y on the compared side (reportable, or synthetic); 0 where it is absent.
Which zone the result belongs to is that of its inputs.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.aggregates.stored_marginals import Marginals
from tasks.core.aggregates.wide_form import place_rows
from tasks.core.errors import ParameterError
from tasks.core.queries import Resources, identifier, listed, render

Numbers = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Side = Marginals | Aggregates
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
    lengths = tuple(sorted(set(_lengths(reference)) & set(_lengths(compared))))
    places = common_places(reference, compared)
    rows = []
    with resources.connect() as connection:
        for length in lengths:
            _fill(connection, "reference", _side_rows(reference, length, places[0]), length)
            _fill(connection, "compared", _side_rows(compared, length, places[1]), length)
            rows.append(_sums(connection, length, resolution))
    bins = max((sums.shape[1] for sums in rows), default=1)
    stacked = np.zeros((len(MEASURES), len(lengths), bins))
    for index, sums in enumerate(rows):
        stacked[:, index, : sums.shape[1]] = sums
    return Comparison(
        resolution=resolution,
        reference_records=_records(reference),
        compared_records=_records(compared),
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


def common_places(reference: Side, compared: Side) -> tuple[Integers, Integers]:
    """Each side's own values to places in a row of all values of both; columns stay in order.

    Returns:
        For marginals indexed by the side's own places, for aggregates by attribute id.
    """
    named = [_named_values(side) for side in (reference, compared)]
    everything = sorted(set(named[0]) | set(named[1]))
    position = {value: place for place, value in enumerate(everything)}
    first, second = (np.array([position[value] for value in side], np.int64) for side in named)
    return first, second


def _named_values(side: Side) -> list[tuple[int, str]]:
    if isinstance(side, Aggregates):
        return [(a.column, a.value if a.item is None else a.item) for a in side.attributes]
    return [(column, value) for column, values in enumerate(side.facts.values) for value in values]


def _lengths(side: Side) -> Sequence[int]:
    return side.lengths if isinstance(side, Marginals) else range(1, side.reporting_length + 1)


def _records(side: Side) -> int:
    return side.facts.number_of_records if isinstance(side, Marginals) else side.number_of_records


def _side_rows(side: Side, length: int, places: Integers) -> Iterator[pa.RecordBatch]:
    """A side's combinations as ascending common places, with their counts, in batches."""
    if isinstance(side, Aggregates):
        yield _batch(places[side.combinations[length - 1]], side.counts[length - 1])
        return
    codes = [f"code_{place}" for place in range(1, length + 1)]
    with pq.ParquetFile(side.path(length)) as file:
        for rows in file.iter_batches(_ROWS_A_READ):
            columns = [rows[code].to_numpy() for code in codes]
            own = place_rows(side.facts, rows["combination_id"].to_numpy(), columns)
            yield _batch(places[own], rows["count"].to_numpy())


def _batch(rows: Integers, counts: Integers) -> pa.RecordBatch:
    ordered = np.sort(rows, axis=1)
    columns = {f"place_{i}": pa.array(ordered[:, i].astype(np.int32)) for i in range(ordered.shape[1])}
    return pa.RecordBatch.from_pydict({**columns, "count": pa.array(counts)})


def _fill(
    connection: duckdb.DuckDBPyConnection, side: str, rows: Iterator[pa.RecordBatch], length: int
) -> None:
    columns = _places(length)
    schema = pa.schema([*((name, pa.int32()) for name in columns), ("count", pa.int64())])
    connection.register("rows_of_side", pa.RecordBatchReader.from_batches(schema, rows))
    text = render("evaluation/fill_side", side=identifier(side), columns=listed([*columns, "count"]))
    connection.execute(text)
    connection.unregister("rows_of_side")


def _sums(connection: duckdb.DuckDBPyConnection, length: int, resolution: int) -> Numbers:
    """Every measure's sums by bin, float64 (measures, bins)."""
    text = render("evaluation/pair_counts", places=listed(_places(length)))
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


def _places(length: int) -> list[str]:
    return [f"place_{i}" for i in range(length)]
