"""True counts as SDS's files, however many.

DuckDB sorts them, and spills what does not fit in the memory that it may use.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tasks.core.aggregates.aggregates import Aggregates, Attribute
from tasks.core.aggregates.interchange import RECORD_COUNT, CountedIds, write_aggregates_json
from tasks.core.aggregates.linkability import rarest_cells
from tasks.core.aggregates.selections import TextOrder, selections_of
from tasks.core.aggregates.stored_marginals import ROWS_A_READ, Marginals
from tasks.core.aggregates.wide_form import attribute_cells, number_everything, wide_headers
from tasks.core.arrays import Ids, Integers, ShareDone
from tasks.core.queries import QueryResources, query_text

#: So many of the rarest combinations of each length are listed.
MOST_RAREST = 1000
_HEADER = b"selections\tcount\n"


def write_true_counts(
    marginals: Marginals,
    path: Path,
    resources: QueryResources = QueryResources(),
    longest: int | None = None,
    progress: ShareDone = lambda fraction: None,
) -> None:
    """Write true counts as TSV (see `write_counts_tsv`), of no more than ``longest`` attributes each."""
    numbering = number_everything(marginals)
    lengths = [length for length in marginals.lengths if longest is None or length <= longest]
    reading = _Reading(marginals, lengths, progress)
    levels = {length: reading.report(attribute_cells(marginals, length, numbering)) for length in lengths}
    write_counts_tsv(numbering.attributes, marginals.facts.number_of_records, levels, path, resources)


def write_sensitive_json(
    marginals: Marginals, path: Path, progress: ShareDone = lambda fraction: None
) -> None:
    """Write true counts as SDS's aggregated-data JSON, in the order of the marginals; sensitive."""
    numbering, reading = number_everything(marginals), _Reading(marginals, marginals.lengths, progress)
    levels = (attribute_cells(marginals, length, numbering) for length in marginals.lengths)
    parts = reading.report(itertools.chain.from_iterable(levels))
    facts, longest = marginals.facts, max(marginals.lengths, default=0)
    headers = wide_headers(facts.schema, numbering.attributes)
    about = Aggregates(headers, numbering.attributes, facts.number_of_records, (), ()).up_to(longest)
    write_aggregates_json(about, facts.schema, path, protected=False, parts=parts)


def write_rarest(marginals: Marginals, path: Path) -> None:
    """Write the combinations of each length that fewest records hold, up to `MOST_RAREST` of them.

    Lines as of `write_counts_tsv`, without the number of records: by length, then the rarest first, equally
    rare ones by text. Where too many are equally rare, those of the first columns are taken. Sensitive.
    """
    numbering = number_everything(marginals)
    order, selections = TextOrder(numbering.attributes), selections_of(numbering.attributes)
    with path.open("wb") as file:
        file.write(_HEADER)
        for length in marginals.lengths:
            cells = rarest_cells(marginals, length, MOST_RAREST)
            ids = numbering.ids(cells)
            places = order.by_count(ids, -cells.counts)
            file.writelines(selections.lines(ids[places], cells.counts[places]))


class _Reading:
    def __init__(self, marginals: Marginals, lengths: Sequence[int], progress: ShareDone) -> None:
        self._all = sum(pq.read_metadata(marginals.path(length)).num_rows for length in lengths)
        self._progress, self._read = progress, 0

    def report(self, rows: CountedIds) -> Iterator[tuple[Ids, Integers]]:
        for ids, counts in rows:
            yield ids, counts
            self._read += len(counts)
            self._progress(self._read / self._all)


def write_counts_tsv(
    attributes: Sequence[Attribute],
    number_of_records: int,
    levels: Mapping[int, CountedIds],
    path: Path,
    resources: QueryResources = QueryResources(),
) -> None:
    """Write true counts as `interchange.write_reportable_tsv` writes aggregates: the same lines and order.

    What does not fit in memory is in the scratch of the resources, otherwise beside the file.
    """
    order, selections = TextOrder(attributes), selections_of(attributes)
    sorting = replace(resources, scratch=resources.scratch or path.parent)
    with path.open("wb") as file:
        file.write(_HEADER + f"{RECORD_COUNT}\t{number_of_records}\n".encode())
        for length, rows in levels.items():
            for ids, counts in _in_order_of_file(rows, order, length, sorting):
                file.writelines(selections.lines(ids, counts))


def _in_order_of_file(
    rows: CountedIds, order: TextOrder, length: int, resources: QueryResources
) -> Iterator[tuple[Ids, Integers]]:
    names = [f"rank_{place}" for place in range(1, length + 1)]
    schema = pa.schema([("negated_count", pa.int64()), *((name, pa.int32()) for name in names)])
    ranked = (
        pa.RecordBatch.from_arrays(
            [pa.array(-counts), *map(pa.array, order.ranks(ids).T.copy())], schema=schema
        )
        for ids, counts in rows
    )
    with resources.connect() as connection:
        connection.register("cells", pa.RecordBatchReader.from_batches(schema, ranked))
        for found in connection.sql(query_text("aggregates/order_cells")).to_arrow_reader(ROWS_A_READ):
            ranks = np.stack([found[name].to_numpy() for name in names], axis=1)
            yield order.ids(ranks), -found["negated_count"].to_numpy()
