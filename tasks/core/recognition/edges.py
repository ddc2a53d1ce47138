"""Public edges of bins: well-known bands, or round numbers that anybody might have chosen.

Numbers and how many cells hold each go in; edges come out. The data decide only which of a few grids is
taken and where it begins and ends: edges are never quantiles.
"""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from tasks.core.arrays import Floats, Integers
from tasks.core.recognition.cells import usual_ends
from tasks.core.records.columns import bin_problems

Edges = tuple[float, ...]
#: Numbers that cells lie below, and above, without saying how far: <0.5 and 90+.
Limits = tuple[tuple[float, ...], ...]

AGE_BANDS: Edges = (0, 18, 25, 35, 45, 55, 65, 75, 85)
CHILD_BANDS: Edges = (0, 1, 3, 6, 10, 14, 18)
TENTHS: Edges = (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1)
PERCENTS: Edges = (0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100)
#: Of an even grid, of one that grows and of an even one of the middle: a fuller bin holds too much.
_FULL = (0.4, 0.6, 0.6)
#: So much more than the commonest number alone may be in its bin.
_BESIDE = 0.2
_MOST_EDGES = 13
#: The share of cells beyond an end of the middle.
_TAIL = 0.05
#: From this share of zeros on they have a bin of their own.
_MANY_ZEROS = 0.2
_FAR = 1e12


def linear_edges(low: float, high: float) -> Edges:
    """Five to a dozen edges at a round distance (1, 2 or 5 times a power of ten) that cover a range.

    >>> linear_edges(18, 93)
    (10, 20, 30, 40, 50, 60, 70, 80, 90, 100)
    """
    if not (math.isfinite(low) and math.isfinite(high)):
        return (0, 1)
    span = max(high - low, abs(high) * 1e-6, 1e-9)
    power = 10.0 ** math.floor(math.log10(span / 10))
    step = next(factor * power for factor in (1, 2, 5, 10) if span / (factor * power) <= 10)
    first, last = math.floor(low / step), math.ceil(high / step)
    digits = max(0, -math.floor(math.log10(step)) + 1)
    return _tidy_edges([round(place * step, digits) for place in range(first, max(last, first + 1) + 1)])


def growing_edges(low: float, high: float) -> Edges:
    """Edges that grow as 1, 2, 5, 10, ... do, or as 1, 10, 100 do, from 0 (and below it) to a range's end.

    >>> growing_edges(3, 900)
    (0, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
    >>> growing_edges(-80, 4000)
    (-100, -10, 0, 0.1, 1, 10, 100, 1000, 10000)
    """
    if low >= 0:
        return _growing_from_zero(max(low, high * 1e-9), high)
    reach = max(abs(low), abs(high))
    below, above = _decades(reach / 100, abs(low)), _decades(reach / 5000, max(high, reach / 5000))
    return _tidy_edges([*(-edge for edge in reversed(below)), 0, *above])


def _growing_from_zero(low: float, high: float) -> Edges:
    """From 0 over round numbers from about `low` on to what reaches `high`."""
    if high <= 0:
        return (0, 1)
    first = math.floor(math.log10(low)) if low > 0 else math.floor(math.log10(high)) - 3
    powers = [10.0**power for power in range(first, math.ceil(math.log10(high)) + 1)]
    for factors in ((1, 2, 5), (1, 3), (1,)):
        kept = [factor * power for power in powers for factor in factors if factor * power > low * 0.45]
        end = next((place for place, edge in enumerate(kept) if edge >= high), len(kept) - 1)
        if end + 2 <= _MOST_EDGES:
            return _tidy_edges([0, *kept[: end + 1]])
    return _tidy_edges([0, *kept[max(0, end + 2 - _MOST_EDGES) : end + 1]])


def _decades(low: float, high: float) -> Edges:
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(max(high, low)))
    return tuple(10.0**power for power in range(first, max(last, first) + 1))


