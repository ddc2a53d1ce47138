"""Pair counts as they are reported, for associations: counts rounded down to multiples of a resolution.

A pair that is not reported is held by fewer records than the resolution; one that is, by its count and up to
the resolution less one more. The middle of its range stands for either, and the spread of an even
distribution over the range is taken off.
"""

import numpy as np

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.navigation.associations import MOST_VALUES, Floats, Ids, Known, PairTable, v_of


class ReportedPairs:
    """Lengths 1 and 2 of reported counts; a column's codes follow the order of its attributes.

    Args of the class: the counts, the number of columns, the resolution (at least 1).
    """

    def __init__(self, aggregates: Aggregates, columns: int, resolution: int) -> None:
        """See the class."""
        self._aggregates, self._resolution = aggregates, resolution
        self._column = np.array([a.column for a in aggregates.attributes], np.int64)
        self._code = np.zeros(len(aggregates.attributes), np.int64)
        for column in range(columns):
            mine = np.flatnonzero(self._column == column)
            self._code[mine] = np.arange(1, len(mine) + 1)
        self._columns = columns
        self._keys, self._pairs, self._counts = self._by_pair()

    def _by_pair(self) -> tuple[Ids, Ids, Floats]:
        """Pairs of attributes, the lower column first, ascending by their two columns."""
        if not self.has_pairs():
            return np.zeros(0, np.int64), np.zeros((0, 2), np.int64), np.zeros(0)
        ids = self._aggregates.combinations[1].astype(np.int64)
        swapped = self._column[ids[:, 0]] > self._column[ids[:, 1]]
        ids = np.where(swapped[:, np.newaxis], ids[:, ::-1], ids)
        keys = self._column[ids[:, 0]] * self._columns + self._column[ids[:, 1]]
        order = np.argsort(keys, kind="stable")
        return keys[order], ids[order], self._aggregates.counts[1][order].astype(np.float64)

    def has_pairs(self) -> bool:
        """Whether any pair is reported."""
        counts = self._aggregates.counts
        return len(counts) >= 2 and len(counts[1]) > 0

    def values(self, column: int) -> tuple[str, ...]:
        """The reported ones."""
        return tuple(a.value for a in self._aggregates.attributes if a.column == column)

    def held(self, column: int) -> tuple[Ids, Floats]:
        """All reported values."""
        ids = self._aggregates.combinations[0][:, 0]
        mine = self._column[ids] == column
        codes = self._code[ids[mine]]
        counts = self._middle(self._aggregates.counts[0][mine].astype(np.float64))
        order = np.lexsort((codes, -counts))[:MOST_VALUES]
        return codes[order], counts[order]

    def table(self, pair: tuple[int, int], places: tuple[Ids, Ids]) -> tuple[Floats, Known]:
        """Middles of the reported counts."""
        shape = int(places[0].max()) + 1, int(places[1].max()) + 1
        counts, known = np.zeros(shape), np.zeros(shape, dtype=np.bool_)
        key = pair[0] * self._columns + pair[1]
        first, last = np.searchsorted(self._keys, [key, key + 1])
        ids = self._pairs[first:last]
        rows, columns = places[0][self._code[ids[:, 0]]], places[1][self._code[ids[:, 1]]]
        kept = (rows >= 0) & (columns >= 0)
        counts[rows[kept], columns[kept]] = self._middle(self._counts[first:last][kept])
        known[rows[kept], columns[kept]] = True
        return counts, known

    def v(self, pair: tuple[int, int], table: PairTable) -> float:
        """Cramer's V of a reported table, by its own sums; NaN where fewer than two values are left.

        A cell that is not reported is taken to be what columns without association would have there, or the
        middle of its range where that is less. The spread of a rounded count, (k^2 - 1) / 12 over e_ij, is
        taken off phi^2. The sums are the table's own and not those of its columns: records may have a value
        in one of them alone.
        """
        if not table.known.any():
            return float("nan")
        k, counts = self._resolution, table.counts
        rows, columns = counts.sum(axis=1), counts.sum(axis=0)
        filled, own = rows > 0, columns > 0
        if min(int(filled.sum()), int(own.sum())) < 2:
            return float("nan")
        unrelated = np.minimum(np.outer(rows, columns) / counts.sum(), (k - 1) / 2)
        kept = np.where(table.known, counts, unrelated)[filled][:, own]
        spread = np.where(table.known, (k * k - 1) / 12, 0.0)[filled][:, own]
        return v_of(kept, kept.sum(axis=1), kept.sum(axis=0), spread)

    def _middle(self, counts: Floats) -> Floats:
        """The middle of the counts that are rounded to these."""
        return counts + (self._resolution - 1) / 2
