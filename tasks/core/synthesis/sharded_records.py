"""Synthetic records that lie in shards: references that go from step to step, and the shards they stand for.

All shards have the headers and attributes of the whole. In a shard records are in the published order
(see `ordered`); shard stands after shard. So the order of all records is a function of the records and of
their number alone.
"""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from tasks.core.arrays import Ids
from tasks.core.parts.shards import RecordShard
from tasks.core.parts.store import PartStore, StoredPart
from tasks.core.synthesis.records import ATTRIBUTES, RECORDS, SyntheticRecords, read_synthetic_records

#: Beside fitted records: the same as cells of measured columns, `other` included.
_CELLS = "cells.npy"


@dataclass(frozen=True)
class ShardedRecords:
    """Records in shards.

    Attributes:
        shards: how many records each has, and the seed of its stream.
        parts: the same in the same order: their files.
    """

    shards: tuple[RecordShard, ...]
    parts: tuple[StoredPart, ...]

    @property
    def number_of_records(self) -> int:
        """Of all shards."""
        return sum(shard.number_of_records for shard in self.shards)

    def stream(self) -> Iterator[SyntheticRecords]:
        """The records, a shard at a time."""
        return map(read_record_shard, self.parts)


def keep_record_shard(
    store: PartStore, shard: RecordShard, records: SyntheticRecords, cells: Ids | None = None
) -> StoredPart:
    """Keep one shard; ``cells``: of fitted records."""
    return store.put(f"shards/{shard.place}", partial(_write, records, cells))


def _write(records: SyntheticRecords, cells: Ids | None, folder: Path) -> None:
    records.write(folder)
    if cells is not None:
        np.save(folder / _CELLS, cells)


def read_record_shard(part: StoredPart) -> SyntheticRecords:
    """The records of one shard."""
    with part.folder() as folder:
        return read_synthetic_records(folder)


def read_fitted_cells(part: StoredPart) -> Ids:
    """The cells of one shard of fitted records, int32 (n, slots); see `FittedRecords.cells`."""
    with part.folder() as folder:
        cells: Ids = np.load(folder / _CELLS, allow_pickle=False)
    return cells


def join_shards(records: ShardedRecords, folder: Path) -> None:
    """Write all shards as one folder of records, a batch at a time; and their cells, if they have any."""
    with ExitStack() as stack:
        rows = None
        for part in records.parts:
            with part.folder() as shard:
                if rows is None:
                    shutil.copyfile(shard / ATTRIBUTES, folder / ATTRIBUTES)
                with pq.ParquetFile(shard / RECORDS) as file:
                    rows = rows or stack.enter_context(
                        pq.ParquetWriter(folder / RECORDS, file.schema_arrow, compression="zstd")
                    )
                    for batch in file.iter_batches():
                        rows.write_batch(batch)
    _join_cells(records, folder / _CELLS)


def _join_cells(records: ShardedRecords, path: Path) -> None:
    joined, start = None, 0
    for part in records.parts:
        with part.folder() as shard:
            if not (shard / _CELLS).exists():
                return
            cells = np.load(shard / _CELLS, mmap_mode="r", allow_pickle=False)
            if joined is None:
                shape = (records.number_of_records, cells.shape[1])
                joined = np.lib.format.open_memmap(path, "w+", cells.dtype, shape)
            joined[start : start + len(cells)] = cells
            start += len(cells)
