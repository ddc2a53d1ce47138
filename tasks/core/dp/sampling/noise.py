"""Exact noise: rounded Gaussian and its upper tail, rounded Laplace, binomial, uniform subset.

No float is ever added to a count (D10, R15, R18, R19).
"""

from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

import numpy as np

from tasks.core.arrays import Integers
from tasks.core.dp.sampling.gaussian_tables import (
    GUARD_BITS,
    ExactTable,
    RoundedGaussianLaw,
    UpperTailLaw,
    draw_one,
    gaussian_words,
    tail_words,
)
from tasks.core.dp.sampling.noise_kernels import mark_new
from tasks.core.dp.sampling.normal import Mpf, exact_number, precision, upper_tail
from tasks.core.dp.sampling.stream import WordSource
from tasks.core.errors import InternalError, ParameterError


class BinomialLaw:
    """Binomial(trials, probability) with 0 < probability < 1 and trials >= 1.

    Probabilities are fixed-point integers; both ways from the mode each is the one before it times a
    ratio of at most 1, so errors don't grow, and the sums end where the terms vanish.
    """

    def __init__(self, trials: int, probability: Mpf) -> None:
        self._trials, self._probability = trials, probability
        self.centre = min(trials, int((trials + 1) * probability))
        self._sums: dict[int, tuple[int, list[int]]] = {}

    def floor_cdf(self, z: int, bits: int) -> int:
        """floor(2^bits P(Z <= z))."""
        if z < 0 or z >= self._trials:
            return 0 if z < 0 else 1 << bits
        if bits not in self._sums:
            self._sums[bits] = self._cumulative(bits + GUARD_BITS)
        first, sums = self._sums[bits]
        if z < first:
            return 0
        return min((1 << bits) - 1, sums[min(z - first, len(sums) - 1)] >> GUARD_BITS)

    def _cumulative(self, bits: int) -> tuple[int, list[int]]:
        """(first, F(first), F(first + 1), ... in units of 2^-bits) over all terms of at least one unit."""
        n, mode = self._trials, self.centre
        with precision(bits + GUARD_BITS) as mp:
            p = mp.mpf(self._probability)
            ways = mp.loggamma(n + 1) - mp.loggamma(mode + 1) - mp.loggamma(n - mode + 1)
            mass = int(mp.ldexp(mp.exp(ways + mode * mp.log(p) + (n - mode) * mp.log1p(-p)), bits))
            odds = p / (1 - p)
            up_shift, down_shift = (bits + 64 - int(mp.floor(mp.log(x, 2))) for x in (odds, 1 / odds))
            up_odds, down_odds = int(mp.ldexp(odds, up_shift)), int(mp.ldexp(1 / odds, down_shift))
        above, below = [mass], list[int]()
        for k in range(mode, n):
            next_mass = (above[-1] * (n - k) * up_odds >> up_shift) // (k + 1)
            if not next_mass:
                break
            above.append(next_mass)
        for k in range(mode, 0, -1):
            mass = (mass * k * down_odds >> down_shift) // (n - k + 1)
            if not mass:
                break
            below.append(mass)
        return mode - len(below), list(accumulate(below[::-1] + above))


GRID = 64
"""Scales are whole multiples of 1/64 record."""

LARGEST_SCALE = 1 << 17

_TAIL_BITS = 800
_MOST_DRAWS_WITHOUT_TABLE = 64
_MOST_EXPECTED_SUCCESSES = 1 << 32
_SPARSE_SHARE = 16


class RoundedGaussian:
    """round(N(0, s^2)), ties of the rounding having probability 0.

    Added to an integer count this is the continuous Gaussian mechanism followed by rounding, so it
    has that mechanism's exact guarantee.

    Attributes:
        scale: s in records, a positive multiple of 1/64.
    """

    def __init__(self, scale: Fraction | float) -> None:
        self.scale = Fraction(scale)
        if self.scale <= 0 or (self.scale * GRID).denominator != 1:
            raise InternalError("The scale of Gaussian noise must be a positive multiple of 1/64.")
        if self.scale > LARGEST_SCALE:
            raise ParameterError(
                f"The noise would have a standard deviation above {LARGEST_SCALE} records, which is more "
                "than can be drawn or used: raise epsilon, or shorten the reporting length."
            )

    def draw(self, stream: WordSource, count: int) -> Integers:
        """``count`` independent draws, int64 (count,)."""
        return _gaussian_table(self.scale).draw(stream, count)

    def upper_tail(self, threshold: int) -> Mpf:
        """P(Z >= threshold) = Q((threshold - 1/2) / s), to 800 bits."""
        with precision(_TAIL_BITS):
            return upper_tail(exact_number((threshold - Fraction(1, 2)) / self.scale))

    def draw_at_least(self, threshold: int, stream: WordSource, count: int) -> Integers:
        """``count`` independent draws of Z given Z >= threshold, for a threshold of 1 or more (R15)."""
        if threshold < 1:
            raise InternalError("The upper tail is drawn from a threshold of at least 1.")
        return _tail_table(self.scale, threshold).draw(stream, count)


