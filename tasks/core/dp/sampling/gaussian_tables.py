"""Tables of the rounded Gaussian and of its upper tail: built in fixed point, kept on disk and in memory.

In: a scale. Out: the uint64 words that `exact_tables.ExactTable` draws from.

The mass of the cell around z is the integral of the density over a width h = 1/s, and its Taylor
series around x = z/s needs only Hermite polynomials of even degree: h phi(x) sum_m a_2m / (2m + 1), where
a_j = He_j(x) (h/2)^j / j! and so a_(j+2) = ((x^2 - 2j - 1) (h/2)^2 a_j - (h/2)^4 a_(j-2)) / (j+1)(j+2).
phi itself steps from cell to cell by a factor that itself steps by exp(-h^2), so after z cells it is off by
z^2/2 last places. All of it is integer arithmetic to 2^-180 or better; a word is taken from it where that
decides it with 2^-164 to spare.
"""

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import numpy as np

from tasks.core.arrays import Words
from tasks.core.compiling.kernel_cache import cache_folder, is_ours
from tasks.core.dp.sampling.exact_tables import GUARD_BITS
from tasks.core.dp.sampling.normal import exact_number, precision, upper_tail

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
        """floor(2^bits F(z))."""
        with precision(bits + GUARD_BITS) as mp:
            x = exact_number((z + Fraction(1, 2)) / self.scale)
            f = upper_tail(-x) if x < 0 else 1 - upper_tail(x)
            return int(mp.floor(mp.ldexp(f, bits)))


class UpperTailLaw:
    """A rounded Gaussian Z given Z >= threshold."""

    def __init__(self, scale: Fraction, threshold: int) -> None:
        self.scale, self.centre = scale, threshold

    def floor_cdf(self, z: int, bits: int) -> int:
        """floor(2^bits F(z))."""
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
