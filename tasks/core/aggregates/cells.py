"""The filled cells of a set of slots: codes and counts in, cells of fewer slots out.

All in memory and in order. A cell is one integer in mixed radix (its *key*), so that sets of slots have at
most `covering.LARGEST_KEY` cells, empty ones included.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tasks.core.aggregates.covering import LARGEST_KEY
from tasks.core.queries import Resources
from tasks.core.records.coded import Codes, code_type

Integers = npt.NDArray[np.integer]

#: Adding into an array of all cells beats sorting while there are at most so many cells a row.
_DENSE_CELLS_A_ROW = 6
_DENSE_CELLS = 1 << 14
_LARGEST_SHORT = 1 << 32


#: Cells in memory: at most so many, or what fits in a quarter of the memory limit.
_MOST_CELLS = 1 << 24
_BYTES_A_CELL = 48


def most_cells(resources: Resources) -> int:
    """How many cells of one set of slots are held in memory."""
    if not resources.memory_limit_mb:
        return _MOST_CELLS
    return min(_MOST_CELLS, (resources.memory_limit_mb << 18) // _BYTES_A_CELL)


def fits(sizes: Sequence[int], records: int, most: int) -> bool:
    """Whether a set of slots has at most ``most`` filled cells, each of which one integer tells."""
    product = math.prod(sizes)
    return min(records, product) <= most and product <= LARGEST_KEY


@dataclass(frozen=True)
class Cells:
    """Filled cells, each once.

    Attributes:
        codes: for each slot one code a cell, 0 = absent.
        counts: records a cell, uint32 or int64.
    """

    codes: tuple[Codes, ...]
    counts: Integers

    def onto_each(self, sets: Iterable[Sequence[int]], sizes: Sequence[int]) -> Iterator["Cells"]:
        """The cells of each of some sets of slots, ascending.

        Args:
            sets: indexes into `codes`; neighbours that differ in the last alone are cheaper.
            sizes: for each of `codes` the number of its values, the absent one included.
        """
        start: tuple[int, ...] | None = None
        for places in sets:
            own = [sizes[place] for place in places]
            product = math.prod(own)
            if tuple(places[:-1]) != start or product > _LARGEST_SHORT:
                start = tuple(places[:-1])
                first = _packed([self.codes[place] for place in start], own[:-1], product, len(self.counts))
            keys = np.multiply(first, first.dtype.type(own[-1]))
            np.add(keys, self.codes[places[-1]], out=keys)
            yield _added(keys, self.counts, own)

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
    counts = np.concatenate([part.counts for part in parts])
    return _added(_packed(codes, sizes, math.prod(sizes), len(counts)), counts, sizes)


def _added(keys: Integers, counts: Integers, sizes: Sequence[int]) -> Cells:
    product = math.prod(sizes)
    if product <= max(_DENSE_CELLS, _DENSE_CELLS_A_ROW * len(keys)):
        keys, counts = _added_densely(keys, counts, product)
    elif product <= _LARGEST_SHORT and counts.dtype == np.uint32:
        keys, counts = _sorted_as_one(keys, counts)
    else:
        keys, counts = _sorted(keys, counts)
    return Cells(_unpacked(keys, sizes), counts)


def _packed(codes: Sequence[Codes], sizes: Sequence[int], product: int, rows: int) -> Integers:
    """One number a row, of a kind that holds ``product`` of them: 32 bits are half the memory to walk."""
    kind = np.uint32 if product <= _LARGEST_SHORT else np.uint64
    keys: Integers = np.zeros(rows, kind) if not codes else codes[0].astype(kind)
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
