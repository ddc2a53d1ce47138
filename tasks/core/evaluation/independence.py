"""Whether what was measured of two columns tells of a relation between them, or of noise and chance alone.

An estimated table of counts and the variances of its noise go in; out come how much it deviates from
independence beside what noise and chance make of that, and whether these explain it.

Let p and q be the shares of the two columns' values, N the number of records, Z what was added to the counts.
To first order the deviation D = P - r c' / N of an independent pair is (I - p 1') Z (I - 1 q'). What is in Z:
noise of the pair's own residual, of the two columns' and of the number of records, all independent (see
`tasks.core.fitting.least_squares`), and the table's own chance, that of N records drawn from p and q. The sum
of squares of D is then a sum of chi-squares, which a scaled chi-square of the same mean and variance stands
for (Satterthwaite, Biometrics Bulletin 2, 1946), and its quantile is Wilson's and Hilferty's (PNAS 17, 1931).
"""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from tasks.core.arrays import Floats

#: Of pairs that are independent, so many of a hundred are taken for related.
FALSE_ALARMS = 5
_QUANTILE = NormalDist().inv_cdf(1 - FALSE_ALARMS / 100)


@dataclass(frozen=True)
class PairNoise:
    """Variances of the noise of a pair's residuals, each of one cell before it was centred.

    Attributes:
        pair: of the pair's own.
        one, other: of the columns' by themselves.
        whole: of the number of records.
    """

    pair: float
    one: float
    other: float
    whole: float


@dataclass(frozen=True)
class Deviation:
    """How far a pair is from independence.

    Attributes:
        signal: its squared deviation over what noise and chance make of an independent pair's; 1 is none.
        is_noise: whether noise and chance alone would be as strong in more than `FALSE_ALARMS` of 100 pairs.
    """

    signal: float
    is_noise: bool


def deviation(estimate: Floats, noise: PairNoise) -> Deviation | None:
    """Of one pair's signed counts (a, b); None where a column has one cell, so that nothing can deviate.

    >>> noise = PairNoise(pair=4.0, one=4.0, other=4.0, whole=4.0)
    >>> smoking_by_sex = np.array([[400.0, 100.0], [100.0, 400.0]])
    >>> deviation(smoking_by_sex, noise).is_noise, deviation(np.full((2, 2), 250.0), noise).is_noise
    (False, True)
    """
    if min(estimate.shape) < 2:
        return None
    whole = max(1.0, float(estimate.sum()))
    one, other = estimate.sum(axis=1), estimate.sum(axis=0)
    found = float(((estimate - np.outer(one, other) / whole) ** 2).sum())
    mean, variance = _moments(_parts(_shares(one), _shares(other), whole, noise))
    freedom = 2 * mean**2 / variance
    middle = 2 / (9 * freedom)
    bound = mean * (1 - middle + _QUANTILE * middle**0.5) ** 3
    return Deviation(found / mean, found < bound)


def _shares(counts: Floats) -> Floats:
    """Of the values of a column; even where all that was measured is noise below 0."""
    kept = np.maximum(counts, 0.0)
    return kept / kept.sum() if kept.sum() > 0 else np.full(len(counts), 1 / len(counts))


def _parts(p: Floats, q: Floats, whole: float, noise: PairNoise) -> list[tuple[Floats, Floats]]:
    """The covariance of an independent pair's deviation: a sum of products of one matrix a column."""
    chance = (whole * (np.diag(p) - np.outer(p, p)), np.diag(q) - np.outer(q, q))
    pair = (noise.pair * _centred(len(p)), _centred(len(q)))
    one = (noise.one * _centred(len(p)), _uneven(q))
    other = (_uneven(p), noise.other * _centred(len(q)))
    return [chance, pair, one, other, (noise.whole * _uneven(p), _uneven(q))]


def _centred(size: int) -> Floats:
    """I - 1 1' / a: noise of equal variance that was centred; I - p 1' leaves it as it is."""
    return np.asarray(np.eye(size) - 1 / size)


def _uneven(shares: Floats) -> Floats:
    """(1/a - p) (1/a - p)': what is left of noise that is spread evenly over the values."""
    apart = 1 / len(shares) - shares
    return np.outer(apart, apart)


def _moments(parts: list[tuple[Floats, Floats]]) -> tuple[float, float]:
    """Mean and variance of the sum of squares: the trace, and twice that of the square."""
    mean = sum(float(np.trace(one) * np.trace(other)) for one, other in parts)
    square = sum(
        float((one * again).sum() * (other * further).sum())
        for one, other in parts
        for again, further in parts
    )
    return mean, 2 * square
