"""The normal distribution in floating point; for what must be exact see `tasks.core.dp.sampling.normal`."""

import math
from statistics import NormalDist

import numpy as np

from tasks.core.arrays import Floats

#: Half the width of the middle 95 of 100, in standard deviations.
WITHIN_95 = NormalDist().inv_cdf(0.975)


def normal_above(value: float) -> float:
    """How often a standard normal is above a value.

    >>> normal_above(0.0)
    0.5
    """
    return 0.5 * math.erfc(value / math.sqrt(2))


def each_above(values: Floats) -> Floats:
    """`normal_above` of each value, in the values' shape."""
    flat = values.ravel()
    return np.fromiter(map(normal_above, flat), np.float64, len(flat)).reshape(values.shape)
