"""Shrinkage at several resolutions: neighbours that deviate alike are told from noise together.

Ages 41 and 42 deviate from independence in nearly the same way, so their sum says more than each of the two.
Along an axis, cells are turned into *levels*: one that follows the margin, then differences between the lower
and the upper half, between quarters, and so on down to single values, each orthogonal to all others (Haar's
wavelets, with the margin in place of equal masses). Noise that is equal and independent in all cells stays so
in the levels. Whether an axis has an order that tells anything, the evidence says: each choice of axes is
tried, and the posterior means are weighed by how well each choice explains the table.
"""

import itertools
from collections.abc import Sequence

import numpy as np

from tasks.core.fitting.noisy_tables import Counts
from tasks.core.fitting.shrinkage import Posterior, posterior

_LEAST_MARGIN = 1e-3
#: In a coarser axis each cell holds enough to speak for itself, and neighbours lend it what it has not.
_LEAST_CELLS = 30


def levels_of(margin: Counts) -> Counts | None:
    """Orthonormal rows (d, d): the margin's own direction, then differences, coarse ones first.

    Args:
        margin: float64 (d,), none below 0; the estimated counts of a column's cells, in their order.

    Returns:
        None where there are too few cells.
    """
    if len(margin) < _LEAST_CELLS:
        return None
    masses = np.maximum(margin, _LEAST_MARGIN)
    rows = [masses / np.sqrt(np.square(masses).sum())]
    spans = [(0, len(masses))]
    for low, high in spans:
        if high - low > 1:
            middle = (low + high) // 2
            rows.append(_difference(masses, low, middle, high))
            spans += [(low, middle), (middle, high)]
    return np.array(rows)


def _difference(masses: Counts, low: int, middle: int, high: int) -> Counts:
    """Of length 1: what is 0 where both halves follow the masses alike."""
    lower, upper = np.square(masses[low:middle]).sum(), np.square(masses[middle:high]).sum()
    row = np.zeros(len(masses))
    row[low:middle] = masses[low:middle] * np.sqrt(upper / lower / (lower + upper))
    row[middle:high] = -masses[middle:high] * np.sqrt(lower / upper / (lower + upper))
    return row


def shrunk_by_levels(
    deviations: Counts, expected: Counts, variance: float, levels: Sequence[Counts | None]
) -> Counts:
    """The posterior mean of the deviations, in cells and in levels of any of the axes, weighed by evidence.

    Args:
        deviations: noisy.
        expected: what the cells are expected to hold, > 0, same shape.
        variance: of the deviations' noise, > 0.
        levels: of each axis `levels_of` its margin, or None to leave the axis as it is.
    """
    choices = itertools.product(*((None,) if basis is None else (None, basis) for basis in levels))
    found = [_in_levels(deviations, expected, variance, bases) for bases in choices]
    most = max(each.evidence for each in found)
    weights = [float(np.exp(each.evidence - most)) for each in found]
    total = np.zeros(deviations.shape)
    for each, weight in zip(found, weights, strict=True):
        total += weight / sum(weights) * each.mean
    return total


def _in_levels(
    deviations: Counts, expected: Counts, variance: float, bases: Sequence[Counts | None]
) -> Posterior:
    turned, spread = deviations, expected
    for axis, basis in enumerate(bases):
        if basis is not None:
            turned, spread = _along(basis, turned, axis), _along(basis**2, spread, axis)
    found = posterior(turned, spread, variance)
    mean = found.mean
    for axis, basis in enumerate(bases):
        if basis is not None:
            mean = _along(basis.T, mean, axis)
    return Posterior(mean, found.evidence)


def _along(matrix: Counts, table: Counts, axis: int) -> Counts:
    """A matrix times a table along one axis."""
    turned: Counts = np.moveaxis(np.tensordot(matrix, table, (1, axis)), 0, axis)
    return turned
