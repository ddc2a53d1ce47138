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


class RowBuffer:
    """Cells of combinations, in the order of their ids, handed on as rows: many combinations at a time."""

    def __init__(self, writer: MarginalsWriter, length: int) -> None:
        """Args: writer: of the marginals of one length."""
        self._writer, self._schema = writer, table_schema(length)
        self._cells: list[tuple[int, Cells]] = []
        self._rows = 0

    def append(self, combination_id: int, cells: Cells) -> None:
        """Append the cells of one combination, ascending, no value absent."""
        self._cells.append((combination_id, cells))
        self._rows += len(cells.counts)
        if self._rows >= _ROWS_AN_APPEND:
            self.flush()

    def append_rows(self, rows: pa.Table) -> None:
        """Append rows as they are stored."""
        self.flush()
        self._writer.append(rows)

    def flush(self) -> None:
        """Hand on what has been gathered."""
        if not self._cells:
            return
        ids = np.array([combination_id for combination_id, _ in self._cells], np.uint32)
        columns = [pa.array(np.repeat(ids, [len(cells.counts) for _, cells in self._cells]))]
        for place in range(len(self._cells[0][1].codes)):
            codes = [cells.codes[place] for _, cells in self._cells]
            columns.append(pa.array(np.concatenate(codes, dtype=np.uint32)))
        counts = [cells.counts for _, cells in self._cells]
        columns.append(pa.array(np.concatenate(counts, dtype=np.int64)))
        self._cells, self._rows = [], 0
        self._writer.append(pa.Table.from_arrays(columns, schema=self._schema))


@dataclass(frozen=True)
class Ways:
    """What the lengths of one count share.

    Attributes:
        spool: where cells wait.
        alone: counts a combination of which no cells are added, when it is its turn.
        written: called after each combination.
    """

    spool: Spool
    alone: CountAlone
    written: Callable[[], None]


class LengthGatherer:
    """Writes the combinations of one length in the order of their ids, as soon as it is their turn."""

    def __init__(self, facts: MarginalFacts, length: int, buffer: RowBuffer, ways: Ways) -> None:
        """Args: facts, length: what is counted. buffer: takes the rows."""
        self._facts, self._buffer, self._ways = facts, buffer, ways
        self._combinations = facts.counted(length)
        self._ids = {combination: index for index, combination in self._combinations.items()}
        self._order = iter(self._combinations)
        self._next = next(self._order, None)
        self._missing: dict[int, int] = {}
        self._waiting: dict[int, list[Waiting]] = {}

    def expect(self, combination: tuple[int, ...], choices: int) -> None:
        """Say that a combination will be added, from so many sets of slots."""
        self._missing[self._ids[combination]] = choices

    def add(self, slots: tuple[int, ...], cells: Cells) -> None:
        """Add the present cells of one choice of slots."""
        combination = tuple(self._facts.slot_columns[slot] for slot in slots)
        index = self._ids[combination]
        self._missing[index] -= 1
        if index == self._next and not self._missing[index] and index not in self._waiting:
            self._buffer.append(index, cells)
            self._advance()
        else:
            self._waiting.setdefault(index, []).append(self._ways.spool.put(cells))
        self._flush()

    def finish(self) -> None:
        """Write what is left; all that was expected has been added."""
        self._flush()
        assert self._next is None
        self._buffer.flush()

    def _flush(self) -> None:
        while self._next is not None and not self._missing.get(self._next):
            combination = self._combinations[self._next]
            if self._next in self._missing:
                parts = [self._ways.spool.take(one) for one in self._waiting.pop(self._next)]
                sizes = [len(self._facts.values[column]) + 1 for column in combination]
                self._buffer.append(self._next, add_up(parts, sizes))
            else:
                self._ways.alone(self._next, combination, self._buffer.append_rows)
            self._advance()

    def _advance(self) -> None:
        self._ways.written()
        self._next = next(self._order, None)


def choices_of(facts: MarginalFacts, combination: tuple[int, ...]) -> int:
    """How many choices of slots a combination of columns stands for."""
    return math.prod(
        math.comb(facts.slot_columns.count(column), combination.count(column)) for column in set(combination)
    )
