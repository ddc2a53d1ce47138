"""A table in a file as typed columns and the ids of its entities.

A declared type is read as the reference reads it (X1.2): cells are trimmed, what can't be read is
null, and an empty cell of text is a text. Without one, the type is that of all cells that aren't empty, and
only the empty cell is null.
"""

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tasks.core.arrays import Words
from tasks.core.errors import InputError, ParameterError
from tasks.core.queries import connect
from tasks.core.recognition.dialect import find_dialect
from tasks.core.records.cell_reading import AS_IT_STANDS, CellReading
from tasks.core.records.dropped import NOT_A_DATE, NOT_OF_TYPE, REASONS, DroppedCells
from tasks.core.records.value_texts import is_mixed, text_of_values
from tasks.core.syndiffix.entities import row_contents
from tasks.core.tables.batches import read_batches
from tasks.core.tables.column_names import matching_name
from tasks.core.tables.header import InputFile
from tasks.core.tables.number_format import PLAIN, NumberFormat
from tasks.core.tables.texts import (
    ARROW_KINDS,
    LETTERS,
    MEANINGS,
    TypeLetter,
    is_infinite,
    is_text,
    parse_as,
    parse_inferred,
)


@dataclass(frozen=True)
class ChosenColumn:
    """A column to use.

    Attributes:
        name: as the header has it, without blanks and quotes around (`bare_name`).
        letter: its type, b, i, r, t or s: boolean, integer, real, timestamp, string; None: inferred.
        number_format: how its numbers are written, where its cells are text.
        reading: how its cells are read before anything else looks at them.
    """

    name: str
    letter: TypeLetter | None = None
    number_format: NumberFormat = PLAIN
    reading: CellReading = AS_IT_STANDS


@dataclass(frozen=True)
class TypedTable:
    """What was read.

    Attributes:
        columns: typed, n rows, in declared order.
        ids: text, n rows, in declared order; null where missing; no column if none was asked for.
        complaints: sentences on columns with cells that could not be read as their type, or may be misread.
        dropped: how many those are: sensitive.
        contents: see `entities.row_contents`.
    """

    columns: pa.Table
    ids: pa.Table
    complaints: tuple[str, ...]
    dropped: tuple[DroppedCells, ...]
    contents: Words


def parse_column(item: str) -> ChosenColumn:
    """A column as the command is given it: ``name:letter``, or ``name`` for a type that is inferred."""
    name, colon, letter = item.rpartition(":")
    if item and not colon:
        return ChosenColumn(item)
    for known in LETTERS:
        if letter == known and name:
            return ChosenColumn(name, known)
    wrong = f"{letter!r} is no such letter" if name else "there is no name"
    raise ParameterError(
        "A column must be given as name:letter, the letter being b, i, r, t or s for boolean, integer, real, "
        f"timestamp or string, and in {item!r} {wrong}: correct it. A name that has a colon itself needs a "
        "letter behind it."
    )


