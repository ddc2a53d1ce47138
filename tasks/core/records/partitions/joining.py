"""A partition is joined: its pieces of all blocks go in, coded records under one dictionary come out."""

from dataclasses import dataclass
from functools import partial

import duckdb
import numpy as np

from tasks.core.arrays import Flags
from tasks.core.parts.store import StoredPart
from tasks.core.queries import QueryResources
from tasks.core.records.coded import CodedFacts, CodedRecords
from tasks.core.records.coded_rows import with_cells
from tasks.core.records.dropped import DroppedCells
from tasks.core.records.joining import joined_records
from tasks.core.records.partitions.pieces import PieceReader, read_values
from tasks.core.records.partitions.plan import PartitionPlan
from tasks.core.records.repair import repair_records


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
        InputError: as `joined_records` does.
    """
    return with_cells(QueryResources(threads=1), partial(_join, plan, inputs))


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
    records = joined_records(gathered.rows, plan.joining(gathered.places), dropped.append)
    records = repair_records(records, plan.schema, dropped.append, plan.filled)
    held = tuple(
        _held(records, index) if column.is_open else None
        for index, column in enumerate(records.schema.columns)
    )
    part = plan.place.store.put(plan.place.key("records", inputs.number), records.write)
    return JoinedPartition(part, records.facts, held, tuple(dropped), inputs.number)


def _held(records: CodedRecords, column: int) -> Flags:
    """Which values of a column a record holds."""
    held = np.zeros(len(records.values[column]) + 1, np.bool_)
    for codes, of_slot in zip(records.slots, records.slot_columns, strict=True):
        if of_slot == column:
            held |= np.bincount(codes, minlength=len(held)) > 0
    return held[1:]
