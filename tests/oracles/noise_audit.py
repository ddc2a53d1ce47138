"""Audit A6: does a sample follow the law of a rounded Gaussian, and are its draws independent?

False-alarm rate: each of the four tests fires with probability 1e-4 on correct noise.
"""

import math

import numpy as np
from scipy import stats

ALPHA = 1e-4


def chi_square_p(draws, probabilities, first, least_expected=20):
    """p-value of a sample against P(first), P(first + 1), ...; rare cells and the rest are pooled."""
    expected = np.asarray(probabilities, float) * draws.size
    observed = np.bincount(np.clip(draws - first, -1, expected.size) + 1, minlength=expected.size + 2)[1:-1]
    large = expected >= least_expected
    expected = np.append(expected[large], draws.size - expected[large].sum())
    observed = np.append(observed[large], draws.size - observed[large].sum())
    if expected[-1] < least_expected:
        expected[-2] += expected[-1]
        observed[-2] += observed[-1]
        expected, observed = expected[:-1], observed[:-1]
    statistic = ((observed - expected) ** 2 / expected).sum()
    return float(stats.chi2.sf(statistic, expected.size - 1))


def rounded_gaussian(scale):
    """(first, probabilities) over ten standard deviations."""
    reach = math.ceil(10 * scale) + 2
    z = np.arange(-reach, reach + 1)
    low, high = stats.norm.cdf((z - 0.5) / scale), stats.norm.cdf((z + 0.5) / scale)
    upper = stats.norm.sf((z - 0.5) / scale) - stats.norm.sf((z + 0.5) / scale)
    return -reach, np.where(z > 0, upper, high - low)


def noise_audit(draws, scale):
    """The p-values of chi-square, variance, lag-1 correlation and sign symmetry."""
    first, p = rounded_gaussian(scale)
    z = first + np.arange(p.size)
    variance, fourth = (p * z**2).sum(), (p * z.astype(float) ** 4).sum()
    squares = draws.astype(float) ** 2
    variance_z = (squares.mean() - variance) / math.sqrt((fourth - variance**2) / draws.size)
    lag_z = (draws[1:] * draws[:-1]).mean() / variance * math.sqrt(draws.size - 1)
    signs = np.sign(draws).sum() / math.sqrt(np.count_nonzero(draws))
    normal = {"variance": variance_z, "lag": lag_z, "signs": signs}
    return {"chi_square": chi_square_p(draws, p, first)} | {
        name: float(2 * stats.norm.sf(abs(value))) for name, value in normal.items()
    }


def fired(p_values):
    return {name for name, p in p_values.items() if p < ALPHA}


def clopper_pearson(hits, runs, level=0.99):
    """Lower and upper bound of a probability."""
    tail = (1 - level) / 2
    low = stats.beta.ppf(tail, hits, runs - hits + 1) if hits else 0.0
    return low, stats.beta.isf(tail, hits + 1, runs - hits) if hits < runs else 1.0


def bounds_of_mu(without, with_x):
    """Bounds of mu from what a test statistic says on D and on D + x; above 0 it speaks for D + x."""
    runs = len(without)
    alarms = clopper_pearson(np.count_nonzero(without > 0), runs)
    misses = clopper_pearson(np.count_nonzero(with_x <= 0), runs)
    low = stats.norm.isf(alarms[1]) - stats.norm.ppf(misses[1])
    return low, stats.norm.isf(alarms[0]) - stats.norm.ppf(misses[0])
