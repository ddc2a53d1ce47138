"""The whole way from an input to coded records in partitions, done by many workers.

In: an input file, the public schema, how many partitions. Out: partitions of `CodedRecords`. Their records
are those that `encode` makes of the whole table, each in one partition.
"""

import hashlib
import itertools
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from tasks.core.errors import InputError
from tasks.core.parts.kept import KeptWork
from tasks.core.parts.store import StoredPart
from tasks.core.parts.workers import InProcess, Workers
from tasks.core.records.coded import write_dictionary
from tasks.core.records.columns import Schema
from tasks.core.records.dropped import ORDER, DroppedCells
from tasks.core.records.encoding import EncodingOptions, positions_in
from tasks.core.records.partitioned import PartitionedRecords
from tasks.core.records.partitions.blocks import (
    TableBlock,
    blocks_in_place,
    copied_blocks,
    state_of,
    unopened,
)
from tasks.core.records.partitions.dictionary import united_values
from tasks.core.records.partitions.joining import PartitionInputs, join_partition
from tasks.core.records.partitions.plan import PartitionPlace, PartitionPlan
from tasks.core.records.partitions.reading import ReadBlock, read_block
from tasks.core.records.partitions.settling import settled_partitions
from tasks.core.records.used_columns import require_distinct_headers
from tasks.core.tables.file_state import FileState
from tasks.core.tables.header import InputFile

_TEMPORARY = ("done", "copied", "pieces", "values")


def encode_partitions(
    source: InputFile, schema: Schema, options: EncodingOptions, place: PartitionPlace, workers: Workers
) -> PartitionedRecords:
    """Read, normalise, code and join the records, each partition where a worker is.

    What an earlier run did of it under the same prefix is not done again.

    Args:
        source: the input; a Parquet file on a disk must be seen by all workers.
        schema: the public schema.
        options: how to encode.
        place: where partitions go, and how many.
        workers: who work.

    Raises:
        InputError, ResourceLimit: as `encode` does.
    """
    positions, subject = positions_in(source, schema, total=options.total)
    plan = PartitionPlan(
        source=unopened(source),
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
    values = united_values(schema.measured.columns, [block.texts for block in read], keeping)
    dictionary = place.store.put(
        place.key("values"), lambda into: write_dictionary(values, into / "dictionary.parquet")
    )
    inputs = [_inputs(read, number, dictionary) for number in range(place.number)]
    joined = list(keeping.each("join", partial(join_partition, plan), inputs))
    found = settled_partitions(joined, place, keeping)
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
    return copied_blocks(
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