@lru_cache(maxsize=64)
def _gaussian_table(scale: Fraction) -> ExactTable:
    return ExactTable(RoundedGaussianLaw(scale), *gaussian_words(scale))


@lru_cache(maxsize=16)
def _tail_table(scale: Fraction, threshold: int) -> ExactTable:
    return ExactTable(UpperTailLaw(scale, threshold), *tail_words(scale, threshold))


class RoundedLaplace:
    """round(Laplace(0, 1 / epsilon)): the noise of a count of sensitivity 1 (R18)."""

    centre = 0

    def __init__(self, epsilon: float | Fraction) -> None:
        """Raises InternalError unless epsilon > 0."""
        self.epsilon = Fraction(epsilon)
        if self.epsilon <= 0:
            raise InternalError("Laplace noise needs a positive epsilon.")

    def floor_cdf(self, z: int, bits: int) -> int:
        """floor(2^bits P(Z <= z)): exp(eps (z + 1/2)) / 2 below 0, 1 - exp(-eps (z + 1/2)) / 2 from 0 on."""
        with precision(bits + GUARD_BITS) as mp:
            half = mp.exp(-exact_number(self.epsilon * abs(z + Fraction(1, 2)))) / 2
            return int(mp.floor(mp.ldexp(half if z < 0 else 1 - half, bits)))

    def draw(self, stream: WordSource, count: int) -> Integers:
        """``count`` independent draws, int64 (count,); a few are bisected, more than that take a table."""
        if count <= _MOST_DRAWS_WITHOUT_TABLE:
            return np.array([draw_one(self, stream) for _ in range(count)], np.int64)
        return ExactTable.tabulate(self).draw(stream, count)


def binomial(stream: WordSource, trials: int, probability: Mpf) -> int:
    """The number of successes in ``trials`` >= 0 independent trials, exactly.

    Time and memory grow with the square root of the expected number of successes.

    Raises:
        InternalError: for a probability outside [0, 1], or more than 2^32 expected successes.
    """
    if not 0 <= probability <= 1 or trials < 0:
        raise InternalError("A binomial needs trials >= 0 and a probability from 0 to 1.")
    if trials * probability > _MOST_EXPECTED_SUCCESSES:
        raise InternalError("A binomial draw this large would give more cells than can be held.")
    if trials == 0 or probability == 0 or probability == 1:
        return trials if probability == 1 else 0
    return draw_one(BinomialLaw(trials, probability), stream)


def bounded(stream: WordSource, bound: int, count: int) -> Integers:
    """``count`` independent uniform integers in [0, bound), 1 <= bound <= 2^62, by rejection: no bias."""
    shift = np.uint64(64 - max(1, (bound - 1).bit_length()))
    out = np.empty(count, np.int64)
    filled = 0
    while filled < count:
        candidates = stream.words(count - filled) >> shift
        kept = candidates[candidates < np.uint64(bound)]
        out[filled : filled + kept.size] = kept.astype(np.int64)
        filled += kept.size
    return out


def subset(stream: WordSource, population: int, size: int) -> Integers:
    """A uniform random subset of {0, ..., population - 1}, int64 (size,), ascending.

    Draws with repetition until ``size`` different ones have come: by symmetry every set of that size
    is as likely. Beyond half of the population the complement is drawn so.
    """
    if not 0 <= size <= population:
        raise InternalError("A subset must not be larger than its population.")
    if size * _SPARSE_SHARE > population:
        return _dense_subset(stream, population, size)
    chosen = np.empty(0, np.int64)
    while chosen.size < size:
        new = np.sort(bounded(stream, population, size - chosen.size))
        new = new[np.append(True, new[1:] != new[:-1])]
        if chosen.size:
            places = np.minimum(np.searchsorted(chosen, new), chosen.size - 1)
            new = new[chosen[places] != new]
        # Two ascending runs: the stable sort merges them in linear time.
        chosen = np.sort(np.concatenate([chosen, new]), kind="stable")
    return chosen


def _dense_subset(stream: WordSource, population: int, size: int) -> Integers:
    wanted = min(size, population - size)
    marks = np.zeros(population, np.bool_)
    marked = 0
    while marked < wanted:
        marked += mark_new(bounded(stream, population, wanted - marked), marks)
    return np.flatnonzero(marks if wanted == size else ~marks)
