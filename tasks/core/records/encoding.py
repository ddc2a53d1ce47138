"""A sensitive table to coded records.

An input file and the public schema go in, `CodedRecords` come out: read once, normalised on distinct
cells, coded, joined by subject, multi-valued cells capped. Memory holds the codes, one batch of cells
and the distinct cells; never the table as text.

Under differential privacy encoding is total (privacy.md, rule 2): every table of the public schema, the
empty one included, has coded records. Then no record can change how another is read, coded or capped:
cells are text whatever their neighbours hold (rule 6), a cell is judged by the column's public
description alone, and whatever must be chosen is chosen by a keyed hash of the record's own (rule 13,
see `keyed_choices`). Open columns' codes do depend on all records, and mean nothing by themselves.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

import duckdb
import pyarrow as pa

from tasks.core.arrays import StageDone
from tasks.core.errors import InputError, InternalError
from tasks.core.queries import QueryResources
from tasks.core.records.coded import CodedRecords, with_held_values
from tasks.core.records.coded_rows import CodedRows, code_rows, with_cells
from tasks.core.records.columns import Schema
from tasks.core.records.dropped import ReportDropped
from tasks.core.records.joining import Joining, joined_records
from tasks.core.records.keyed_choices import KeyedChoices
from tasks.core.records.repair import repair_records
from tasks.core.records.used_columns import column_positions, require_distinct_headers, require_flat
from tasks.core.tables.batches import read_batches, row_number
from tasks.core.tables.header import InputFile


@dataclass(frozen=True)
class EncodingOptions:
    """How to encode.

    Attributes:
        total: under differential privacy: repair, never stop for a record. Otherwise no records, a row
            without subject id, a subject with two values of a single-valued column, and an item that
            would be published under another column's header are errors.
        key: the workspace's secret, for keyed choices; not empty.
        tags: whether the release samples or drops, and so needs tags.
        record_limit: only the first so many raw rows (never with ``total``: rule 14 samples by tag).
        resources: threads, memory and scratch.
        progress: told a few words and the share done.
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
    r"""Read, normalise, code and join the records.

    The same table and key give the same records, whatever the threads; records are in the file's order
    of first occurrence.

    >>> import tempfile, pathlib
    >>> from tasks.core.records.columns import Column
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     people = pathlib.Path(folder, "people.csv")
    ...     _ = people.write_text("sex,town\nfemale,Lyon\nmale,Lille\nfemale,\n")
    ...     schema = Schema((Column("sex"), Column("town")))
    ...     records = encode(InputFile(people), schema, EncodingOptions(total=False, key=b"secret"))
    >>> [codes.tolist() for codes in records.slots], records.values
    ([[1, 2, 1], [2, 1, 0]], (('female', 'male'), ('Lille', 'Lyon')))

    Raises:
        InputError: the file is not what dialect and schema say; never with a cell in the message.
        ResourceLimit: memory and scratch don't suffice.
    """
    if options.total and options.record_limit is not None:
        raise InternalError("Under differential privacy a limit on records is a sample drawn by tag.")
    measured = schema.measured
    positions, subject = positions_in(source, schema, total=options.total)
    joining = Joining(
        schema=measured,
        choices=KeyedChoices(options.key),
        total=options.total,
        tags=options.tags,
        positions=tuple(positions),
        row_number=partial(row_number, source),
    )

    def read(connection: duckdb.DuckDBPyConnection) -> CodedRecords:
        rows = _rows(source, joining, subject, options, connection)
        joined = joined_records(rows, joining, options.report_dropped)
        return with_held_values(repair_records(joined, schema, options.report_dropped, options.filled))

    records = with_cells(options.resources, read)
    if not options.total:
        require_distinct_headers(measured.columns, records.values[: len(measured.columns)])
    return records


def positions_in(source: InputFile, schema: Schema, *, total: bool) -> tuple[list[int], int | None]:
    """Where the columns that are read are in the input, and the subject id.

    A column that another one decides is not read. Where encoding is total, a nested cell has no text: one
    person's could make its column nested.

    Raises:
        InputError: a column is not there; or, unless total, is nested.
    """
    measured = schema.measured
    positions, subject = column_positions(source, measured)
    if not total:
        require_flat(source.headers, positions, measured.columns)
    if subject in positions or len(set(positions)) < len(positions):
        raise InternalError(
            "Each column of the file must be used once, and the subject id never as an attribute."
        )
    return positions, subject


def _rows(
    source: InputFile,
    joining: Joining,
    subject: int | None,
    options: EncodingOptions,
    connection: duckdb.DuckDBPyConnection,
) -> CodedRows:
    wanted = [*joining.positions, *([subject] if subject is not None else [])]
    batches = _limited(
        read_batches(source, wanted, options.resources.threads, options.progress), options.record_limit
    )
    rows = code_rows(batches, joining.schema.columns, joining.positions, subject, connection)
    if not rows.number_of_rows and not options.total:
        raise InputError("The input must hold at least one record below its header, but holds none.")
    return rows


def _limited(batches: Iterator[pa.RecordBatch], limit: int | None) -> Iterator[pa.RecordBatch]:
    """The first `limit` rows, all of them for None or a limit below 1 (sds.md 1.6)."""
    if limit is None or limit < 1:
        yield from batches
        return
    left = limit
    for batch in batches:
        yield batch.slice(0, left)
        left -= batch.num_rows
        if left <= 0:
            return
