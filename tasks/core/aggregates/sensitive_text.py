"""True counts as SDS's text file: exact marginals in, ``selections`` and counts out, however many."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from tasks.core.aggregates.interchange import first_lines
from tasks.core.aggregates.selections import TextOrder, cells_of
from tasks.core.aggregates.stored_marginals import Marginals
from tasks.core.aggregates.wide_form import Numbering, number_everything, stored_cells
from tasks.core.queries import Resources, listed, render


def write_sensitive_tsv(marginals: Marginals, path: Path, resources: Resources = Resources()) -> None:
    """Write the lines of `interchange.write_aggregates_tsv` for true counts, sorted by DuckDB.

    Args:
        marginals: all combinations of each length from 1 on.
        path: the file to write; sensitive.
        resources: memory, threads, and scratch for what does not fit.
    """
    numbering = number_everything(marginals)
    order = TextOrder(numbering.attributes)
    pieces = cells_of(numbering.attributes)
    with path.open("wb") as file, resources.connect() as connection:
        file.writelines(first_lines(marginals.facts.number_of_records, "count"))
        for length in marginals.lengths:
            for ranks, counts in _sorted(connection, marginals, length, numbering, order):
                file.writelines(pieces.lines(order.ids(ranks), counts))


def _sorted(
    connection: duckdb.DuckDBPyConnection,
    marginals: Marginals,
    length: int,
    numbering: Numbering,
    order: TextOrder,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    names = [f"rank_{place}" for place in range(1, length + 1)]
    schema = pa.schema([*((name, pa.int32()) for name in names), ("count", pa.int64())])

    def rows() -> Iterator[pa.RecordBatch]:
        for cells in stored_cells(marginals, length):
            ranks = order.ranks(numbering.ids(cells))
            columns = [pa.array(np.ascontiguousarray(column)) for column in ranks.T]
            yield pa.RecordBatch.from_arrays([*columns, pa.array(cells.counts)], schema=schema)

    connection.register("cells", pa.RecordBatchReader.from_batches(schema, rows()))
    text = render("aggregates/order_cells", ranks=listed(names))
    for batch in connection.sql(text).to_arrow_reader(1 << 18):
        yield np.stack([batch[name].to_numpy() for name in names], axis=1), batch["count"].to_numpy()
    connection.unregister("cells")
