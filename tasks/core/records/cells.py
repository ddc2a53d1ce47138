"""The rows of a table as codes: batches of cells and the public columns go in, `CodedRows` come out.

Distinct cells are normalised, binned, split and coded, and carried to the rows by one look-up. Coding is
total: any text has a code, perhaps 0 (absent), and no text changes another's. Nothing is joined yet.
"""

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tasks.core.arrays import Bytes, Codes, Flags, Floats, HalfWords, Integers
from tasks.core.errors import InputError, ResourceLimit
from tasks.core.queries import QueryResources
from tasks.core.records.coded import code_type
from tasks.core.records.columns import Column
from tasks.core.records.dropped import (
    FORBIDDEN_PATTERN,
    IDENTIFIER,
    IDENTIFIER_PATTERNS,
    NOT_A_DATE,
    NOT_A_NUMBER,
    OUTSIDE,
    REASONS,
)
from tasks.core.records.value_texts import holds_lists, split_items, texts_or_lists
from tasks.core.tables.column_names import output_spelling
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
        parts: for each batch its rows' indices into ``entries[start : start + size]``, the index
            ``size`` meaning null, and then start and size.
        used: for each distinct cell whether a row holds it.
        entries: for each dictionary entry of each batch, its distinct cell.
    """

    cells: pa.Array
    used: Flags
    parts: tuple[tuple[Codes, int, int], ...]
    entries: Integers

    @property
    def number_of_rows(self) -> int:
        return sum(len(indices) for indices, _, _ in self.parts)

    def places_of_rows(self) -> Codes:
        """For each row the number of its cell, from 1; 0 where it has none."""
        return self.coded(np.arange(1, len(self.cells) + 1, dtype=np.uint32), len(self.cells))

    def rows_of_cells(self) -> Integers:
        return np.bincount(self.places_of_rows(), minlength=len(self.cells) + 1)[1:]

    def coded(self, codes: HalfWords, largest: int) -> Codes:
        """For each row the code of its cell. Args: largest: of all codes, which decides the type."""
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
    def __init__(self, connection: duckdb.DuckDBPyConnection, column: Column | None = None) -> None:
        self._connection = connection
        self._column = Column("") if column is None else column
        self._dictionaries: list[pa.Array] = []
        self._used: list[Flags] = []
        self._parts: list[tuple[Codes, int, int]] = []
        self._size = 0

    def add(self, array: pa.Array) -> None:
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
        self._used[-1] |= np.bincount(rows, minlength=size + 1) > 0
        self._parts.append((rows, self._size - size, size))

    def finish(self) -> RawColumn:
        if not self._dictionaries:
            return RawColumn(
                pa.array([], pa.large_string()), np.zeros(0, np.bool_), (), np.zeros(0, np.int64)
            )
        merged = pa.concat_arrays(
            [
                each.cast(pa.large_string()) if pa.types.is_string(each.type) else each
                for each in self._dictionaries
            ]
        )
        used_entries = np.concatenate([used[:-1] for used in self._used])
        if is_list(merged.type):
            distinct, numbers = _distinct_lists(merged)
        else:
            encoded = merged.dictionary_encode()
            distinct, numbers = encoded.dictionary, encoded.indices.to_numpy()
        entries = np.array(numbers, dtype=np.int64)
        used = np.zeros(len(distinct), dtype=np.bool_)
        used[entries[used_entries]] = True
        cells = distinct if is_list(distinct.type) else self._texts(distinct)
        return RawColumn(cells, used, tuple(self._parts), entries)

    def _encoded(self, array: pa.Array) -> pa.DictionaryArray:
        if isinstance(array, pa.DictionaryArray):
            if not (array.dictionary.null_count or pa.types.is_string_view(array.dictionary.type)):
                return array
            array = self._texts(array)
        if holds_lists(array.type, self._column.delimiter):
            distinct, rows = _distinct_lists(self._texts(array))
            return pa.DictionaryArray.from_arrays(pa.array(rows, pa.int32()), distinct)
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


def numbers_of_texts(texts: Sequence[str], number_format: NumberFormat = PLAIN) -> Floats:
    """Each text as a number, NaN where it isn't one; never fails.

    A number is decimal digits with an optional sign, decimals and exponent in the given format, or ``inf``;
    one too large for double precision is infinite. A limit (<0.5, 90+) is the next number beyond it, so that
    it falls into the right one of two bins.

    >>> numbers_of_texts(["34", "1.234,5", "-"], NumberFormat(",", ".")).tolist()
    [34.0, 1234.5, nan]
    """
    values = pa.array(texts, pa.string())
    is_infinite = pc.match_substring_regex(values, _INFINITE)
    plain = pc.if_else(is_infinite, values, number_format.plain_texts(values))
    numbers: Floats = plain.cast(pa.float64()).fill_null(float("nan")).to_numpy(zero_copy_only=False)
    below, above = sides_of_limits(values)
    beyond = np.nextafter(numbers, np.where(below, -np.inf, np.inf))
    return np.where(below | above, beyond, numbers)


def _distinct_lists(lists: pa.Array) -> tuple[pa.Array, list[int | None]]:
    found: dict[tuple[str | None, ...], int] = {}
    places = [
        None if cell is None else found.setdefault(tuple(cell), len(found)) for cell in lists.to_pylist()
    ]
    return pa.array([list(cell) for cell in found], pa.list_(pa.string())), places


@dataclass(frozen=True)
class CodedTexts:
    """What distinct texts stand for.

    Attributes:
        values: the text of codes 1, 2, ...
        codes: of each text, 0 = absent.
        reasons: of each text why it is absent, a place in `dropped.REASONS`; 0: nothing is lost.
    """

    values: tuple[str, ...]
    codes: HalfWords
    reasons: Bytes


def code_texts(texts: Sequence[str | None], column: Column) -> CodedTexts:
    """Read distinct texts as declared, normalise them (S1.3) and code them.

    Declared values are coded in declared order; a text outside the domain becomes `other`'s code, or
    absent. Open values are those of `texts`, in code-point order.

    >>> texts = ["male", " female ", "n/a", ""]
    >>> code_texts(texts, Column("sex", domain=("female", "male"))).codes.tolist()
    [2, 1, 0, 0]
    """
    read = column.reading.read(texts)
    held = [present(text, column) for text in read.texts]
    rules = _find_broken_rules(held, column.forbidden)
    values = ["" if rule else value for value, rule in zip(held, rules.tolist(), strict=True)]
    if column.bins is not None:
        numbers = numbers_of_texts(values, column.number_format)
        domain, codes = _code_bins(values, numbers, column)
        not_listed = np.where(np.isnan(numbers), NOT_A_NUMBER, OUTSIDE)
    else:
        domain, codes = _code_listed(values, column)
        not_listed = np.full(len(texts), OUTSIDE)
    reasons = np.zeros(len(texts), np.uint8)
    is_lost = (codes == 0) & np.array([value != "" for value in held], dtype=np.bool_)
    if is_lost.any():
        reasons[is_lost] = np.where(rules, rules, not_listed)[is_lost]
    reasons[read.unread & (codes == 0)] = NOT_A_DATE
    return CodedTexts(domain, codes, reasons)


def _code_listed(values: list[str], column: Column) -> tuple[tuple[str, ...], HalfWords]:
    domain = (
        column.domain if column.domain is not None else tuple(sorted({value for value in values if value}))
    )
    code_of = {value: code for code, value in enumerate(domain, start=1)}
    outside = code_of.get(column.other, 0) if column.other is not None else 0
    code_of[""] = 0
    return domain, np.array([code_of.get(value, outside) for value in values], dtype=np.uint32)


def present(text: str | None, column: Column) -> str:
    """A cell's value, or ``""`` where it is absent: nothing, or ``0`` where that is not a value."""
    if text is None:
        return ""
    value = output_spelling(text)
    return "" if value == "0" and not column.keeps_zero else value


