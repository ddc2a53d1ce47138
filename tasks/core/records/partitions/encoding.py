"""From an input to coded records in partitions, done by many workers: the picture is the package's."""

import hashlib
import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import duckdb
import numpy as np
import pyarrow as pa

from tasks.core.arrays import Codes, Flags, Integers, Words
from tasks.core.parts.store import PartStore, StoredPart
from tasks.core.parts.workers import InProcess, KeptWork, Workers
from tasks.core.queries import QueryResources
from tasks.core.records.cells import CodedRows, RawColumn, code_rows, run_with_cells
from tasks.core.records.coded import (
    CodedFacts,
    CodedRecords,
    flag_held,
    keep_held_values,
    read_coded_records,
    read_dictionary,
    recoded,
    write_dictionary,
)
from tasks.core.records.columns import Column, Schema
from tasks.core.records.dropped import ORDER, DroppedCells, dropped_by_reason
from tasks.core.records.encoding import EncodingOptions, find_columns, require_distinct_headers, require_some
from tasks.core.records.joining import Joining, contents_of, join_records, normalised_ids
from tasks.core.records.keyed_choices import KeyedChoices
from tasks.core.records.partitions.blocks import (
    ROW,
    PieceReader,
    TableBlock,
    Values,
    blocks_in_place,
    copy_blocks,
    state_of,
    without_open_file,
    write_piece,
    write_texts,
)
from tasks.core.records.rulebook import repair_records
from tasks.core.records.table import RecordTable
from tasks.core.tables.batches import row_number
from tasks.core.tables.header import InputFile


@dataclass(frozen=True)
class PartitionPlace:
    """Where partitions go, and how many there are: as declared, and as many as blocks."""

    number: int
    store: PartStore
    prefix: str

    def key(self, *names: object) -> str:
        return "/".join([self.prefix, *map(str, names)])


@dataclass(frozen=True)
class ReadBlock:
    """A block that was read: its pieces by partition, what their codes stand for, what is not counted."""

    rows: int
    pieces: tuple[StoredPart | None, ...]
    texts: StoredPart
    dropped: tuple[DroppedCells, ...]


def read_block(joining: Joining, place: PartitionPlace, block: TableBlock) -> ReadBlock:
    rows, places = run_with_cells(QueryResources(threads=1), partial(_code_block, joining, block))
    key = partial(place.key, "pieces", block.number)
    owners = _partition_of_rows(joining, place.number, rows, places, block.number)
    # Short numbers are sorted several times as fast.
    owners = owners.astype(np.min_scalar_type(place.number))
    order = np.argsort(owners, kind="stable")
    ends = np.searchsorted(owners[order], np.arange(place.number + 1))
    pieces: list[StoredPart | None] = []
    for number, (start, end) in enumerate(itertools.pairwise(ends.tolist())):
        chosen = order[start:end]
        is_all = len(chosen) == rows.number_of_rows
        write = partial(write_piece, rows, places, slice(None) if is_all else chosen)
        pieces.append(place.store.put(key(number), write) if len(chosen) else None)
    texts = place.store.put(key("texts"), partial(write_texts, rows.columns))
    columns = zip(joining.schema.columns, rows.columns, strict=True)
    dropped = [found for column, coded in columns for found in dropped_by_reason(column.name, coded.dropped)]
    return ReadBlock(rows.number_of_rows, tuple(pieces), texts, tuple(dropped))


