"""Empirical-Bayes shrinkage: noisy deviations from a centre in, the share of them that is signal out.

The deviation of a cell is taken to be 0, or normal around 0 with a variance that grows with what the cell
is expected to hold; how often which, the table's own noisy cells say (EM). A table that holds nothing but
noise goes to its centre, one whose signal stands far above the noise stays as it is (fitted.md 4, step 6).
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tasks.core.fitting.noisy_tables import Counts

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

    mean: Counts
    evidence: float


def posterior(deviations: Counts, expected: Counts, variance: float) -> Posterior:
    """The posterior of the deviations.

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


def shrunk(deviations: Counts, expected: Counts, variance: float) -> Counts:
    """The posterior mean of the deviations; see `posterior`."""
    return posterior(deviations, expected, variance).mean


def _learnt(noisy: Counts, relative: Counts, variance: float) -> tuple[Counts, float]:
    """How often which variance is, and the evidence of all cells."""
    if noisy.size > _CELLS_LEARNT:
        places = np.linspace(0, noisy.size - 1, _CELLS_LEARNT).astype(np.int64)
        some = np.argsort(relative, kind="stable")[places]
    else:
        some = np.arange(noisy.size)
    likelihood, _, largest = _components(noisy[some], relative[some], variance, _ALL)
    weights = np.full(len(likelihood), 0.5 / (len(likelihood) - 1))
    weights[0] = 0.5
    for _ in range(_STEPS):
        weights *= likelihood @ (1 / (weights @ likelihood)) / len(some)
    evidence = float((np.log(weights @ likelihood) + largest).sum())
    return weights, evidence * noisy.size / len(some)


def _components(
    noisy: Counts, relative: Counts, variance: float, used: npt.NDArray[np.bool_]
) -> tuple[Counts, Counts, Counts]:
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
