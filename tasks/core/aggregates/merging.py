"""Adding up partials: the marginals of the partitions of one table in, those of the table out.

Read and written combination by combination: what is held is one combination of every partial.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tasks.core.aggregates.grouping import FilledCells, add_up, append_rows, fits, most_cells
from tasks.core.aggregates.marginals import RowBuffer
from tasks.core.aggregates.stored_marginals import (
    MarginalFacts,
    Marginals,
    check_same_table,
    code_names,
    length_writer,
    read_marginals,
)
from tasks.core.queries import QueryResources, filled_query, identifiers

_ROWS_A_READ = 1 << 17


def merge_partials(
    partials: Sequence[Marginals], destination: Path, resources: QueryResources = QueryResources()
) -> Marginals:
    """Add up the marginals of the partitions of one table, into an existing empty folder.

    Raises:
        InternalError: if the partials are not of one table and workload.
    """
    facts = [partial.facts for partial in partials]
    check_same_table(facts)
    merged = replace(facts[0], number_of_records=sum(one.number_of_records for one in facts))
    merged.write(destination)
    with resources.connect() as connection:
        for length in merged.workload:
            paths = [partial.path(length) for partial in partials]
            with length_writer(destination / f"marginals_{length}.parquet", length) as writer:
                buffer = RowBuffer(writer, length)
                _merge_length(_Length(merged, length, paths, most_cells(resources)), buffer, connection)
                buffer.flush()
    return read_marginals(destination)


class _Length:
    """The files of one length, and which combinations are added up in memory."""

    def __init__(self, facts: MarginalFacts, length: int, paths: Sequence[Path], most: int) -> None:
        self.paths, self.length = paths, length
        self.sizes = {
            index: [len(facts.values[column]) + 1 for column in combination]
            for index, combination in facts.counted(length).items()
        }
        self._records, self._most = facts.number_of_records, most

    def in_memory(self, index: int) -> bool:
        """Whether the cells of a combination fit."""
        return fits(self.sizes[index], self._records, self._most)


def _merge_length(own: _Length, buffer: RowBuffer, connection: duckdb.DuckDBPyConnection) -> None:
    readers = [stored_combinations(path, own.in_memory) for path in own.paths]
    heads = [next(reader, None) for reader in readers]
    codes = identifiers(code_names(own.length))
    text = filled_query("aggregates/merge_partials", codes=codes)
    for index, sizes in own.sizes.items():
        if not own.in_memory(index):
            values: dict[str, object] = {"partials": [str(p) for p in own.paths], "combination_id": index}
            append_rows(connection, text, buffer.append_rows, values)
            continue
        parts = []
        for place, head in enumerate(heads):
            if head is not None and head[0] == index:
                parts.append(head[1])
                heads[place] = next(readers[place], None)
        if parts:
            buffer.append(index, add_up(parts, sizes))


def stored_combinations(
    path: Path, wanted: Callable[[int], bool] = lambda index: True
) -> Iterator[tuple[int, FilledCells]]:
    """The cells of each wanted combination of a file of marginals, in its order."""
    pending: list[pa.Table] = []
    current = -1
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=_ROWS_A_READ):
            table = pa.Table.from_batches([batch])
            ids = table["combination_id"].to_numpy()
            starts = np.flatnonzero(np.concatenate([[True], ids[1:] != ids[:-1]])[: len(ids)]).tolist()
            for start, end in zip(starts, [*starts[1:], len(ids)], strict=True):
                index = int(ids[start])
                if index != current and pending:
                    yield current, _cells(pending)
                    pending = []
                current = index
                if wanted(index):
                    pending.append(table.slice(start, end - start))
    if pending:
        yield current, _cells(pending)


def _cells(pieces: list[pa.Table]) -> FilledCells:
    _, *codes, counts = (column.to_numpy() for column in pa.concat_tables(pieces).columns)
    return FilledCells(tuple(codes), counts)
