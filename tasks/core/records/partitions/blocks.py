"""The input in blocks, about equally many rows each, so that many machines read it at once.

A Parquet file on a disk is read in place, a range of rows a block. A text can't be read from its middle,
since a line end may stand in quotes, and what is in storage may be replaced while it is read. Either is
copied once, as Parquet, a batch of rows to each block in turn.
"""

import itertools
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tasks.core.arrays import StageDone
from tasks.core.parts.store import PartStore, StoredPart
from tasks.core.tables.batches import number_of_rows, read_batches
from tasks.core.tables.header import InputFile
from tasks.core.tables.source import FileState, RemoteFile

#: Of a copied block: the place of each row in the input.
ROW = "row"
_FILE = "rows.parquet"


@dataclass(frozen=True)
class TableBlock:
    """What one machine reads.

    Either its rows of a ``source``, unopened and in a ``state`` that must stay, or a ``copied`` part.
    """

    number: int
    source: InputFile | None = None
    rows: range = range(0)
    copied: StoredPart | None = None
    state: FileState | None = None

    def batches(self, positions: Sequence[int]) -> Iterator[pa.RecordBatch]:
        if self.copied is not None:
            with self.copied.folder() as folder, pq.ParquetFile(folder / _FILE) as file:
                yield from file.iter_batches()
            return
        assert self.source is not None and self.state is not None, "a block is read in place or copied"
        # What is read is kept under the hash of the input, so it must be of that one, before and after.
        self.state.require(Path(self.source.path))
        row = self.rows.start
        for batch in read_batches(self.source, list(positions), 1, rows=self.rows):
            places = pa.array(np.arange(row, row + batch.num_rows, dtype=np.int64))
            row += batch.num_rows
            yield batch.append_column(ROW, places)
        self.state.require(Path(self.source.path))


def state_of(source: InputFile) -> FileState | None:
    """Of a file on a disk; None of what is in storage, of which a copy is read that nobody else has."""
    return None if isinstance(source.opened, RemoteFile) else FileState.of(Path(source.path))


def blocks_in_place(
    source: InputFile, number: int, state: FileState | None, limit: int | None = None
) -> list[TableBlock] | None:
    """Blocks of a file that any machine may read from its middle; None of one that must be copied."""
    if not source.is_parquet or state is None:
        return None
    rows, _ = number_of_rows(source)
    rows = rows if limit is None else min(rows, limit)
    ends = [rows * place // number for place in range(number + 1)]
    own = without_open_file(source)
    return [
        TableBlock(place, own, range(start, stop), state=state)
        for place, (start, stop) in enumerate(itertools.pairwise(ends))
    ]


def without_open_file(source: InputFile) -> InputFile:
    """The same input with its header, to be opened by whoever reads it, wherever that one stands."""
    return replace(source, path=Path(source.path).absolute()).with_headers(source.headers)


def copy_blocks(
    source: InputFile,
    positions: Sequence[int],
    number: int,
    store: PartStore,
    prefix: str,
    state: FileState | None,
    *,
    limit: int | None = None,
    progress: StageDone | None = None,
) -> list[TableBlock]:
    """Copy the used columns of an input into blocks; a batch at a time is in memory.

    Raises:
        InputError: see `read_batches`.
    """
    keys = [f"{prefix}/{place}" for place in range(number)]
    with tempfile.TemporaryDirectory(dir=store.own_scratch) as scratch:
        _copy(read_batches(source, list(positions), 1, progress), number, limit, Path(scratch))
        if state is not None:
            state.require(Path(source.path))
        blocks = []
        for place, key in enumerate(keys):
            copied = Path(scratch) / str(place)
            blocks.append(TableBlock(place, copied=store.put(key, partial(_moved, copied))))
        return blocks


def _moved(file: Path, folder: Path) -> None:
    shutil.move(file, folder / _FILE)


def _copy(batches: Iterator[pa.RecordBatch], number: int, limit: int | None, folder: Path) -> None:
    """A batch to each block in turn; all blocks have a file, though it may hold no row."""
    row, schema = 0, None
    writers: dict[int, Any] = {}
    with ExitStack() as stack:
        for place, batch in zip(itertools.cycle(range(number)), batches, strict=False):
            if limit is not None:
                batch = batch.slice(0, limit - row)
            places = pa.array(np.arange(row, row + batch.num_rows, dtype=np.int64))
            row += batch.num_rows
            batch = batch.append_column(ROW, places)
            schema = schema or batch.schema
            if place not in writers:
                writers[place] = stack.enter_context(pq.ParquetWriter(folder / str(place), batch.schema))
            writers[place].write_batch(batch)
            if limit is not None and row >= limit:
                break
    for place in set(range(number)) - set(writers):
        pq.write_table((schema or pa.schema([])).empty_table(), folder / str(place))