def _find_broken_rules(values: list[str], forbidden: tuple[str, ...]) -> Bytes:
    """Of each value the rule, as a place in `REASONS`, of which a pattern is found in it; 0: of none.

    The patterns are RE2's, as Arrow and DuckDB have it. Of two rules the one about identifiers is told.
    """
    rules = np.zeros(len(values), np.uint8)
    array = pa.array(values if forbidden else [], pa.large_string())
    for pattern in sorted(forbidden, key=IDENTIFIER_PATTERNS.__contains__):
        found = pc.match_substring_regex(array, pattern).to_numpy(zero_copy_only=False)
        rules[found] = IDENTIFIER if pattern in IDENTIFIER_PATTERNS else FORBIDDEN_PATTERN
    return rules


def bin_codes(
    numbers: Floats, edges: tuple[float, ...], minimum: float | None = None, maximum: float | None = None
) -> HalfWords:
    """The code of each number's bin among `bin_labels`; 0 for NaN, and for what lies beyond the limits.

    Bins are closed below and open above, but the last inner one is closed at both ends.

    >>> bin_codes(np.array([-1.0, 17.9, 18.0, 65.0, 65.1, np.nan]), (0.0, 18.0, 65.0)).tolist()
    [1, 2, 3, 3, 4, 0]
    >>> bin_codes(np.array([-1.0, 17.9, 18.0, 65.0, 65.1, np.nan]), (0.0, 18.0, 65.0), minimum=0).tolist()
    [0, 1, 2, 2, 3, 0]
    """
    codes = np.searchsorted(np.asarray(edges), numbers, side="right") + 1
    codes[numbers == edges[-1]] = len(edges)
    is_outside = np.isnan(numbers)
    if minimum is not None:
        is_outside |= numbers < minimum
        codes -= minimum >= edges[0]
    if maximum is not None:
        is_outside |= numbers > maximum
    codes[is_outside] = 0
    return codes.astype(np.uint32)