def choose_edges(numbers: Floats, held: Integers, *, whole: bool, few: int = 1) -> Edges:
    """Edges for finite numbers: an even grid, or one that grows where an even bin would hold nearly all.

    Args: held: how many cells hold each. few: so few cells beyond an end don't move it.
    """
    zeros = held[numbers == 0].sum() / held.sum()
    edges = _edges_of_nonzero(numbers, held, whole=whole, few=few)
    if zeros < _MANY_ZEROS or held[numbers < 0].sum() >= few or edges[0] != 0:
        return edges
    least = 1.0 if whole else 10.0 ** math.floor(math.log10(edges[1]) - 1)  # so that 0 has a bin of its own
    return _tidy_edges([0, least, *edges[1:]])


def _edges_of_nonzero(numbers: Floats, held: Integers, *, whole: bool, few: int) -> Edges:
    """The first that parts the numbers well: an even grid, one that grows, an even one of the middle."""
    low, high = _round_range(*usual_ends(numbers, held, few))
    positive = numbers > 0
    least = (
        usual_ends(numbers[positive], held[positive], _tail_size(held[positive]))[0]
        if positive.any()
        else 0.0
    )
    grown = growing_edges(least if low >= 0 else low, high)
    if whole:
        grown = tuple(dict.fromkeys(edge for edge in grown if edge == int(edge)))
    choice = [
        linear_edges(low, high),
        grown,
        linear_edges(*_round_range(*usual_ends(numbers, held, max(few, _tail_size(held))))),
    ]
    possible = [edges for edges in choice if len(edges) > 2 and not bin_problems(edges)] or choice[:1]
    if abs(high) > _FAR:
        return possible[0]
    # A single number that most cells hold can't be parted.
    commonest = float(held[numbers != 0].max(initial=0) / max(held[numbers != 0].sum(), 1))
    for edges, most in zip(choice, _FULL, strict=True):
        if edges in possible and fullest_share(edges, numbers, held) <= max(most, commonest + _BESIDE):
            return edges
    return min(possible, key=lambda edges: fullest_share(edges, numbers, held))


def with_limits(edges: Edges, limits: Limits, numbers: Floats, held: Integers, few: int) -> Edges:
    """Edges with one at each limit; none beyond it where hardly a number is, but a first 0.

    >>> with_limits((0, 18, 65, 100), ((), (90,)), np.array([20.0, 90]), np.array([30, 30]), 20)
    (0, 18, 65, 90)
    """
    below, above = limits
    found = sorted({*edges, *below, *above})
    if above and held[numbers > max(above)].sum() < few:
        found = [edge for edge in found if edge <= max(above)]
    if below and held[numbers < min(below)].sum() < few:
        found = [edge for edge in found if edge >= min(below) or edge == edges[0] == 0]
    return _tidy_edges(found) if any(limits) and len(found) > 1 else edges


def fullest_share(edges: Sequence[float], numbers: Floats, held: Integers) -> float:
    """The share of cells in the fullest bin, those of zeros apart, which no edges can part."""
    rest = numbers != 0
    places = np.searchsorted(np.asarray(edges), numbers[rest], side="right")
    counted = np.bincount(places, weights=held[rest], minlength=len(edges) + 1)
    return float(counted.max() / max(held[rest].sum(), 1))


def _tail_size(held: Integers) -> int:
    return max(1, int(_TAIL * held.sum()))


def _round_range(low: float, high: float) -> tuple[float, float]:
    """A range from and to coarse round numbers, which no single row moves; from 0 where that is near.

    >>> _round_range(3, 87), _round_range(1004, 1893), _round_range(1992, 2024)
    ((0.0, 100.0), (1000.0, 2000.0), (1990.0, 2030.0))
    """
    low = 0.0 if 0 < low < 0.2 * high else low
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
        return low, high
    power = 10.0 ** math.floor(math.log10(high - low))
    unit = power * next(factor for factor in (0.2, 0.5, 1, 2) if (high - low) / power <= 5 * factor)
    return unit * math.floor(low / unit), unit * math.ceil(high / unit)


def _tidy_edges(edges: Sequence[float]) -> Edges:
    rounded = [float(f"{edge:.12g}") for edge in edges]
    kept = [rounded[0], *(high for low, high in pairwise(rounded) if high > low)]
    if bin_problems(tuple(kept)):
        return (0, 1)
    return tuple(int(edge) if edge == int(edge) and abs(edge) < 1e15 else edge for edge in kept)
