"""Which sets of columns are scored, and what their scores are measured against.

Candidates follow from cells, lengths and public limits: none is left out for having no records (W14).
What is expected in them follows from released numbers, before anything is counted (W15, W18).
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from tasks.core.arrays import ColumnNumbers, Floats, Integers
from tasks.core.dp.workload.measurement import ExpectedTable
from tasks.core.dp.workload.parameters import LongerSets
from tasks.core.dp.workload.scores import allowances, score, sixteenths
from tasks.core.dp.workload.shares import grid_scale
from tasks.core.dp.workload.tables import one_half
from tasks.core.fitting.noisy_tables import Domain

Expected = Callable[[ColumnNumbers], Floats]


@dataclass(frozen=True)
class Choice:
    """One choice among candidates, before it is made.

    Attributes:
        candidates: sets of columns, in order.
        sensitivities: Delta_T of each.
        score_charge: what all scores together may cost of mu^2.
        chosen_charge: what all chosen sets together may cost.
        most: k, the most that are chosen.
    """

    candidates: tuple[ColumnNumbers, ...]
    sensitivities: tuple[int, ...]
    score_charge: Fraction
    chosen_charge: Fraction
    most: int

    @property
    def square(self) -> int:
        """The square of the L2 sensitivity of all scores: the sum of Delta_T^2 (W15)."""
        return sum(once**2 for once in self.sensitivities)

    @property
    def scale(self) -> Fraction:
        """s_Q, the noise of each score."""
        return grid_scale(self.square, self.score_charge)

    def planned(self, place: int) -> Fraction:
        """s_T of a candidate, should as many be chosen as can be (W16)."""
        return grid_scale(self.sensitivities[place], self.chosen_charge / self.most)

    def against(self, place: int, expected: Floats) -> ExpectedTable:
        """M16 and c16: what is expected, and what noise and chance explain of a difference from it.

        Of a column with itself a pair of items is counted in two cells, but scored in one.
        """
        columns = self.candidates[place]
        half = one_half(expected) if len(set(columns)) < len(columns) else expected
        expected16 = sixteenths(half)
        return ExpectedTable(columns, expected16, allowances(expected16, self.planned(place)))

    def score(self, counts: Integers, against: ExpectedTable) -> int:
        """The exact score of a candidate; nothing but its noisy value may leave the draw."""
        twice = len(set(against.columns)) < len(against.columns)
        return score(one_half(counts) if twice else counts, against.expected16, against.allowed16)


def longer_candidates(domain: Domain, longer: LongerSets) -> list[ColumnNumbers]:
    """Sets of different columns that are not too large, of all columns if there are not too many sets.

    Otherwise of as many columns as `LongerSets.most_candidates` allows, those with the fewest cells: a small
    table is measured best.
    """
    held = () if longer.holding is None else (longer.holding,)
    others = [column for column in range(len(domain.sizes)) if column not in held]
    smallest = sorted(others, key=lambda column: (domain.sizes[column], column))
    among = sorted(smallest[: _most_columns(len(others), longer)])
    every = (
        tuple(sorted((*held, *columns)))
        for length in longer.lengths
        for columns in itertools.combinations(among, length - len(held))
    )
    return [columns for columns in every if math.prod(domain.shape(columns)) <= longer.most_cells]


def _most_columns(others: int, longer: LongerSets) -> int:
    """How many of the columns that may be left out can be combined."""
    while others and _sets(others, longer) > longer.most_candidates:
        others -= 1
    return others


def _sets(others: int, longer: LongerSets) -> int:
    held = longer.holding is not None
    return sum(math.comb(others, length - held) for length in longer.lengths)


def most_sets(columns: int, longer: LongerSets) -> int:
    """The most candidates that there can be of so many columns."""
    others = max(0, columns - (longer.holding is not None))
    return _sets(_most_columns(others, longer), longer)


def within(domain: Domain, tables: Sequence[ColumnNumbers], most_cells: int) -> list[ColumnNumbers]:
    """The tables that are measured, in order: the smallest of them, up to a number of cells together (W5)."""
    left, kept = most_cells, set()
    for cells, columns in sorted((math.prod(domain.shape(columns)), columns) for columns in tables):
        if cells <= left:
            left -= cells
            kept.add(columns)
    return [columns for columns in tables if columns in kept]
