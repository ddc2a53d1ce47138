"""Reportable aggregates of a fitted release as files: SDS's two columns first, then how good each count is.

    selections, protected_count, basis, noisy_count, at_least, at_most

``basis`` is ``measured`` where noise was drawn for that very combination, and ``estimated`` elsewhere; only
what was measured has a noisy count. See `ranges` for the rest.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.aggregates.delimited import as_lines, quoted
from tasks.core.aggregates.interchange import RECORD_COUNT
from tasks.core.aggregates.ranges import Ranges
from tasks.core.aggregates.selections import TextOrder, pieces_of

_SCHEMA = pa.schema(
    [
        ("length", pa.int32()),
        ("selections", pa.string()),
        ("protected_count", pa.int64()),
        ("basis", pa.string()),
        ("noisy_count", pa.int64()),
        ("at_least", pa.int64()),
        ("at_most", pa.int64()),
    ]
)


def write_estimates_tsv(aggregates: Aggregates, ranges: Sequence[Ranges], path: Path) -> None:
    """Lines by length ascending, count descending, text by code point, as `write_aggregates_tsv` has them."""
    with path.open("wb") as file:
        file.write(("\t".join(_SCHEMA.names[1:]) + "\n").encode())
        for batch in _batches(aggregates, ranges):
            columns = [_text(batch[name]) for name in _SCHEMA.names[1:]]
            for line in as_lines(columns):
                file.write(line)


def write_estimates_parquet(aggregates: Aggregates, ranges: Sequence[Ranges], path: Path) -> None:
    """The same lines in the same order, with their length."""
    with pq.ParquetWriter(path, _SCHEMA, compression="zstd") as writer:
        for batch in _batches(aggregates, ranges):
            writer.write_batch(batch)


def _batches(aggregates: Aggregates, ranges: Sequence[Ranges]) -> Iterator[pa.RecordBatch]:
    """The number of records, a combination of length 0 so to speak; then all combinations, some at a time."""
    first = [[0], [RECORD_COUNT], [aggregates.number_of_records], ["measured"], [None], [None], [None]]
    yield pa.RecordBatch.from_arrays(
        [pa.array(v, t) for v, t in zip(first, _SCHEMA.types, strict=True)], schema=_SCHEMA
    )
    order, pieces = TextOrder(aggregates.attributes), pieces_of(aggregates.attributes)
    for length, found in enumerate(ranges, start=1):
        ids, counts = aggregates.combinations[length - 1], aggregates.counts[length - 1]
        rows = np.lexsort((*order.ranks(ids).T[::-1], -counts))
        step = pieces.rows_at_once(length)
        for start in range(0, len(rows), step):
            some = rows[start : start + step]
            measured = found.measured[some]
            columns = [
                np.full(len(some), length, np.int32),
                pieces.joined(np.ascontiguousarray(ids[some])),
                counts[some],
                pa.array(np.where(measured, "measured", "estimated")),
                pa.array(found.noisy[some], mask=~measured),
                found.at_least[some],
                found.at_most[some],
            ]
            arrays = [pa.array(column, kind) for column, kind in zip(columns, _SCHEMA.types, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA)


def _text(column: pa.Array) -> pa.Array:
    """As cells of a line: empty for nothing, quoted where a cell would end the line otherwise."""
    texts = pc.fill_null(pc.cast(column, pa.string()), "")
    special = pc.match_substring_regex(texts, '[\t"\n\r]')
    if not pc.any(special).as_py():
        return texts
    return pa.array([quoted(text) for text in texts.to_pylist()], pa.string())