def _code_block(
    joining: Joining, block: TableBlock, connection: duckdb.DuckDBPyConnection
) -> tuple[CodedRows, Integers]:
    places: list[Integers] = [np.zeros(0, np.int64)]

    def note_places(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
        for batch in batches:
            places.append(batch.column(batch.schema.get_field_index(ROW)).to_numpy())
            yield batch

    batches = note_places(block.batches(joining.wanted))
    rows = code_rows(batches, joining.schema.columns, joining.positions, joining.subject, connection)
    found = np.concatenate(places)
    return CodedRows(rows.ids, rows.columns, len(found)), found


def _partition_of_rows(
    joining: Joining, number: int, rows: CodedRows, places: Integers, block: int
) -> Integers:
    """Of each row: by its subject, or its content where that decides something; else its block's own."""
    if rows.ids is not None:
        return _by_subject(rows.ids, joining.choices, places, number)
    if not joining.chooses_by_content:
        return np.full(rows.number_of_rows, block, np.int64)
    contents = contents_of(rows, joining.schema, joining.choices)
    hashes = joining.choices.of_content(contents, rows.number_of_rows)
    return _assign_partitions(joining.choices, hashes, number)


def _by_subject(ids: RawColumn, choices: KeyedChoices, places: Integers, number: int) -> Integers:
    """By the hash of a row's subject; a row without one goes anywhere."""
    texts = normalised_ids(ids.cells)
    hashes = choices.of_texts("subject", texts.fill_null(""))
    owners = _assign_partitions(choices, hashes, number).astype(np.uint32) + 1
    owners[texts.is_null().to_numpy(zero_copy_only=False)] = 0
    found = ids.coded(owners, number).astype(np.int64)
    return np.where(found > 0, found - 1, places % number)


def _assign_partitions(choices: KeyedChoices, hashes: Words, number: int) -> Integers:
    mixed = choices.of_pairs("partition", hashes, np.zeros(len(hashes), np.uint64))
    return (mixed % np.uint64(number)).astype(np.int64)


#: The number of a partition, and its pieces, each with its block's texts.
PartitionInputs = tuple[int, list[tuple[StoredPart, StoredPart]]]


@dataclass(frozen=True)
class JoinedPartition:
    """A partition under the values of all blocks; which of them it holds, and how many slots it fills."""

    part: StoredPart
    facts: CodedFacts
    held: tuple[Flags | None, ...]
    dropped: tuple[DroppedCells, ...]
    number: int


def join_partition(
    joining: Joining,
    place: PartitionPlace,
    repair: Callable[..., CodedRecords],
    dictionary: StoredPart,
    inputs: PartitionInputs,
) -> JoinedPartition:
    """Join the rows of one partition, and hold its records to the constraints.

    It raises as `join_records` does.
    """
    (number, pieces), columns = inputs, joining.schema.columns

    def join(connection: duckdb.DuckDBPyConnection) -> JoinedPartition:
        with dictionary.folder() as folder:
            values = read_dictionary(folder, len(columns))
        reader = PieceReader(values, [column.is_multi_valued for column in columns])
        for piece, texts in pieces:
            with piece.folder() as rows_folder, texts.folder() as texts_folder:
                reader.add(rows_folder, texts_folder)
        rows, places = reader.finish(connection, has_ids=joining.subject is not None)
        dropped: list[DroppedCells] = []
        in_input = replace(joining, row_number=lambda row: joining.row_number(int(places[row])))
        records = repair(join_records(rows, in_input, dropped.append), report_dropped=dropped.append)
        held = tuple(
            flag_held(records, index) if column.is_open else None
            for index, column in enumerate(records.schema.columns)
        )
        part = place.store.put(place.key("records", number), records.write)
        return JoinedPartition(part, records.facts, held, tuple(dropped), number)

    return run_with_cells(QueryResources(threads=1), join)


def settle_partitions(
    joined: Sequence[JoinedPartition], place: PartitionPlace, workers: Workers
) -> RecordTable:
    """Take values that no record of any partition holds out of all, and give all as many slots."""
    facts = [partition.facts for partition in joined]
    whole = replace(facts[0], number_of_records=sum(own.number_of_records for own in facts))
    columns = range(len(whole.schema.columns))
    found: list[tuple[tuple[str, ...], Codes | None]] = []
    for column, values in enumerate(whole.values):
        held = [own for partition in joined if (own := partition.held[column]) is not None]
        found.append(keep_held_values(values, np.logical_or.reduce(held)) if held else (values, None))
    codes = tuple(of_column for _, of_column in found)
    widths = [max(own.slot_columns.count(column) for own in facts) for column in columns]
    whole = replace(
        whole,
        values=tuple(values for values, _ in found),
        slot_columns=tuple(column for column in columns for _ in range(widths[column])),
    )
    is_settled = all(of_column is None for of_column in codes) and all(
        own.slot_columns == whole.slot_columns for own in facts
    )
    # Whether values may go, or slots come, is a public fact.
    may_change = any(
        column.is_open or (column.is_multi_valued and not column.max_items) for column in whole.schema.columns
    )
    if not may_change:
        return RecordTable(whole, [partition.part for partition in joined], workers)
    # A single person decides whether there is anything to do, and the run's page shows each part of the work:
    # so it is given out whether or not there is.
    work = partial(_settle_partition, place, None if is_settled else (whole, codes))
    parts = list(workers.each("settle", work, list(joined)))
    if not is_settled:
        place.store.remove(place.key("records"))
    return RecordTable(whole, parts, workers)


def _settle_partition(
    place: PartitionPlace,
    settled: tuple[CodedFacts, tuple[Codes | None, ...]] | None,
    joined: JoinedPartition,
) -> StoredPart:
    """A partition as all are. Args: settled: their facts, and by column the code of each earlier one."""
    if settled is None:
        return joined.part
    with joined.part.folder() as folder:
        records = read_coded_records(folder)
    return place.store.put(place.key("settled", joined.number), recoded(records, *settled).write)


#: Blocks whose values are united at a time.
_AT_A_TIME = 16


def unite_values(columns: Sequence[Column], texts: Sequence[StoredPart], workers: Workers) -> Values:
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
            for own, values, is_open in zip(seen, read_dictionary(folder, len(opened)), opened, strict=True):
                own.update(values if is_open else ())
    return seen


_TEMPORARY = ("done", "copied", "pieces", "values")


def encode_partitions(
    source: InputFile, schema: Schema, options: EncodingOptions, place: PartitionPlace, workers: Workers
) -> RecordTable:
    """Read, normalise, code and join the records, each partition where a worker is.

    What an earlier run did of it under the same prefix is not done again. A Parquet file on a disk must be
    seen by all workers.

    Raises:
        InputError, ResourceLimit: as `encode` does.
    """
    joining = find_columns(source, schema, options)
    joining = replace(joining, row_number=partial(row_number, without_open_file(source)))
    repair = partial(repair_records, schema=schema, filled=options.filled)
    state = state_of(source)
    # What was kept of another file, which was there for a while, is not found.
    done = place.key("done", hashlib.sha256(options.key + repr(state).encode()).hexdigest()[:16])
    keeping = KeptWork(workers, place.store, done, options.key)
    report = options.progress or (lambda what, share: None)
    read = list[ReadBlock]()
    blocks = blocks_in_place(source, place.number, state, options.record_limit)
    if blocks is None:
        copying = KeptWork(InProcess(), place.store, done, options.key)
        copy = partial(
            copy_blocks,
            source,
            joining.wanted,
            place.number,
            place.store,
            place.key("copied"),
            limit=options.record_limit,
            progress=options.progress,
        )
        [blocks] = copying.each("copy", copy, [state])
    for block in keeping.each("read", partial(read_block, joining, place), blocks):
        read.append(block)
        report("reading", len(read) / place.number)
    require_some(sum(block.rows for block in read), total=options.total)
    columns = joining.schema.columns
    values = unite_values(columns, [block.texts for block in read], keeping)
    dictionary = place.store.put(place.key("values"), partial(write_dictionary, values))
    inputs = [
        (number, [(piece, block.texts) for block in read if (piece := block.pieces[number]) is not None])
        for number in range(place.number)
    ]
    work = partial(join_partition, joining, place, repair, dictionary)
    joined = list(keeping.each("join", work, inputs))
    found = settle_partitions(joined, place, keeping)
    if not options.total:
        require_distinct_headers(columns, found.facts.values[: len(columns)])
    _report_dropped(schema, [*(each.dropped for each in read), *(each.dropped for each in joined)], options)
    for name in _TEMPORARY:
        place.store.remove(place.key(name))
    return replace(found, workers=workers)


def _report_dropped(
    schema: Schema, found: Sequence[tuple[DroppedCells, ...]], options: EncodingOptions
) -> None:
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
