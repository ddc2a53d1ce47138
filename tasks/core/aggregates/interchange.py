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

import itertools
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tasks.core.aggregates.aggregates import Aggregates, Attribute, Ranges, measured_numbers
from tasks.core.aggregates.selections import Selections, TextOrder, selections_of
from tasks.core.arrays import Ids, Integers, Json
from tasks.core.records.columns import Schema
from tasks.core.tables.writing import as_lines

#: The first line under the header: the number of records, a combination of length 0 so to speak.
RECORD_COUNT = "record_count"
_COUNT = "protected_count"
#: Without ranges the first three alone.
_FIELDS = [
    ("length", pa.int32()),
    ("selections", pa.string()),
    (_COUNT, pa.int64()),
    ("basis", pa.string()),
    ("noisy_count", pa.int64()),
    ("least_squares", pa.int64()),
    ("at_least", pa.int64()),
    ("at_most", pa.int64()),
]


def write_reportable_tsv(
    aggregates: Aggregates, path: Path, ranges: Sequence[Ranges] = (), count_name: str = _COUNT
) -> None:
    """Selections and counts (S2.4), canonical: equal aggregates give equal bytes.

    Lines by length ascending, count descending, text of the selections by code point. A cell is quoted
    only where it holds a tab, a quote or a line break.

    ``ranges``: of a fitted release, by length.
    """
    selections = selections_of(aggregates.attributes)
    batches = _batches(aggregates, selections, ranges)
    names = [name for name, _ in _FIELDS[3:]] if ranges else []
    with path.open("wb") as file:
        file.write("\t".join(("selections", count_name, *names)).encode() + b"\n")
        for batch in batches:
            texts, *others = (pc.fill_null(own.cast(pa.string()), "") for own in batch.columns[1:])
            file.writelines(as_lines([selections.quoted(texts), *others]))


def write_reportable_parquet(aggregates: Aggregates, path: Path, ranges: Sequence[Ranges] = ()) -> None:
    """The same lines in the same order, each with its length."""
    batches = _batches(aggregates, selections_of(aggregates.attributes), ranges)
    first = next(batches)
    with pq.ParquetWriter(path, first.schema, compression="zstd") as writer:
        for batch in itertools.chain([first], batches):
            writer.write_batch(batch)


def _batches(
    aggregates: Aggregates, selections: Selections, ranges: Sequence[Ranges]
) -> Iterator[pa.RecordBatch]:
    schema = pa.schema(_FIELDS if ranges else _FIELDS[:3])

    def as_batch(columns: Sequence[object]) -> pa.RecordBatch:
        arrays = [pa.array(own, kind) for own, kind in zip(columns, schema.types, strict=False)]
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    yield as_batch([[0], [RECORD_COUNT], [aggregates.number_of_records], ["measured"], *[[None]] * 4])
    order = TextOrder(aggregates.attributes)
    for level, (ids, counts) in enumerate(zip(aggregates.combinations, aggregates.counts, strict=True)):
        places = order.by_count(ids, counts)
        for rows, texts in selections.in_parts(ids[places]):
            own = places[rows]
            columns = [np.full(len(own), level + 1), texts, counts[own]]
            if ranges:
                found = ranges[level]
                columns += [
                    pa.array(np.where(found.measured[own], "measured", "estimated")),
                    measured_numbers(found.noisy[own]),
                    measured_numbers(found.least_squares[own]),
                    found.at_least[own],
                    found.at_most[own],
                ]
            yield as_batch(columns)


#: Combinations and their counts, some at a time.
CountedIds = Iterable[tuple[Ids, Integers]]


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
    selections = Selections([json.dumps(text, ensure_ascii=False)[1:-1] for text in texts])
    head = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    with path.open("wb") as file:
        file.write(head.removesuffix("}").encode() + b',"aggregates_count":{\n')
        behind = b"\n"
        held = zip(aggregates.combinations, aggregates.counts, strict=True)
        for ids, counts in held if parts is None else parts:
            for rows, keys in selections.in_parts(ids):
                numbers = pa.array(counts[rows]).cast(pa.string())
                entry = ['"', keys, '":{"count":', numbers, ',"contained_in_records":[]},']
                file.writelines(as_lines(entry, delimiter=""))
                behind = b",\n"
        file.seek(-len(behind), os.SEEK_CUR)  # what stands behind the last entry
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
