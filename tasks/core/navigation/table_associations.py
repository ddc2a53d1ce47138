"""Associations in a SynDiffix release: its tables and the page's bins go in, Cramer's V of pairs comes out.

A pair is counted in the smallest table that holds both columns: one of its own keeps what is lost where more
columns are put together.

The rows of a column's chart: bins and how many rows each has go in, an axis that is a scale comes out.

What is empty between others is shown with 0; where that would be too much, a gap between periods is marked.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
import pyarrow as pa

from tasks.core.arrays import Floats, Integers
from tasks.core.navigation.associations import MOST_CHARTED_COLUMNS, cramers_v
from tasks.core.syndiffix.bins import Bins

#: A bin and its rows; None marks a gap.
AssociationRow = tuple[str, int | None]

GAP = "…"
#: Of numbers or periods one apart.
_MOST_FILLED = 48


def rows_of(bins: Bins, counts: Sequence[int]) -> list[AssociationRow]:
    """What a chart shows of a column.

    Args:
        bins: the column's.
        counts: rows of each bin, then of those that are in none.

    Returns:
        The bins in their order; nothing where no row is in any. Of bins between edges the inner ones are all
        there; of whole numbers and of periods each from the first to the last one, where they are few.
    """
    held = {label: int(n) for label, n in zip((*bins.labels, "other"), counts, strict=True)}
    if not any(held.values()):
        return []
    if bins.edges is not None:
        inner = bins.labels[1:-1]
        return [(label, n) for label, n in held.items() if n or label in inner]
    found: list[AssociationRow] = [(label, n) for label, n in held.items() if n]
    places = _places(bins, [label for label, _ in found])
    if places is None:
        return found
    if places[-1] - places[0] < _MOST_FILLED:
        return [(label, held.get(label, 0)) for label in _labels(bins, places)]
    return found if bins.period is None else _marked(found, places)


def _places(bins: Bins, labels: Sequence[str]) -> Integers | None:
    """Where labels are, in steps; None where there are no steps, or labels are not in their order."""
    if "other" in labels or not (bins.period or bins.kind == "integer"):
        return None
    try:
        if bins.period is None:
            found = np.array([int(label) for label in labels], np.int64)
        else:
            unit = f"datetime64[{bins.period[0]}]"
            found = np.array([label.removesuffix(" h") for label in labels], unit).astype(np.int64)
    except (ValueError, OverflowError):  # a year or a number that is beyond what can be told
        return None
    return found if all(low < high for low, high in pairwise(found.tolist())) else None


def _labels(bins: Bins, places: Integers) -> list[str]:
    """The labels of all steps from the first place to the last."""
    steps = range(int(places[0]), int(places[-1]) + 1)
    if bins.period is None:
        return [str(step) for step in steps]
    unit = bins.period[0]
    texts = np.datetime_as_string(np.array(steps, f"datetime64[{unit}]"))
    return [text.replace("T", " ") + (" h" if unit == "h" else "") for text in texts.tolist()]


def _marked(rows: Sequence[AssociationRow], places: Integers) -> list[AssociationRow]:
    """The rows, with a mark where places are left out."""
    found = list(rows[:1])
    for row, (low, high) in zip(rows[1:], pairwise(places.tolist()), strict=True):
        found += [(GAP, None), row] if high - low > 1 else [row]
    return found


#: Reads some columns of a table by its file.
Read = Callable[[str, Sequence[str]], pa.Table]


@dataclass(frozen=True)
class BinnedColumn:
    """A column of the table of all columns, in its bins."""

    bins: Bins
    codes: Integers

    @property
    def rows(self) -> list[AssociationRow]:
        """Each bin and how many rows it has, as its chart shows them; what is in none is the last."""
        counts = np.bincount(self.codes[self.codes >= 0], minlength=len(self.bins.labels) + 1)
        return rows_of(self.bins, counts.tolist())

    @property
    def missing(self) -> int:
        """How many rows have no value."""
        return int(np.count_nonzero(self.codes < 0))


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
