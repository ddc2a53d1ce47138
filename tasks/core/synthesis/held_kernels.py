"""Holding the resolution: the rows that hold a record in the making in; whether enough hold one more out."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from tasks.core.synthesis.block_kernels import Index
from tasks.core.synthesis.index_kernels import ones_in

_ONE = np.uint64(1)


class Held(NamedTuple):
    """The raw records, and which of them hold the record in the making.

    Attributes:
        rows: the index of the raw records.
        current: uint64 (words,): bit b of word w is row 64 w + b.
        resolution: how many must hold a combination; 0 where nothing is held to it.
    """

    rows: Index
    current: npt.NDArray[np.uint64]
    resolution: int


@njit(cache=True, nogil=True)
def is_in(current: npt.NDArray[np.uint64], row: int) -> bool:
    """Whether a row's bit is set."""
    return bool((current[row >> 6] >> np.uint64(row & 63)) & _ONE)


@njit(cache=True, nogil=True)
def begin(held: Held) -> None:
    """Nothing is chosen yet: every row holds that."""
    held.current[:] = ~np.uint64(0)


@njit(cache=True, nogil=True)
def choose(held: Held, attribute: int) -> None:
    """Keep the rows that also hold an attribute."""
    index, current = held.rows, held.current
    dense = index.dense[attribute]
    if dense >= 0:
        for word in range(len(current)):
            current[word] &= index.bits[dense, word]
        return
    first, end = index.first[attribute], index.first[attribute + 1]
    kept = 0
    rows = np.empty(end - first, np.int64)
    for place in range(first, end):
        if is_in(current, index.listed[place]):
            rows[kept] = index.listed[place]
            kept += 1
    current[:] = np.uint64(0)
    for place in range(kept):
        current[rows[place] >> 6] |= _ONE << np.uint64(rows[place] & 63)


@njit(cache=True, nogil=True)
def enough_hold(held: Held, attribute: int) -> bool:
    """Whether at least ``resolution`` of the rows also hold an attribute; looks no further than it must."""
    index, current, found = held.rows, held.current, 0
    dense = index.dense[attribute]
    if dense >= 0:
        for word in range(len(current)):
            both = current[word] & index.bits[dense, word]
            if both:
                found += int(ones_in(both))
                if found >= held.resolution:
                    return True
        return False
    for place in range(index.first[attribute], index.first[attribute + 1]):
        if is_in(current, index.listed[place]):
            found += 1
            if found >= held.resolution:
                return True
    return False
