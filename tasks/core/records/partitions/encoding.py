"""From an input to coded records in partitions, done by many workers.

In: an input file, the public schema, how many partitions. Out: partitions of `CodedRecords`. Their records
are those that `encode` makes of the whole table, each in one partition. A worker reads a block: codes its
rows by its own values, and parts them by a keyed hash. Another one joins the pieces of a partition under one
dictionary. Last, all partitions get the values and slots that a record of any of them needs: an open column's
values are those of the records as they are counted (see `held_values`), and a column without a cap has as
many slots as the fullest record of all fills.
"""

import hashlib
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import duckdb
import numpy as np
import pyarrow as pa

from tasks.core.arrays import Codes, Flags, Integers, Words
from tasks.core.errors import InputError
from tasks.core.parts.store import PartStore, StoredPart
from tasks.core.parts.workers import InProcess, KeptWork, Workers
from tasks.core.queries import QueryResources
from tasks.core.records.cells import CodedRows, code_rows, run_with_cells
from tasks.core.records.coded import CodedFacts, CodedRecords, code_type, read_coded_records, write_dictionary
from tasks.core.records.columns import Column, Schema
from tasks.core.records.dropped import ORDER, DroppedCells, dropped_by_reason
from tasks.core.records.encoding import EncodingOptions, find_positions, require_distinct_headers
from tasks.core.records.joining import Joining, contents_of, join_records, normalised_ids
from tasks.core.records.keyed_choices import KeyedChoices
from tasks.core.records.partitions.blocks import (
    ROW,
    TableBlock,
    blocks_in_place,
    copy_blocks,
    state_of,
    without_open_file,
)
from tasks.core.records.partitions.pieces import PieceReader, Values, read_values, write_piece, write_texts
from tasks.core.records.rulebook import repair_records
from tasks.core.records.table import RecordTable
from tasks.core.tables.batches import row_number
from tasks.core.tables.header import InputFile
from tasks.core.tables.source import FileState


@dataclass(frozen=True)
class PartitionPlace:
    """Where partitions go, and how many there are.

    Their number, which is that of the blocks, too, is declared.
    """

    number: int
    store: PartStore
    prefix: str

    def key(self, *names: object) -> str:
        return "/".join([self.prefix, *map(str, names)])


@dataclass(frozen=True)
class PartitionPlan:
    """What every worker knows.

    Attributes:
        key: the workspace's secret.
        total, tags, filled: see `EncodingOptions`.
        place: where parts go.
    """

    source: InputFile
    schema: Schema
    positions: tuple[int, ...]
    subject: int | None
    key: bytes = field(repr=False)
    total: bool
    tags: bool
    filled: tuple[int, ...]
    place: PartitionPlace

    @property
    def wanted(self) -> list[int]:
        return [*self.positions, *([] if self.subject is None else [self.subject])]

    def joining(self, places: Integers | None = None) -> Joining:
        """How rows are joined. Args: places: of the rows in the input."""
        return Joining(
            schema=self.schema.measured,
            choices=KeyedChoices(self.key),
            total=self.total,
            tags=self.tags,
            positions=self.positions,
            row_number=lambda row: row_number(self.source, row if places is None else int(places[row])),
        )


@dataclass(frozen=True)
class ReadBlock:
    """A block that was read: its pieces by partition, what their codes stand for, what is not counted."""

    rows: int
    pieces: tuple[StoredPart | None, ...]
    texts: StoredPart
    dropped: tuple[DroppedCells, ...]


def read_block(plan: PartitionPlan, block: TableBlock) -> ReadBlock:
    rows, places = run_with_cells(QueryResources(threads=1), partial(_rows_of, plan, block))
    store, key = plan.place.store, partial(plan.place.key, "pieces", block.number)
    owners = _partition_of_rows(plan, rows, places, block.number)
    # Short numbers are sorted several times as fast.
    owners = owners.astype(np.min_scalar_type(plan.place.number))
    order = np.argsort(owners, kind="stable")
    ends = np.searchsorted(owners[order], np.arange(plan.place.number + 1))
    pieces: list[StoredPart | None] = []
    for number, (start, end) in enumerate(itertools.pairwise(ends.tolist())):
        chosen = order[start:end]
        is_all = len(chosen) == rows.number_of_rows
        write = partial(write_piece, rows, places, slice(None) if is_all else chosen)
        pieces.append(store.put(key(number), write) if len(chosen) else None)
    texts = store.put(key("texts"), partial(write_texts, rows.columns))
    measured = zip(plan.schema.measured.columns, rows.columns, strict=True)
    dropped = [found for column, coded in measured for found in dropped_by_reason(column.name, coded.dropped)]
    return ReadBlock(rows.number_of_rows, tuple(pieces), texts, tuple(dropped))


