"""Rows of codes as numbers (their *keys*, in mixed radix), which are put in order faster than rows."""

from collections.abc import Sequence
from math import prod

import numpy as np

from tasks.core.arrays import AnyIntegers, Codes
from tasks.core.records.coded import code_type

LARGEST_SHORT = 1 << 32
_LARGEST_WORD = 1 << 63


def pack(codes: Sequence[AnyIntegers], sizes: Sequence[int], rows: int, room: int = 0) -> AnyIntegers:
    """One number a row; ``codes`` are by column, each below its size.

    ``room``: what the numbers are multiplied up to later. 32 bits are half the memory to walk.
    """
    kind = np.uint32 if max(room, prod(sizes)) <= LARGEST_SHORT else np.uint64
    keys: AnyIntegers = np.zeros(rows, kind) if not codes else codes[0].astype(kind)
    for own, size in zip(codes[1:], sizes[1:], strict=True):
        np.multiply(keys, kind(size), out=keys)
        np.add(keys, own.astype(kind, copy=False), out=keys)
    return keys


def unpack(keys: AnyIntegers, sizes: Sequence[int]) -> tuple[Codes, ...]:
    codes: list[Codes] = []
    for size in reversed(sizes[1:]):
        rest = keys // keys.dtype.type(size)
        codes.append((keys - rest * keys.dtype.type(size)).astype(code_type(size - 1)))
        keys = rest
    codes.append(keys.astype(code_type(sizes[0] - 1)))
    return tuple(reversed(codes))


def sort_by_key(keys: AnyIntegers, counts: AnyIntegers, bound: int) -> tuple[AnyIntegers, AnyIntegers]:
    """Keys below ``bound`` ascending, and their counts.

    Where key and count fit in one word, words are sorted: several times faster than finding an order.
    """
    bits = int(counts.max(initial=0)).bit_length()
    if counts.min(initial=0) < 0 or bound << bits > _LARGEST_WORD:
        order = np.argsort(keys, kind="stable")
        return keys[order], counts[order]
    words = keys.astype(np.int64)
    words <<= bits
    words |= counts.astype(np.int64, copy=False)
    words.sort()
    return (words >> bits).astype(keys.dtype), (words & ((1 << bits) - 1)).astype(counts.dtype)
