"""What records imply of a set of columns by their pairs alone: no relation beyond the pairs.

The table that keeps the records' counts of every pair in the set and is otherwise as even as they allow
(iterative proportional fitting; Deming and Stephan 1940). Unlike the records' own counts of the set it has no
noise from sampling.
"""

import itertools

import numpy as np

from tasks.core.fitting.noisy_tables import Counts, Domain, table_counts
from tasks.core.fitting.search import Records

_ROUNDS = 8


class ImpliedCounts:
    """Counts of sets of columns as the pairs of some records imply them; each pair is counted once."""

    def __init__(self, domain: Domain, records: Records) -> None:
        self._domain = domain
        self._records = np.asfortranarray(records)
        self._pairs: dict[tuple[int, ...], Counts] = {}

    def of(self, columns: tuple[int, ...]) -> Counts:
        """The counts of three columns or more.

        A multi-valued column has no margin that sums to the records, so a set that holds one is counted as
        the records have it.
        """
        if self._domain.multi_valued & set(columns):
            return table_counts(self._domain, columns, self._records).astype(np.float64)
        places = list(itertools.combinations(range(len(columns)), 2))
        shape = self._domain.shape(columns)
        table = np.full(shape, len(self._records) / np.prod(shape, dtype=float))
        for _ in range(_ROUNDS):
            for one, other in places:
                axes = tuple(axis for axis in range(len(shape)) if axis not in (one, other))
                held = table.sum(axis=axes)
                ratio = self._pair((columns[one], columns[other])) / np.where(held > 0, held, 1.0)
                table *= np.expand_dims(ratio, axes)
        return table

    def _pair(self, columns: tuple[int, int]) -> Counts:
        if columns not in self._pairs:
            counts = table_counts(self._domain, columns, self._records)
            self._pairs[columns] = counts.astype(np.float64)
        return self._pairs[columns]
