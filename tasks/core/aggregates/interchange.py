"""SDS's interchange formats: aggregates as ``selections`` and counts, in TSV, Parquet or SDS's JSON.

Of a fitted release SDS's two columns come first, then how good each count is:

    selections, protected_count, basis, noisy_count, least_squares, at_least, at_most

``basis`` is ``measured`` where noise was drawn for that very combination, and ``estimated`` elsewhere; only
what was measured has a noisy count. What noisy tables tell, alone or as a sum of a longer one's cells, has a
least squares estimate. See `Ranges` for the rest.

The keys of the JSON are SDS's (S2.5), so that what reads its files reads ours. What its files give away
is left out: which records hold a combination, how many combinations each record holds, and in a protected
file the true number of records and every value that is not reported.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tasks.core.aggregates.aggregates import Aggregates, Attribute, Ranges, measured_numbers
from tasks.core.aggregates.selections import Pieces, Surroundings, TextOrder, pieces_of, quoted_pieces
from tasks.core.arrays import Ids, Integers, Json
from tasks.core.records.columns import Schema
from tasks.core.tables.writing import as_lines, quoted_texts

#: The first line under the header: the number of records, a combination of length 0 so to speak.
RECORD_COUNT = "record_count"
_HEADER = ("selections", "protected_count")


def write_reportable_tsv(aggregates: Aggregates, path: Path, count_name: str = _HEADER[1]) -> None:
    """Selections and counts (S2.4), canonical: equal aggregates give equal bytes.

    Lines by length ascending, count descending, text of the selections by code point. A cell is quoted
    only where it holds a tab, a quote or a line break.
    """
    pieces = quoted_pieces(aggregates.attributes)
    with path.open("wb") as file:
        file.writelines(first_lines(aggregates.number_of_records, count_name))
        for ids, counts in _ordered(aggregates):
            file.writelines(pieces.lines(ids, counts))


def first_lines(number_of_records: int, count_name: str) -> list[bytes]:
    return [f"{_HEADER[0]}\t{count_name}\n".encode(), f"{RECORD_COUNT}\t{number_of_records}\n".encode()]


def write_reportable_parquet(aggregates: Aggregates, path: Path) -> None:
    """The same lines in the same order, each with its length."""
    schema = pa.schema([("length", pa.int32()), ("selections", pa.string()), ("protected_count", pa.int64())])
    pieces = pieces_of(aggregates.attributes)
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        first = [[0], [RECORD_COUNT], [aggregates.number_of_records]]
        writer.write_table(pa.table(first, schema=schema))
        for ids, counts in _ordered(aggregates):
            step = pieces.rows_at_once(ids.shape[1])
            for start in range(0, len(ids), step):
                rows = slice(start, start + step)
                lengths = np.full(len(ids[rows]), ids.shape[1], np.int32)
                columns = [pa.array(lengths), pieces.joined(ids[rows]), pa.array(counts[rows])]
                writer.write_table(pa.Table.from_arrays(columns, schema=schema))


def _ordered(aggregates: Aggregates) -> Iterator[tuple[Ids, Integers]]:
    order = TextOrder(aggregates.attributes)
    for ids, counts in zip(aggregates.combinations, aggregates.counts, strict=True):
        places = order.by_count(ids, counts)
        yield ids[places], counts[places]


_SCHEMA = pa.schema(
    [
        ("length", pa.int32()),
        ("selections", pa.string()),
        ("protected_count", pa.int64()),
        ("basis", pa.string()),
        ("noisy_count", pa.int64()),
        ("least_squares", pa.int64()),
        ("at_least", pa.int64()),
        ("at_most", pa.int64()),
    ]
)


def write_estimates_tsv(aggregates: Aggregates, ranges: Sequence[Ranges], path: Path) -> None:
    """Lines by length ascending, count descending, text by code point, as `write_reportable_tsv` has them."""
    with path.open("wb") as file:
        file.write(("\t".join(_SCHEMA.names[1:]) + "\n").encode())
        for batch in _batches(aggregates, ranges):
            texts = (pc.fill_null(pc.cast(batch[name], pa.string()), "") for name in _SCHEMA.names[1:])
            for line in as_lines([quoted_texts(column) for column in texts]):
                file.write(line)


def write_estimates_parquet(aggregates: Aggregates, ranges: Sequence[Ranges], path: Path) -> None:
    """The same, each line with its length."""
    with pq.ParquetWriter(path, _SCHEMA, compression="zstd") as writer:
        for batch in _batches(aggregates, ranges):
            writer.write_batch(batch)


def _batches(aggregates: Aggregates, ranges: Sequence[Ranges]) -> Iterator[pa.RecordBatch]:
    first = [[0], [RECORD_COUNT], [aggregates.number_of_records], ["measured"], *[[None]] * 4]
    yield pa.RecordBatch.from_arrays(
        [pa.array(v, t) for v, t in zip(first, _SCHEMA.types, strict=True)], schema=_SCHEMA
    )
    order, pieces = TextOrder(aggregates.attributes), pieces_of(aggregates.attributes)
    for length, found in enumerate(ranges, start=1):
        ids, counts = aggregates.combinations[length - 1], aggregates.counts[length - 1]
        rows = order.by_count(ids, counts)
        step = pieces.rows_at_once(length)
        for start in range(0, len(rows), step):
            some = rows[start : start + step]
            columns = [
                np.full(len(some), length, np.int32),
                pieces.joined(np.ascontiguousarray(ids[some])),
                counts[some],
                pa.array(np.where(found.measured[some], "measured", "estimated")),
                measured_numbers(found.noisy[some]),
                measured_numbers(found.least_squares[some]),
                found.at_least[some],
                found.at_most[some],
            ]
            arrays = [pa.array(column, kind) for column, kind in zip(columns, _SCHEMA.types, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA)


#: Combinations and their counts, some at a time.
CountedIds = Iterable[tuple[Ids, Integers]]

_ENTRY = Surroundings(b',\n"', b'":{"count":', b',"contained_in_records":[]}')


def write_aggregates_json(
    aggregates: Aggregates, schema: Schema, path: Path, *, protected: bool, parts: CountedIds | None = None
) -> None:
    """Write aggregates; equal ones give equal bytes.

    Each attribute is ``<columnIndex>:<value>``, the index that of its header. Where the aggregates are
    protected, the number of records stands under both its names.

    Args:
        parts: all counts, where they are too many for memory; None: those of the aggregates.
    """
    records = aggregates.number_of_records
    fields = {
        "headers": aggregates.headers,
        "multi_value_column_metadata_map": _items(schema, aggregates.attributes),
        "number_of_records": records,
        "protected_number_of_records": records if protected else None,
        "records_sensitivity_by_len": [[] for _ in range(aggregates.reporting_length + 1)],
        "reporting_length": aggregates.reporting_length,
    }
    index = {header: place for place, header in enumerate(aggregates.headers)}
    texts = (f"{index[attribute.header]}:{attribute.value}" for attribute in aggregates.attributes)
    escaped = tuple(json.dumps(text, ensure_ascii=False)[1:-1] for text in texts)
    pieces = Pieces(escaped, np.zeros(len(escaped), np.bool_))
    head = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    with path.open("wb") as file:
        file.write(head.removesuffix("}").encode() + b',"aggregates_count":{')
        skipped = len(",")
        held = zip(aggregates.combinations, aggregates.counts, strict=True)
        for ids, counts in held if parts is None else parts:
            for text in pieces.lines(ids, counts, _ENTRY):
                file.write(text[skipped:])
                skipped = 0
        file.write(b"\n}}\n")


def _items(schema: Schema, attributes: Sequence[Attribute]) -> Json:
    return {
        attribute.header: {
            "src_header_name": schema.columns[attribute.column].name,
            "attribute_name": attribute.item,
            "delimiter": schema.columns[attribute.column].delimiter,
        }
        for attribute in attributes
        if attribute.item is not None
    }