def read_table(
    path: Path | InputFile, columns: Sequence[ChosenColumn] | None = None, id_columns: Sequence[str] = ()
) -> TypedTable:
    """Read a file.

    Args:
        path: ending in ``.parquet`` or ``.pq`` for Parquet; else text whose delimiter is found out; or a
            file with its dialect.
        columns: in the order of the result; None: all but the ids, types inferred.

    Raises:
        InputError: no such file, or not a table in its encoding with a header and rows, each as long as
            the header; a column that isn't there; a declared type that no cell of its column has.
        ParameterError: a column is listed twice.
    """
    source = path if isinstance(path, InputFile) else find_dialect(Path(path))
    names = list(source.headers.texts)
    if columns is None:
        ids = set(map(matching_name, id_columns))
        columns = [ChosenColumn(name) for name in names if matching_name(name) not in ids]
    wanted = [column.name for column in columns]
    _require_once(wanted, id_columns)
    places = source.headers.places([*wanted, *id_columns])
    cells = _cells(source, [place for place, name in enumerate(names) if name])
    asked = [cells[place] for place in places]
    if not len(asked[0]):
        raise InputError(f"{source.path} must hold rows to synthesize, but holds none below its header.")
    typed = [
        _parse_cells(column, array, has_types=source.is_parquet)
        for column, array in zip(columns, asked[: len(columns)], strict=True)
    ]
    _require_readable(columns, typed)
    return TypedTable(
        pa.table([cells.array for cells in typed], names=wanted),
        pa.table([_id_texts(array) for array in asked[len(columns) :]], names=list(id_columns)),
        tuple(itertools.chain.from_iterable(map(_complaints, columns, typed, places))),
        tuple(
            DroppedCells(
                column.name,
                REASONS[NOT_A_DATE] if column.reading.holds_dates else NOT_OF_TYPE[column.letter or "r"],
                cells.unread,
            )
            for column, cells in zip(columns, typed, strict=True)
            if cells.unread
        ),
        # Names that a configuration gives are not in the file.
        row_contents(
            [(str(place) if source.header else names[place], array) for place, array in cells.items()],
            len(asked[0]),
        ),
    )


def _complaints(column: ChosenColumn, cells: "_TypedCells", place: int) -> Iterator[str]:
    """What a column's cells were not. Without a type nobody may have declared its name, which is not told."""
    if cells.is_grouped:
        yield (
            f"ATTENTION: column {column.name!r} has numbers with commas, which were read as marks between "
            f"thousands. {_IF_DECIMAL}"
        )
    if 2 * cells.like_dates >= max(cells.filled, 1):
        yield (
            f"Column {place + 1} of the input has no type and is read as text, but "
            f"{_percent(cells.like_dates, cells.filled)} of its cells look like dates. If they are, give it "
            f"type t. {_IF_DATE}"
        )
    if not cells.unread:
        return
    lost = f"{_percent(cells.unread, cells.filled)} of those that aren't empty. They count as missing."
    if column.reading.holds_dates:
        yield f"Column {column.name!r} has cells that are no dates as declared, {lost}"
    elif column.letter is None:
        yield f"A column of numbers without a declared type has infinite ones, {lost}"
    else:
        helps = _IF_DATE if column.letter == "t" else _IF_DECIMAL
        is_known = column.letter == "t" or (cells.has_commas and not cells.is_grouped)
        lost += f" {helps}" if is_known else ""
        yield f"Column {column.name!r} has cells that are no {MEANINGS[column.letter]}, {lost}"


def _percent(part: int, whole: int) -> str:
    """A share of a raw table's cells, for the operator's terminal alone.

    >>> _percent(1, 601), _percent(600, 601)
    ('0.166 %', '99.8 %')
    """
    return f"{100 * part / whole:.3g} %"


def _require_once(wanted: list[str], id_columns: Sequence[str]) -> None:
    for asked in (wanted, id_columns):
        twice = sorted(name for name, times in Counter(asked).items() if times > 1)
        if twice:
            raise ParameterError([f"Column {name!r} is listed twice: list it once." for name in twice])
    if not wanted:
        raise InputError("The input must have a column besides those of ids, but has none: correct the ids.")


def _cells(source: InputFile, positions: list[int]) -> dict[int, pa.Array]:
    """The cells of each column, by its position: dictionaries of texts, or a Parquet file's own types."""
    batches = list(read_batches(source, positions, threads=1))
    if not batches:
        return dict.fromkeys(positions, pa.array([], pa.string()))
    table = pa.Table.from_batches(batches).unify_dictionaries()
    arrays = [table.column(str(position)).combine_chunks() for position in positions]
    if not source.is_parquet:
        return dict(zip(positions, map(_without_unused, arrays), strict=True))
    _require_sound(source, arrays)
    kinds = source.arrow_schema.types
    cells = {position: array.cast(kinds[position]) for array, position in zip(arrays, positions, strict=True)}
    with connect() as connection:
        return {
            position: text_of_values(connection, array).cast(pa.string()) if is_mixed(array.type) else array
            for position, array in cells.items()
        }


