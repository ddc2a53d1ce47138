"""Cells of sets of slots in any order in; the rows of stored marginals, in their order, out.

What arrives before its turn waits in memory, and beyond a budget in a scratch file. Several sets of slots
stand for one combination where a column is multi-valued: they are added up when the last has arrived.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa

from tasks.core.aggregates.cells import Cells, add_up
from tasks.core.aggregates.grouping import Append
from tasks.core.aggregates.stored_marginals import MarginalFacts, MarginalsWriter, table_schema

_ROWS_AN_APPEND = 1 << 17

#: Counts a combination by itself: id, columns, and what takes its rows.
CountAlone = Callable[[int, tuple[int, ...], Append], None]


class Spool:
    """Cells that wait: in memory up to a number of bytes, then in a file."""

    def __init__(self, path: Path | None, memory: int) -> None:
        """Args: path: a file to make, None: memory alone. memory: bytes."""
        self._path, self._memory = path, memory
        self._file: BinaryIO | None = None

    def put(self, cells: Cells) -> "Waiting":
        """Keep cells."""
        if self._path is None or _bytes(cells) <= self._memory:
            self._memory -= _bytes(cells)
            return Waiting(cells, 0, ())
        if self._file is None:
            self._file = self._path.open("w+b")
        offset = self._file.seek(0, 2)
        arrays = (*cells.codes, cells.counts)
        for array in arrays:
            self._file.write(np.ascontiguousarray(array).data)
        return Waiting(None, offset, tuple((array.dtype, len(array)) for array in arrays))

    def take(self, waiting: "Waiting") -> Cells:
        """The cells again; they no longer count."""
        if waiting.cells is not None:
            self._memory += _bytes(waiting.cells)
            return waiting.cells
        assert self._file is not None
        self._file.seek(waiting.offset)
        arrays = [np.frombuffer(self._file.read(kind.itemsize * size), kind) for kind, size in waiting.kinds]
        return Cells(tuple(arrays[:-1]), arrays[-1])

    def close(self) -> None:
        """Remove the file."""
        if self._file is not None and self._path is not None:
            self._file.close()
            self._path.unlink()


@dataclass(frozen=True)
class Waiting:
    """Cells in memory, or where they are in the file."""

    cells: Cells | None
    offset: int
    kinds: tuple[tuple["np.dtype[np.generic]", int], ...]


def _bytes(cells: Cells) -> int:
    return sum(array.nbytes for array in (*cells.codes, cells.counts))


class LengthGatherer:
    """Writes the combinations of one length in the order of their ids, as soon as it is their turn."""

    def __init__(
        self, facts: MarginalFacts, length: int, writer: MarginalsWriter, spool: Spool, alone: CountAlone
    ) -> None:
        """Args: alone: counts a combination of which nothing is added, when it is its turn."""
        self._facts, self._writer, self._spool, self._alone = facts, writer, spool, alone
        self._schema = table_schema(length)
        self._combinations = facts.counted(length)
        self._ids = {combination: index for index, combination in self._combinations.items()}
        self._order = iter(self._combinations)
        self._next = next(self._order, None)
        self._missing: dict[int, int] = {}
        self._waiting: dict[int, list[Waiting]] = {}
        self._rows: list[tuple[int, Cells]] = []
        self._number_of_rows = 0

    def expect(self, combination: tuple[int, ...], choices: int) -> None:
        """Say that a combination will be added, from so many sets of slots."""
        self._missing[self._ids[combination]] = choices

    def add(self, slots: tuple[int, ...], cells: Cells) -> None:
        """Add the present cells of one choice of slots."""
        combination = tuple(self._facts.slot_columns[slot] for slot in slots)
        index = self._ids[combination]
        self._missing[index] -= 1
        if index == self._next and not self._missing[index] and index not in self._waiting:
            self._append(index, cells)
            self._advance()
        else:
            self._waiting.setdefault(index, []).append(self._spool.put(cells))
        self._flush()

    def finish(self) -> None:
        """Write what is left; all that was expected has been added."""
        self._flush()
        assert self._next is None
        self._write()

    def _flush(self) -> None:
        while self._next is not None and not self._missing.get(self._next):
            combination = self._combinations[self._next]
            if self._next in self._missing:
                parts = [self._spool.take(one) for one in self._waiting.pop(self._next)]
                sizes = [len(self._facts.values[column]) + 1 for column in combination]
                self._append(self._next, add_up(parts, sizes))
            else:
                self._write()
                self._alone(self._next, combination, self._writer.append)
            self._advance()

    def _advance(self) -> None:
        self._next = next(self._order, None)

    def _append(self, index: int, cells: Cells) -> None:
        self._rows.append((index, cells))
        self._number_of_rows += len(cells.counts)
        if self._number_of_rows >= _ROWS_AN_APPEND:
            self._write()

    def _write(self) -> None:
        """Hand the gathered rows on, many combinations at a time."""
        if not self._rows:
            return
        ids = np.array([index for index, _ in self._rows], np.uint32)
        lengths = [len(cells.counts) for _, cells in self._rows]
        columns = [pa.array(np.repeat(ids, lengths))]
        for place in range(len(self._rows[0][1].codes)):
            codes = [cells.codes[place].astype(np.uint32, copy=False) for _, cells in self._rows]
            columns.append(pa.array(np.concatenate(codes)))
        counts = [cells.counts.astype(np.int64, copy=False) for _, cells in self._rows]
        columns.append(pa.array(np.concatenate(counts)))
        self._rows, self._number_of_rows = [], 0
        self._writer.append(pa.Table.from_arrays(columns, schema=self._schema))


def choices_of(facts: MarginalFacts, combination: tuple[int, ...]) -> int:
    """How many choices of slots a combination of columns stands for."""
    return math.prod(
        math.comb(facts.slot_columns.count(column), combination.count(column)) for column in set(combination)
    )
