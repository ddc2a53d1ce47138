"""A block of rows and its index: rows of attributes in; counts, bitsets, lists and smaller blocks out.

A block is a matrix (rows, slots) of attributes, in C order; the number of attributes stands for an
empty cell. What holds a combination is a bitset over the block's rows, or a list of them when few are left.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tasks.core.arrays import Codes, Integers
from tasks.core.compiling import njit

#: An attribute has a bitset where at least one row in so many holds it, else a list. A bitset takes a bit
#: for each row of the block, a list four bytes for each that holds the attribute.
ROWS_A_BIT = 256


class BlockIndex(NamedTuple):
    """Which rows of a block hold an attribute.

    Attributes:
        cells: the block, (rows, slots).
        held: int64 (attributes + 1,): how many rows hold each; 0 for the empty cell.
        dense: int32 (attributes + 1,): which bitset is its, or -1.
        bits: uint64 (bitsets, words): bit b of word w is row 64 w + b.
        first: int64 (attributes + 2,): the list of attribute a is ``listed[first[a]:first[a + 1]]``.
        listed: int32: rows, ascending for each attribute; of those that have no bitset.
    """

    cells: Codes
    held: Integers
    dense: npt.NDArray[np.int32]
    bits: npt.NDArray[np.uint64]
    first: Integers
    listed: npt.NDArray[np.int32]


@njit(cache=True, nogil=True)
def count_attribute_cells(cells: Codes, held: Integers) -> None:
    """Add to each attribute the number of cells that it stands in."""
    for row in range(cells.shape[0]):
        for slot in range(cells.shape[1]):
            held[cells[row, slot]] += 1


@njit(cache=True, nogil=True)
def fill_bits(cells: Codes, bitset_of: npt.NDArray[np.int32], bits: npt.NDArray[np.uint64]) -> None:
    """Set each row's bit in the bitsets of its cells; every cell has one, if only one that nobody reads."""
    for row in range(cells.shape[0]):
        word, bit = row >> 6, np.uint64(1) << np.uint64(row & 63)
        for slot in range(cells.shape[1]):
            bits[bitset_of[cells[row, slot]], word] |= bit


@njit(cache=True, nogil=True)
def fill_lists(cells: Codes, first: Integers, listed: npt.NDArray[np.int32]) -> None:
    """Fill the lists of those attributes that have room for one."""
    place_of = first.copy()
    for row in range(cells.shape[0]):
        for slot in range(cells.shape[1]):
            attribute = np.int64(cells[row, slot])
            if place_of[attribute] < first[attribute + 1]:
                listed[place_of[attribute]] = row
                place_of[attribute] += 1
