"""Intervals of a column: half-open, on a grid of powers of two, with a place for nulls (X2.1, X2.2)."""

from dataclasses import dataclass
from math import floor, frexp, inf, ldexp, nextafter, ulp

import numpy as np

from tasks.core.arrays import Floats
from tasks.core.errors import InputError

_LARGEST = 2.0**1021  # twice the size of any interval within is still a float


@dataclass(frozen=True)
class Interval:
    """The values x with lower <= x < upper, or a single value (lower = upper)."""

    lower: float
    upper: float

    @property
    def size(self) -> float:
        return self.upper - self.lower


def snap(lower: float, upper: float) -> Interval:
    """The smallest interval around lower..upper whose size is 2^i and whose bounds are multiples of 2^(i-1).

    A single value gets size 1, or the distance of floats where that is more. An upper bound that is
    snapped to itself counts to the upper half, where all values from the middle on are.

    >>> snap(18.0, 93.0), snap(34.0, 34.0)
    (Interval(lower=0.0, upper=128.0), Interval(lower=34.0, upper=35.0))

    A bound beyond +-2^1021 or not finite is an InputError.
    """
    if not (-_LARGEST <= lower <= upper <= _LARGEST):
        raise InputError(
            "A column's numbers must be finite and between -2^1021 and 2^1021, and one has others: "
            "rescale the column or leave it out."
        )
    size = _power_of_two_from(upper - lower) if lower < upper else max(1.0, ulp(lower))
    while True:
        step = size / 2 or size  # the least float has no half
        start = floor(lower / step) * step
        if start > lower:  # a quotient too small for a float was rounded up to 0
            start -= step
        if start + size >= upper:
            return Interval(start, start + size)
        lower, size = start, size * 2


def null_mapping(lower: float, upper: float) -> float:
    """What stands for null in values lower..upper of one sign: far from them, on the side they are on."""
    if upper > 0:
        return 2.0 * upper
    return 2.0 * lower if lower < 0 else 1.0


def map_nulls(values: Floats) -> tuple[Floats, float, Interval]:
    """A column (n,) with NaN for null, made ready for a tree; one without a value counts as all 0.

    Returns the values with nulls replaced, what replaces them, and the snapped interval of all of them, which
    holds what stands for null whether there are nulls or not. A value beyond +-2^1020 is an InputError.

    >>> values, _, interval = map_nulls(np.array([18.0, 93.0, np.nan]))
    >>> values.tolist(), interval
    ([18.0, 93.0, 186.0], Interval(lower=0.0, upper=256.0))
    """
    missing = np.isnan(values)
    present = values[~missing]
    lower, upper = (float(present.min()), float(present.max())) if len(present) else (0.0, 0.0)
    null_value = null_mapping(lower, upper)
    interval = snap(min(lower, null_value), max(upper, null_value))
    if lower < 0 < upper:
        # That would be halved at 0, and nulls told from values one division later: in trees of several
        # columns their cells are then too small to be shown. Here all values are in the lower half.
        half = snap(lower, nextafter(upper, inf))
        null_value = half.upper + half.size / 2
        interval = Interval(half.lower, half.upper + half.size)
    return np.where(missing, null_value, values), null_value, interval


def _power_of_two_from(length: float) -> float:
    """The least power of two that is not below a positive number, exactly; a logarithm would be rounded."""
    mantissa, exponent = frexp(length)
    return ldexp(1.0, exponent - 1 if mantissa == 0.5 else exponent)
