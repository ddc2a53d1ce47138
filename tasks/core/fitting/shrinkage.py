"""Empirical-Bayes shrinkage: noisy deviations from a centre in, the share of them that is signal out.

The deviation of a cell is taken to be 0, or normal around 0 with a variance that grows with what the cell
is expected to hold. How often which, the table's own noisy cells say (EM). A table that holds nothing but
noise goes to its centre; one whose signal stands far above the noise stays as it is (E5).

Neighbours that deviate alike are told from noise together: ages 41 and 42 deviate from independence in
nearly the same way, so their sum says more than each of the two. Along an axis, cells are turned into
*levels*: one that follows the margin, then differences between the lower and the upper half, between
quarters, and so on down to single values, each orthogonal to all others (Haar's wavelets, with the margin
in place of equal masses). Noise that is equal and independent in all cells stays so in the levels. Whether
an axis has an order that tells anything, the evidence says: each choice of axes is tried, and the posterior
means are weighed by how well each choice explains the table.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tasks.core.arrays import Flags, Floats

#: Variances of the signal, as multiples of the noise's, of the cell that is expected to hold most.
_STRENGTHS = 10.0 ** np.arange(-1, 5)
#: How the variance of the signal grows with what a cell is expected to hold.
_POWERS = (0.5, 1.0, 1.5, 2.0)
_STEPS = 80
_ALL = np.ones(1 + len(_POWERS) * len(_STRENGTHS), bool)
#: So many cells, of small and of large expectation alike, say how often which variance is.
_CELLS_LEARNT = 2_000
#: In larger tables, variances that are rarer than this are left out.
_RAREST = 1e-4
#: So many cells are worked on at once, which keeps them in the processor's cache.
_CELLS_AT_ONCE = 4_000


@dataclass(frozen=True)
class Posterior:
    """What noisy deviations tell.

    Attributes:
        mean: of the deviations without noise, in their shape.
        evidence: the logarithm of the density of the noisy deviations, under the variances that were learnt.
    """

    mean: Floats
    evidence: float


def posterior(deviations: Floats, expected: Floats, variance: float) -> Posterior:
    """The posterior of the deviations.

    >>> noisy, expected = np.array([40.0, 1.0, -1.0, 0.5, -0.5, 1.0]), np.full(6, 10.0)
    >>> abs(posterior(noisy, expected, variance=1.0).mean).round(1).tolist()  # one is signal
    [40.0, 0.0, 0.0, 0.0, 0.0, 0.0]

    Args:
        deviations: noisy, of any shape.
        expected: what the cells are expected to hold, > 0, same shape.
        variance: of the deviations' noise, > 0.
    """
    noisy, relative = deviations.ravel(), expected.ravel() / expected.max()
    weights, evidence = _learnt(noisy, relative, variance)
    used = weights > (_RAREST if noisy.size > _CELLS_LEARNT else 0.0)
    mean = np.empty(noisy.size)
    for start in range(0, noisy.size, _CELLS_AT_ONCE):
        block = slice(start, start + _CELLS_AT_ONCE)
        likelihood, kept, _ = _components(noisy[block], relative[block], variance, used)
        kept *= likelihood
        mean[block] = noisy[block] * (weights[used] @ kept) / (weights[used] @ likelihood)
    return Posterior(mean.reshape(deviations.shape), evidence)


def _learnt(noisy: Floats, relative: Floats, variance: float) -> tuple[Floats, float]:
    """How often which variance is, and the evidence of all cells."""
    if noisy.size > _CELLS_LEARNT:
        places = np.linspace(0, noisy.size - 1, _CELLS_LEARNT).astype(np.int64)
        some = np.argsort(relative, kind="stable")[places]
    else:
        some = np.arange(noisy.size)
    likelihood, _, largest = _components(noisy[some], relative[some], variance, _ALL)
    # To begin with, half of the cells hold no signal, and all variances of signals are equally likely.
    weights = np.full(len(likelihood), 0.5 / (len(likelihood) - 1))
    weights[0] = 0.5
    for _ in range(_STEPS):
        weights *= likelihood @ (1 / (weights @ likelihood)) / len(some)
    evidence = float((np.log(weights @ likelihood) + largest).sum())
    return weights, evidence * noisy.size / len(some)


def _components(
    noisy: Floats, relative: Floats, variance: float, used: Flags
) -> tuple[Floats, Floats, Floats]:
    """Of each variance that is used (a row) and each cell (a column): likelihood and share of signal.

    The likelihoods of a cell are divided by the largest, whose logarithm comes last.
    """
    ratios = np.concatenate([[0.0 * relative], *(_STRENGTHS[:, None] * relative**power for power in _POWERS)])
    ratios = ratios[used]  # of the signal's variance to the noise's
    whole = ratios + 1
    logs = noisy**2 / variance / whole
    logs += np.log(whole)
    logs += math.log(2 * math.pi * variance)
    logs *= -0.5
    largest = logs.max(axis=0)
    logs -= largest
    ratios /= whole
    return np.exp(logs, out=logs), ratios, largest


_LEAST_MARGIN = 1e-3
#: In a coarser axis each cell holds enough to speak for itself, and neighbours lend it what it has not.
_LEAST_CELLS = 30


def levels_of(margin: Floats) -> Floats | None:
    """Orthonormal rows (d, d): the margin's own direction, then differences, coarse ones first.

        of four cells    + + + +    as the margin
                         + + - -    lower half against upper half
                         + - . .    within the lower half
                         . . + -    within the upper half

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


def _difference(masses: Floats, low: int, middle: int, high: int) -> Floats:
    """Of length 1: what is 0 where both halves follow the masses alike."""
    lower, upper = np.square(masses[low:middle]).sum(), np.square(masses[middle:high]).sum()
    row = np.zeros(len(masses))
    row[low:middle] = masses[low:middle] * np.sqrt(upper / lower / (lower + upper))
    row[middle:high] = -masses[middle:high] * np.sqrt(lower / upper / (lower + upper))
    return row


def shrunk_by_levels(
    deviations: Floats, expected: Floats, variance: float, levels: Sequence[Floats | None]
) -> Floats:
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
    deviations: Floats, expected: Floats, variance: float, bases: Sequence[Floats | None]
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


def _along(matrix: Floats, table: Floats, axis: int) -> Floats:
    turned: Floats = np.moveaxis(np.tensordot(matrix, table, (1, axis)), 0, axis)
    return turned
