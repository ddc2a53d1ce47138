"""Tables of the rounded Gaussian and of its upper tail: built in fixed point, kept on disk and in memory.

The mass of the cell around z is the integral of the density over a width h = 1/s, and its Taylor
series around x = z/s needs only Hermite polynomials of even degree: h phi(x) sum_m a_2m / (2m + 1), where
a_j = He_j(x) (h/2)^j / j! and so a_(j+2) = ((x^2 - 2j - 1) (h/2)^2 a_j - (h/2)^4 a_(j-2)) / (j+1)(j+2).
phi itself steps from cell to cell by a factor that itself steps by exp(-h^2), so after z cells it is off by
z^2/2 last places. All of it is integer arithmetic to 2^-180 or better; a word is taken from it where that
decides it with 2^-164 to spare.

Also exact draws from any law on the integers whose cumulative distribution can be computed precisely (D10,
R19): a word w is the first 64 bits of a uniform U, t(z) = floor(2^64 F(z)), and only w = t(z) takes more
bits.

    words    0 ────── t(-1) ────── t(0) ────── t(1) ────── 2^64 - 1
    draw     ... , -1   │     0     │     1     │    2, ...
"""

import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Protocol

import numpy as np

from tasks.core.arrays import Ids, Integers, Words
from tasks.core.compiling.kernel_cache import cache_folder, is_ours
from tasks.core.dp.sampling.noise_kernels import look_up_noise
from tasks.core.dp.sampling.normal import exact_number, precision, upper_tail
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

    def floor_cdf(self, z: int, bits: int) -> int:
        """floor(2^bits P(Z <= z)), from a probability known to ``bits + GUARD_BITS`` bits."""


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
        first: the integer of the first entry.
        words: uint64 (n,), not decreasing, from 0 to 2^bits - 1.
        bits: length of a word; 64, or less for tests of the ties.
    """

    def __init__(self, law: DiscreteLaw, first: int, words: Words, bits: int = 64) -> None:
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


_BITS = 224
_ONE = 1 << _BITS
_NEGLIGIBLE = 1 << 40
_LAST = (1 << 64) - 1
#: Below, the terms of the series grow before they fall; in a tail, where x is larger, they do so earlier.
_SMALLEST_SERIES_SCALE, _SMALLEST_TAIL_SCALE = 1, 16
_FARTHEST_SERIES_START = 64
_HASH_BYTES = 32
_SPOT_CHECKS = 7


class RoundedGaussianLaw:
    """round(N(0, s^2)): F(z) = Phi((z + 1/2) / s)."""

    centre = 0

    def __init__(self, scale: Fraction) -> None:
        self.scale = scale

    def floor_cdf(self, z: int, bits: int) -> int:
        with precision(bits + GUARD_BITS) as mp:
            x = exact_number((z + Fraction(1, 2)) / self.scale)
            f = upper_tail(-x) if x < 0 else 1 - upper_tail(x)
            return int(mp.floor(mp.ldexp(f, bits)))


class UpperTailLaw:
    """A rounded Gaussian Z given Z >= threshold."""

    def __init__(self, scale: Fraction, threshold: int) -> None:
        self.scale, self.centre = scale, threshold

    def floor_cdf(self, z: int, bits: int) -> int:
        if z < self.centre:
            return 0
        with precision(bits + GUARD_BITS) as mp:
            beyond, all_of_it = (
                upper_tail(exact_number((end - Fraction(1, 2)) / self.scale)) for end in (z + 1, self.centre)
            )
            return int(mp.floor(mp.ldexp(1 - beyond / all_of_it, bits)))


def gaussian_words(scale: Fraction) -> tuple[int, Words]:
    """(first, words) of the rounded Gaussian, from the last z with word 0 to the first with 2^64 - 1."""
    path = _path(scale)
    half = _load(path, scale)
    if half is None:
        half = _upper_half(scale)
        _store(path, half)
    # F(-1 - z) = 1 - F(z), and floor(2^64 (1 - F)) = 2^64 - 1 - floor(2^64 F) since F is irrational.
    return -half.size, np.concatenate([np.uint64(_LAST) - half[::-1], half])


def tail_words(scale: Fraction, threshold: int) -> tuple[int, Words]:
    """(first, words) of the rounded Gaussian given that it is >= threshold >= 1."""
    law = UpperTailLaw(scale, threshold)
    first, words = threshold - 1, [0]
    if scale < _SMALLEST_TAIL_SCALE or threshold > _FARTHEST_SERIES_START * scale:
        while words[-1] < _LAST:
            words.append(min(_LAST, law.floor_cdf(first + len(words), 64)))
        return first, np.array(words, np.uint64)
    with precision(_BITS + GUARD_BITS) as mp:
        start = exact_number(threshold / scale)
        inverse_density = mp.sqrt(2 * mp.pi) * mp.exp(start * start / 2)
        whole = upper_tail(exact_number((threshold - Fraction(1, 2)) / scale)) * inverse_density
        whole = int(mp.ldexp(whole, _BITS))
    total = 0
    for mass in _cell_masses(scale, threshold, _ONE):
        total += mass
        words.append(_word(total * _ONE // whole, law, first + len(words)))
        if words[-1] == _LAST:
            return first, np.array(words, np.uint64)
    raise AssertionError("unreachable: the masses never end")


def _upper_half(scale: Fraction) -> Words:
    """floor(2^64 F(z)) for z = 0, 1, ... to the first that is 2^64 - 1."""
    law, words = RoundedGaussianLaw(scale), list[int]()
    if scale < _SMALLEST_SERIES_SCALE:
        while not words or words[-1] < _LAST:
            words.append(min(_LAST, law.floor_cdf(len(words), 64)))
        return np.array(words, np.uint64)
    with precision(_BITS + GUARD_BITS) as mp:
        density = int(mp.ldexp(1 / mp.sqrt(2 * mp.pi), _BITS))
    total = 0
    for z, mass in enumerate(_cell_masses(scale, 0, density)):
        total += mass if z else (_ONE + mass) // 2
        words.append(_word(total, law, z))
        if words[-1] == _LAST:
            break
    return np.array(words, np.uint64)


def _word(f: int, law: RoundedGaussianLaw | UpperTailLaw, z: int) -> int:
    """floor(2^64 F(z)) of a fixed-point F, recomputed where F's own error could change it."""
    shift = _BITS - 64
    margin = 1 << (shift - 100)
    if (f - margin) >> shift != (f + margin) >> shift:
        return min(_LAST, law.floor_cdf(z, 64))
    return f >> shift