def _require_sound(source: InputFile, arrays: list[pa.Array]) -> None:
    """Refuse what no column of a Parquet file may hold, before it fails with a cell in an error's text."""
    try:
        for array in arrays:
            array.validate(full=True)
        return
    except pa.ArrowException:
        problem = (
            f"{source.path} must be a whole Parquet file, its texts in UTF-8, and is not: write it anew."
        )
    raise InputError(problem)


def _without_unused(cells: pa.DictionaryArray) -> pa.DictionaryArray:
    """The same cells with a dictionary of them alone: the reader's also holds the header and a last line."""
    indices = cells.indices.to_numpy()
    used = np.zeros(len(cells.dictionary), np.bool_)
    used[indices] = True
    places = np.cumsum(used) - 1
    texts = cells.dictionary.filter(pa.array(used))
    return pa.DictionaryArray.from_arrays(pa.array(places[indices].astype(np.int32)), texts)


_IF_DECIMAL = "If a comma stands before the decimals, declare decimal as ',' (in the command: --decimal ,)."
_IF_DATE = (
    "Dates that are not written as 2026-12-31 need date_formats (in the command: --date-format "
    "COLUMN=%d/%m/%Y)."
)
#: Texts that may be dates: three numbers, or the name of a month with two.
_LIKE_DATE = (
    r"^(?:[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}|[0-9]{1,2}[-/.][0-9]{1,2}[-/.](?:[0-9]{4}|[0-9]{2})"
    r"|[0-9]{1,2}[-. ]{1,2}\pL{3,10}\.?[-, ]{1,2}[0-9]{4}|\pL{3,10}\.? [0-9]{1,2},? [0-9]{4})(?:[T ].*)?$"
)


class _TypedCells(NamedTuple):
    """A column's cells of its type.

    Attributes:
        filled: the number of those that aren't empty, where any is `unread` or `like_dates`: sensitive.
        unread: the number of those that could not be read: sensitive.
        like_dates: the number of those that look like dates, in a column that became one of texts: sensitive.
        has_commas: whether any text has a comma, which nobody declared to be a mark of numbers.
        is_grouped: whether one of them was read as a mark between thousands.
    """

    array: pa.Array
    filled: int = 0
    unread: int = 0
    like_dates: int = 0
    has_commas: bool = False
    is_grouped: bool = False


def _require_readable(columns: Sequence[ChosenColumn], typed: Sequence[_TypedCells]) -> None:
    """Refuse a type or a format that no cell has: nothing but missing cells would come out."""
    problems = [
        _unreadable_problem(column, cells)
        for column, cells in zip(columns, typed, strict=True)
        if cells.unread and cells.unread == cells.filled
    ]
    if problems:
        raise InputError(problems)


def _unreadable_problem(column: ChosenColumn, cells: _TypedCells) -> str:
    letter = column.letter
    if letter is None or letter == "s" or (letter == "t" and column.reading.holds_dates):
        return (
            f"Column {column.name!r} must have cells that are dates as declared, and has none: correct "
            "date_formats (in the command: --date-format), or cut."
        )
    helps = _IF_DATE if letter == "t" else _IF_DECIMAL if cells.has_commas else ""
    return (
        f"Column {column.name!r} must have cells that are {MEANINGS[letter]} to be read as "
        f"{column.name}:{letter}, and has none: choose another letter of b, i, r, t and s, or none. {helps}"
    ).rstrip()


