"""The exponential mechanism for a percentile of the number of combinations a subject has.

In: a histogram of sizes (sensitive) and public parameters. Out: one integer of the public range
1..M, with the budget eps_Q of pure differential privacy (privacy.md G1, G2, C4, rule 18).
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate

from tasks.core.dp.exact_tables import GUARD_BITS, draw_one
from tasks.core.dp.normal import Mpf, number, precision
from tasks.core.dp.stream import WordSource
from tasks.core.errors import InternalError


def scores(sizes_histogram: Sequence[int], q: Fraction, largest: int) -> list[Fraction]:
    """u(v) = -|#{s <= v} - q n| for v = 1..M.

    One record more or less moves #{s <= v} by 0 or 1 and q n by q, hence u by at most max(q, 1 - q)
    whatever the sizes are, those above M included.

    Args:
        sizes_histogram: entry s is the number of records with size s, s = 0, 1, ...
        q: the quantile aimed at, 0..1.
        largest: M >= 1, a public bound.
    """
    counts = [int(count) for count in sizes_histogram]
    goal = q * sum(counts)
    below = list(accumulate(counts[: largest + 1])) or [0]
    below += below[-1:] * (largest + 1 - len(below))
    return [-abs(count - goal) for count in below[1:]]


class PercentileLaw:
    """P(v) proportional to exp(eps_Q u(v) / (2 max(q, 1 - q))) over v = 1..M."""

    centre = 1

    def __init__(
        self, sizes_histogram: Sequence[int], q: Fraction | float, epsilon: float, largest: int
    ) -> None:
        """Raises InternalError unless 0 <= q <= 1, epsilon > 0 and M >= 1."""
        self._q, self._epsilon = Fraction(q), Fraction(epsilon)
        if not 0 <= self._q <= 1 or self._epsilon <= 0 or largest < 1:
            raise InternalError(
                "A percentile needs 0 <= q <= 1, epsilon > 0 and a largest value of at least 1."
            )
        self._scores = scores(sizes_histogram, self._q, largest)
        self._sums: dict[int, list[Mpf]] = {}

    def probabilities(self, bits: int) -> list[Mpf]:
        """P(1), ..., P(M) to at least ``bits`` bits."""
        with precision(bits + GUARD_BITS) as mp:
            # Relative to the best score no exponent is positive and one is 0.
            best, rate = max(self._scores), self._epsilon / (2 * max(self._q, 1 - self._q))
            weight = {u: mp.exp(number(rate * (u - best))) for u in set(self._scores)}
            total = mp.fsum(weight[u] for u in self._scores)
            return [weight[u] / total for u in self._scores]

    def floor_cdf(self, v: int, bits: int) -> int:
        """floor(2^bits P(V <= v))."""
        if v < 1 or v >= len(self._scores):
            return 0 if v < 1 else 1 << bits
        with precision(bits + GUARD_BITS) as mp:
            if bits not in self._sums:
                self._sums[bits] = list(accumulate(self.probabilities(bits)))
            return int(mp.floor(mp.ldexp(self._sums[bits][v - 1], bits)))


def choose(
    sizes_histogram: Sequence[int], q: Fraction | float, epsilon: float, largest: int, stream: WordSource
) -> int:
    """Draw the percentile: epsilon-DP for adding or removing one record; exact to better than 2^-160.

    Args:
        sizes_histogram: entry s is the number of records with size s, s = 0, 1, ... (int64 works too).
        q: the quantile aimed at, 0..1; ``Fraction(percentage, 100)``.
        epsilon: eps_Q > 0.
        largest: M >= 1, a public bound on the answer.
        stream: one word is taken, or five and more at a tie.
    """
    return draw_one(PercentileLaw(sizes_histogram, q, epsilon, largest), stream)
