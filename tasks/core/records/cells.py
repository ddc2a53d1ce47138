"""A column's cells as distinct texts and, for each row, which of them it holds.

Batches of Arrow arrays go in, text or typed; a `RawColumn` comes out. Everything that follows
(normalising, binning, splitting, coding) then works on distinct cells, of which there are few, and is
carried to the rows by one look-up. The cost is linear in rows and in distinct cells.
"""

from dataclasses import dataclass

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tasks.core.arrays import Codes, Flags, Floats, HalfWords, Integers
from tasks.core.queries import query_over
from tasks.core.records.coded import code_type
from tasks.core.records.columns import Column
from tasks.core.records.kernels import mark_codes
from tasks.core.records.value_texts import holds_lists, texts_or_lists
from tasks.core.tables.number_format import PLAIN, NumberFormat, sides_of_limits
from tasks.core.tables.texts import is_list

_INFINITE = "^[+-]?(?i:inf(inity)?)$"


@dataclass(frozen=True)
class RawColumn:
    """The cells of one column.

        batch 0:  Lyon, Lille, Lyon   dictionary (Lyon, Lille)   parts[0] = ([0, 1, 0], start 0, size 2)
        batch 1:  Nice, Lille, null   dictionary (Nice, Lille)   parts[1] = ([0, 1, 2], start 2, size 2)
        cells = [Lyon, Lille, Nice]   entries = [0, 1, 2, 1]: which cell each dictionary entry is

    Attributes:
        cells: the distinct cells as Arrow text (for a column of lists: lists of text). A null is absent.
            No order; a cell that no row holds may be among them only where ``used`` says so.
        used: for each distinct cell whether a row holds it.
        parts: for each batch its rows' indices into ``entries[start : start + size]``, the index
            ``size`` meaning null, and then start and size.
        entries: for each dictionary entry of each batch, its distinct cell.
    """

    cells: pa.Array
    used: Flags
    parts: tuple[tuple[Codes, int, int], ...]
    entries: Integers

    @property
    def number_of_rows(self) -> int:
        """Rows seen."""
        return sum(len(indices) for indices, _, _ in self.parts)

    def rows_of_cells(self) -> Integers:
        """For each distinct cell how many rows hold it."""
        places = self.coded(np.arange(1, len(self.cells) + 1, dtype=np.uint32), len(self.cells))
        return np.bincount(places, minlength=len(self.cells) + 1)[1:]

    def coded(self, codes: HalfWords, largest: int) -> Codes:
        """For each row the code of its cell.

        Args:
            codes: a code for each distinct cell, 0 = absent.
            largest: the largest code there can be, which decides the result's type.
        """
        kind = code_type(largest)
        of_entries = codes.astype(kind)[self.entries]
        result = np.empty(self.number_of_rows, dtype=kind)
        row = 0
        for indices, start, size in self.parts:
            table = np.append(of_entries[start : start + size], kind(0))
            # "clip" lets numpy write straight to the result; every index is in range.
            np.take(table, indices, out=result[row : row + len(indices)], mode="clip")
            row += len(indices)
        return result


