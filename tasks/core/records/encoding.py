"""A sensitive table to coded records: read once, normalised on distinct cells, coded, joined, capped.

Memory holds the codes, one batch of cells and the distinct cells; never the table as text. Under differential
privacy encoding is total (R2): every table of the public schema, the empty one included, has coded records.
Then no record can change how another is read, coded or capped: a cell is judged by the column's public
description alone (R6), and whatever must be chosen is chosen by a keyed hash of the record's own (R13, see
`keyed_choices`). Open columns' codes do depend on all records, and mean nothing by themselves.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import duckdb
import pyarrow as pa

from tasks.core.arrays import StageDone
from tasks.core.errors import InputError, InternalError
from tasks.core.queries import QueryResources
from tasks.core.records.cells import code_rows, run_with_cells
from tasks.core.records.coded import CodedRecords, with_held_values
from tasks.core.records.columns import Column, Schema
from tasks.core.records.dropped import ReportDropped
from tasks.core.records.joining import Joining, join_records
from tasks.core.records.keyed_choices import KeyedChoices
from tasks.core.records.rulebook import repair_records
from tasks.core.records.value_texts import MIXED
from tasks.core.tables.batches import read_batches, row_number
from tasks.core.tables.header import Headers, InputFile


@dataclass(frozen=True)
class EncodingOptions:
    """How to encode.

    Attributes:
        total: under differential privacy: repair, never stop for a record. Otherwise no records, a row
            without subject id, a subject with two values of a single-valued column, and an item that
            would be published under another column's header are errors.
        key: the workspace's secret, for keyed choices; not empty.
        tags: whether the release samples or drops, and so needs tags.
        record_limit: only the first so many raw rows (never with ``total``: R14 samples by tag).
        report_dropped: told which cells are not counted: sensitive.
        filled: columns in which an empty cell will count as the value for what is outside, for constraints.
    """

    total: bool
    key: bytes = field(repr=False)
    tags: bool = False
    record_limit: int | None = None
    resources: QueryResources = field(default_factory=QueryResources)
    progress: StageDone | None = None
    report_dropped: ReportDropped | None = None
    filled: tuple[int, ...] = ()


def encode(source: InputFile, schema: Schema, options: EncodingOptions) -> CodedRecords:
    """Read, normalise, code and join the records.

    The same table and key give the same records, whatever the threads, in order of first occurrence.

    Raises:
        InputError: the file is not what dialect and schema say; never with a cell in the message.
        ResourceLimit: memory and scratch don't suffice.
    """
    if options.total and options.record_limit is not None:
        raise InternalError("Under differential privacy a limit on records is a sample drawn by tag.")
    joining = find_columns(source, schema, options)

    def read(connection: duckdb.DuckDBPyConnection) -> CodedRecords:
        batches = read_batches(source, joining.wanted, options.resources.threads, options.progress)
        limited = _limited(batches, options.record_limit)
        rows = code_rows(limited, joining.schema.columns, joining.positions, joining.subject, connection)
        require_some(rows.number_of_rows, total=options.total)
        joined = join_records(rows, joining, options.report_dropped)
        return with_held_values(repair_records(joined, schema, options.report_dropped, options.filled))

    records = run_with_cells(options.resources, read)
    if not options.total:
        columns = joining.schema.columns
        require_distinct_headers(columns, records.values[: len(columns)])
    return records


def find_columns(source: InputFile, schema: Schema, options: EncodingOptions) -> Joining:
    """Where the columns that are read are in the input, and how their rows are joined.

    A column that another one decides is not read. Where encoding is total, a nested cell has no text: one
    person's could make its column nested.

    Raises: InputError: a column is not there; or, unless total, is nested.
    """
    measured = schema.measured
    positions, subject = column_positions(source, measured)
    if not options.total:
        _require_flat(source.headers, positions, measured.columns)
    if subject in positions or len(set(positions)) < len(positions):
        raise InternalError(
            "Each column of the file must be used once, and the subject id never as an attribute."
        )
    return Joining(
        schema=measured,
        choices=KeyedChoices(options.key),
        total=options.total,
        tags=options.tags,
        positions=tuple(positions),
        subject=subject,
        row_number=partial(row_number, source),
    )


def require_some(number_of_rows: int, *, total: bool) -> None:
    if not number_of_rows and not total:
        raise InputError("The input must hold at least one record below its header, but holds none.")


def _limited(batches: Iterator[pa.RecordBatch], limit: int | None) -> Iterator[pa.RecordBatch]:
    """The first `limit` rows, all of them for None or a limit below 1 (S1.6)."""
    if limit is None or limit < 1:
        yield from batches
        return
    left = limit
    for batch in batches:
        yield batch.slice(0, left)
        left -= batch.num_rows
        if left <= 0:
            return


def column_positions(source: InputFile, schema: Schema) -> tuple[list[int], int | None]:
    """Where the schema's columns, and its subject id, are in the file.

    Raises:
        InputError: a declared column is not in the file, or one of those that are used has no name.
    """
    headers = source.headers
    wanted = [column.name for column in schema.columns]
    wanted += [schema.subject_id] if schema.subject_id is not None else []
    if len(wanted) > 1 and len(headers.names) == 1 and not source.is_parquet:
        raise InputError(
            f"The input must have the {len(wanted)} declared columns, but its header is a single column when "
            f"split at {source.delimiter!r}: give the right delimiter (sensitive_microdata_delimiter)."
        )
    places = headers.places(wanted)
    return places[: len(schema.columns)], None if schema.subject_id is None else places[-1]


def _require_flat(headers: Headers, positions: list[int], columns: tuple[Column, ...]) -> None:
    """Raise InputError for Parquet types that are no value, and for lists in a column of single values."""
    problems = []
    for position, column in zip(positions, columns, strict=True):
        kind = headers.types[position] if headers.types is not None else ""
        if kind.startswith(f"struct<{MIXED}"):
            continue
        if "struct<" in kind or "map<" in kind or "union<" in kind or kind.count("list") > 1:
            problems.append(
                f"Column {column.name!r} must hold values or lists of values, but is nested: flatten it."
            )
        elif "list<" in kind and not column.is_multi_valued:
            problems.append(f"Column {column.name!r} holds lists: declare it in multi_value_columns.")
    if problems:
        raise InputError(problems)


def require_distinct_headers(columns: Sequence[Column], values: Sequence[Sequence[str]]) -> None:
    """Raise InputError, which shows no item, where two attributes would be published under one header."""
    owner: dict[str, str] = {column.name: column.name for column in columns if not column.is_multi_valued}
    colliding: dict[str, None] = {}
    for column, held in zip(columns, values, strict=True):
        if column.is_multi_valued:
            for value in held:
                header = f"{column.name}_{value}"
                if owner.setdefault(header, column.name) != column.name:
                    colliding[column.name] = None
    if colliding:
        raise InputError(
            [
                f"An item of the multi-valued column {name!r} would be published under the same header as "
                "another column (its own header, '_' and the item): rename one of the columns."
                for name in colliding
            ]
        )
