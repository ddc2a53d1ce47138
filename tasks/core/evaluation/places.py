"""Combinations of two sides in one numbering: each value of each column of either side has a *place*.

The sides may have dictionaries of their own: they meet by column and value's text. Places ascend with
the columns, so that an ascending row of places names a combination, columns and all.
"""

from collections.abc import Iterator, Sequence

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.aggregates.stored_marginals import Marginals
from tasks.core.aggregates.wide_form import place_rows
from tasks.core.queries import identifier, render

Integers = npt.NDArray[np.int64]
Side = Marginals | Aggregates

_ROWS_A_READ = 1 << 18


def common_places(reference: Side, compared: Side) -> tuple[Integers, Integers]:
    """Each side's own values to places in a row of all values of both; columns stay in order.

    Returns:
        For marginals indexed by the side's own places, for aggregates by attribute id.
    """
    named = [named_values(side) for side in (reference, compared)]
    everything = sorted(set(named[0]) | set(named[1]))
    position = {value: place for place, value in enumerate(everything)}
    first, second = (np.array([position[value] for value in side], np.int64) for side in named)
    return first, second


def named_values(side: Side) -> list[tuple[int, str]]:
    """Column and text of each of a side's values, in the side's own order."""
    if isinstance(side, Aggregates):
        return [(a.column, a.value if a.item is None else a.item) for a in side.attributes]
    return [(column, value) for column, values in enumerate(side.facts.values) for value in values]


def lengths_of(side: Side) -> Sequence[int]:
    """The lengths that a side has counts of."""
    return side.lengths if isinstance(side, Marginals) else range(1, side.reporting_length + 1)


def records_of(side: Side) -> int:
    """A side's number of records."""
    return side.facts.number_of_records if isinstance(side, Marginals) else side.number_of_records


def side_rows(side: Side, length: int, places: Integers) -> Iterator[pa.RecordBatch]:
    """A side's combinations as ascending common places, with their counts, in batches."""
    if isinstance(side, Aggregates):
        yield batch_of_places(places[side.combinations[length - 1]], side.counts[length - 1])
        return
    codes = [f"code_{place}" for place in range(1, length + 1)]
    with pq.ParquetFile(side.path(length)) as file:
        for rows in file.iter_batches(_ROWS_A_READ):
            columns = [rows[code].to_numpy() for code in codes]
            own = place_rows(side.facts, rows["combination_id"].to_numpy(), columns)
            yield batch_of_places(places[own], rows["count"].to_numpy())


def batch_of_places(rows: Integers, counts: Integers) -> pa.RecordBatch:
    """Rows of places, in any order within a row, with what belongs to each."""
    ordered = np.sort(rows, axis=1)
    columns = {f"place_{i}": pa.array(ordered[:, i].astype(np.int32)) for i in range(ordered.shape[1])}
    return pa.RecordBatch.from_pydict({**columns, "count": pa.array(counts)})


def fill_side(
    connection: duckdb.DuckDBPyConnection, side: str, rows: Iterator[pa.RecordBatch], length: int
) -> None:
    """Make a table of a side's combinations: place_0.., count."""
    columns = place_names(length)
    schema = pa.schema([*((name, pa.int32()) for name in columns), ("count", pa.int64())])
    connection.register("rows_of_side", pa.RecordBatchReader.from_batches(schema, rows))
    text = render("evaluation/fill_side", side=identifier(side))
    connection.execute(text)
    connection.unregister("rows_of_side")


def place_names(length: int) -> list[str]:
    """The columns of `side_rows` that hold places."""
    return [f"place_{i}" for i in range(length)]
