"""Which columns follow from another one: its values nearly always stand with the same ones.

Cells go in; for each column that follows, from which, comes out. It is for the person's eyes: no draft says
which column or value follows from which. A few rows that differ don't count, or a single person would decide.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tasks.core.arrays import Flags
from tasks.core.recognition.cells import FEW, SeenColumn

#: A value that decides must stand in so many rows on average; so many columns are compared with each other.
_LEAST_REPEATED, _MOST_DIFFERENT, _MOST_COLUMNS = 3, 5000, 120
_FIRST_ROWS = 2000
#: A column that nearly always holds the same value follows from everything.
_NEARLY_CONSTANT = 0.98
#: Of a table of fewer rows a few are too many to leave out of account.
_LEAST_ROWS = 10 * FEW


@dataclass(frozen=True)
class Follows:
    """That a column follows from another.

    Attributes:
        column: the one that follows.
        source: the one it follows from.
        is_same: whether the other follows from it as well: they say the same.
    """

    column: str
    source: str
    is_same: bool


def functions_of_others(columns: Sequence[SeenColumn]) -> list[Follows]:
    """For each column that follows from one before or behind it, the first that it follows from."""
    compared = [
        cells
        for cells in columns
        if 2 <= cells.usual <= min(_MOST_DIFFERENT, cells.rows / _LEAST_REPEATED)
        and cells.rows >= _LEAST_ROWS
    ][:_MOST_COLUMNS]
    varied = [cells for cells in compared if cells.held.max() < _NEARLY_CONSTANT * cells.filled]
    found: list[Follows] = []
    same: set[str] = set()
    for place, decided in enumerate(varied):
        for other, source in enumerate(varied):
            if other == place or source.name in same or source.usual < decided.usual:
                continue
            if not nearly_determines(source, decided):
                continue
            is_same = nearly_determines(decided, source)
            if is_same and other > place:
                continue  # of two that say the same, the first stays
            found.append(Follows(decided.name, source.name, is_same))
            same |= {decided.name} if is_same else set()
            break
    return found


def nearly_determines(source: SeenColumn, decided: SeenColumn) -> bool:
    """Whether a column's value decides the other's in all rows but a few, and most rows have both.

    A single person who differs from it does not show.
    """
    both = (source.codes >= 0) & (decided.codes >= 0)
    if both.sum() < 0.5 * source.rows:
        return False
    pairs = source.codes[both].astype(np.int64) * (decided.distinct + 1) + decided.codes[both]
    different, held = np.unique(pairs, return_counts=True)
    most = np.zeros(source.distinct, np.int64)
    np.maximum.at(most, different // (decided.distinct + 1), held)
    return bool(both.sum() - most.sum() < FEW)


def determines(source: SeenColumn, decided: SeenColumn) -> bool:
    """Whether a column's value decides the other's in every row that has both, and most rows have."""
    both = (source.codes >= 0) & (decided.codes >= 0)
    if both.sum() < 0.5 * source.rows or not _decides(source, decided, both, _FIRST_ROWS):
        return False
    return _decides(source, decided, both, source.rows)


def _decides(source: SeenColumn, decided: SeenColumn, both: Flags, rows: int) -> bool:
    chosen = both[:rows]
    first, second = source.codes[:rows][chosen], decided.codes[:rows][chosen]
    pairs = np.unique(first.astype(np.int64) * (decided.distinct + 1) + second).size
    return bool(pairs == np.unique(first).size)
