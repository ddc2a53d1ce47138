"""Empirical-Bayes shrinkage: noisy deviations from a centre in, the share of them that is signal out.

The deviation of a cell is taken to be 0, or normal around 0 with a variance that grows with what the cell
is expected to hold; how often which, the table's own noisy cells say (EM). A table that holds nothing but
noise goes to its centre, one whose signal stands far above the noise stays as it is (fitted.md 4, step 6).
"""

import numpy as np

from tasks.core.fitting.noisy_tables import Counts

#: Variances of the signal, as multiples of the noise's, of the cell that is expected to hold most.
_STRENGTHS = 10.0 ** np.arange(-1, 3.5, 0.5)
#: How the variance of the signal grows with what a cell is expected to hold.
_POWERS = (0.5, 1.0, 1.5, 2.0)
_STEPS = 25


def shrunk(deviations: Counts, expected: Counts, variance: float) -> Counts:
    """The posterior mean of the deviations, in the shape given.

    Args:
        deviations: noisy, of any shape.
        expected: what the cells are expected to hold, > 0, same shape.
        variance: of the deviations' noise.
    """
    noisy = deviations.ravel()
    relative = expected.ravel() / expected.max()
    spread = np.stack([strength * relative**power for power in _POWERS for strength in _STRENGTHS], axis=1)
    signal = np.concatenate([np.zeros((noisy.size, 1)), variance * spread], axis=1)
    whole = signal + variance
    logs = -0.5 * (noisy[:, None] ** 2 / whole + np.log(whole))
    likelihood = np.exp(logs - logs.max(axis=1, keepdims=True))
    weights = np.full(signal.shape[1], 0.5 / (signal.shape[1] - 1))
    weights[0] = 0.5
    for _ in range(_STEPS):
        weights *= (1 / (likelihood @ weights)) @ likelihood / noisy.size
    posterior = likelihood * weights
    kept = (posterior * (signal / whole)).sum(axis=1) / posterior.sum(axis=1)
    result: Counts = (noisy * kept).reshape(deviations.shape)
    return result
