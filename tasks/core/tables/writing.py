"""Tables as files: CSV, TSV or Parquet.

In: an Arrow table, or rows of text. Out: bytes to a path, where the file appears whole or not at all, or to a
stream.

Delimited text is UTF-8 with a header. Null is empty, true and false are words, timestamps are written
``2023-01-24 14:25:47`` with the fraction and the zone that the column has, durations in seconds. A cell is
quoted only where it must be.
"""

import csv
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tasks.core.errors import ParameterError

#: A cell that holds one of these is quoted: it would end the cell or the line, or open a quotation.
SPECIAL = ("\t", '"', "\n", "\r")


def needs_quotes(text: str) -> bool:
    return any(character in text for character in SPECIAL)


def quoted(text: str, *, alone: bool = False) -> str:
    """A cell as it is written; ``alone``: it is its line's only one, so an empty one can't stay bare.

    >>> quoted("Lyon"), quoted('in "Lyon" now'), quoted("", alone=True)
    ('Lyon', '"in ""Lyon"" now"', '""')
    """
    if needs_quotes(text) or (alone and not text):
        return '"' + text.replace('"', '""') + '"'
    return text


def quoted_texts(texts: pa.Array, delimiter: str = "\t", *, alone: bool = False) -> pa.Array:
    needed = pc.match_substring_regex(texts, f'["\r\n{delimiter}]')
    if alone:
        needed = pc.or_(needed, pc.equal(texts, ""))
    if not pc.any(needed).as_py():
        return texts
    doubled = pc.replace_substring(texts, '"', '""')
    return pc.if_else(needed, pc.binary_join_element_wise('"', doubled, '"', ""), texts)


def as_lines(columns: Sequence[pa.Array | str], delimiter: str = "\t") -> Iterator[memoryview]:
    r"""The bytes of all lines, each of one cell of every column, a delimiter between and a line feed behind.

    >>> [bytes(lines) for lines in as_lines([pa.array(["Ana", "Ben"]), pa.array(["34", ""])], ",")]
    [b'Ana,34\nBen,\n']

    They are already quoted, equally long (a text stands in every line), and together under 2 GB.
    """
    cells = [part for column in columns for part in (column, delimiter)]
    ended = pc.binary_join_element_wise(*cells[:-1], "\n", "")
    for chunk in ended.chunks if isinstance(ended, pa.ChunkedArray) else [ended]:
        if len(chunk):
            bounds = memoryview(chunk.buffers()[1]).cast("i")
            first, last = bounds[chunk.offset], bounds[chunk.offset + len(chunk)]
            yield memoryview(chunk.buffers()[2])[first:last]


Row = Sequence[Any]


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Write a line a row; a cell is quoted only where a reader would stumble."""
    lines = ("\t".join(quoted(str(cell)) for cell in row) + "\n" for row in rows)
    with path.open("w", encoding="utf-8") as file:
        file.writelines(lines)


def read_rows(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file, delimiter="\t"))


def first_row(path: Path) -> list[str]:
    """The cells of a file's first line; none of an empty file."""
    with path.open(newline="", encoding="utf-8") as file:
        return next(csv.reader(file, delimiter="\t"), [])


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type of a dictionary's entries; any other as it is."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


_PARQUET = (".parquet", ".pq")
#: What separates the cells, by the file's ending.
_DELIMITERS = {".csv": ",", ".txt": ",", ".tsv": "\t", ".tab": "\t"}
_ROWS = 2**16
_UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def is_stream(path: Path) -> bool:
    """Whether a path is of a device or a pipe, which nothing may replace."""
    return path.exists() and not path.is_file() and not path.is_dir()


def require_ending(path: Path) -> None:
    """Raise ParameterError for a name that does not say the format, unless it is of a device or a pipe."""
    endings = (*_DELIMITERS, *_PARQUET)
    if path.suffix.lower() not in endings and not path.is_dir() and not is_stream(path):
        raise ParameterError(
            f"The output {path} must say its format by its ending, one of {', '.join(endings)}: name it so."
        )


def write_table(table: pa.Table, path: Path) -> None:
    """Write a file, in the place of one that is there.

    Args:
        path: ending in ``.parquet`` or ``.pq``: Parquet, types kept; in ``.tsv`` or ``.tab``: TSV; in
            ``.csv`` or ``.txt``, or of a device or a pipe: CSV.

    Raises:
        ParameterError: another ending, or the folder does not exist, or the file can't be written there.
    """
    path = Path(path)
    require_ending(path)
    ending = path.suffix.lower()
    if ending in _PARQUET:
        place(path, lambda stream: pq.write_table(table.replace_schema_metadata(None), stream))
    else:
        delimiter = _DELIMITERS.get(ending, ",")
        place(path, lambda stream: write_delimited(table, stream, delimiter))


def write_delimited(table: pa.Table, stream: BinaryIO, delimiter: str = ",") -> None:
    """Write delimited text, such as to standard output."""
    is_alone = table.num_columns == 1
    names = [quoted_texts(pa.array([name]), delimiter, alone=is_alone) for name in table.column_names]
    for lines in as_lines(names, delimiter):
        stream.write(lines)
    columns = [_coarsen_timestamps(column) for column in table.columns]
    for start in range(0, table.num_rows, _ROWS):
        pieces = [_cell_texts(column.slice(start, _ROWS).combine_chunks()) for column in columns]
        for lines in as_lines(
            [quoted_texts(piece, delimiter, alone=is_alone) for piece in pieces], delimiter
        ):
            stream.write(lines)


def place(path: Path, write: Callable[[BinaryIO], None], *, is_private: bool = False) -> None:
    """Let ``write`` fill a file under another name, which then takes the path.

    Raises: ParameterError: the path is a folder, or the file can't be written there.
    """
    if path.is_dir():
        raise ParameterError(f"The output must be a file, but {path} is a folder: name a file in it.")
    problem = ""
    try:
        if is_stream(path):
            with path.open("wb") as stream:
                write(stream)
            return
        target = path.resolve()
        part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            with os.fdopen(os.open(part, flags, 0o600 if is_private else 0o666), "wb") as stream:
                write(stream)
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        problem = f"The output {path} can't be written ({error.strerror}): check its folder and the disk."
    if problem:
        raise ParameterError(problem)


def _coarsen_timestamps(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Timestamps in the coarsest unit that holds all of them, as their text always has all of its digits.

    As days where they have no zone and all are at midnight: so were the texts that they were read from.
    """
    if not pa.types.is_timestamp(column.type):
        return column
    if column.type.tz is None and pc.all(pc.equal(column, pc.floor_temporal(column, unit="day"))).as_py():
        return column.cast(pa.date32())
    for unit in _UNITS:
        try:
            return column.cast(pa.timestamp(unit, column.type.tz))
        except pa.ArrowInvalid:
            continue
    return column


def _cell_texts(cells: pa.Array) -> pa.Array:
    cells = cells.cast(plain_type(cells.type))
    if pa.types.is_duration(cells.type):
        ticks = cells.cast(pa.int64()).cast(pa.float64(), safe=False)
        cells = pc.divide(ticks, float(_UNITS[cells.type.unit]))
    return cells.cast(pa.string()).fill_null("")
