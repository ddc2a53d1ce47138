"""A block is read: its rows are coded by its own values, and parted by a keyed hash."""

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

import duckdb
import numpy as np
import pyarrow as pa

from tasks.core.arrays import Integers, Words
from tasks.core.parts.store import StoredPart
from tasks.core.queries import QueryResources
from tasks.core.records.coded_rows import CodedRows, code_rows, with_cells
from tasks.core.records.dropped import DroppedCells, dropped_by_reason
from tasks.core.records.joining import contents_of
from tasks.core.records.keyed_choices import KeyedChoices
from tasks.core.records.partitions.blocks import ROW, TableBlock
from tasks.core.records.partitions.pieces import write_piece, write_texts
from tasks.core.records.partitions.plan import PartitionPlan
from tasks.core.records.subjects import normalised_ids


@dataclass(frozen=True)
class ReadBlock:
    """A block that was read: its pieces by partition, what their codes stand for, what is not counted."""

    rows: int
    pieces: tuple[StoredPart | None, ...]
    texts: StoredPart
    dropped: tuple[DroppedCells, ...]


def read_block(plan: PartitionPlan, block: TableBlock) -> ReadBlock:
    """Read a block, and part its rows."""
    rows, places = with_cells(QueryResources(threads=1), partial(_rows_of, plan, block))
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
    """The rows of a block, and the place of each in the input."""
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
    """A partition for each hash, which tells nothing of what else is chosen by it."""
    mixed = choices.of_pairs("partition", hashes, np.zeros(len(hashes), np.uint64))
    return (mixed % np.uint64(number)).astype(np.int64)
