"""Exact draws from any law on the integers whose cumulative distribution can be computed precisely.

In: a law and a stream of words. Out: integers that follow the law to better than 2^-280 (`claim_limits`).

A word w is the first 64 bits of a uniform U in [0, 1); the draw is the least z with U < F(z). With
t(z) = floor(2^64 F(z)), w < t(z) proves U < F(z) and w > t(z) proves U >= F(z); only w = t(z) leaves
it open, and then U is extended by 256 bits and compared with F at 320 bits more than it has
(D10, R19). There is one word a draw and no rejection.

    words    0 ────── t(-1) ────── t(0) ────── t(1) ────── 2^64 - 1
    draw     ... , -1   │     0     │     1     │    2, ...
"""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from tasks.core.arrays import Ids, Integers, Words
from tasks.core.dp.sampling.noise_kernels import look_up_noise
from tasks.core.dp.sampling.stream import WordSource
from tasks.core.errors import InternalError

GUARD_BITS = 320
"""How much more precisely than a word F is known."""

_EXTENSION_WORDS = 4
_CHUNK = 1 << 15
_TIED = np.iinfo(np.int64).min
_LARGEST_TABLE = 1 << 26


class DiscreteLaw(Protocol):
    """A law on the integers."""

    @property
    def centre(self) -> int:
        """Any integer near the middle, where searches begin."""
        ...

    def floor_cdf(self, z: int, bits: int) -> int:
        """floor(2^bits P(Z <= z)), from a probability known to ``bits + GUARD_BITS`` bits."""
        ...


def draw_one(law: DiscreteLaw, stream: WordSource) -> int:
    """One draw without a table, by bisecting F: for a law that is used once."""
    return resolve(law, int(stream.words(1)[0]), 64, stream)


def resolve(law: DiscreteLaw, word: int, bits: int, stream: WordSource) -> int:
    """The draw of U whose first ``bits`` bits are ``word``; more bits are taken while they don't decide.

    Ties are decided over all integers, also beyond both ends of any table.
    """
    while True:
        # At the last word U may lie above every F(z) < 1 that this many bits can tell apart.
        if word != (1 << bits) - 1:
            z = _least_above(law, word, bits)
            if law.floor_cdf(z - 1, bits) < word:
                return z
        for extension in stream.words(_EXTENSION_WORDS):
            word = word << 64 | int(extension)
        bits += 64 * _EXTENSION_WORDS


def _least_above(law: DiscreteLaw, word: int, bits: int) -> int:
    """The least z with floor(2^bits F(z)) > word."""
    return _least(lambda z: law.floor_cdf(z, bits) > word, law.centre)


def _least(holds: Callable[[int], bool], start: int) -> int:
    """The least z for which a monotone condition holds, sought in doubling steps from ``start``."""
    step = 1
    low = high = start
    if holds(start):
        while holds(low := high - step):
            high, step = low, 2 * step
    else:
        while not holds(high := low + step):
            low, step = high, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


class ExactTable:
    """A law as a table of floor(2^bits F(z)), z = first, first + 1, ..., for many draws.

    Attributes:
        law: what is drawn, and what decides ties.
        first: the integer of the first entry.
        words: uint64 (n,), not decreasing, from 0 to 2^bits - 1.
        bits: length of a word; 64, or less for tests of the ties.
    """

    def __init__(self, law: DiscreteLaw, first: int, words: Words, bits: int = 64) -> None:
        """Raises InternalError if the words can't be a table."""
        last = np.uint64((1 << bits) - 1)
        if words.dtype != np.uint64 or words[0] != 0 or words[-1] != last or np.any(words[1:] < words[:-1]):
            raise InternalError("A noise table must rise from 0 to the last word, in unsigned words.")
        self.law, self.first, self.words, self.bits = law, first, words, bits
        # Sixteen buckets an entry leave a boundary in few of them; beyond 2^16 they outgrow the cache.
        guide_bits = min(bits, 16, words.size.bit_length() + 4)
        self._shift = np.uint64(bits - guide_bits)
        self._guide = _guide(words, guide_bits, bits)

    @classmethod
    def tabulate(cls, law: DiscreteLaw, bits: int = 64) -> "ExactTable":
        """The table of a law, each entry computed for itself: for laws without a faster way."""
        last = (1 << bits) - 1
        first = _least_above(law, 0, bits) - 1
        end = _least_above(law, last - 1, bits)
        if end - first > _LARGEST_TABLE:
            raise InternalError("The law is too wide for a table.")
        words = (min(last, law.floor_cdf(z, bits)) for z in range(first, end + 1))
        return cls(law, first, np.fromiter(words, np.uint64, end + 1 - first), bits)

    def draw(self, stream: WordSource, count: int) -> Integers:
        """``count`` independent draws, int64 (count,)."""
        out = np.empty(count, np.int64)
        for start in range(0, count, _CHUNK):
            part = out[start : start + _CHUNK]
            words = stream.words(part.size)
            if self.bits < 64:
                words >>= np.uint64(64 - self.bits)
            if look_up_noise(words, self.words, self._guide, self._shift, self.first, part):
                for i in np.flatnonzero(part == _TIED):
                    part[i] = resolve(self.law, int(words[i]), self.bits, stream)
        return out


def _guide(words: Words, guide_bits: int, bits: int) -> Ids:
    starts = np.arange(1 << guide_bits, dtype=np.uint64) << np.uint64(bits - guide_bits)
    below = np.append(np.searchsorted(words, starts, "left"), words.size).astype(np.int32)
    inside = np.append(below[1:] > below[:-1], False)
    return np.where(inside, ~below, below)
