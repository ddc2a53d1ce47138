"""Compiled loops of the comparison of counts (oracle: tests/oracles/evaluation.py).

s is a combination's count on the reference side, y on the compared side. A cell is one tuple of codes of a
set of columns; one with a code 0 (absent) is no combination, and only enters the total variation distance.
"""

import numpy as np
import numpy.typing as npt
from numba import njit

Integers = npt.NDArray[np.int64]
Cube = npt.NDArray[np.uint32] | Integers
Numbers = npt.NDArray[np.float64]

#: What is summed over combinations, by place in the last axis of ``sums``.
MEASURES = (
    "reference",
    "compared",
    "kept",
    "reference_count",
    "compared_count",
    "fabricated_count",
    "error_kept",
    "preserved_count",
    "population",
    "preservation",
    "proportional_error",
    "rare",
    "unique",
    "leaked",
    "leaked_anywhere",
)
(
    _REFERENCE,
    _COMPARED,
    _KEPT,
    _REFERENCE_COUNT,
    _COMPARED_COUNT,
    _FABRICATED_COUNT,
    _ERROR_KEPT,
    _PRESERVED_COUNT,
    _POPULATION,
    _PRESERVATION,
    _PROPORTIONAL_ERROR,
    _RARE,
    _UNIQUE,
    _LEAKED,
    _LEAKED_ANYWHERE,
) = range(len(MEASURES))

#: More than counts of 64 bits can reach.
MOST_BINS = 62
_FIRST_BIN = 10


@njit(cache=True, nogil=True)
def bin_of(count: int | np.int64) -> int:
    """The bin of a count: 0 up to 10, 1 up to 20, 2 up to 40, ..."""
    multiples = (count + _FIRST_BIN - 1) // _FIRST_BIN
    place = 0
    while (1 << place) < multiples:
        place += 1
    return place


@njit(cache=True, nogil=True)
def _add_pair(s: np.int64, y: np.int64, resolution: int, sums: Numbers) -> None:
    """Add one combination that at least one side holds to ``sums``, float64 (bins, measures)."""
    row = sums[bin_of(y)]
    if s > 0:
        row[_REFERENCE] += 1
        row[_REFERENCE_COUNT] += s
        row[_UNIQUE] += s == 1
        rare = s < resolution
        row[_RARE] += rare
        if rare and y > 0:
            row[_LEAKED_ANYWHERE] += 1
            row[_LEAKED] += y < resolution
    if y > 0:
        row[_COMPARED] += 1
        row[_COMPARED_COUNT] += y
    if y == 0 and s < resolution:
        return
    row[_POPULATION] += 1
    if s == 0:
        row[_FABRICATED_COUNT] += y
        row[_PROPORTIONAL_ERROR] += 1
        return
    row[_PROPORTIONAL_ERROR] += abs(y - s) / s
    if y > 0:
        row[_KEPT] += 1
        row[_ERROR_KEPT] += abs(y - s)
        row[_PRESERVED_COUNT] += min(y, s)
        row[_PRESERVATION] += min(y / s, 1.0)


@njit(cache=True, nogil=True)
def _half(distance: float, of_reference: float, of_compared: float) -> float:
    """Half the L1 distance of two shares; 1 where one side has nothing to share, 0 where both have."""
    if of_reference > 0 and of_compared > 0:
        return distance / 2
    return 0.0 if of_reference == of_compared else 1.0


@njit(cache=True, nogil=True)
def compare_cubes(reference: Cube, compared: Cube, sizes: Integers, resolution: int, sums: Numbers) -> float:
    """Add every combination of two dense cubes to ``sums``.

    Args:
        reference: counts by cell, the last column's code running fastest.
        compared: the same of the other side.
        sizes: number of codes of each column, 0 among them.
        resolution: at least 1.
        sums: float64 (`MOST_BINS`, measures), added to.

    Returns:
        The total variation distance of the two shares of cells, absent ones included, 0..1.
    """
    of_reference, of_compared = float(reference.sum()), float(compared.sum())
    by_reference = 1 / of_reference if of_reference else 0.0
    by_compared = 1 / of_compared if of_compared else 0.0
    distance, last = 0.0, sizes[-1]
    for prefix in range(len(reference) // last):
        rest, present = prefix, True
        for place in range(len(sizes) - 2, -1, -1):
            present &= rest % sizes[place] != 0
            rest //= sizes[place]
        for code in range(last):
            # As signed integers: differences are taken.
            s, y = np.int64(reference[prefix * last + code]), np.int64(compared[prefix * last + code])
            if s | y:
                distance += abs(s * by_reference - y * by_compared)
                if present and code:
                    _add_pair(s, y, resolution, sums)
    return _half(distance, of_reference, of_compared)


@njit(cache=True, nogil=True)
def compare_sorted(
    reference: tuple[Integers, Integers],
    compared: tuple[Integers, Integers],
    first_absent: int,
    resolution: int,
    sums: Numbers,
) -> float:
    """The same of cells given as ascending distinct keys and their counts.

    Args:
        reference: keys and counts.
        compared: the same of the other side.
        first_absent: a key from here on is a cell with an absent value.
        resolution: at least 1.
        sums: as in `compare_cubes`.
    """
    keys, counts = reference
    other_keys, other_counts = compared
    of_reference, of_compared = float(counts.sum()), float(other_counts.sum())
    by_reference = 1 / of_reference if of_reference else 0.0
    by_compared = 1 / of_compared if of_compared else 0.0
    distance, own, other = 0.0, 0, 0
    while own < len(keys) or other < len(other_keys):
        s, y = np.int64(0), np.int64(0)
        if other == len(other_keys) or (own < len(keys) and keys[own] <= other_keys[other]):
            key, s = keys[own], counts[own]
        else:
            key = other_keys[other]
        if other < len(other_keys) and other_keys[other] == key:
            y = other_counts[other]
            other += 1
        if s > 0:
            own += 1
        distance += abs(s * by_reference - y * by_compared)
        if key < first_absent:
            _add_pair(s, y, resolution, sums)
    return _half(distance, of_reference, of_compared)
