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
from tasks.core.records.kernels import mark_codes
from tasks.core.tables.number_format import PLAIN, NumberFormat, sides_of_limits

#: Seconds, from and below: years 1 to 9999, and the times of a day. All of them have a text in DuckDB.
_MOMENTS, _TIMES_OF_DAY = (-62_135_596_800, 253_402_300_800), (0, 86_400)
_INFINITE = "^[+-]?(?i:inf(inity)?)$"
_A_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


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
        value_format: strftime pattern for dates and timestamps, or None.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, value_format: str | None = None) -> None:
        self._connection = connection
        self._value_format = value_format
        self._dictionaries: list[pa.Array] = []
        self._used: list[Flags] = []
        self._parts: list[tuple[Codes, int, int]] = []
        self._size = 0

    def add(self, array: pa.Array) -> None:
        """Take the next batch."""
        encoded = self._encoded(array)
        dictionary, indices = encoded.dictionary, encoded.indices
        size = len(dictionary)
        if not (self._dictionaries and _are_same(self._dictionaries[-1], dictionary)):
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
        texts = text_of_values(self._connection, distinct, self._value_format)
        return RawColumn(texts, used, tuple(self._parts), entries)

    def _encoded(self, array: pa.Array) -> pa.DictionaryArray:
        """The batch as a dictionary array whose dictionary holds no null."""
        if pa.types.is_null(array.type):
            array = array.cast(pa.large_string())
        if isinstance(array, pa.DictionaryArray):
            if not array.dictionary.null_count:
                return array
            array = array.dictionary_decode()
        if is_list(array.type):
            lists = _lists_of_text(self._connection, array)
            found: dict[tuple[str | None, ...], int] = {}
            rows = [None if cell is None else found.setdefault(tuple(cell), len(found)) for cell in lists]
            dictionary = pa.array([list(cell) for cell in found], pa.list_(pa.string()))
            return pa.DictionaryArray.from_arrays(pa.array(rows, pa.int32()), dictionary)
        try:
            return array.dictionary_encode()
        except pa.ArrowNotImplementedError:
            return text_of_values(self._connection, array, self._value_format).dictionary_encode()


def _are_same(one: pa.Array, other: pa.Array) -> bool:
    """Whether two dictionaries are; of floats never: 0.0 equals -0.0 there, which has another text."""
    return not pa.types.is_floating(one.type) and bool(one.equals(other))


def is_list(kind: pa.DataType) -> bool:
    """Whether an Arrow type holds a list in each cell."""
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def text_of_values(
    connection: duckdb.DuckDBPyConnection, values: pa.Array, value_format: str | None = None
) -> pa.Array:
    """Values as the text that DuckDB casts them to; NaN, null and times beyond year 9999 are null.

    Raises:
        pa.ArrowInvalid: text that isn't UTF-8, or a type that has no text.
    """
    kind = values.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        values.validate(full=True)
        return _widened(values)
    if is_list(kind):
        return values
    if pa.types.is_float16(kind):
        values, kind = values.cast(pa.float32()), pa.float32()
    values = _with_text(values)
    name = "records/text_of_floats" if pa.types.is_floating(kind) else "records/text_of_values"
    parameters: dict[str, object] = {}
    if value_format and (pa.types.is_date(kind) or pa.types.is_timestamp(kind)):
        name, parameters = "records/text_of_times", {"value_format": value_format}
        if pa.types.is_timestamp(kind):  # of other units DuckDB formats nanoseconds, which end in 2262
            values = values.cast(pa.timestamp("us", kind.tz), safe=False)
    return query_over(connection, name, values, parameters).cast(pa.large_string())


def _with_text(values: pa.Array) -> pa.Array:
    """The same values, null where a time or duration is none that DuckDB could write.

    One such value would stop the run, and so show that a record with it is there (privacy.md, rule 2).
    """
    kind = values.type
    is_time = pa.types.is_time(kind)
    if not (is_time or pa.types.is_timestamp(kind) or pa.types.is_duration(kind)):
        return values
    low, high = (end * _A_SECOND[kind.unit] for end in (_TIMES_OF_DAY if is_time else _MOMENTS))
    numbers = values.view(pa.int32() if pa.types.is_time32(kind) else pa.int64())
    # Nanoseconds in 64 bits never leave the range, whose ends don't fit them.
    least, most = max(low, -(2**63)), min(high - 1, 2**63 - 1)
    there = pc.and_(pc.greater_equal(numbers, least), pc.less_equal(numbers, most)).fill_null(False)
    outside = ~there.to_numpy(zero_copy_only=False)
    bare = numbers.fill_null(0).to_numpy().copy()
    bare[outside] = 0  # DuckDB converts what lies under a null as well
    return pa.array(bare, mask=outside).view(kind)


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


def _lists_of_text(connection: duckdb.DuckDBPyConnection, array: pa.Array) -> list[list[str | None] | None]:
    lengths = array.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    texts = text_of_values(connection, array.flatten()).to_pylist()
    ends = np.cumsum(lengths)
    cells = [texts[end - length : end] for end, length in zip(ends, lengths, strict=True)]
    return [cell if there else None for cell, there in zip(cells, array.is_valid().to_pylist(), strict=True)]