def _parse_cells(column: ChosenColumn, cells: pa.Array, *, has_types: bool) -> _TypedCells:
    if column.reading != AS_IT_STANDS:
        return _parse_read_cells(column, cells)
    if has_types:
        if column.letter is None or ARROW_KINDS[column.letter](cells.type):
            return _with_likely_dates(cells, cells) if column.letter is None else _TypedCells(cells)
        marks = column.number_format if _holds_text(cells.type) else PLAIN
        cells = _as_texts(column.name, cells).dictionary_encode()
    else:
        marks = column.number_format
    texts = cells.dictionary
    filled = pc.greater(pc.binary_length(pc.utf8_trim_whitespace(texts)), 0)
    if column.letter is None:
        inferred = parse_inferred(texts, marks)
        if not pa.types.is_floating(inferred.type):
            return _with_likely_dates(inferred.take(cells.indices), cells)
        infinite = _number_of(is_infinite(texts), cells)
        return _TypedCells(inferred.take(cells.indices), _number_of(filled, cells), infinite)
    parsed = parse_as(column.letter, texts, marks)
    unread = _number_of(pc.and_(filled, parsed.is_null()), cells)
    commas, grouped = (
        _find_commas(texts, parsed) if marks == PLAIN and column.letter in ("i", "r") else (False, False)
    )
    return _TypedCells(
        parsed.take(cells.indices), _number_of(filled, cells), unread, has_commas=commas, is_grouped=grouped
    )


def _with_likely_dates(array: pa.Array, cells: pa.Array) -> _TypedCells:
    """Cells whose type is their own or was found out; of texts, how many look like dates."""
    if not _holds_text(array.type):
        return _TypedCells(array)
    if not isinstance(cells, pa.DictionaryArray):
        cells = cells.dictionary_encode()
    texts = pc.utf8_trim_whitespace(cells.dictionary.cast(pa.string()))
    like_dates = _number_of(pc.match_substring_regex(texts, _LIKE_DATE), cells)
    return _TypedCells(
        array, _number_of(pc.greater(pc.binary_length(texts), 0), cells), like_dates=like_dates
    )


def _number_of(chosen: pa.Array, cells: pa.DictionaryArray) -> int:
    return int(pc.sum(chosen.take(cells.indices)).as_py() or 0)


def _parse_read_cells(column: ChosenColumn, cells: pa.Array) -> _TypedCells:
    """Cells that are read as was declared first; what then is a missing value is null, also among texts."""
    reading = column.reading
    if pa.types.is_temporal(cells.type):  # a date that is none of a text is written in no format
        reading = replace(reading, date_formats=())
    with connect() as connection:
        if isinstance(cells, pa.DictionaryArray):
            given = text_of_values(connection, cells.dictionary, None, column.number_format)
        else:
            cells = text_of_values(connection, cells, None, column.number_format).dictionary_encode()
            given = cells.dictionary
    read = reading.read(given.to_pylist())
    texts = pa.DictionaryArray.from_arrays(cells.indices, pa.array([text or "" for text in read.texts]))
    found = _parse_cells(replace(column, reading=AS_IT_STANDS), texts, has_types=False)
    is_missing = pa.array([not text for text in read.texts], pa.bool_()).take(cells.indices)
    array = pc.if_else(is_missing.fill_null(True), pa.scalar(None, found.array.type), found.array)
    unread = _number_of(pa.array(read.unread), cells)
    filled = _number_of(pa.array([bool(text) for text in read.texts], pa.bool_()), cells) + unread
    return found._replace(array=array, filled=filled, unread=found.unread + unread)


def _find_commas(texts: pa.Array, parsed: pa.Array) -> tuple[bool, bool]:
    with_comma = pc.match_substring(texts, ",")
    is_read = pc.and_(with_comma, parsed.is_valid())
    return bool(pc.any(with_comma).as_py()), bool(pc.any(is_read).as_py())


def _holds_text(kind: pa.DataType) -> bool:
    return is_text(kind.value_type if pa.types.is_dictionary(kind) else kind)


def _id_texts(cells: pa.Array) -> pa.Array:
    texts = pc.utf8_trim_whitespace(_as_texts("of ids", cells))
    return pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.string()), texts)


def _as_texts(name: str, cells: pa.Array) -> pa.Array:
    try:
        return cells.cast(pa.string())
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        problem = f"must hold values that can be written as text, but is of type {cells.type}"
    raise InputError(f"Column {name!r} {problem}. Convert it or leave it out.")
