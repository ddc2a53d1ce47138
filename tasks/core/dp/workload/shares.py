"""How the budget is shared out, in exact numbers (W19).

In: mu^2, shares and sensitivities. Out: noise scales on the grid of 1/64, of which it is proved in
fractions that they cost no more than mu^2.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from tasks.core.arrays import Floats
from tasks.core.dp.sampling.noise import GRID
from tasks.core.dp.thresholds import root_above
from tasks.core.errors import InternalError

_SHARE_GRID = 2**20
_EXPONENT = 2 / 3
#: No table gets less than 1 / (20 #tables) of the budget, before shares are divided by their sum.
_LEAST_PART = 20
#: Of more tables the least share would round down to nothing.
MOST_TABLES = 40_000

#: What a table's share goes by: the cells expected above the noise, all its cells, or nothing.
Allocation = Literal["effective", "size", "equal"]


@dataclass(frozen=True)
class Shares:
    """Shares of mu^2, all public; together at most 1.

    Attributes:
        count: f_0, of the number of records.
        values: f_1, of length 1.
        tables: f_2, of the tables that the workload names.
        scores: f_s, of the choice of longer sets.
        chosen: f_3, of the sets chosen.
    """

    count: Fraction
    values: Fraction
    tables: Fraction
    scores: Fraction = Fraction(0)
    chosen: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        """Refuse shares that exceed the whole."""
        parts = (self.count, self.values, self.tables, self.scores, self.chosen)
        if min(parts) < 0 or sum(parts) > 1:
            raise InternalError("The shares of the budget must not be negative, nor exceed the whole.")


def grid_scale(square_of_sensitivity: int, charge: Fraction) -> Fraction:
    """The least s on the grid with sensitivity^2 / s^2 <= charge: ceil(64 sqrt(sensitivity^2 / charge)) / 64.

    Args:
        square_of_sensitivity: of the L2 sensitivity, >= 1: Delta_T of a table, sum of Delta_T^2 of a vector
            of scores.
        charge: the part of mu^2 that this may cost, > 0.
    """
    if square_of_sensitivity < 1 or charge <= 0:
        raise InternalError("A noise scale needs a sensitivity of at least 1 and a charge above 0.")
    return Fraction(root_above(Fraction(square_of_sensitivity * GRID**2) / charge), GRID)


def effective_sizes(
    margins: Sequence[Floats], tables: Sequence[tuple[int, ...]], scale: float, total: float
) -> list[float]:
    """How many cells of each table are expected to rise above noise of one scale, a cell below it in part.

    Args:
        margins: of each column its estimated counts (released).
        tables: columns of each table; of a column with itself, a pair of items is one cell.
        scale: standard deviation of noise, in records.
        total: N > 0, the estimated number of records.
    """
    sizes = []
    for columns in tables:
        expected = np.array(total)
        for column in columns:
            expected = np.multiply.outer(expected, margins[column] / total)
        size = float(np.minimum(1.0, expected / scale).sum())
        sizes.append(size / 2 if len(set(columns)) < len(columns) else size)
    return sizes


def table_shares(sizes: Sequence[float], factors: Sequence[float] | None = None) -> list[Fraction]:
    """p_T of each table, together at most 1: its size^(2/3) times a public factor, floored to 2^-20.

    None is below 1 / (20 #tables) before all are divided by their sum.

    >>> [round(float(share), 3) for share in table_shares([8.0, 64.0])]  # 4 and 16 parts of 20
    [0.2, 0.8]
    """
    worth = np.array([max(size, 0.0) ** _EXPONENT for size in sizes])
    worth = worth if factors is None else worth * np.array(factors)
    if not len(worth):
        return []
    whole = float(worth.sum())
    shares = worth / whole if whole > 0 else np.full(len(worth), 1 / len(worth))
    shares = np.maximum(shares, 1 / (_LEAST_PART * len(shares)))
    shares = shares / shares.sum()
    found = [Fraction(math.floor(share * _SHARE_GRID), _SHARE_GRID) for share in shares]
    if sum(found) > 1:
        raise InternalError("The shares of the tables exceed the whole.")
    return found


def least_share(tables: int) -> Fraction:
    """What `table_shares` gives to each of so many tables at least, at most `MOST_TABLES`."""
    smallest = Fraction(1, (_LEAST_PART + 1) * max(1, tables))
    return Fraction(math.floor(smallest * _SHARE_GRID * (1 - Fraction(1, 10**9))), _SHARE_GRID)


class Spending:
    """What has been drawn so far of one release's mu^2, in fractions.

    >>> spending = Spending(Fraction(1, 4))
    >>> spending.charge([(1, Fraction(4)), (2, Fraction(8))])  # 1/16 and 2/64
    >>> spending.left
    Fraction(5, 32)
    """

    def __init__(self, mu_squared: Fraction) -> None:
        self.left = mu_squared
        self.spent = Fraction(0)

    def charge(self, parts: Sequence[tuple[int, Fraction]]) -> None:
        """Book a stage before a word of it is drawn.

        Args:
            parts: square of the sensitivity, and noise scale, of everything that the stage draws.

        Raises:
            InternalError: it would exceed what is left.
        """
        cost = sum((Fraction(square) / scale**2 for square, scale in parts), Fraction(0))
        if cost > self.left:
            raise InternalError("The noise that would be drawn does not cover the privacy that is charged.")
        self.left -= cost
        self.spent += cost
