"""What a block holds of each partition: its rows as codes of its own, beside the texts that they stand for.

Rows of a block go in, a folder for each partition comes out; and the other way round, the pieces of one
partition under one dictionary.

    block 0  Lyon, Nice, Lyon    values (Lyon, Nice)    rows 1 2 1  ┐  one dictionary (Lille, Lyon, Nice)
    block 1  Nice, Lille         values (Lille, Nice)   rows 2 1    ┘  rows 2 3 2 | 3 1
"""

from collections.abc import Sequence
from pathlib import Path

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import feather

from tasks.core.arrays import Codes, Integers
from tasks.core.records.cells import CellCollector, CodedColumn, CodedRows, ItemCells, RawColumn, SingleCells
from tasks.core.records.coded import code_type, read_dictionary, write_dictionary
from tasks.core.records.dropped import REASONS
from tasks.core.records.partitions.blocks import ROW
from tasks.core.stored_files import read_parquet

_ROWS, _SETS, _ID = "rows.arrow", "sets", "id"
Values = tuple[tuple[str, ...], ...]


def write_piece(rows: CodedRows, places: Integers, chosen: Integers | slice, folder: Path) -> None:
    """Write some rows of a block.

    Of a slice of all rows nothing is copied.
    """
    columns: dict[str, pa.Array] = {ROW: pa.array(places[chosen])}
    if rows.ids is not None:
        columns[_ID] = _ids_of(rows.ids, chosen)
    for index, column in enumerate(rows.columns):
        codes = column.codes if isinstance(column, SingleCells) else column.cells
        columns[f"column_{index}"] = pa.array(codes[chosen])
    # Arrow's own format: codes stay a byte, and nothing is encoded that is read once.
    feather.write_feather(pa.table(columns), folder / _ROWS, compression="lz4")


def _ids_of(ids: RawColumn, chosen: Integers | slice) -> pa.Array:
    """The ids of some rows as text: null where a row has none."""
    numbers = np.arange(1, len(ids.cells) + 1, dtype=np.uint32)
    places = ids.coded(numbers, len(ids.cells))[chosen].astype(np.int64) - 1
    return ids.cells.take(pa.array(places, mask=places < 0))


def write_texts(columns: Sequence[CodedColumn], folder: Path) -> None:
    """Write what the codes of a block stand for: values, and of multi-valued columns the cells' items."""
    write_dictionary(tuple(column.values for column in columns), folder / "dictionary.parquet")
    for index, column in enumerate(columns):
        if isinstance(column, ItemCells):
            lists = pa.LargeListArray.from_arrays(pa.array(column.starts), pa.array(column.items))
            pq.write_table(pa.table({"items": lists}), folder / f"{_SETS}_{index}.parquet")


def read_values(folder: Path, number_of_columns: int) -> Values:
    return read_dictionary(folder / "dictionary.parquet", number_of_columns)


class PieceReader:
    """Gathers the pieces of one partition under one dictionary."""

    def __init__(self, values: Values, is_multi_valued: Sequence[bool]) -> None:
        """Args: values: of all blocks, for each column. is_multi_valued: whether a column is."""
        self._values, self._is_multi_valued = values, is_multi_valued
        self._code_of = [{text: code for code, text in enumerate(own, start=1)} for own in values]
        self._sets: list[dict[tuple[int, ...], int]] = [{(): 0} for _ in values]
        self._places: list[Integers] = []
        self._ids: list[pa.Array] = []
        self._codes: list[list[npt.NDArray[np.integer]]] = [[] for _ in values]

    def add(self, piece: Path, texts: Path) -> None:
        """Take a piece. Args: piece: its rows. texts: what their block's codes stand for."""
        table = feather.read_table(piece / _ROWS, memory_map=False)
        values = read_values(texts, len(self._values))
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
