"""A column of a synthetic table in its bins: its cells go in, the rows of its chart come out.

The rows make a scale: what is empty between others is shown with 0; where that would be too much, a gap
between periods is marked.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tasks.core.arrays import Integers
from tasks.core.syndiffix.bins import Bins

#: A bin and its rows; None marks a gap.
BinRow = tuple[str, int | None]

GAP = "…"
#: Of numbers or periods one apart.
_MOST_FILLED = 48


def rows_of(bins: Bins, counts: Sequence[int]) -> list[BinRow]:
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
    found: list[BinRow] = [(label, n) for label, n in held.items() if n]
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


def _marked(rows: Sequence[BinRow], places: Integers) -> list[BinRow]:
    """The rows, with a mark where places are left out."""
    found = list(rows[:1])
    for row, (low, high) in zip(rows[1:], pairwise(places.tolist()), strict=True):
        found += [(GAP, None), row] if high - low > 1 else [row]
    return found


@dataclass(frozen=True)
class BinnedColumn:
    """A column of the table of all columns, in its bins."""

    bins: Bins
    codes: Integers

    @property
    def rows(self) -> list[BinRow]:
        """Each bin and how many rows it has, as its chart shows them; what is in none is the last."""
        counts = np.bincount(self.codes[self.codes >= 0], minlength=len(self.bins.labels) + 1)
        return rows_of(self.bins, counts.tolist())

    @property
    def missing(self) -> int:
        """How many rows have no value."""
        return int(np.count_nonzero(self.codes < 0))
