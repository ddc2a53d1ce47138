"""Combinations as text: rows of attribute ids in, ``header:value`` joined by ``;`` out, and their order."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tasks.core.aggregates.aggregates import Attribute
from tasks.core.aggregates.delimited import needs_quotes
from tasks.core.aggregates.text_kernels import write_rows

Integers = npt.NDArray[np.int64]
Ids = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]

#: Combinations that are turned into text at once, and how many bytes they may come to.
_AT_ONCE = 1 << 18
_BYTES_AT_ONCE = 1 << 28
#: Beside its pieces a row has quotation marks and a count of at most so many characters.
_MOST_BESIDE = 2 + 20
_LARGEST_KEY = 1 << 63


@dataclass(frozen=True)
class Surroundings:
    """What stands before a row's selections, between them and the count, and after the count."""

    before: bytes
    between: bytes
    after: bytes

    @cached_property
    def arrays(self) -> tuple[Bytes, Bytes, Bytes]:
        """As bytes that a kernel can read."""
        return _bytes(self.before), _bytes(self.between), _bytes(self.after)


def _bytes(text: bytes) -> Bytes:
    return np.frombuffer(text, np.uint8)


#: A line of a TSV.
LINE = Surroundings(b"", b"\t", b"\n")


@dataclass(frozen=True)
class Pieces:
    """The text of each attribute, of which the text of a combination is joined.

    Attributes:
        texts: by attribute id.
        enclosed: whether a combination with the attribute stands between quotation marks; bool array.
    """

    texts: tuple[str, ...]
    enclosed: npt.NDArray[np.bool_]

    def joined(self, ids: Ids) -> pa.Array:
        """Selections: each row's texts, ``;`` between; without quotation marks."""
        texts = pa.array(self.texts, pa.string())
        columns = [texts.take(pa.array(ids[:, place])) for place in range(ids.shape[1])]
        return pc.binary_join_element_wise(*columns, ";")

    def lines(self, ids: Ids, counts: Integers, around: Surroundings = LINE) -> memoryview:
        """The bytes of their lines, at most `rows_at_once` of them."""
        beside = sum(map(len, around.arrays)) + _MOST_BESIDE
        out = np.empty(len(ids) * (ids.shape[1] * (self._longest + 1) + beside), np.uint8)
        size = write_rows(ids, counts, (*self._bytes, self.enclosed), around.arrays, out)
        return out[:size].data

    def rows_at_once(self, length: int) -> int:
        """How many combinations of a length may be turned into text at once."""
        return max(min(_AT_ONCE, _BYTES_AT_ONCE // (length * (self._longest + 1))), 1)

    @cached_property
    def _longest(self) -> int:
        return int(np.diff(self._bytes[1]).max(initial=1))

    @cached_property
    def _bytes(self) -> tuple[Bytes, Integers]:
        encoded = [text.encode() for text in self.texts]
        starts = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
        return _bytes(b"".join(encoded)), starts


def pieces_of(attributes: Sequence[Attribute]) -> Pieces:
    """The attributes' bare texts."""
    texts = tuple(attribute.text for attribute in attributes)
    return Pieces(texts, np.zeros(len(texts), np.bool_))


def cells_of(attributes: Sequence[Attribute]) -> Pieces:
    """The attributes' texts as they stand in a cell of a delimited file.

    Quotation marks are doubled piece by piece; the enclosing ones are added where any piece needs them.
    """
    texts = [attribute.text for attribute in attributes]
    enclosed = np.array([needs_quotes(text) for text in texts], np.bool_)
    return Pieces(tuple(text.replace('"', '""') for text in texts), enclosed)


class TextOrder:
    """The code-point order of the texts of combinations, without making the texts."""

    def __init__(self, attributes: Sequence[Attribute]) -> None:
        """Args: attributes: what the ids stand for."""
        texts = [attribute.text for attribute in attributes]
        # Followed by a semicolon the order of two attributes can differ from that of their bare texts,
        # where one's text begins with the other's.
        self._by_followed = _sorted_places([text + ";" for text in texts])
        self._by_last = _sorted_places(texts)
        self._followed, self._last = (np.argsort(each) for each in (self._by_followed, self._by_last))

    def ranks(self, ids: Ids) -> Ids:
        """Rows that stand in lexicographic order where the texts of ``ids`` do, (N, length)."""
        return np.hstack([self._followed[ids[:, :-1]], self._last[ids[:, -1:]]]).astype(np.int32)

    def ids(self, ranks: Ids) -> Ids:
        """The rows that `ranks` was made of."""
        return np.hstack([self._by_followed[ranks[:, :-1]], self._by_last[ranks[:, -1:]]])

    def fits(self, length: int, most: int) -> bool:
        """Whether `keys` of counts up to ``most`` can be made."""
        return bool((most + 1) * len(self._last) ** length <= _LARGEST_KEY)

    def keys(self, ids: Ids, counts: Integers, most: int) -> Integers:
        """Integers that ascend by count descending, then by text; counts are 0..``most``."""
        ranks = self.ranks(ids)
        keys = most - counts
        for place in range(ids.shape[1]):
            keys *= len(self._last)
            keys += ranks[:, place]
        return keys

    def of_keys(self, keys: Integers, length: int, most: int) -> tuple[Ids, Integers]:
        """The rows and counts that `keys` was made of."""
        ranks = np.empty((len(keys), length), np.int32)
        for place in range(length - 1, -1, -1):
            rest = keys // len(self._last)
            ranks[:, place] = keys - rest * len(self._last)
            keys = rest
        return self.ids(ranks), most - keys

    def by_count(self, ids: Ids, counts: Integers) -> Integers:
        """Where each combination stands by count descending, then by text."""
        if not len(ids):
            return np.empty(0, np.int64)
        least = int(counts.min())
        if self.fits(ids.shape[1], int(counts.max()) - least):
            return np.argsort(self.keys(ids, counts - least, int(counts.max()) - least), kind="stable")
        return np.lexsort(np.hstack([self.ranks(ids)[:, ::-1], -counts[:, None]]).T)


def _sorted_places(texts: Sequence[str]) -> Ids:
    """The places of texts in code-point order."""
    return np.array(sorted(range(len(texts)), key=texts.__getitem__), np.int32)