def _cell_masses(scale: Fraction, start: int, density: int) -> Iterator[int]:
    """P(Z = z) for z = start, start + 1, ... in units in which phi(start / s) is ``density``."""
    step = 1 / scale
    half_step_squared = int(_ONE * step * step / 4)
    half_step_fourth = half_step_squared * half_step_squared >> _BITS
    x_half_step_squared_unit = _ONE * step.numerator**4 // 4
    with precision(_BITS + GUARD_BITS) as mp:
        exponent = exact_number(step * step)
        factor = int(mp.ldexp(mp.exp(-(start + mp.mpf(1) / 2) * exponent), _BITS))
        factor_step = int(mp.ldexp(mp.exp(-exponent), _BITS))
    z = start
    while True:
        x_half_step_squared = x_half_step_squared_unit * z * z // step.denominator**4
        before, term, series, j = 0, _ONE, _ONE, 0
        while not (-_NEGLIGIBLE < term < _NEGLIGIBLE and -_NEGLIGIBLE < before < _NEGLIGIBLE):
            next_term = (x_half_step_squared - (2 * j + 1) * half_step_squared) * term
            next_term = (next_term - half_step_fourth * before >> _BITS) // ((j + 1) * (j + 2))
            before, term, j = term, next_term, j + 2
            series += term // (j + 1)
        yield (density * series >> _BITS) * step.numerator // step.denominator
        density = density * factor >> _BITS
        factor = factor * factor_step >> _BITS
        z += 1


def _path(scale: Fraction) -> Path | None:
    """The table's file in the user's cache, or None where there can be no cache."""
    folder = cache_folder("noise-tables")
    name = f"rounded-gaussian-1-{scale.numerator}-{scale.denominator}.words"
    return folder / name if folder is not None else None


def _load(path: Path | None, scale: Fraction) -> Words | None:
    """The upper half of a table from disk, or None unless everything about the file is right."""
    if path is None:
        return None
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        with os.fdopen(descriptor, "rb") as file:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode) or not is_ours(found):
                return None
            content = file.read()
    except OSError:
        return None
    digest, body = content[:_HASH_BYTES], content[_HASH_BYTES:]
    if len(body) < 8 or len(body) % 8 or hashlib.sha256(body).digest() != digest:
        return None
    half = np.frombuffer(body, "<u8").astype(np.uint64)
    rises = not np.any(half[1:] < half[:-1]) and half[-1] == np.uint64(_LAST)
    if not rises or (half.size > 1 and half[-2] == np.uint64(_LAST)):
        return None
    law = RoundedGaussianLaw(scale)
    places = {int(place) for place in np.linspace(0, half.size - 1, _SPOT_CHECKS)}
    return half if all(min(_LAST, law.floor_cdf(z, 64)) == half[z] for z in places) else None


def _store(path: Path | None, half: Words) -> None:
    """Write whole or not at all; a full or unwritable disk only costs building the table again."""
    if path is None:
        return
    body = half.astype("<u8").tobytes()
    partial = path.with_name(f"{path.name}.{os.getpid()}.part")
    with suppress(OSError):
        try:
            descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(hashlib.sha256(body).digest() + body)
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
