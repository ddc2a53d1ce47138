"""The filled cells of a set of slots: codes and counts in, cells of fewer slots out.

All in memory and in order. A cell is one integer in mixed radix (its *key*), so that sets of slots have at
most `covering.LARGEST_KEY` cells, empty ones included.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tasks.core.records.coded import Codes, code_type

Integers = npt.NDArray[np.integer]

#: Adding into an array of all cells beats sorting while there are at most so many cells a row.
_DENSE_CELLS_A_ROW = 6
_DENSE_CELLS = 1 << 14


@dataclass(frozen=True)
class Cells:
    """Filled cells, each once.

    Attributes:
        codes: for each slot one code a cell, 0 = absent.
        counts: records a cell, uint32 or int64.
    """

    codes: tuple[Codes, ...]
    counts: Integers

    def onto(self, places: Sequence[int], sizes: Sequence[int]) -> "Cells":
        """The cells of some of the slots, ascending.

        Args:
            places: indexes into `codes`.
            sizes: values of each of these slots, the absent one included.
        """
        return _added([self.codes[place] for place in places], self.counts, sizes)

    def present(self) -> "Cells":
        """The cells in which no value is absent."""
        if not self.codes:
            return self
        filled = self.codes[0] > 0
        for codes in self.codes[1:]:
            filled &= codes > 0
        if filled.all():
            return self
        return Cells(tuple(codes[filled] for codes in self.codes), self.counts[filled])


def add_up(parts: Sequence[Cells], sizes: Sequence[int]) -> Cells:
    """The sum of cells of the same values, ascending; of one part, the part."""
    if len(parts) == 1:
        return parts[0]
    codes = [np.concatenate([part.codes[place] for part in parts]) for place in range(len(sizes))]
    return _added(codes, np.concatenate([part.counts for part in parts]), sizes)


def _added(codes: Sequence[Codes], counts: Integers, sizes: Sequence[int]) -> Cells:
    product = math.prod(sizes)
    keys = _packed(codes, sizes, product)
    if product <= max(_DENSE_CELLS, _DENSE_CELLS_A_ROW * len(keys)):
        keys, counts = _added_densely(keys, counts, product)
    elif product.bit_length() + 32 <= 64 and counts.dtype == np.uint32:
        keys, counts = _sorted_as_one(keys, counts)
    else:
        keys, counts = _sorted(keys, counts)
    return Cells(_unpacked(keys, sizes), counts)


def _packed(codes: Sequence[Codes], sizes: Sequence[int], product: int) -> Integers:
    """One number a row. 32 bits where they are enough: half the memory to walk through."""
    kind = np.uint32 if product <= 1 << 32 else np.uint64
    keys: Integers = codes[0].astype(kind)
    for own, size in zip(codes[1:], sizes[1:], strict=True):
        np.multiply(keys, kind(size), out=keys)
        np.add(keys, own, out=keys)
    return keys


def _unpacked(keys: Integers, sizes: Sequence[int]) -> tuple[Codes, ...]:
    codes: list[Codes] = []
    for size in reversed(sizes[1:]):
        rest = keys // keys.dtype.type(size)
        codes.append((keys - rest * keys.dtype.type(size)).astype(code_type(size - 1)))
        keys = rest
    codes.append(keys.astype(code_type(sizes[0] - 1)))
    return tuple(reversed(codes))


def _added_densely(keys: Integers, counts: Integers, product: int) -> tuple[Integers, Integers]:
    cells = np.zeros(product, counts.dtype)
    np.add.at(cells, keys, counts)
    filled = np.flatnonzero(cells != 0)
    return filled.astype(keys.dtype), cells[filled]


def _sorted_as_one(keys: Integers, counts: Integers) -> tuple[Integers, Integers]:
    """Key and count in one word: words sort several times faster than an order is found."""
    words = keys.astype(np.uint64)
    words <<= np.uint64(32)
    words |= counts
    words.sort()
    return _runs((words >> np.uint64(32)).astype(keys.dtype), words.astype(np.uint32))


def _sorted(keys: Integers, counts: Integers) -> tuple[Integers, Integers]:
    order = np.argsort(keys, kind="stable")
    return _runs(keys[order], counts[order])


def _runs(keys: Integers, counts: Integers) -> tuple[Integers, Integers]:
    """Sorted keys once each, with the sum of their counts."""
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])[: len(keys)])
    if not len(starts):
        return keys, counts
    return keys[starts], np.add.reduceat(counts, starts, dtype=counts.dtype)
