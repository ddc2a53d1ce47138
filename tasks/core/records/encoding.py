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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import duckdb
import numpy as np
import pyarrow as pa

from tasks.core.arrays import Codes, Integers, StageDone, Words
from tasks.core.errors import InputError, InternalError, ResourceLimit
from tasks.core.queries import QueryResources
from tasks.core.records.binning import code_texts
from tasks.core.records.cells import CellCollector, RawColumn
from tasks.core.records.coded import CodedRecords, held_values
from tasks.core.records.columns import Column, Schema
from tasks.core.records.dropped import (
    ANOTHER_VALUE,
    BEYOND_THE_CAP,
    NO_SUBJECT,
    REASONS,
    DroppedCells,
    ReportDropped,
    dropped_by_reason,
)
from tasks.core.records.keyed_choices import KeyedChoices
from tasks.core.records.multi_values import ItemCells, code_items
from tasks.core.records.repair import repair_records
from tasks.core.records.subjects import (
    Records,
    join_cells,
    join_column,
    one_per_row,
    one_per_subject,
    row_hashes,
    rows_in_conflict,
)
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


@dataclass(frozen=True)
class _SingleValues:
    """A single-valued column, coded by row; for each of `dropped.REASONS` how many cells are absent."""

    values: tuple[str, ...]
    codes: Codes
    dropped: Integers


_CodedColumn = _SingleValues | ItemCells


