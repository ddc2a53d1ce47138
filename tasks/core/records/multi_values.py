"""Cells that hold a set of items (sds.md 1.4).

The distinct cells of a multi-valued column go in; their items as codes come out.
"""

import itertools
from dataclasses import dataclass

import duckdb
import numpy as np

from tasks.core.arrays import Bytes, Codes, Integers
from tasks.core.records.binning import code_texts
from tasks.core.records.cells import RawColumn
from tasks.core.records.coded import code_type
from tasks.core.records.columns import Column
from tasks.core.records.dropped import REASONS
from tasks.core.records.value_texts import split_items


@dataclass(frozen=True)
class ItemCells:
    """The cells of a multi-valued column.

        rows: French;Arabic, French, (empty)     values (Arabic, French)     cells [1, 2, 0]
        cell 0: none, cell 1: {1, 2}, cell 2: {2}     items [1, 2, 2]     starts [0, 0, 2, 3]

    Attributes:
        values: the text of item codes 1, 2, ...
        cells: for each row the number of its cell, 0 being the cell without items.
        starts: cell c holds ``items[starts[c] : starts[c + 1]]``: distinct codes, ascending. Two cells
            never hold the same set.
        items: see ``starts``.
        dropped: for each of `dropped.REASONS` how many items of cells are absent for it.
    """

    values: tuple[str, ...]
    cells: Codes
    starts: Integers
    items: Codes
    dropped: Integers

    def sets(self) -> list[tuple[int, ...]]:
        """The items of every cell."""
        items = self.items.tolist()
        ends = self.starts.tolist()
        return [tuple(items[start:end]) for start, end in itertools.pairwise(ends)]


def code_items(raw: RawColumn, column: Column, connection: duckdb.DuckDBPyConnection) -> ItemCells:
    """Split the distinct cells before normalising, then code the items."""
    delimiter = column.delimiter or ""
    split: list[list[str | None]] = [
        []
        if cell is None or not used
        else cell
        if isinstance(cell, list)
        else [*split_items(cell, delimiter)]
        for cell, used in zip(raw.cells.to_pylist(), raw.used, strict=True)
    ]
    place: dict[str | None, int] = {}
    for cell in split:
        for item in cell:
            place.setdefault(item, len(place))
    coded = code_texts(list(place), column, connection)
    codes = coded.codes.tolist()
    number: dict[tuple[int, ...], int] = {(): 0}
    cells = np.zeros(len(split), dtype=np.uint32)
    for index, cell in enumerate(split):
        present = tuple(sorted({codes[place[item]] for item in cell} - {0}))
        cells[index] = number.setdefault(present, len(number))
    kind = code_type(len(coded.values))
    return ItemCells(
        values=coded.values,
        cells=raw.coded(cells, len(number) - 1),
        starts=np.cumsum([0, *map(len, number)], dtype=np.int64),
        items=np.array([item for items in number for item in items], dtype=kind),
        dropped=_dropped(raw, [{place[item] for item in cell} for cell in split], coded.reasons),
    )


def _dropped(raw: RawColumn, pieces: list[set[int]], reasons: Bytes) -> Integers:
    """Items that are absent, by reason. Args: pieces: of each distinct cell, places in ``reasons``."""
    found = np.zeros(len(REASONS), np.int64)
    if reasons.any():
        for rows, cell in zip(raw.rows_of_cells().tolist(), pieces, strict=True):
            found += rows * np.bincount(reasons[list(cell)], minlength=len(REASONS)) if cell else 0
    return found
