"""Combinations as text: rows of attribute ids in, ``header:value`` joined by ``;`` out, and their order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tasks.core.aggregates.aggregates import Attribute
from tasks.core.aggregates.delimited import as_lines, needs_quotes

Integers = npt.NDArray[np.int64]
Ids = npt.NDArray[np.int32]

#: Combinations that are turned into text at once, and how many bytes they may come to.
_AT_ONCE = 1 << 18
_BYTES_AT_ONCE = 1 << 28
_LARGEST_KEY = 1 << 63


@dataclass(frozen=True)
class Pieces:
    """The text of each attribute, of which the text of a combination is joined.

    Attributes:
        texts: string array by attribute id.
        enclosed: whether a combination with the attribute stands between quotation marks; bool array.
    """

    texts: pa.Array
    enclosed: npt.NDArray[np.bool_]

    def joined(self, ids: Ids) -> pa.Array:
        """Selections: each row's texts, ``;`` between, in quotation marks where they are needed."""
        columns = [self.texts.take(pa.array(ids[:, place])) for place in range(ids.shape[1])]
        selections = pc.binary_join_element_wise(*columns, ";")
        marked = self.enclosed[ids].any(axis=1) if self.enclosed.any() else self.enclosed
        if not marked.any():
            return selections
        around = pc.binary_join_element_wise('"', selections, '"', "")
        return pc.if_else(pa.array(marked), around, selections)

    def lines(self, ids: Ids, counts: Integers) -> Iterator[bytes | memoryview]:
        """The bytes of their lines: selections, tab, count, line feed."""
        return as_lines([self.joined(ids), pa.array(counts).cast(pa.string())])

    def rows_at_once(self, length: int) -> int:
        """How many combinations of a length may be turned into text at once."""
        longest = max(pc.max(pc.binary_length(self.texts)).as_py() or 0, 1)
        return max(min(_AT_ONCE, _BYTES_AT_ONCE // (length * (longest + 1))), 1)


def pieces_of(attributes: Sequence[Attribute]) -> Pieces:
    """The attributes' bare texts."""
    texts = [attribute.text for attribute in attributes]
    return Pieces(pa.array(texts, pa.string()), np.zeros(len(texts), np.bool_))


def cells_of(attributes: Sequence[Attribute]) -> Pieces:
    """The attributes' texts as they stand in a cell of a delimited file.

    Quotation marks are doubled piece by piece; the enclosing ones are added where any piece needs them.
    """
    texts = [attribute.text for attribute in attributes]
    doubled = pa.array([text.replace('"', '""') for text in texts], pa.string())
    return Pieces(doubled, np.array([needs_quotes(text) for text in texts], np.bool_))


class TextOrder:
    """The code-point order of the texts of combinations, without making the texts."""

    def __init__(self, attributes: Sequence[Attribute]) -> None:
        """Args: attributes: what the ids stand for."""
        texts = [attribute.text for attribute in attributes]
        # Followed by a semicolon the order of two attributes can differ from that of their bare texts,
        # where one's text begins with the other's.
        self._followed = _ranks([text + ";" for text in texts])
        self._last = _ranks(texts)
        self._by_followed, self._by_last = (
            np.argsort(each).astype(np.int32) for each in (self._followed, self._last)
        )

    def ranks(self, ids: Ids) -> Ids:
        """Rows that stand in lexicographic order where the texts of ``ids`` do, (N, length)."""
        return np.hstack([self._followed[ids[:, :-1]], self._last[ids[:, -1:]]])

    def ids(self, ranks: Ids) -> Ids:
        """The rows that `ranks` was made of."""
        return np.hstack([self._by_followed[ranks[:, :-1]], self._by_last[ranks[:, -1:]]])

    def by_count(self, ids: Ids, counts: Integers) -> Integers:
        """Where each combination stands by count descending, then by text."""
        if not len(ids):
            return np.empty(0, np.int64)
        ranks = self.ranks(ids)
        bound, least, most = len(self._last), int(counts.min()), int(counts.max())
        if (most - least + 1) * bound ** ids.shape[1] > _LARGEST_KEY:
            return np.lexsort(np.hstack([ranks[:, ::-1], -counts[:, None]]).T)
        keys = most - counts
        for place in range(ids.shape[1]):
            keys *= bound
            keys += ranks[:, place]
        return np.argsort(keys, kind="stable")


def _ranks(texts: Sequence[str]) -> Ids:
    """Place of each text in code-point order."""
    order = sorted(range(len(texts)), key=texts.__getitem__)
    ranks = np.empty(len(texts), np.int32)
    ranks[order] = np.arange(len(texts), dtype=np.int32)
    return ranks
