"""The whole way from an input to coded records in partitions, done by many workers.

In: an input file, the public schema, how many partitions. Out: partitions of `CodedRecords`. Their records
are those that `encode` makes of the whole table, each in one partition.
"""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from tasks.core.errors import InputError
from tasks.core.parts.kept import KeptWork
from tasks.core.parts.store import StoredPart
from tasks.core.parts.workers import Workers
from tasks.core.records.coded import write_dictionary
from tasks.core.records.columns import Schema
from tasks.core.records.dropped import ORDER, DroppedCells
from tasks.core.records.encoding import EncodingOptions, positions_in
from tasks.core.records.partitioned import PartitionedRecords
from tasks.core.records.partitions.blocks import TableBlock, blocks_in_place, copied_blocks, unopened
from tasks.core.records.partitions.dictionary import united_values
from tasks.core.records.partitions.joining import PartitionInputs, join_partition
from tasks.core.records.partitions.plan import PartitionPlace, PartitionPlan
from tasks.core.records.partitions.reading import ReadBlock, read_block
from tasks.core.records.partitions.settling import settled_partitions
from tasks.core.records.used_columns import require_distinct_headers
from tasks.core.tables.header import InputFile

_TEMPORARY = ("copied", "pieces", "values")


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
    positions, subject = positions_in(source, schema)
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
    keeping = KeptWork(workers, place.store, place.key("done"), options.key)
    report = options.progress or (lambda what, share: None)
    read = list[ReadBlock]()
    for block in keeping.each("read", partial(read_block, plan), _blocks(source, plan, options)):
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
    keeping.forget()
    for name in _TEMPORARY:
        place.store.remove(place.key(name))
    return replace(found, workers=workers)


def _blocks(source: InputFile, plan: PartitionPlan, options: EncodingOptions) -> list[TableBlock]:
    place = plan.place
    blocks = blocks_in_place(source, place.number, options.record_limit)
    if blocks is not None:
        return blocks
    limit, progress = options.record_limit, options.progress
    key = place.key("copied")
    return copied_blocks(source, plan.wanted, place.number, place.store, key, limit=limit, progress=progress)


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