class CellCollector:
    """Gathers the batches of one column.

    Args:
        connection: where typed values become text.
        column: what is declared of it; None of ids.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, column: Column | None = None) -> None:
        self._connection = connection
        self._column = Column("") if column is None else column
        self._dictionaries: list[pa.Array] = []
        self._used: list[Flags] = []
        self._parts: list[tuple[Codes, int, int]] = []
        self._size = 0

    def add(self, array: pa.Array) -> None:
        """Take the next batch."""
        encoded = self._encoded(array)
        dictionary, indices = encoded.dictionary, encoded.indices
        size = len(dictionary)
        if not (self._dictionaries and self._dictionaries[-1].equals(dictionary)):
            self._dictionaries.append(dictionary)
            self._used.append(np.zeros(size + 1, dtype=np.bool_))
            self._size += size
        if indices.null_count:
            indices = indices.fill_null(size)
        rows = indices.to_numpy().astype(code_type(size))
        mark_codes(rows, self._used[-1])
        self._parts.append((rows, self._size - size, size))

    def finish(self) -> RawColumn:
        """Everything that was gathered."""
        if not self._dictionaries:
            return RawColumn(
                pa.array([], pa.large_string()), np.zeros(0, np.bool_), (), np.zeros(0, np.int64)
            )
        merged = pa.concat_arrays([_widened(dictionary) for dictionary in self._dictionaries])
        used_entries = np.concatenate([used[:-1] for used in self._used])
        distinct, entries = _distinct(merged)
        used = np.zeros(len(distinct), dtype=np.bool_)
        used[entries[used_entries]] = True
        cells = distinct if is_list(distinct.type) else self._texts(distinct)
        return RawColumn(cells, used, tuple(self._parts), entries)

    def _encoded(self, array: pa.Array) -> pa.DictionaryArray:
        """The batch as a dictionary array whose dictionary holds no null, and can be compared."""
        if isinstance(array, pa.DictionaryArray):
            if not (array.dictionary.null_count or pa.types.is_string_view(array.dictionary.type)):
                return array
            array = self._texts(array)
        if holds_lists(array.type, self._column.delimiter):
            lists = self._texts(array).to_pylist()
            found: dict[tuple[str | None, ...], int] = {}
            rows = [None if cell is None else found.setdefault(tuple(cell), len(found)) for cell in lists]
            dictionary = pa.array([list(cell) for cell in found], pa.list_(pa.string()))
            return pa.DictionaryArray.from_arrays(pa.array(rows, pa.int32()), dictionary)
        if pa.types.is_null(array.type) or pa.types.is_nested(array.type):
            return self._texts(array).dictionary_encode()
        try:
            return array.dictionary_encode()
        except pa.ArrowNotImplementedError:
            return self._texts(array).dictionary_encode()

    def _texts(self, array: pa.Array) -> pa.Array:
        column = self._column
        return texts_or_lists(
            self._connection, array, column.delimiter, column.value_format, column.number_format
        )


def numbers_of_texts(
    connection: duckdb.DuckDBPyConnection, texts: list[str], number_format: NumberFormat = PLAIN
) -> Floats:
    """Each text as a number, NaN where it isn't one; never fails.

    A number is decimal digits with an optional sign, decimals and exponent in the given format, or ``inf``;
    one too large for double precision is infinite. A limit (<0.5, 90+) is the next number beyond it, so that
    it falls into the right one of two bins.

    >>> numbers_of_texts(duckdb.connect(), ["34", "1.234,5", "-"], NumberFormat(",", ".")).tolist()
    [34.0, 1234.5, nan]
    """
    values = pa.array(texts, pa.string())
    is_infinite = pc.match_substring_regex(values, _INFINITE)
    plain = pc.if_else(is_infinite, values, number_format.plain_texts(values))
    found = query_over(connection, "records/numbers_of_texts", plain, {}).fill_null(float("nan"))
    numbers = np.asarray(found.to_numpy(zero_copy_only=False), dtype=np.float64)
    below, above = sides_of_limits(values)
    beyond = np.nextafter(numbers, np.where(below, -np.inf, np.inf))
    return np.where(below | above, beyond, numbers)


def _widened(values: pa.Array) -> pa.Array:
    """Text with 64-bit offsets, so that distinct cells may exceed 2 GB; anything else as it is."""
    return values.cast(pa.large_string()) if pa.types.is_string(values.type) else values


def _distinct(values: pa.Array) -> tuple[pa.Array, Integers]:
    """Distinct values, and for each value which of them it is."""
    if not is_list(values.type):
        encoded = values.dictionary_encode()
        return encoded.dictionary, encoded.indices.to_numpy().astype(np.int64)
    found: dict[tuple[str | None, ...], int] = {}
    entries = [found.setdefault(tuple(cell), len(found)) for cell in values.to_pylist()]
    return pa.array([list(cell) for cell in found], values.type), np.array(entries, dtype=np.int64)
