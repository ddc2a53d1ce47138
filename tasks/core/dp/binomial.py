"""The binomial law to any precision, by summing its probabilities outwards from the mode.

In: trials and probability. Out: a `DiscreteLaw`.
"""

from itertools import accumulate

from tasks.core.dp.exact_tables import GUARD_BITS
from tasks.core.dp.normal import Mpf, precision


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
