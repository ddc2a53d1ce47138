"""The payload of a SynDiffix release: the synthetic tables go in, their page's data come out.

A record is a row of the table of all columns. One column, and two of them, are counted in the smallest table
that holds them, too: there less is suppressed. These counts are tables as a fitted release has them, each
with the file that it was counted in.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tasks.core.arrays import Integers, Json
from tasks.core.navigation.inputs import TablePage
from tasks.core.navigation.payload.block import Buffers, in_page
from tasks.core.navigation.payload.columns import ShownColumn
from tasks.core.navigation.payload.release import Payload, assemble_payload, describe_release
from tasks.core.syndiffix.bins import Bins, bins_of
from tasks.core.tables.texts import is_text

_KINDS = {"boolean": "category", "string": "category", "timestamp": "date"}
#: Records are rows, whatever is protected.
_ROWS_COUNTED: Json = {"guarantee": {"unit": "row"}}
#: Two columns with more cells than these are counted in the records alone.
_MOST_CELLS = 1 << 16


def payload_of_table(page: TablePage) -> Payload:
    """The page's data; equal inputs give equal bytes."""
    block, names = Buffers(), page.table.column_names
    bins = [_bins(page, name) for name in names]
    shown = [column_of_bins(each, page.smallest([each.name]) or "") for each in bins]
    put_rows_by_bins(block, page.table, bins)
    about = describe_release(page.statement | _ROWS_COUNTED, page.naming)
    return assemble_payload(
        block,
        about | {"protection": "syndiffix"},
        page.naming,
        shown,
        records=page.table.num_rows,
        number=None,
        counts=[],
        tables=_put_tables(block, page, bins),
        accuracy={},
    )


def put_rows_by_bins(block: Buffers, table: pa.Table, bins: Sequence[Bins]) -> None:
    """Add a table's rows by column as ``column/<column>/0``, codes as those of records."""
    for place, own in enumerate(bins):
        codes = in_page(own.codes(cells_with_values(table, own.name)) + 1)
        block.put(f"column/{place}/0", codes.astype(np.min_scalar_type(len(own.labels))))


def cells_with_values(table: pa.Table, name: str) -> pa.ChunkedArray:
    """A column, in which an empty text is no value: a cell that was empty comes back as one."""
    cells = table[name]
    if not is_text(cells.type):
        return cells
    return pc.if_else(pc.equal(cells, ""), None, cells)


def _bins(page: TablePage, name: str) -> Bins:
    parts = [cells_with_values(page.table, name)]
    if (file := page.smallest([name])) is not None:
        parts.append(cells_with_values(page.read(file, (name,)), name))
    return bins_of_all_parts(name, parts, page.bins.get(name))


def bins_of_all_parts(name: str, parts: Sequence[pa.ChunkedArray], edges: Sequence[float] | None) -> Bins:
    """Bins of all that several columns of one name show, in the first one's type; every text is one."""
    kind = parts[0].type
    cells = pa.chunked_array([chunk for part in parts for chunk in part.cast(kind, safe=False).chunks], kind)
    found = bins_of(name, cells, edges)
    if found.kind != "string":
        return fill_scale(found)
    texts = cells.cast(pa.string()).unique().drop_null().to_pylist()
    return Bins(name, "string", tuple(sorted(texts)))


def column_of_bins(bins: Bins, source: str = "") -> ShownColumn:
    """A column that rows are counted in by bins. Args: bins: its own. source: the file that has it best."""
    kind = "bins" if bins.edges is not None else _KINDS.get(bins.kind, "number")
    return ShownColumn(
        name=bins.name,
        kind=kind,
        values=bins.labels,
        is_open=True,
        has_other=True,
        has_absent=True,
        is_listed=bins.kind != "string",
        source=source,
    )


def _put_tables(block: Buffers, page: TablePage, bins: Sequence[Bins]) -> list[Json]:
    """Add one column or two, counted where it is best, as ``tables/<place>``; return what is told of each."""
    told: list[Json] = []
    wanted = [*((each,) for each in range(len(bins))), *combinations(range(len(bins)), 2)]
    for columns in wanted:
        chosen = [bins[column] for column in columns]
        file, shape = page.smallest([each.name for each in chosen]), [len(each.labels) + 2 for each in chosen]
        if file is None or np.prod(shape) > _MOST_CELLS:
            continue
        table = page.read(file, [each.name for each in chosen])
        block.put(
            f"tables/{len(told)}",
            _count_rows([each.codes(cells_with_values(table, each.name)) for each in chosen], shape),
        )
        told.append({"columns": list(columns), "shape": shape, "file": file})
    return told


def _count_rows(
    codes: Sequence[Integers], shape: Sequence[int]
) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    """Rows of each cell, in C order: of a column its values, then what is none of them, then no value."""
    cells = [np.where(column < 0, size - 1, column) for column, size in zip(codes, shape, strict=True)]
    keys = np.ravel_multi_index(cells, shape) if len(cells[0]) else np.zeros(0, np.int64)
    return np.bincount(keys, minlength=int(np.prod(shape))).astype(np.int32)


#: Of numbers or periods one apart.
_MOST_FILLED = 48


def fill_scale(bins: Bins) -> Bins:
    """The bins with those between them that no row is in, so that a chart of them has a scale.

    >>> fill_scale(Bins("rooms", "integer", ("1", "2", "5"))).labels
    ('1', '2', '3', '4', '5')
    """
    places = None if bins.edges is not None else _steps_of_labels(bins)
    if places is None or places[-1] - places[0] >= _MOST_FILLED:
        return bins
    return replace(bins, labels=tuple(_labels_of_steps(bins, places)))


def _steps_of_labels(bins: Bins) -> Integers | None:
    """Where labels are, in steps; None where there are no steps, or labels are not in their order."""
    if not bins.labels or not (bins.period or bins.kind == "integer"):
        return None
    try:
        if bins.period is None:
            found = np.array([int(label) for label in bins.labels], np.int64)
        else:
            unit = f"datetime64[{bins.period[0]}]"
            found = np.array([label.removesuffix(" h") for label in bins.labels], unit).astype(np.int64)
    except (ValueError, OverflowError):  # a year or a number that is beyond what can be told
        return None
    return found if all(low < high for low, high in pairwise(found.tolist())) else None


def _labels_of_steps(bins: Bins, places: Integers) -> Sequence[str]:
    steps = range(int(places[0]), int(places[-1]) + 1)
    if bins.period is None:
        return [str(step) for step in steps]
    unit = bins.period[0]
    texts = np.datetime_as_string(np.array(steps, f"datetime64[{unit}]"))
    return [text.replace("T", " ") + (" h" if unit == "h" else "") for text in texts.tolist()]
