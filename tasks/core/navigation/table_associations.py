"""Associations in a SynDiffix release: its tables and the page's bins go in, Cramer's V of pairs comes out.

A pair is counted in the smallest table that holds both columns: one of its own keeps what is lost where more
columns are put together.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from tasks.core.arrays import Floats, Integers
from tasks.core.navigation.associations import MOST_CHARTED_COLUMNS, cramers_v
from tasks.core.navigation.binned_columns import BinnedColumn
from tasks.core.navigation.table_inputs import Read
from tasks.core.syndiffix.bins import Bins


@dataclass(frozen=True)
class TableAssociations:
    """Cramer's V of every two columns.

    Attributes:
        names: the n columns compared, in the table's order.
        values: (n, n), symmetric, in 0..1; NaN where there is nothing to say.
        sources: by two names the file that a finite value was counted in; "" is the table of all columns.
    """

    names: tuple[str, ...]
    values: Floats
    sources: Mapping[tuple[str, str], str]

    def ranked(self, most: int) -> list[tuple[tuple[str, str], float]]:
        """The strongest pairs with their values; equal ones by their names."""
        place = {name: index for index, name in enumerate(self.names)}
        found = [(pair, float(self.values[place[pair[0]], place[pair[1]]])) for pair in self.sources]
        return sorted(found, key=lambda each: (-each[1], each[0]))[:most]


def table_associations(
    columns: Mapping[str, BinnedColumn], tables: Mapping[str, Sequence[str]], read: Read
) -> TableAssociations:
    """Cramer's V of the first `MOST_CHARTED_COLUMNS` columns, pair by pair.

    Args:
        columns: of the table of all columns.
        tables: of each further table its file and its columns.
        read: called once for each pair that one of them holds.
    """
    names = tuple(columns)[:MOST_CHARTED_COLUMNS]
    files = _smallest(names, {file: held for file, held in tables.items() if len(held) < len(columns)})
    values = np.full((len(names), len(names)), np.nan)
    sources = {}
    for (i, one), (j, other) in combinations(enumerate(names), 2):
        bins = columns[one].bins, columns[other].bins
        file = files.get(frozenset((one, other)), "")
        if file:
            table = read(file, (one, other))
            codes = bins[0].codes(table[one]), bins[1].codes(table[other])
        else:
            codes = columns[one].codes, columns[other].codes
        values[i, j] = values[j, i] = cramers_v(_crossed(bins, codes))
        if math.isfinite(values[i, j]):
            sources[one, other] = file
    return TableAssociations(names, values, sources)


def _smallest(names: Sequence[str], tables: Mapping[str, Sequence[str]]) -> dict[frozenset[str], str]:
    """By two names the table of the fewest columns that holds both, the first of equally many."""
    shown, found = set(names), dict[frozenset[str], str]()
    for file, held in sorted(tables.items(), key=lambda item: len(item[1])):
        for pair in combinations([name for name in held if name in shown], 2):
            found.setdefault(frozenset(pair), file)
    return found


def _crossed(bins: tuple[Bins, Bins], codes: tuple[Integers, Integers]) -> Floats:
    """The two-way table of the rows that have a value in both."""
    both = (codes[0] >= 0) & (codes[1] >= 0)
    shape = len(bins[0].labels) + 1, len(bins[1].labels) + 1
    keys = codes[0][both] * shape[1] + codes[1][both]
    return np.bincount(keys, minlength=shape[0] * shape[1]).astype(np.float64).reshape(shape)
