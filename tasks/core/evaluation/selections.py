"""Counts as SDS's text files: one line a combination, ``header:value`` joined in code-point order.

A value is quoted only where it holds a tab, a quote or a line break. Which zone a file belongs to is
that of the counts.
"""

import itertools
import operator
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from tasks.core.aggregates.delimited import as_lines
from tasks.core.aggregates.rare import Incidences, rare_incidences
from tasks.core.aggregates.stored_marginals import Marginals
from tasks.core.aggregates.wide_form import attribute, place_rows
from tasks.core.evaluation.places import (
    Integers,
    batch_of_places,
    common_places,
    fill_side,
    named_values,
    place_names,
    records_of,
    side_rows,
)
from tasks.core.queries import Resources, identifier, listed, query_text, render
from tasks.core.records.coded import CodedRecords
from tasks.core.records.columns import Schema

_ROWS_AN_INSERT = 1 << 20
_BATCHES_AN_INSERT = 1 << 10
_ROWS_A_WRITE = 1 << 18


def write_selections(
    counts: Marginals, path: Path, count_header: str = "count", resources: Resources = Resources()
) -> None:
    """Write ``selections`` and counts: lengths ascending, counts descending, then by text (sds.md 2.4).

    The first line after the header is ``record_count`` and the number of records.
    """
    places, _ = common_places(counts, counts)
    with resources.connect() as connection:
        _fill_texts(connection, counts, places, counts.facts.schema)
        connection.execute(query_text("evaluation/create_lines"))
        for length in counts.lengths:
            fill_side(connection, "side", side_rows(counts, length, places), length)
            text = render("evaluation/add_lines", **_text_fragments(length))
            connection.execute(text, {"length": length})
        top = [("selections", count_header), ("record_count", str(records_of(counts)))]
        _write(connection, "evaluation/selections", top, path)


def write_rare_combinations(
    synthetic: tuple[CodedRecords, Marginals],
    sensitive: Marginals,
    resolution: int,
    path: Path,
    resources: Resources = Resources(),
) -> None:
    """Write each synthetic combination with a count below the resolution, once per record that holds it.

    Columns ``combo_length, combo, record_id, syn_count, sen_count``; the record's number is its place
    among the synthetic records, the sensitive count is rounded down to the resolution (sds.md 5).

    Args:
        synthetic: the coded synthetic records, and their marginals.
        sensitive: true counts of the same lengths.
        resolution: at least 1.
        path: the file to write; sensitive.
        resources: memory, threads, scratch.
    """
    records, marginals = synthetic
    places, sensitive_places = common_places(marginals, sensitive)
    with resources.connect() as connection:
        _fill_texts(connection, marginals, places, marginals.facts.schema)
        connection.execute(query_text("evaluation/create_rare_lines"))
        found = rare_incidences(records, marginals, resolution)
        for length, of_length in itertools.groupby(found, key=operator.attrgetter("length")):
            fill_side(connection, "reference", _rows_of(sensitive, length, sensitive_places), length)
            in_places = (_in_places(one, marginals, places) for one in of_length)
            for rows in _gathered(in_places):
                _add_rare_lines(connection, rows, length, resolution)
        top = [("combo_length", "combo", "record_id", "syn_count", "sen_count")]
        _write(connection, "evaluation/rare_lines", top, path)


def _rows_of(side: Marginals, length: int, places: Integers) -> Iterator[pa.RecordBatch]:
    return side_rows(side, length, places) if length in side.lengths else iter(())


def _gathered(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """The same rows in fewer pieces: each combination's are few, and each insertion costs."""
    pending: list[pa.RecordBatch] = []
    for batch in batches:
        pending.append(batch)
        if sum(one.num_rows for one in pending) >= _ROWS_AN_INSERT or len(pending) >= _BATCHES_AN_INSERT:
            yield pa.Table.from_batches(pending)
            pending = []
    if pending:
        yield pa.Table.from_batches(pending)


def _add_rare_lines(
    connection: duckdb.DuckDBPyConnection, rows: pa.Table, length: int, resolution: int
) -> None:
    connection.register("side", rows)
    text = render("evaluation/add_rare_lines", places=listed(place_names(length)), **_text_fragments(length))
    connection.execute(text, {"length": length, "resolution": resolution})
    connection.unregister("side")


def _in_places(found: Incidences, marginals: Marginals, places: Integers) -> pa.RecordBatch:
    ids = np.full(len(found.records), found.combination_id, np.uint32)
    own = place_rows(marginals.facts, ids, list(found.codes.T))
    combinations = batch_of_places(places[own], found.counts)
    named = combinations.rename_columns([*place_names(found.length), "syn_count"])
    return named.append_column("record_id", pa.array(found.records.astype(np.uint32)))


def _fill_texts(
    connection: duckdb.DuckDBPyConnection, side: Marginals, places: Integers, schema: Schema
) -> None:
    """A table of each place's ``header:value``."""
    texts = [attribute(schema.columns[c], c, value).text for c, value in named_values(side)]
    table = pa.table({"place": pa.array(places.astype(np.int32)), "attribute": pa.array(texts, pa.string())})
    connection.register("rows_of_texts", table)
    connection.execute(query_text("evaluation/create_texts"))
    connection.unregister("rows_of_texts")


def _text_fragments(length: int) -> dict[str, str]:
    """The joins that turn a row of places into texts: one a place."""
    names = place_names(length)
    joins = [
        f"inner join texts as text_of_{name} on side.{identifier(name)} = text_of_{name}.place"
        for name in names
    ]
    return {
        "attributes": ", ".join(f"text_of_{name}.attribute" for name in names),
        "side_with_texts": "\n".join(["side", *joins]),
    }


def _write(
    connection: duckdb.DuckDBPyConnection, query: str, top: Sequence[tuple[str, ...]], path: Path
) -> None:
    """Write the first lines and then the query's, all of it text."""
    with path.open("wb") as file:
        file.writelines("\t".join(line).encode() + b"\n" for line in top)
        for rows in connection.sql(query_text(query)).to_arrow_reader(_ROWS_A_WRITE):
            file.writelines(as_lines(rows.columns))
