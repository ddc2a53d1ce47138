"""Combinations as text: rows of attribute ids in, ``header:value`` joined by ``;`` out, and their order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from tasks.core.aggregates.aggregates import Attribute
from tasks.core.aggregates.text_kernels import (
    SPARE,
    Texts,
    join_rows,
    write_text_rows,
)
from tasks.core.arrays import Flags, Ids, Integers
from tasks.core.tables.writing import needs_quotes

#: Combinations that are turned into text at once, and how many bytes they may come to.
_AT_ONCE = 1 << 18
_BYTES_AT_ONCE = 1 << 28
#: Beside its pieces a row has quotation marks and a count of at most so many characters.
_MOST_BESIDE = 2 + 20


def bytes_of(texts: Sequence[bytes]) -> Texts:
    ends = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    return np.frombuffer(b"".join(texts) + bytes(SPARE), np.uint8), ends


@dataclass(frozen=True)
class Surroundings:
    """What stands before a row's selections, between them and the count, and after the count."""

    before: bytes
    between: bytes
    after: bytes

    @cached_property
    def texts(self) -> Texts:
        return bytes_of([self.before, self.between, self.after])


#: A line of a TSV.
LINE = Surroundings(b"", b"\t", b"\n")


@dataclass(frozen=True)
class Pieces:
    """The text of each attribute, of which the text of a combination is joined.

    Attributes:
        enclosed: whether a combination with the attribute stands between quotation marks; bool array.
    """

    texts: tuple[str, ...]
    enclosed: Flags

    def joined(self, ids: Ids) -> pa.Array:
        """Selections of at most `rows_at_once` rows: their texts, ``;`` between; without quotation marks."""
        out = np.empty(len(ids) * self._longest_row(ids) + SPARE, np.uint8)
        ends = np.zeros(len(ids) + 1, np.int32)
        join_rows(ids, self._followed, out, ends[1:])
        return pa.StringArray.from_buffers(len(ids), pa.py_buffer(ends), pa.py_buffer(out[: ends[-1]]))

    def lines(self, ids: Ids, counts: Integers, around: Surroundings = LINE) -> Iterator[memoryview]:
        """The bytes of their lines, a bounded number at a time; each is gone when the next is asked for."""
        step = self.rows_at_once(ids.shape[1])
        beside = len(around.texts[0]) + _MOST_BESIDE
        out = np.empty(min(step, len(ids)) * (self._longest_row(ids) + beside) + SPARE, np.uint8)
        pieces = (*self._followed, self.enclosed if self.enclosed.any() else self.enclosed[:0])
        for start in range(0, len(ids), step):
            rows = slice(start, start + step)
            yield out[: write_text_rows(ids[rows], counts[rows], pieces, around.texts, out)].data

    def rows_at_once(self, length: int) -> int:
        """How many combinations of a length may be turned into text at once."""
        return max(min(_AT_ONCE, _BYTES_AT_ONCE // (length * self._longest)), 1)

    def _longest_row(self, ids: Ids) -> int:
        return int(ids.shape[1]) * self._longest

    @cached_property
    def _longest(self) -> int:
        return int(np.diff(self._followed[1]).max(initial=1))

    @cached_property
    def _followed(self) -> Texts:
        return bytes_of([f"{text};".encode() for text in self.texts])


def pieces_of(attributes: Sequence[Attribute]) -> Pieces:
    texts = tuple(attribute.text for attribute in attributes)
    return Pieces(texts, np.zeros(len(texts), np.bool_))


def quoted_pieces(attributes: Sequence[Attribute]) -> Pieces:
    """The attributes' texts as they stand in a cell of a delimited file.

    Quotation marks are doubled piece by piece; the enclosing ones are added where any piece needs them.
    """
    texts = [attribute.text for attribute in attributes]
    enclosed = np.array([needs_quotes(text) for text in texts], np.bool_)
    return Pieces(tuple(text.replace('"', '""') for text in texts), enclosed)


class TextOrder:
    """The code-point order of the texts of combinations, without making the texts.

    >>> sex, town, age = Attribute("sex", "male", 0), Attribute("town", "Lyon", 1), Attribute("age", "9", 2)
    >>> order = TextOrder([sex, town, age])
    >>> order.ranks(np.array([[0, 1], [2, 1]], np.int32)).tolist()  # sex:male;town:Lyon, age:9;town:Lyon
    [[1, 2], [0, 2]]
    """

    def __init__(self, attributes: Sequence[Attribute]) -> None:
        texts = [attribute.text for attribute in attributes]
        # Followed by a semicolon the order of two attributes can differ from that of their bare texts,
        # where one's text begins with the other's.
        self._ids = np.stack([_sorted_places([text + ";" for text in texts]), _sorted_places(texts)])
        self._ranks = np.argsort(self._ids, axis=1).astype(np.int32)

    def ranks(self, ids: Ids) -> Ids:
        """Rows that stand in lexicographic order where the texts of ``ids`` do, (N, length)."""
        return np.hstack([self._ranks[0][ids[:, :-1]], self._ranks[1][ids[:, -1:]]])

    def ids(self, ranks: Ids) -> Ids:
        return np.hstack([self._ids[0][ranks[:, :-1]], self._ids[1][ranks[:, -1:]]])

    def by_count(self, ids: Ids, counts: Integers) -> Integers:
        """The places of combinations by count descending, then by text, (N,)."""
        return np.lexsort((*self.ranks(ids).T[::-1], -counts))


def _sorted_places(texts: Sequence[str]) -> Ids:
    return np.array(sorted(range(len(texts)), key=texts.__getitem__), np.int32)