def _rows_of(
    plan: PartitionPlan, block: TableBlock, connection: duckdb.DuckDBPyConnection
) -> tuple[CodedRows, Integers]:
    places: list[Integers] = [np.zeros(0, np.int64)]

    def noted(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
        for batch in batches:
            places.append(batch.column(batch.schema.get_field_index(ROW)).to_numpy())
            yield batch

    columns = plan.schema.measured.columns
    rows = code_rows(noted(block.batches(plan.wanted)), columns, plan.positions, plan.subject, connection)
    found = np.concatenate(places)
    return CodedRows(rows.ids, rows.columns, len(found)), found


def _partition_of_rows(plan: PartitionPlan, rows: CodedRows, places: Integers, block: int) -> Integers:
    """Of each row: by its subject, or its content where that decides something; else its block's own."""
    joining, number = plan.joining(), plan.place.number
    if rows.ids is not None:
        return _by_subject(rows, joining.choices, places, number)
    if not joining.chooses_by_content:
        return np.full(rows.number_of_rows, block, np.int64)
    contents = contents_of(rows, joining.schema, joining.choices)
    return _spread(joining.choices, joining.choices.of_content(contents, rows.number_of_rows), number)


def _by_subject(rows: CodedRows, choices: KeyedChoices, places: Integers, number: int) -> Integers:
    """By the hash of a row's subject; a row without one goes anywhere."""
    assert rows.ids is not None, "whoever asks has seen them"
    texts = normalised_ids(rows.ids.cells)
    hashes = choices.of_texts("subject", texts.fill_null(""))
    owners = _spread(choices, hashes, number).astype(np.uint32) + 1
    owners[texts.is_null().to_numpy(zero_copy_only=False)] = 0
    found = rows.ids.coded(owners, number).astype(np.int64)
    return np.where(found > 0, found - 1, places % number)


def _spread(choices: KeyedChoices, hashes: Words, number: int) -> Integers:
    mixed = choices.of_pairs("partition", hashes, np.zeros(len(hashes), np.uint64))
    return (mixed % np.uint64(number)).astype(np.int64)


@dataclass(frozen=True)
class PartitionInputs:
    """What a partition is made of: its pieces, each with its block's texts, and the dictionary."""

    number: int
    pieces: tuple[tuple[StoredPart, StoredPart], ...]
    dictionary: StoredPart


@dataclass(frozen=True)
class JoinedPartition:
    """A partition under the values of all blocks; which of them it holds, and how many slots it fills."""

    part: StoredPart
    facts: CodedFacts
    held: tuple[Flags | None, ...]
    dropped: tuple[DroppedCells, ...]
    number: int


def join_partition(plan: PartitionPlan, inputs: PartitionInputs) -> JoinedPartition:
    """Join the rows of one partition, and hold its records to the constraints.

    Raises:
        InputError: as `join_records` does.
    """
    return run_with_cells(QueryResources(threads=1), partial(_join, plan, inputs))


def _join(
    plan: PartitionPlan, inputs: PartitionInputs, connection: duckdb.DuckDBPyConnection
) -> JoinedPartition:
    columns = plan.schema.measured.columns
    with inputs.dictionary.folder() as folder:
        values = read_values(folder, len(columns))
    reader = PieceReader(values, [column.is_multi_valued for column in columns])
    for piece, texts in inputs.pieces:
        with piece.folder() as rows_folder, texts.folder() as texts_folder:
            reader.add(rows_folder, texts_folder)
    gathered = reader.finish(connection, has_ids=plan.subject is not None)
    dropped: list[DroppedCells] = []
    records = join_records(gathered.rows, plan.joining(gathered.places), dropped.append)
    records = repair_records(records, plan.schema, dropped.append, plan.filled)
    held = tuple(
        _held(records, index) if column.is_open else None
        for index, column in enumerate(records.schema.columns)
    )
    part = plan.place.store.put(plan.place.key("records", inputs.number), records.write)
    return JoinedPartition(part, records.facts, held, tuple(dropped), inputs.number)


def _held(records: CodedRecords, column: int) -> Flags:
    held = np.zeros(len(records.values[column]) + 1, np.bool_)
    for codes, of_slot in zip(records.slots, records.slot_columns, strict=True):
        if of_slot == column:
            held |= np.bincount(codes, minlength=len(held)) > 0
    return held[1:]


@dataclass(frozen=True)
class _Settling:
    """What is the same in all partitions.

    Attributes:
        values: of each column, those that a record holds.
        codes: for each column the code of each earlier one; None where none changes.
        widths: of each column, its slots.
        place: where parts go.
    """

    values: Values
    codes: tuple[Codes | None, ...]
    widths: tuple[int, ...]
    place: PartitionPlace

    @property
    def slot_columns(self) -> tuple[int, ...]:
        return tuple(column for column, width in enumerate(self.widths) for _ in range(width))


def settle_partitions(
    joined: Sequence[JoinedPartition], place: PartitionPlace, workers: Workers
) -> RecordTable:
    """Take values that no record of any partition holds out of all, and give all as many slots."""
    first = joined[0].facts
    codes: list[Codes | None] = []
    values = []
    for column, own in enumerate(first.values):
        flags = [each.held[column] for each in joined]
        kept, of_column = _held_anywhere([each for each in flags if each is not None], own)
        codes.append(of_column)
        values.append(kept)
    number = len(first.schema.columns)
    widths = [max(each.facts.slot_columns.count(column) for each in joined) for column in range(number)]
    settling = _Settling(tuple(values), tuple(codes), tuple(widths), place)
    whole = CodedFacts.of_whole([each.facts for each in joined])
    whole = replace(whole, values=settling.values, slot_columns=settling.slot_columns)
    is_settled = all(each is None for each in codes) and all(
        each.facts.slot_columns == whole.slot_columns for each in joined
    )
    if not _may_need_settling(whole.schema):
        return RecordTable(whole, [each.part for each in joined], workers)
    # A single person decides whether there is anything to do, and the run's page shows each part of the work:
    # so it is given out whether or not there is.
    parts = list(workers.each("settle", partial(_settle, None if is_settled else settling), list(joined)))
    if not is_settled:
        place.store.remove(place.key("records"))
    return RecordTable(whole, parts, workers)


def _may_need_settling(schema: Schema) -> bool:
    """Whether values may go, or slots come: a public fact."""
    return any(
        column.is_open or (column.is_multi_valued and not column.max_items) for column in schema.columns
    )


def _held_anywhere(flags: Sequence[Flags], values: tuple[str, ...]) -> tuple[tuple[str, ...], Codes | None]:
    """The values that are held, and the new code of each old one; None where all are."""
    if not flags:
        return values, None
    held = np.logical_or.reduce(flags)
    if held.all():
        return values, None
    codes = np.zeros(len(values) + 1, code_type(int(held.sum())))
    codes[1:][held] = np.arange(1, int(held.sum()) + 1)
    return tuple(itertools.compress(values, held)), codes


def _settle(how: _Settling | None, joined: JoinedPartition) -> StoredPart:
    if how is None:
        return joined.part
    with joined.part.folder() as folder:
        records = read_coded_records(folder)
    slots: list[Codes] = []
    for column, width in enumerate(how.widths):
        own = [codes for codes, of in zip(records.slots, records.slot_columns, strict=True) if of == column]
        table = how.codes[column]
        own = own if table is None else [table[codes] for codes in own]
        kind = code_type(len(how.values[column]))
        empty = [np.zeros(records.number_of_records, kind) for _ in range(width - len(own))]
        slots.extend([*own, *empty])
    settled = replace(records, slots=tuple(slots), slot_columns=how.slot_columns, values=how.values)
    return how.place.store.put(how.place.key("settled", joined.number), settled.write)


#: Blocks whose values are united at a time.
_AT_A_TIME = 16


def unite_values(columns: Sequence[Column], texts: Sequence[StoredPart], workers: Workers) -> Values:
    """Of each column the declared values or its bins, or what a block has seen, in code-point order."""
    groups = [texts[start : start + _AT_A_TIME] for start in range(0, len(texts), _AT_A_TIME)]
    known = [column.known_values for column in columns]
    opened = tuple(values is None for values in known)
    seen: list[set[str]] = [set() for _ in columns]
    for united in workers.each("unite", partial(_values_of_blocks, opened), groups):
        for own, values in zip(seen, united, strict=True):
            own.update(values)
    return tuple(
        tuple(sorted(own)) if values is None else values for values, own in zip(known, seen, strict=True)
    )


def _values_of_blocks(opened: tuple[bool, ...], texts: Sequence[StoredPart]) -> list[set[str]]:
    seen: list[set[str]] = [set() for _ in opened]
    for part in texts:
        with part.folder() as folder:
            for own, values, is_open in zip(seen, read_values(folder, len(opened)), opened, strict=True):
                own.update(values if is_open else ())
    return seen


_TEMPORARY = ("done", "copied", "pieces", "values")


def encode_partitions(
    source: InputFile, schema: Schema, options: EncodingOptions, place: PartitionPlace, workers: Workers
) -> RecordTable:
    """Read, normalise, code and join the records, each partition where a worker is.

    What an earlier run did of it under the same prefix is not done again.

    A Parquet file on a disk must be seen by all workers.

    Raises:
        InputError, ResourceLimit: as `encode` does.
    """
    positions, subject = find_positions(source, schema, total=options.total)
    plan = PartitionPlan(
        source=without_open_file(source),
        schema=schema,
        positions=tuple(positions),
        subject=subject,
        key=options.key,
        total=options.total,
        tags=options.tags,
        filled=options.filled,
        place=place,
    )
    state = state_of(source)
    done = place.key("done", _mark(state, options.key))
    keeping = KeptWork(workers, place.store, done, options.key)
    report = options.progress or (lambda what, share: None)
    read = list[ReadBlock]()
    blocks = blocks_in_place(source, place.number, state, options.record_limit)
    if blocks is None:
        copying = KeptWork(InProcess(), place.store, done, options.key)
        [blocks] = copying.each("copy", partial(_copied, source, plan, options), [state])
    for block in keeping.each("read", partial(read_block, plan), blocks):
        read.append(block)
        report("reading", len(read) / place.number)
    if not options.total and not any(block.rows for block in read):
        raise InputError("The input must hold at least one record below its header, but holds none.")
    values = unite_values(schema.measured.columns, [block.texts for block in read], keeping)
    dictionary = place.store.put(
        place.key("values"), lambda into: write_dictionary(values, into / "dictionary.parquet")
    )
    inputs = [_inputs(read, number, dictionary) for number in range(place.number)]
    joined = list(keeping.each("join", partial(join_partition, plan), inputs))
    found = settle_partitions(joined, place, keeping)
    if not options.total:
        columns = schema.measured.columns
        require_distinct_headers(columns, found.facts.values[: len(columns)])
    _report(schema, [*(each.dropped for each in read), *(each.dropped for each in joined)], options)
    for name in _TEMPORARY:
        place.store.remove(place.key(name))
    return replace(found, workers=workers)


def _mark(state: FileState | None, key: bytes) -> str:
    """Of the file as it is now: what was kept of another one, which was there for a while, is not found."""
    return hashlib.sha256(key + repr(state).encode()).hexdigest()[:16]


def _copied(
    source: InputFile, plan: PartitionPlan, options: EncodingOptions, state: FileState | None
) -> list[TableBlock]:
    place = plan.place
    return copy_blocks(
        source,
        plan.wanted,
        place.number,
        place.store,
        place.key("copied"),
        state=state,
        limit=options.record_limit,
        progress=options.progress,
    )


def _inputs(read: Sequence[ReadBlock], number: int, dictionary: StoredPart) -> PartitionInputs:
    pieces = [(block.pieces[number], block.texts) for block in read]
    held = tuple((piece, texts) for piece, texts in pieces if piece is not None)
    return PartitionInputs(number, held, dictionary)


def _report(schema: Schema, found: Sequence[tuple[DroppedCells, ...]], options: EncodingOptions) -> None:
    """Tell of dropped cells, those of all blocks and partitions together, in the order of the whole table."""
    if options.report_dropped is None:
        return
    numbers: dict[tuple[str, str], int] = {}
    for each in itertools.chain.from_iterable(found):
        numbers[each.column, each.reason] = numbers.get((each.column, each.reason), 0) + each.number
    columns = {column.name: place for place, column in enumerate(schema.columns)}
    for column, reason in sorted(
        numbers, key=lambda told: (ORDER[told[1]][0], columns.get(told[0], -1), ORDER[told[1]][1])
    ):
        options.report_dropped(DroppedCells(column, reason, numbers[column, reason]))
