"""Combinations as text: rows of attribute ids in, ``header:value`` joined by ``;`` out, and their order."""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tasks.core.aggregates.aggregates import Attribute
from tasks.core.arrays import Ids, Integers
from tasks.core.tables.writing import as_lines, needs_quotes, quoted_texts

#: Combinations that are turned into text at once, and how many bytes they may come to.
_AT_ONCE = 1 << 18
_BYTES_AT_ONCE = 1 << 28


class Selections:
    def __init__(self, texts: Sequence[str], between: str = ";") -> None:
        """``texts``: of each attribute, in order; a combination's stand side by side, with this between."""
        self._last = pa.array(texts, pa.string())
        self._followed = pa.array([text + between for text in texts], pa.string())
        self._longest = pc.max(pc.binary_length(self._followed)).as_py() or 1
        self._needs_quotes = any(map(needs_quotes, texts))

    def in_parts(self, ids: Ids) -> Iterator[tuple[slice, pa.Array]]:
        """The texts of combinations (N, length), a bounded number at a time, and which of them these are."""
        step = max(min(_AT_ONCE, _BYTES_AT_ONCE // (ids.shape[1] * self._longest)), 1)
        for start in range(0, len(ids), step):
            rows = slice(start, start + step)
            *others, last = map(pa.array, ids[rows].T.copy())
            pieces = [*map(self._followed.take, others), self._last.take(last)]
            yield rows, pc.binary_join_element_wise(*pieces, "")

    def quoted(self, texts: pa.Array) -> pa.Array:
        """Such texts as they stand in a cell of a delimited file."""
        return quoted_texts(texts) if self._needs_quotes else texts

    def lines(self, ids: Ids, counts: Integers) -> Iterator[memoryview]:
        """The lines of combinations and their counts in a TSV."""
        for rows, texts in self.in_parts(ids):
            yield from as_lines([self.quoted(texts), pa.array(counts[rows]).cast(pa.string())])


def selections_of(attributes: Sequence[Attribute]) -> Selections:
    return Selections([attribute.text for attribute in attributes])


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
