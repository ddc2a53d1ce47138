"""True counts as SDS's text file: exact marginals in, ``selections`` and counts out, however many.

Neither the lines nor what they are sorted by are ever in memory all together.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tasks.core.aggregates.interchange import first_lines
from tasks.core.aggregates.selections import TextOrder, cells_of
from tasks.core.aggregates.sorted_runs import in_ascending_order
from tasks.core.aggregates.stored_marginals import Marginals
from tasks.core.aggregates.wide_form import Cells, Numbering, number_everything, stored_cells
from tasks.core.queries import Resources, query_text

Integers = npt.NDArray[np.int64]
Ids = npt.NDArray[np.int32]
_Rows = Iterable[tuple[Ids, Integers]]

_ROWS_A_READ = 1 << 18


def write_sensitive_tsv(marginals: Marginals, path: Path, resources: Resources = Resources()) -> None:
    """Write true counts as `interchange.write_aggregates_tsv` writes aggregates: the same lines and order.

    Args:
        marginals: all combinations of each length from 1 on.
        path: the file to write; sensitive.
        resources: memory, threads, and scratch for what does not fit (otherwise beside the file).
    """
    levels = {length: stored_cells(marginals, length) for length in marginals.lengths}
    write_cells_tsv(number_everything(marginals), marginals.facts.number_of_records, levels, path, resources)


def write_cells_tsv(
    numbering: Numbering,
    number_of_records: int,
    levels: Mapping[int, Iterable[Cells]],
    path: Path,
    resources: Resources = Resources(),
) -> None:
    """The same of cells that are counted as they are written; ``levels``: by length, ascending."""
    order, pieces = TextOrder(numbering.attributes), cells_of(numbering.attributes)
    most = number_of_records
    with path.open("wb") as file:
        file.writelines(first_lines(most, "count"))
        for length, of_length in levels.items():
            rows = ((numbering.ids(cells), cells.counts) for cells in of_length)
            if order.fits(length, most):
                sorted_rows = _by_key(rows, order, (length, most), resources.scratch or path.parent)
            else:
                sorted_rows = _by_query(rows, order, length, resources)
            step = pieces.rows_at_once(length)
            for ids, counts in sorted_rows:
                for start in range(0, len(ids), step):
                    file.write(pieces.lines(ids[start : start + step], counts[start : start + step]))


def _by_key(
    rows: _Rows, order: TextOrder, of: tuple[int, int], scratch: Path
) -> Iterator[tuple[Ids, Integers]]:
    """Rows in the order of the file, each packed in one integer; ``of``: length and most count."""
    length, most = of
    keys = (order.keys(ids, counts, most) for ids, counts in rows)
    for part in in_ascending_order(keys, scratch):
        for start in range(0, len(part), _ROWS_A_READ):
            yield order.of_keys(part[start : start + _ROWS_A_READ], length, most)


def _by_query(
    rows: _Rows, order: TextOrder, length: int, resources: Resources
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