def encode(source: InputFile, schema: Schema, options: EncodingOptions) -> CodedRecords:
    r"""Read, normalise, code and join the records.

    The same table and key give the same records, whatever the threads; records are in the file's order
    of first occurrence.

    >>> import tempfile, pathlib
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
    measured = schema.measured  # a column that another one decides is not read
    positions, subject = column_positions(source, measured)
    require_flat(source.headers, positions, measured.columns)
    if subject in positions or len(set(positions)) < len(positions):
        raise InternalError(
            "Each column of the file must be used once, and the subject id never as an attribute."
        )
    failure: InputError | ResourceLimit
    try:
        with options.resources.connect() as connection:
            connection.execute("set timezone = 'UTC'")
            records = _Encoder(source, measured, options, connection).run(positions, subject)
            return repair_records(records, schema, options.report_dropped, options.filled)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        failure = InputError(
            "The input holds text that is not UTF-8, or a type that has no text: convert it."
        )
    except (duckdb.OutOfMemoryException, MemoryError):
        failure = ResourceLimit(
            "Reading the input needs more memory than it may use: raise the memory limit."
        )
    raise failure


class _Encoder:
    """One run over one file."""

    def __init__(
        self,
        source: InputFile,
        schema: Schema,
        options: EncodingOptions,
        connection: duckdb.DuckDBPyConnection,
    ) -> None:
        self._source = source
        self._schema = schema
        self._options = options
        self._connection = connection
        self._choices = KeyedChoices(options.key)

    def run(self, positions: list[int], subject: int | None) -> CodedRecords:
        """The records."""
        raw = self._read(positions, subject)
        ids = raw.pop() if subject is not None else None
        number_of_rows = (ids or raw[0]).number_of_rows if (ids or raw) else 0
        if number_of_rows == 0 and not self._options.total:
            raise InputError("The input must hold at least one record below its header, but holds none.")
        columns: list[_CodedColumn] = []
        for column in self._schema.columns:  # the texts of one column go before the next is coded
            columns.append(self._coded(raw.pop(0), column))
        records = self._records(ids, columns, number_of_rows)
        without_subject = number_of_rows - len(records.rows)
        self._drop(DroppedCells(self._schema.subject_id or "", NO_SUBJECT, without_subject))
        joined, values = self._joined(records, columns)
        if not self._options.total:
            require_distinct_headers(self._schema.columns, values)
        tags = None
        if self._options.tags:
            tags = self._choices.of_pairs("tag", records.identities, np.zeros(records.number, np.uint64))
        slots = tuple(codes for of_column in joined for codes in of_column)
        slot_columns = tuple(index for index, of_column in enumerate(joined) for _ in of_column)
        return CodedRecords(self._schema, slots, slot_columns, tuple(values), records.number, tags)

    def _read(self, positions: list[int], subject: int | None) -> list[RawColumn]:
        wanted = {str(position): None for position in positions}
        formats = {str(p): c.value_format for p, c in zip(positions, self._schema.columns, strict=True)}
        wanted |= {str(subject): None} if subject is not None else {}
        collectors = {name: CellCollector(self._connection, formats.get(name)) for name in wanted}
        threads = self._options.resources.threads
        batches = read_batches(self._source, [int(name) for name in wanted], threads, self._options.progress)
        for batch in _limited(batches, self._options.record_limit):
            for name, collector in collectors.items():
                collector.add(batch.column(batch.schema.get_field_index(name)))
        raw = []
        for name in wanted:
            raw.append(collectors.pop(name).finish())
        return raw

    def _drop(self, found: DroppedCells) -> None:
        """Tell of cells that are not counted, where there are any."""
        if found.number and self._options.report_dropped is not None:
            self._options.report_dropped(found)

    def _coded(self, raw: RawColumn, column: Column) -> _CodedColumn:
        if column.is_multi_valued:
            return code_items(raw, column, self._connection)
        texts = [text if used else None for text, used in zip(raw.cells.to_pylist(), raw.used, strict=True)]
        coded = code_texts(texts, column, self._connection)
        dropped = np.zeros(len(REASONS), np.int64)
        if coded.reasons.any():
            np.add.at(dropped, coded.reasons, raw.rows_of_cells())
        return _SingleValues(coded.values, raw.coded(coded.codes, len(coded.values)), dropped)

    def _records(
        self, ids: RawColumn | None, columns: Sequence[_CodedColumn], number_of_rows: int
    ) -> Records:
        """Which rows make which record, and their identities where something may be chosen."""
        if ids is not None:
            return one_per_subject(
                ids, self._choices, total=self._options.total, row_number=partial(row_number, self._source)
            )
        needed = self._options.tags or any(
            isinstance(coded, ItemCells) and 0 < column.max_items < np.diff(coded.starts).max(initial=0)
            for column, coded in zip(self._schema.columns, columns, strict=True)
        )
        identities = np.zeros(number_of_rows, dtype=np.uint64)
        if needed:
            identities = self._choices.of_contents(list(self._contents(columns)), number_of_rows)
        return one_per_row(number_of_rows, identities)

    def _contents(self, columns: Sequence[_CodedColumn]) -> Iterator[tuple[Codes, Words]]:
        return map(self._content, self._schema.columns, columns)

    def _content(self, column: Column, coded: _CodedColumn) -> tuple[Codes, Words]:
        """A column's part of a row's content: all of a cell's items, before any cap."""
        if isinstance(coded, _SingleValues):
            return coded.codes, self._choices.of_codes(f"value {column.name}", coded.values)
        texts = ["\0".join(coded.values[code - 1] for code in items) for items in coded.sets()]
        return coded.cells, self._choices.of_texts(f"items {column.name}", texts)

    def _joined(
        self, records: Records, columns: Sequence[_CodedColumn]
    ) -> tuple[list[list[Codes]], list[tuple[str, ...]]]:
        """For each column its slots, record by record, and its values.

        Raises:
            InputError: values in conflict, where joining is not total.
        """
        joined: list[list[Codes]] = []
        values: list[tuple[str, ...]] = []
        conflicts: dict[int, int] = {}
        hashes = row_hashes(records, self._contents(columns), self._choices)
        for index, (column, coded) in enumerate(zip(self._schema.columns, columns, strict=True)):
            for found in dropped_by_reason(column.name, coded.dropped):
                self._drop(found)
            if isinstance(coded, ItemCells):
                words = self._choices.words(f"choice {column.name}")
                of_item = self._choices.of_codes(f"value {column.name}", coded.values)
                slots, beyond = join_cells(records, coded, column.max_items, of_item, words)
                self._drop(DroppedCells(column.name, BEYOND_THE_CAP, beyond))
            else:
                codes, conflict = join_column(records, coded.codes, hashes)
                slots = [codes]
                if conflict:
                    others = rows_in_conflict(records, coded.codes, codes)
                    conflicts[index] = int(others[0])
                    self._drop(DroppedCells(column.name, ANOTHER_VALUE, len(others)))
            if column.is_open:
                slots, held = held_values(slots, coded.values)
            else:
                held = coded.values
            joined.append(slots)
            values.append(held)
        if conflicts and not self._options.total:
            raise self._in_conflict(conflicts)
        return joined, values

    def _in_conflict(self, columns: dict[int, int]) -> InputError:
        """The error about columns in which somebody has several values; a row of each, for the operator.

        By position, as a header that nobody declared may come from the data.
        """
        places, _ = column_positions(self._source, self._schema)
        where = _listed_positions([places[index] + 1 for index in columns])
        return InputError(
            "A subject must have one value in each column that is not multi-valued, but some have several "
            f"in {where} of the input. If a subject should have one row, correct the rows. If "
            "subjects have several rows, merge those of each subject, or declare such columns in "
            "multi_value_columns, or leave subject_id out, which then protects rows, not people. "
            "Differential privacy takes the table as it is: one row of each subject counts.",
            operator_detail="; ".join(
                f"{self._schema.columns[index].name!r} has another value of its subject in "
                f"{row_number(self._source, row)}"
                for index, row in columns.items()
            ),
        )


def _listed_positions(positions: list[int]) -> str:
    """Of columns, from 1.

    >>> _listed_positions([2, 5])
    'columns 2 and 5'
    """
    if len(positions) == 1:
        return f"column {positions[0]}"
    return f"columns {', '.join(map(str, positions[:-1]))} and {positions[-1]}"


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
