"""Delimited text, fast: columns of text in, bytes of lines out."""

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

#: A cell that holds one of these is quoted: it would end the cell or the line, or open a quotation.
SPECIAL = ("\t", '"', "\n", "\r")


def needs_quotes(text: str) -> bool:
    """Whether a cell must be quoted."""
    return any(character in text for character in SPECIAL)


def quoted(text: str, *, alone: bool = False) -> str:
    """A cell as it is written; ``alone``: it is its line's only one, so an empty one can't stay bare."""
    if needs_quotes(text) or (alone and not text):
        return '"' + text.replace('"', '""') + '"'
    return text


def as_lines(columns: Sequence[pa.Array], delimiter: str = "\t") -> Iterator[bytes | memoryview]:
    """The bytes of all lines, each of one cell of every column, a delimiter between and a line feed behind.

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
