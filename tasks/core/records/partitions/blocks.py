"""The input in blocks, about equally many rows each, so that many machines read it at once.

A Parquet file on a disk is read in place, a range of rows a block. A text can't be read from its middle,
since a line end may stand in quotes, and what is in storage may be replaced while it is read: either is
copied once, as Parquet. Of a block the rows of each partition are written as codes of the block's own, beside
the texts that they stand for; and the pieces of one partition are read under one dictionary.

    block 0  Lyon, Nice, Lyon    values (Lyon, Nice)    rows 1 2 1  ┐  one dictionary (Lille, Lyon, Nice)
    block 1  Nice, Lille         values (Lille, Nice)   rows 2 1    ┘  rows 2 3 2 | 3 1
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

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import feather

from tasks.core.arrays import Codes, Integers, StageDone
from tasks.core.parts.store import PartStore, StoredPart
from tasks.core.records.cells import CellCollector, CodedColumn, CodedRows, ItemCells, SingleCells
from tasks.core.records.coded import code_type, read_dictionary, write_dictionary
from tasks.core.records.dropped import REASONS
from tasks.core.stored_files import read_parquet
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
    """Copy the used columns of an input into blocks, a batch at a time. Raises as `read_batches` does."""
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


_ROWS, _SETS, _ID = "rows.arrow", "sets", "id"
Values = tuple[tuple[str, ...], ...]


def write_piece(rows: CodedRows, places: Integers, chosen: Integers | slice, folder: Path) -> None:
    """Write some rows of a block; of a slice of all rows nothing is copied."""
    columns: dict[str, pa.Array] = {ROW: pa.array(places[chosen])}
    if rows.ids is not None:
        own = rows.ids.places_of_rows()[chosen].astype(np.int64) - 1
        columns[_ID] = rows.ids.cells.take(pa.array(own, mask=own < 0))
    for index, column in enumerate(rows.columns):
        codes = column.codes if isinstance(column, SingleCells) else column.cells
        columns[f"column_{index}"] = pa.array(codes[chosen])
    # Arrow's own format: codes stay a byte, and nothing is encoded that is read once.
    feather.write_feather(pa.table(columns), folder / _ROWS, compression="lz4")


def write_texts(columns: Sequence[CodedColumn], folder: Path) -> None:
    """Write what the codes of a block stand for: values, and of multi-valued columns the cells' items."""
    write_dictionary(tuple(column.values for column in columns), folder)
    for index, column in enumerate(columns):
        if isinstance(column, ItemCells):
            lists = pa.LargeListArray.from_arrays(pa.array(column.starts), pa.array(column.items))
            pq.write_table(pa.table({"items": lists}), folder / f"{_SETS}_{index}.parquet")


class PieceReader:
    """Gathers the pieces of one partition under one dictionary."""

    def __init__(self, values: Values, is_multi_valued: Sequence[bool]) -> None:
        self._values, self._is_multi_valued = values, is_multi_valued
        self._code_of = [{text: code for code, text in enumerate(own, start=1)} for own in values]
        self._sets: list[dict[tuple[int, ...], int]] = [{(): 0} for _ in values]
        self._places: list[Integers] = []
        self._ids: list[pa.Array] = []
        self._codes: list[list[npt.NDArray[np.integer]]] = [[] for _ in values]

    def add(self, piece: Path, texts: Path) -> None:
        """Args: piece: its rows. texts: what their block's codes stand for."""
        table = feather.read_table(piece / _ROWS, memory_map=False)
        values = read_dictionary(texts, len(self._values))
        self._places.append(table[ROW].to_numpy())
        if _ID in table.column_names:
            self._ids.append(table[_ID].combine_chunks())
        for index, own in enumerate(values):
            code_of = self._code_of[index]
            map_ = np.array([0, *(code_of[text] for text in own)], code_type(len(code_of)))
            codes = table[f"column_{index}"].to_numpy()
            if self._is_multi_valued[index]:
                self._codes[index].append(self._numbers_of_sets(index, texts, map_, codes)[codes])
            else:
                # Most blocks have the values of all.
                is_same = map_.dtype == codes.dtype and bool((map_ == np.arange(len(map_))).all())
                self._codes[index].append(codes if is_same else map_[codes])

    def _numbers_of_sets(self, column: int, texts: Path, map_: Codes, cells: Codes) -> Integers:
        """For each cell of a block its number here; only cells that a row of the piece holds get one."""
        items = read_parquet(texts / f"{_SETS}_{column}.parquet")["items"].to_pylist()
        numbers, found = np.zeros(len(items), np.int64), self._sets[column]
        for cell in np.unique(cells).tolist():
            held = tuple(sorted(int(map_[item]) for item in items[cell]))
            numbers[cell] = found.setdefault(held, len(found))
        return numbers

    def finish(self, connection: duckdb.DuckDBPyConnection, *, has_ids: bool) -> tuple[CodedRows, Integers]:
        """The rows of the partition in the input's order, and their places in it."""
        places = np.concatenate([np.zeros(0, np.int64), *self._places])
        # Of one block, or of blocks in turn, the rows are in order as they come.
        is_ordered = bool((places[1:] > places[:-1]).all())
        order = None if is_ordered else np.argsort(places, kind="stable")
        ids = None
        if has_ids:
            collector = CellCollector(connection)
            texts = pa.chunked_array(self._ids, pa.large_string()).combine_chunks()
            collector.add(texts if order is None else pc.take(texts, pa.array(order)))
            ids = collector.finish()
        columns = tuple(self._column(index, order) for index in range(len(self._values)))
        places = places if order is None else places[order]
        return CodedRows(ids, columns, len(places)), places

    def _column(self, index: int, order: Integers | None) -> CodedColumn:
        values, dropped = self._values[index], np.zeros(len(REASONS), np.int64)
        parts, self._codes[index] = self._codes[index], []
        codes = np.concatenate([np.zeros(0, code_type(len(values))), *parts])
        codes = codes if order is None else codes[order]
        if not self._is_multi_valued[index]:
            return SingleCells(values, codes.astype(code_type(len(values)), copy=False), dropped)
        sets = self._sets[index]
        return ItemCells(
            values=values,
            cells=codes.astype(code_type(len(sets) - 1)),
            starts=np.cumsum([0, *map(len, sets)], dtype=np.int64),
            items=np.array([item for held in sets for item in held], dtype=code_type(len(values))),
            dropped=dropped,
        )
