"""How many rows a file has: a Parquet file's footer says it, of a text it is guessed.

An `InputFile` goes in, a number for the operator's terminal comes out, or whether it is none. A text's number
follows from its size alone or, within a factor of two, from the lengths of some of its lines: bytes are then
looked at for quotes and line ends; no cell is kept or compared. A compressed file is looked at from its
beginning.
"""

import math
import re
from typing import Literal

import pyarrow.parquet as pq

from tasks.core.errors import InputError
from tasks.core.tables.header import InputFile, damaged_archive, undecodable

#: By what a number of rows is known.
RowSource = Literal["footer", "lines", "size"]

#: Bytes of the shortest cell of text with its delimiter: guesses too many rows of a text file.
_BYTES_A_CELL = 2
#: Stretches of a file that are looked at, evenly spaced, and the bytes of one.
_STRETCHES, _BYTES = 16, 2**16
_FIRST_BYTES, _FIRST_BYTES_COMPRESSED = 2**20, 2**24
_BLANK = re.compile(rb"\n{2,}")


def number_of_rows(source: InputFile, *, look: bool = False) -> tuple[int, RowSource]:
    """Rows below the header, and by what they are known: exact for Parquet.

    Args:
        source: the file.
        look: whether lines of a text may be looked at.

    Raises:
        InputError: the file's beginning can't be decoded or decompressed.
    """
    if source.is_parquet:
        return int(pq.read_metadata(source.opened.reader()).num_rows), "footer"
    if look:
        return _rows_by_lines(source), "lines"
    columns = max(len(source.headers.names), 1)
    return math.ceil(source.opened.size / (_BYTES_A_CELL * columns)), "size"


def holds_no_record(source: InputFile) -> bool:
    """Whether nothing stands below the header; of a text its beginning is looked at, and no cell.

    Raises:
        InputError: see `number_of_rows`.
    """
    if source.is_parquet:
        return number_of_rows(source)[0] == 0
    start, is_whole, _ = _beginning(source)
    return is_whole and _rows(start, source) <= (0 if source.header else 1)


def _rows_by_lines(source: InputFile) -> int:
    start, is_whole, share = _beginning(source)
    lines = _lines(start)
    rows = _rows(start, source)
    if not is_whole:
        density = lines / max(share * source.opened.size, 1) if source.compression else _density(source)
        rows = round(rows / max(lines, 1) * density * source.opened.size)
    return max(rows - (0 if source.header else 1), 0)


def _beginning(source: InputFile) -> tuple[bytes, bool, float]:
    """The first bytes of a text, whether they are all of it, and the share of the file that was read."""
    text, problem = source.text(), ""
    try:
        start = text.read(_FIRST_BYTES_COMPRESSED if source.compression else _FIRST_BYTES)
        return start, not text.read(1), text.share
    except UnicodeDecodeError:
        problem = undecodable(source)
    except OSError:
        problem = damaged_archive(source)
    raise InputError(problem)


def _density(source: InputFile) -> float:
    """Lines a byte, over stretches of the whole file."""
    opened = source.opened
    step = max((opened.size - _BYTES) // (_STRETCHES - 1), 1) & ~1  # UTF-16 is aligned to two bytes
    found = read = 0
    for number in range(_STRETCHES):
        data = opened.bytes_at(number * step, _BYTES)
        found, read = found + _lines(data.replace(b"\0", b"")), read + len(data)
    return found / max(read, 1)


def _lines(data: bytes) -> int:
    """Ends of lines that are not blank; the last line may lack its own."""
    ends = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").strip(b"\n")
    return _BLANK.sub(b"\n", ends).count(b"\n") + bool(ends)


def _rows(data: bytes, source: InputFile) -> int:
    """The same without those within quotes."""
    quote = source.quote.encode()
    if quote not in data:
        return _lines(data)
    # Pieces between quotes are in turn outside and inside: one,"two\nlines",three. A doubled quote leaves an
    # empty piece outside. The joining letter keeps a line that is one quoted cell from being blank.
    outside = data.split(quote)[::2]
    return _lines(b"q".join(outside))
