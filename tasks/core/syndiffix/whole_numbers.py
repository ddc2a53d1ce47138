"""Integers of any width as floats, and back.

In: an Arrow array of integers or decimals. Out: floats that stand for its (unscaled) integers, less a base;
and from such floats the array again. In between stand 128-bit integers in two's complement, as two words.

Integers are exact where they lie within +-2^53, or within 2^53 of each other: then the base, a multiple of
2^52, is subtracted, and the grid of intervals stays. Elsewhere neighbours share their nearest float.
"""

from dataclasses import dataclass
from math import inf, nextafter

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tasks.core.syndiffix.intervals import Selected, Values

_WORD = 1 << 64
_EXACT = 1 << 53
_BASE_STEP = 1 << 52  # so that any range below 2^53 around a multiple of it is within +-2^53
_LONGEST_DECIMAL = 38


@dataclass(frozen=True)
class Words:
    """Integers low + 2^64 high: ``low`` uint64 (n,), ``high`` int64 (n,)."""

    low: npt.NDArray[np.uint64]
    high: npt.NDArray[np.int64]

    def extremes(self) -> tuple[int, int]:
        """The least and the largest of at least one integer."""
        ends = []
        for high, least in ((self.high.min(), np.min), (self.high.max(), np.max)):
            ends.append(int(high) * _WORD + int(least(self.low[self.high == high])))
        return ends[0], ends[1]

    def plus(self, number: int) -> "Words":
        """Each integer plus the same one, modulo 2^128."""
        low, high = np.uint64(number % _WORD), np.int64(number // _WORD)
        total = self.low + low
        return Words(total, self.high + high + (total < low))

    def floats(self) -> Values:
        """The float nearest to each integer; beyond 2^64, one of the two nearest."""
        signed = self.low.view(np.int64)
        is_short = self.high == (signed >> 63)
        long = self.high.astype(np.float64) * float(_WORD) + self.low.astype(np.float64)
        return np.where(is_short, signed.astype(np.float64), long)


def is_supported_decimal(kind: pa.DataType) -> bool:
    """Whether decimals of this type can be read: their integers have a unit that is not above 1."""
    return bool(pa.types.is_decimal(kind)) and 0 <= kind.scale <= _LONGEST_DECIMAL


def words_of(array: pa.Array) -> Words:
    """The integers of an array, or the unscaled ones of decimals; anything where it is null.

    Raises:
        pa.ArrowInvalid: a decimal has more than 38 digits.
    """
    if pa.types.is_decimal(array.type):
        wide = array.cast(pa.decimal128(_LONGEST_DECIMAL, array.type.scale))
        words = np.zeros((0, 2), np.int64)
        if len(wide):
            words = np.frombuffer(wide.buffers()[1], np.int64).reshape(-1, 2)
        words = words[wide.offset : wide.offset + len(wide)]
        return Words(words[:, 0].copy().view(np.uint64), words[:, 1].copy())
    if array.null_count:
        array = array.fill_null(0)
    numbers = array.to_numpy(zero_copy_only=False)
    if numbers.dtype == np.uint64:
        return Words(numbers, np.zeros(len(numbers), np.int64))
    numbers = numbers.astype(np.int64)
    return Words(numbers.view(np.uint64), numbers >> 63)


def base_of(lowest: int, highest: int) -> int:
    """What is subtracted from integers lowest..highest so that floats hold them, where that can be."""
    if max(-lowest, highest) <= _EXACT or highest - lowest >= _EXACT:
        return 0
    return (lowest + highest + _BASE_STEP) // (2 * _BASE_STEP) * _BASE_STEP


def words_of_floats(numbers: Values) -> Words:
    """Floats without a fraction, below 2^127, as integers; exact."""
    amounts = np.abs(numbers)
    high = np.floor(amounts / _WORD)
    low = (amounts - high * _WORD).astype(np.uint64)
    words = Words(low, high.astype(np.int64))
    negated = Words(~low, ~words.high).plus(1)
    below = numbers < 0
    return Words(np.where(below, negated.low, low), np.where(below, negated.high, words.high))


def array_of(words: Words, missing: Selected, kind: pa.DataType) -> pa.Array:
    """Integers as an Arrow array of integers or decimals of a type that holds them; null where missing."""
    if not pa.types.is_decimal(kind):
        signed = words.low if pa.types.is_unsigned_integer(kind) else words.low.view(np.int64)
        return pa.array(signed, mask=missing).cast(kind)
    cells = np.column_stack([words.low.view(np.int64), words.high])
    cells[missing] = 0
    validity = pa.array(~missing).buffers()[1]
    wide = pa.decimal128(_LONGEST_DECIMAL, kind.scale)
    array = pa.Array.from_buffers(wide, len(missing), [validity, pa.py_buffer(np.ascontiguousarray(cells))])
    return array.cast(kind)


def limits(kind: pa.DataType) -> tuple[int, int]:
    """The least and the largest (unscaled) integer of a type."""
    if pa.types.is_decimal(kind):
        largest = int(10 ** min(kind.precision, _LONGEST_DECIMAL)) - 1
        return -largest, largest
    if pa.types.is_unsigned_integer(kind):
        return 0, (1 << kind.bit_width) - 1
    return -(1 << (kind.bit_width - 1)), (1 << (kind.bit_width - 1)) - 1


def floats_within(lowest: int, highest: int) -> tuple[float, float]:
    """The least and the largest float within lowest..highest, which are integers."""
    low, high = float(lowest), float(highest)
    return (
        low if low >= lowest else nextafter(low, inf),
        high if high <= highest else nextafter(high, -inf),
    )
