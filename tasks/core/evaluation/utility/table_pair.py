"""A raw and a synthetic table as codes of the same features, ready to be measured against each other.

A feature is a column or, of a column with several items, whether one item is held. Code 0 is absence.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tasks.core.errors import InternalError
from tasks.core.records.columns import matching_name

Codes = npt.NDArray[np.int32]
Places = npt.NDArray[np.int64]

#: Of all that is drawn here; fixed, so that the same tables give the same figures.
SEED = 20_260_101


@dataclass(frozen=True)
class TablePair:
    """Two tables of f features.

    Attributes:
        features: their names.
        sizes: of each the number of codes; those from 1 on are held by a record of either table.
        real: int32 (f, n), 0..size-1.
        synthetic: int32 (f, m), likewise.
    """

    features: tuple[str, ...]
    sizes: tuple[int, ...]
    real: Codes
    synthetic: Codes

    @property
    def rows(self) -> tuple[int, int]:
        """N and m."""
        return self.real.shape[1], self.synthetic.shape[1]

    def place(self, column: str) -> int:
        """Where the feature is that stands for a whole column, however its name is spelt.

        Raises:
            InternalError: there is none.
        """
        wanted = matching_name(column)
        names = map(matching_name, self.features)
        found = next((place for place, name in enumerate(names) if name == wanted), None)
        if found is None:
            raise InternalError("A column that utility is measured by must be one of the table's.")
        return found

    def limited(self, most: int) -> "TablePair":
        """At most so many rows of each table, drawn by `SEED`."""
        sides = (side[:, drawn_rows(side.shape[1], most)] for side in (self.real, self.synthetic))
        return TablePair(self.features, self.sizes, *sides)

    def bootstrap(self) -> "TablePair":
        """The raw table, and in the synthetic one's place as many of its rows drawn with replacement."""
        number = self.real.shape[1]
        drawn = np.random.default_rng(SEED).integers(0, max(number, 1), number)
        return TablePair(self.features, self.sizes, self.real, self.real[:, drawn])

    def halves(self) -> "TablePair":
        """The raw table cut in two at random: what two samples of the same people differ by."""
        number = self.real.shape[1]
        order = np.random.default_rng(SEED).permutation(number)
        parts = (self.real[:, order[: number // 2]], self.real[:, order[number // 2 :]])
        return TablePair(self.features, self.sizes, *parts)


def table_pair(features: Sequence[str], real: Sequence[Places], synthetic: Sequence[Places]) -> TablePair:
    """A pair of tables, each feature's codes moved together so that all but 0 are held.

    Args:
        features: f names.
        real: of each feature n codes from 0 on; their order is kept.
        synthetic: of each m codes, likewise.
    """
    sizes, sides = [], ([], [])  # type: tuple[list[int], tuple[list[Codes], list[Codes]]]
    for columns in zip(real, synthetic, strict=True):
        held = np.unique(np.concatenate([np.zeros(1, np.int64), *columns]))
        sizes.append(len(held))
        for side, codes in zip(sides, columns, strict=True):
            side.append(np.searchsorted(held, codes).astype(np.int32))
    return TablePair(tuple(features), tuple(sizes), np.stack(sides[0]), np.stack(sides[1]))


def drawn_rows(number: int, most: int) -> Places:
    """The places of all rows, or of ``most`` of them drawn by `SEED`, ascending."""
    if number <= most:
        return np.arange(number)
    return np.sort(np.random.default_rng(SEED).choice(number, most, replace=False))
