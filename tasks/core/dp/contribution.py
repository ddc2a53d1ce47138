"""How many tuples of one record are counted, and which: contribution bounding.

Coins are keyed by the tag alone (R13, C5): a splitmix64 sequence that starts there. D7 says how Delta_k is
set, D8 why the percentile of ``zcdp`` is private (G1, G2, C4, R18).
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

import numpy as np

from tasks.core.arrays import Codes, HalfWords, Integers, Words
from tasks.core.dp.sampling import noise
from tasks.core.dp.sampling.gaussian_tables import GUARD_BITS, draw_one
from tasks.core.dp.sampling.normal import Mpf, exact_number, precision
from tasks.core.dp.sampling.stream import WordSource
from tasks.core.errors import InternalError


def size_candidates(most: int) -> list[int]:
    """Sizes from 1 to a public bound, each about two fifths larger than the one before.

    >>> size_candidates(40)
    [1, 2, 3, 5, 7, 10, 14, 20, 28, 40]
    """
    found = [1]
    while found[-1] < most:
        found.append(min(most, -(-7 * found[-1] // 5)))
    return found


#: A candidate v weighs v^-3/2. Less would leave too many draws in the void, more would drop what few records
#: tell of: their scores are close together.
STEEPNESS = Fraction(3, 2)


def scores(sizes_histogram: Sequence[int], q: Fraction, candidates: Sequence[int]) -> list[Fraction]:
    """u(v) = -|#{s <= v} - q n| for each candidate v; one record moves it by at most max(q, 1 - q) (D8).

    Of ten people two hold one item, five hold two, three hold three. Two items are nearest to the median:

    >>> [int(score) for score in scores([0, 2, 5, 3], q=Fraction(1, 2), candidates=[1, 2, 3, 4])]
    [-3, -2, -5, -5]

    Args:
        sizes_histogram: entry s is the number of records with size s, s = 0, 1, ...
        candidates: public, each at least 0.
    """
    below = list(accumulate(map(int, sizes_histogram))) or [0]
    goal, last = q * below[-1], len(below) - 1
    return [-abs(below[min(size, last)] - goal) for size in candidates]


class PercentileLaw:
    """P(v) proportional to v^-steepness exp(eps_Q u(v) / (2 max(q, 1 - q))) over public candidates v.

    A draw is epsilon-DP for adding or removing one record.
    """

    centre = 0

    def __init__(
        self,
        sizes_histogram: Sequence[int],
        q: Fraction | float,
        epsilon: float,
        candidates: Sequence[int],
        steepness: Fraction = STEEPNESS,
    ) -> None:
        """Raises InternalError unless 0 <= q <= 1, epsilon > 0 and all candidates, ascending, are >= 1."""
        self._q, self._epsilon, self._steepness = Fraction(q), Fraction(epsilon), steepness
        self._candidates = candidates
        if not 0 <= self._q <= 1 or self._epsilon <= 0 or not candidates or candidates[0] < 1:
            raise InternalError("A percentile needs 0 <= q <= 1, epsilon > 0 and candidates of at least 1.")
        self._scores = scores(sizes_histogram, self._q, candidates)
        self._sums: dict[int, list[Mpf]] = {}

    def probabilities(self, bits: int) -> list[Mpf]:
        """That of each candidate, to at least ``bits`` bits."""
        with precision(bits + GUARD_BITS) as mp:
            # Relative to the best score no exponent is positive and one is 0.
            best, rate = max(self._scores), self._epsilon / (2 * max(self._q, 1 - self._q))
            steepness = exact_number(self._steepness)
            weights = [
                mp.exp(exact_number(rate * (u - best))) / mp.power(v, steepness)
                for v, u in zip(self._candidates, self._scores, strict=True)
            ]
            total = mp.fsum(weights)
            return [weight / total for weight in weights]

    def floor_cdf(self, place: int, bits: int) -> int:
        """floor(2^bits P(V <= the candidate at a place))."""
        if place < 0 or place >= len(self._scores) - 1:
            return 0 if place < 0 else 1 << bits
        with precision(bits + GUARD_BITS) as mp:
            if bits not in self._sums:
                self._sums[bits] = list(accumulate(self.probabilities(bits)))
            return int(mp.floor(mp.ldexp(self._sums[bits][place], bits)))

    def draw(self, stream: WordSource) -> int:
        """A candidate, exact to better than 2^-160: one word is taken, or five and more at a tie."""
        return self._candidates[draw_one(self, stream)]


#: One random state, one number of tuples left and one number still to drop for each record (`drop_tuples`).
Coins = tuple[Words, Integers, Integers]
#: The most bins of a profile (R12).
PROFILE_BINS = 32
#: How many standard deviations of its noise a share of records lies above what it is compared with.
_CLEARLY = 3
#: An odd constant that takes the sequences of different lengths apart.
_LENGTH_STEP = 0xD1B54A32D192ED03


@dataclass(frozen=True)
class Bounds:
    """Public facts about one length.

    Attributes:
        width: W, the largest number of attributes of a record.
        length: k.
        candidates: |V_k|, or None where it is not public.
    """

    width: int
    length: int
    candidates: int | None

    @property
    def most(self) -> int:
        """C(W, k): what one record can hold."""
        return math.comb(self.width, self.length)

    def clamp(self, sensitivity: int) -> int:
        """A chosen sensitivity within 1..C(W, k), and not above the number of candidates."""
        sensitivity = min(max(sensitivity, 1), self.most)
        return sensitivity if self.candidates is None else min(sensitivity, self.candidates)

    @property
    def schema(self) -> int:
        """Delta_k from the schema alone: nothing is drawn and nothing dropped (R12)."""
        return self.clamp(self.most)


def profile_edges(bounds: Bounds) -> Integers:
    """Inclusive upper edges of at most 32 public bins that cover 0..C(W, k), ascending.

    A record with w values left holds at most C(w, k) tuples, so those are the edges that split records
    by width; with few possible tuples each number has a bin of its own.
    """
    if bounds.most < PROFILE_BINS:
        return np.arange(bounds.most + 1)
    edges = [math.comb(width, bounds.length) for width in range(bounds.length - 1, bounds.width + 1)]
    places = np.unique(np.linspace(0, len(edges) - 1, min(len(edges), PROFILE_BINS)).round().astype(int))
    return np.array([edges[place] for place in places], np.int64)


def from_profile(
    sizes: Integers, bounds: Bounds, percentage: int, law: noise.RoundedGaussian, stream: WordSource
) -> int:
    """Delta_k as the percentile of a noisy histogram of candidates a record (D7).

        upper edges      2     4     8    16         noise of standard deviation 1
        noisy counts    900    80    15     3        of 998 records, 1 % are about 10
        from the top    998    98    18     3        18 are more by 8, clearly above 3 * 1.4: Delta_k = 8

    Entry s of ``sizes`` is the number of records that hold s candidates, s = 0, 1, ...
    """
    edges = profile_edges(bounds)
    bins = np.zeros(len(edges), np.int64)
    np.add.at(bins, np.searchsorted(edges, np.arange(len(sizes))), sizes)
    noisy = bins + law.draw(stream, len(edges))
    tails, left = np.cumsum(noisy[::-1])[::-1], np.arange(len(edges))
    share = (100 - percentage) / 100
    spread = np.sqrt((1 - share) ** 2 * (len(edges) - left) + share**2 * left) * float(law.scale)
    beyond = np.flatnonzero(tails - share * max(int(noisy.sum()), 0) > _CLEARLY * spread)
    return bounds.clamp(int(edges[beyond[-1]]) if len(beyond) else 1)


def from_percentile(
    sizes: Integers, bounds: Bounds, percentage: int, epsilon: float, stream: WordSource
) -> int:
    """Delta_k by the exponential mechanism over `size_candidates` (C4); ``sizes`` is as in `from_profile`."""
    aim, candidates = Fraction(percentage, 100), size_candidates(bounds.most)
    return bounds.clamp(PercentileLaw(sizes.tolist(), aim, epsilon, candidates).draw(stream))


def needed_tags(tags: Words | None) -> Words:
    """The tags of records whose tuples are dropped."""
    if tags is None:
        raise InternalError("Records that lose tuples need tags.")
    return tags


def coins(tags: Words, sensitivity: HalfWords, limit: int, length: int) -> Coins:
    """The coins of records that hold more than ``limit`` candidates (see `kernels.drop_tuples`)."""
    left = sensitivity.astype(np.int64)
    start = tags + np.uint64(length * _LENGTH_STEP % 2**64)
    return start, left, left - limit


def over_limit(codes: Codes, sensitivity: HalfWords, limit: int) -> Iterator[tuple[Integers, HalfWords]]:
    """Blocks of the records over the limit: their rows, and their codes in one type."""
    rows = np.flatnonzero(sensitivity > limit)
    for start in range(0, len(rows), 1 << 16):
        block = rows[start : start + (1 << 16)]
        yield block, codes[:, block].astype(np.uint32)
