"""Which sets of columns hold more than the present records show: integer scores, and a choice by them.

A score says by how many records a table differs from what the records of a first fit hold in it, beyond
what noise and chance explain. It is computed in whole numbers, so that its sensitivity is exactly that of
the table's counts (W15, W16): with floating-point numbers between the counts and the noise, the fraction of
a score would give a record away.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from tasks.core.arrays import Floats, Integers
from tasks.core.dp.sampling.normal import exact_number, precision, upper_quantile

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
