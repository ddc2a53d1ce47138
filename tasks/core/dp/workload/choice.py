"""Which sets of columns are scored, and what their scores are measured against.

Candidates follow from cells, lengths and public limits: none is left out for having no records (W14).
What is expected in them follows from released numbers, before anything is counted (W15, W18).

A score is computed in whole numbers, so that its sensitivity is exactly that of the table's counts (W15,
W16): with floating-point numbers between the counts and the noise, the fraction of a score would give a
record away.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tasks.core.arrays import ColumnNumbers, Floats, Integers
from tasks.core.dp.sampling.normal import exact_number, precision, upper_quantile
from tasks.core.dp.workload.cells import one_half
from tasks.core.dp.workload.measurement import ExpectedTable
from tasks.core.dp.workload.parameters import LongerSets, grid_scale
from tasks.core.fitting.noisy_tables import Domain

_BITS = 128
#: Records of the largest table.
_MOST_EXPECTED = 2.0**31


def sixteenths(expected: Floats) -> Integers:
    """M16: what records hold, in whole sixteenths, halves to even; never below 0."""
    # What is no number would become the least of all, and the sums of scores would wrap around.
    held = np.minimum(np.nan_to_num(np.maximum(expected, 0.0)), _MOST_EXPECTED)
    whole: Integers = np.rint(16 * held).astype(np.int64)
    return whole


def allowances(expected16: Integers, scale: Fraction) -> Integers:
    """c16: the least whole number of sixteenths with 16 c16^2 >= h^2 + 256 M16, h = 64 s, cell by cell.

    So c is at least the root of s^2 + M: noise and chance together.

    Args:
        expected16: M16, at most 2^35 (2^31 records).
        scale: s, the noise that the table would be measured with, on the grid of 1/64, at most 2^17.
    """
    square = int(scale * 64) ** 2 + 256 * expected16
    root: Integers = np.floor(np.sqrt(square / 16)).astype(np.int64) + 1
    # One too many, or two where floating point rounds up: whole numbers decide.
    root -= 16 * (root - 1) ** 2 >= square
    root -= 16 * (root - 1) ** 2 >= square
    return root


def score(counts: Integers, expected16: Integers, allowed16: Integers) -> int:
    """The score g = floor(sum of max(|16 C - M16| - c16, 0) / 16), in records.

    One record more or less changes it by at most the number of cells that the record is in.

    >>> counts, expected = np.array([20, 3]), np.array([10.0, 3.0])
    >>> score(counts, sixteenths(expected), np.array([32, 32]))  # 10 too many, of which 2 are allowed
    8
    """
    beyond = np.abs(16 * counts - expected16) - allowed16
    return int(np.maximum(beyond, 0).sum()) // 16


def standing_out(noisy: Sequence[int], scale: Fraction, most: int) -> list[int]:
    """The places of at most ``most`` sets whose noisy score stands out, the largest first, ties in order.

    A score stands out from s_Q Phi^-1(1 - 1/K) on: of K sets that hold nothing, one is expected to.
    """
    sets = len(noisy)
    if sets == 0:
        return []
    with precision(_BITS):
        least = float(exact_number(scale) * upper_quantile(exact_number(1) / sets)) if sets > 2 else 0.0
    order = sorted(range(sets), key=lambda place: (-noisy[place], place))
    return [place for place in order if noisy[place] >= least][:most]


Expected = Callable[[ColumnNumbers], Floats]


@dataclass(frozen=True)
class Choice:
    """One choice among candidates, before it is made.

    Attributes:
        sensitivities: Delta_T of each candidate.
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
        """The square of the L2 sensitivity of all scores (W15)."""
        return sum(once**2 for once in self.sensitivities)

    @property
    def scale(self) -> Fraction:
        """s_Q."""
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
