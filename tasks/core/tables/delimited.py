"""Delimited text: columns of text in, bytes of lines out, fast; and small tables, in and out."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

#: A cell that holds one of these is quoted: it would end the cell or the line, or open a quotation.
SPECIAL = ("\t", '"', "\n", "\r")


def needs_quotes(text: str) -> bool:
    """Whether a cell must be quoted."""
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
    """The same of many cells, none of them null."""
    needed = pc.match_substring_regex(texts, f'["\r\n{delimiter}]')
    if alone:
        needed = pc.or_(needed, pc.equal(texts, ""))
    if not pc.any(needed).as_py():
        return texts
    doubled = pc.replace_substring(texts, '"', '""')
    return pc.if_else(needed, pc.binary_join_element_wise('"', doubled, '"', ""), texts)


def as_lines(columns: Sequence[pa.Array], delimiter: str = "\t") -> Iterator[bytes | memoryview]:
    r"""The bytes of all lines, each of one cell of every column, a delimiter between and a line feed behind.

    >>> [bytes(lines) for lines in as_lines([pa.array(["Ana", "Ben"]), pa.array(["34", ""])], ",")]
    [b'Ana,34\nBen,\n']

    Args:
        columns: string arrays without nulls, already quoted, equally long, together under 2 GB.
        delimiter: one character.
    """
    lines = pc.binary_join_element_wise(*columns, delimiter)
    ended = pc.binary_join_element_wise(lines, "", "\n")
    for chunk in ended.chunks if isinstance(ended, pa.ChunkedArray) else [ended]:
        if len(chunk):
            bounds = memoryview(chunk.buffers()[1]).cast("i")
            first, last = bounds[chunk.offset], bounds[chunk.offset + len(chunk)]
            yield memoryview(chunk.buffers()[2])[first:last]


Row = Sequence[Any]


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Write a line a row; a cell is quoted only where a reader would stumble."""
    lines = ("\t".join(quoted(str(cell)) for cell in row) + "\n" for row in rows)
    path.write_text("".join(lines), encoding="utf-8")


def read_rows(path: Path) -> list[list[str]]:
    """The rows that `write_rows` wrote, as text."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file, delimiter="\t"))


def first_row(path: Path, delimiter: str = "\t") -> list[str]:
    """The cells of a file's first line; none of an empty file."""
    with path.open(newline="", encoding="utf-8") as file:
        return next(csv.reader(file, delimiter=delimiter), [])
