"""Projection to counts that are possible: none below 0, all together a given number."""

import numpy as np

from tasks.core.fitting.noisy_tables import Counts


def nearest_counts(estimates: Counts, total: float) -> Counts:
    """The counts >= 0 with sum ``total`` that are nearest to ``estimates`` in least squares.

    Source: the projection onto the simplex (Held, Wolfe and Crowder 1974): one number is taken off all, and
    what would be negative is 0.

    Args:
        estimates: float64 (d,), d >= 1.
        total: > 0.
    """
    falling = np.sort(estimates)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, len(falling) + 1)
    last = int(np.flatnonzero(falling > excess)[-1])
    counts: Counts = np.maximum(estimates - excess[last], 0.0)
    return counts
