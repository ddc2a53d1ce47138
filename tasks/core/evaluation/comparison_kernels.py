"""Compiled loops of the comparison of counts (oracle: tests/oracles/evaluation.py).

s is a combination's count on the reference side, y on the compared side. A cell is one tuple of codes of a
set of columns; one with a code 0 (absent) is no combination, and only enters the total variation distance.
"""

import numpy as np
import numpy.typing as npt

from tasks.core.compiling import njit

Integers = npt.NDArray[np.int64]
#: Counts by cell.
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
def compare_cubes(
    cubes: Cube,
    totals: Integers,
    prefixes: tuple[npt.NDArray[np.bool_], int],
    pairs: Integers,
    resolution: int,
    sums: Numbers,
    distances: Numbers,
) -> None:
    """Add every combination of pairs of sides to ``sums``, one set of columns after the other.

    Args:
        cubes: (sides, cells) counts, set by set, the last column's code running fastest.
        totals: of each set's and side's counts, (sets, sides).
        prefixes: by set and prefix whether none of its codes is 0, and the first code of the last column that
            is none.
        pairs: (pairs, 2) places of reference and compared side.
        resolution: at least 1.
        sums: float64 (pairs, `MOST_BINS`, measures), added to.
        distances: filled: of each set and pair the total variation distance of the two shares of cells,
            absent ones included, 0..1.
    """
    whole, first = prefixes
    cells, own = cubes.shape[1] // len(totals), len(whole) // len(totals)
    for place in range(len(totals)):
        part = (whole[place * own : (place + 1) * own], first)
        start, end = place * cells, (place + 1) * cells
        for pair in range(len(pairs)):
            reference, compared = pairs[pair]
            shares = (float(totals[place, reference]), float(totals[place, compared]))
            both = (cubes[reference, start:end], cubes[compared, start:end])
            distances[place, pair] = _compare_pair(both, shares, part, resolution, sums[pair])


@njit(cache=True, nogil=True)
def _compare_pair(
    cubes: tuple[Cube, Cube],
    totals: tuple[float, float],
    prefixes: tuple[npt.NDArray[np.bool_], int],
    resolution: int,
    sums: Numbers,
) -> float:
    reference, compared = cubes
    whole, present = prefixes
    of_reference, of_compared = totals
    by_reference = 1 / of_reference if of_reference else 0.0
    by_compared = 1 / of_compared if of_compared else 0.0
    size = len(reference) // max(len(whole), 1)
    distance = 0.0
    # Most combinations are rare ones that the compared side lacks: sums of whole numbers, kept at hand.
    rare, unique, rare_count = 0, 0, 0
    for prefix in range(len(whole)):
        first = present if whole[prefix] else size
        for code in range(size):
            cell = prefix * size + code
            # As signed integers: differences are taken.
            s, y = np.int64(reference[cell]), np.int64(compared[cell])
            if s | y == 0:
                continue
            distance += abs(s * by_reference - y * by_compared)
            if code < first:
                continue
            if y == 0 and s < resolution:
                rare += 1
                unique += int(s == 1)
                rare_count += int(s)
            else:
                _add_pair(s, y, resolution, sums)
    row = sums[0]
    row[_REFERENCE] += rare
    row[_RARE] += rare
    row[_UNIQUE] += unique
    row[_REFERENCE_COUNT] += rare_count
    return _half(distance, of_reference, of_compared)
