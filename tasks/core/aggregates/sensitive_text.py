"""True counts as SDS's files: exact marginals in, ``selections`` and counts and SDS's JSON out, however many.

Neither the lines nor what they are sorted by are ever in memory all together.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tasks.core.aggregates.aggregates import Attribute
from tasks.core.aggregates.aggregates_json import SensitiveJson
from tasks.core.aggregates.interchange import first_lines
from tasks.core.aggregates.selections import TextOrder, cells_of
from tasks.core.aggregates.sorted_runs import in_ascending_order
from tasks.core.aggregates.stored_marginals import Marginals
from tasks.core.aggregates.wide_form import number_everything, numbered
from tasks.core.queries import Resources, query_text

Integers = npt.NDArray[np.int64]
Ids = npt.NDArray[np.int32]
#: Combinations and their counts, some at a time.
Rows = Iterable[tuple[Ids, Integers]]

_ROWS_A_READ = 1 << 18


def write_sensitive_listings(
    marginals: Marginals, text: Path, json: Path, resources: Resources = Resources()
) -> None:
    """Write all true counts twice, read once.

    Args:
        marginals: all combinations of each length from 1 on.
        text: the TSV to write (see `write_counts_tsv`); sensitive.
        json: SDS's aggregated-data JSON to write, in the order of the marginals; sensitive.
        resources: as of `write_counts_tsv`.
    """
    numbering = number_everything(marginals)
    with json.open("wb") as file:
        body = SensitiveJson(marginals, numbering.attributes, file)
        levels = {length: body.told(numbered(marginals, length, numbering)) for length in marginals.lengths}
        records = marginals.facts.number_of_records
        write_counts_tsv(numbering.attributes, records, levels, text, resources)
        body.finish()


def write_counts_tsv(
    attributes: Sequence[Attribute],
    number_of_records: int,
    levels: Mapping[int, Rows],
    path: Path,
    resources: Resources = Resources(),
) -> None:
    """Write true counts as `interchange.write_aggregates_tsv` writes aggregates: the same lines and order.

    Args:
        attributes: what the ids stand for.
        number_of_records: n; no count is larger.
        levels: by length, ascending, every combination once.
        path: the file to write; sensitive.
        resources: memory, threads, and scratch for what does not fit (otherwise beside the file).
    """
    order, pieces = TextOrder(attributes), cells_of(attributes)
    with path.open("wb") as file:
        file.writelines(first_lines(number_of_records, "count"))
        for length, rows in levels.items():
            if order.fits(length, number_of_records):
                parts = _by_key(rows, order, (length, number_of_records), resources.scratch or path.parent)
            else:
                parts = _by_query(rows, order, length, resources)
            for ids, counts in parts:
                file.writelines(pieces.lines(ids, counts))


def _by_key(
    rows: Rows, order: TextOrder, of: tuple[int, int], scratch: Path
) -> Iterator[tuple[Ids, Integers]]:
    """Rows in the order of the file, each packed in one integer; ``of``: length and most count."""
    length, most = of
    keys = (order.keys(ids, counts, most) for ids, counts in rows)
    for part in in_ascending_order(keys, scratch):
        for start in range(0, len(part), _ROWS_A_READ):
            yield order.of_keys(part[start : start + _ROWS_A_READ], length, most)


def _by_query(
    rows: Rows, order: TextOrder, length: int, resources: Resources
) -> Iterator[tuple[Ids, Integers]]:
    """Rows in the order of the file, where there are too many attributes for one integer."""
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
        for found in connection.sql(query_text("aggregates/order_cells")).to_arrow_reader(_ROWS_A_READ):
            ranks = np.stack([found[name].to_numpy() for name in names], axis=1)
            yield order.ids(ranks), -found["negated_count"].to_numpy()
