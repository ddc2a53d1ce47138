"""What records imply of a set of columns by their pairs alone: no relation beyond the pairs.

By iterative proportional fitting (E12; Deming and Stephan 1940). Unlike the records' own counts of the set it
has no noise from sampling.
"""

import itertools
import math
from collections.abc import Mapping

import numpy as np

from tasks.core.arrays import ColumnNumbers, Floats, Ids, Integers
from tasks.core.fitting.kernels import MOST_TABLE_COLUMNS, rake_to_pairs
from tasks.core.fitting.noisy_tables import Domain, table_counts

_ROUNDS = 10
#: Close enough: a pair whose counts are together off by this part of the records.
_OFF = 0.001


class ImpliedCounts:
    """Counts of sets of columns as the pairs of some records imply them; each pair is counted once.

    In these four records two columns together decide the third, but no pair tells anything:

    >>> records = np.array([[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]], np.int32)
    >>> ImpliedCounts(Domain((2, 2, 2)), records).of((0, 1, 2)).tolist()
    [[[0.5, 0.5], [0.5, 0.5]], [[0.5, 0.5], [0.5, 0.5]]]
    """

    def __init__(self, domain: Domain, records: Ids) -> None:
        self._domain = domain
        self._records = np.asfortranarray(records)
        self._counts: dict[ColumnNumbers, Integers] = {}

    def of(self, columns: ColumnNumbers) -> Floats:
        """The counts of three columns or more."""
        for asked in implying_tables(self._domain, columns):
            if asked not in self._counts:
                self._counts[asked] = table_counts(self._domain, asked, self._records)
        return implied_counts(self._domain, columns, self._counts, len(self._records))


def implying_tables(domain: Domain, columns: ColumnNumbers) -> list[ColumnNumbers]:
    """Which counts decide what is implied of a set of columns: those of its pairs.

    A multi-valued column has no margin that sums to the records, so a set that holds one is counted as the
    records have it.
    """
    if domain.multi_valued & set(columns):
        return [columns]
    return list(itertools.combinations(columns, 2))


def implied_counts(
    domain: Domain, columns: ColumnNumbers, counts: Mapping[ColumnNumbers, Integers], number: int
) -> Floats:
    """The counts of three columns or more that `implying_tables` imply.

    Args:
        counts: of each of those tables.
    """
    asked = implying_tables(domain, columns)
    if asked == [columns]:
        return counts[columns].astype(np.float64)
    # Four axes, whatever the set has; those in front are of one cell.
    missing = MOST_TABLE_COLUMNS - len(columns)
    shape = (*[1] * missing, *domain.shape(columns))
    places = list(itertools.combinations(range(missing, MOST_TABLE_COLUMNS), 2))
    strides = np.zeros((len(places), MOST_TABLE_COLUMNS), np.int64)
    for pair, (one, other) in enumerate(places):
        strides[pair, [one, other]] = shape[other], 1
    pairs = [counts[pair].ravel().astype(np.float64) for pair in asked]
    cells = math.prod(shape)
    table = np.full(cells, number / cells)
    begins = np.cumsum([0, *map(len, pairs)])
    rake_to_pairs(table, np.array(shape), np.concatenate(pairs), begins, strides, _ROUNDS, _OFF * number)
    return table.reshape(domain.shape(columns))