def _code_bins(values: list[str], numbers: Floats, column: Column) -> tuple[tuple[str, ...], HalfWords]:
    labels = column.known_values or ()
    codes = bin_codes(numbers, column.bins or (), column.minimum, column.maximum)
    if column.other in labels:
        outside = (codes == 0) & np.array([value != "" for value in values], dtype=np.bool_)
        codes[outside] = labels.index(column.other) + 1
    return labels, codes


@dataclass(frozen=True)
class ItemCells:
    """The cells of a multi-valued column.

        rows: French;Arabic, French, (empty)     values (Arabic, French)     cells [1, 2, 0]
        cell 0: none, cell 1: {1, 2}, cell 2: {2}     items [1, 2, 2]     starts [0, 0, 2, 3]

    Attributes:
        cells: for each row the number of its cell, 0 being the cell without items.
        starts: cell c holds ``items[starts[c] : starts[c + 1]]``: distinct codes, ascending. Two cells
            never hold the same set.
        dropped: for each of `dropped.REASONS` how many items of cells are absent for it.
    """

    values: tuple[str, ...]
    cells: Codes
    starts: Integers
    items: Codes
    dropped: Integers

    def sets(self) -> list[tuple[int, ...]]:
        items = self.items.tolist()
        ends = self.starts.tolist()
        return [tuple(items[start:end]) for start, end in itertools.pairwise(ends)]


def code_items(raw: RawColumn, column: Column) -> ItemCells:
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
    coded = code_texts(list(place), column)
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
        dropped=_count_dropped_items(raw, [{place[item] for item in cell} for cell in split], coded.reasons),
    )


def _count_dropped_items(raw: RawColumn, pieces: list[set[int]], reasons: Bytes) -> Integers:
    """Args: pieces: of each distinct cell, places in ``reasons``."""
    found = np.zeros(len(REASONS), np.int64)
    if reasons.any():
        for rows, cell in zip(raw.rows_of_cells().tolist(), pieces, strict=True):
            found += rows * np.bincount(reasons[list(cell)], minlength=len(REASONS)) if cell else 0
    return found


R = TypeVar("R")


@dataclass(frozen=True)
class SingleCells:
    """A single-valued column: the texts of codes, the code of each row, and dropped cells by reason."""

    values: tuple[str, ...]
    codes: Codes
    dropped: Integers


CodedColumn = SingleCells | ItemCells


@dataclass(frozen=True)
class CodedRows:
    """Rows in some order, before they are joined to records."""

    ids: RawColumn | None
    columns: tuple[CodedColumn, ...]
    number_of_rows: int


def run_with_cells(resources: QueryResources, work: Callable[[duckdb.DuckDBPyConnection], R]) -> R:
    """What some work with cells returns; what a library says of a failure is reduced to its kind.

    Raises: InputError: text that isn't UTF-8, or a type that has no text. ResourceLimit: too little memory.
    """
    failure: InputError | ResourceLimit
    try:
        with resources.connect() as connection:
            connection.execute("set timezone = 'UTC'")
            return work(connection)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        failure = InputError(
            "The input holds text that is not UTF-8, or a type that has no text: convert it."
        )
    except (duckdb.OutOfMemoryException, MemoryError):
        failure = ResourceLimit(
            "Reading the input needs more memory than it may use: raise the memory limit."
        )
    raise failure


def code_rows(
    batches: Iterable[pa.RecordBatch],
    columns: Sequence[Column],
    positions: Sequence[int],
    subject: int | None,
    connection: duckdb.DuckDBPyConnection,
) -> CodedRows:
    """``positions`` and ``subject`` are places in the file, by which its batches name their columns."""
    wanted = [str(position) for position in positions]
    described: dict[str, Column] = dict(zip(wanted, columns, strict=True))
    names = wanted if subject is None else [*wanted, str(subject)]
    collectors = {name: CellCollector(connection, described.get(name)) for name in names}
    for batch in batches:
        for name, collector in collectors.items():
            collector.add(batch.column(batch.schema.get_field_index(name)))
    raw = [collectors.pop(name).finish() for name in names]
    ids = raw.pop() if subject is not None else None
    number = (ids or raw[0]).number_of_rows if (ids or raw) else 0
    # The texts of one column go before the next is coded.
    return CodedRows(ids, tuple(_code_column(raw.pop(0), column) for column in columns), number)


def _code_column(raw: RawColumn, column: Column) -> CodedColumn:
    if column.is_multi_valued:
        return code_items(raw, column)
    texts = [text if used else None for text, used in zip(raw.cells.to_pylist(), raw.used, strict=True)]
    coded = code_texts(texts, column)
    dropped = np.zeros(len(REASONS), np.int64)
    if coded.reasons.any():
        np.add.at(dropped, coded.reasons, raw.rows_of_cells())
    return SingleCells(coded.values, raw.coded(coded.codes, len(coded.values)), dropped)
