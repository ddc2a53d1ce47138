"""A block of rows and its index: rows of attributes in; counts, bitsets, lists and smaller blocks out.

A block is a matrix (rows, slots) of attributes, in C order; the number of attributes stands for an
empty cell. What holds a combination is a bitset over the block's rows, or a list of them when few are left.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

Cells = npt.NDArray[np.unsignedinteger]
Integers = npt.NDArray[np.int64]

#: An attribute has a bitset where at least one row in so many holds it, else a list: a bitset takes up to
#: eight bytes a row that holds it, a list four.
ROWS_A_BIT = 64


class Index(NamedTuple):
    """Which rows of a block hold an attribute.

    Attributes:
        cells: the block, (rows, slots).
        held: int64 (attributes + 1,): how many rows hold each; 0 for the empty cell.
        dense: int32 (attributes + 1,): which bitset is its, or -1.
        bits: uint64 (bitsets, words): bit b of word w is row 64 w + b.
        first: int64 (attributes + 2,): the list of attribute a is ``listed[first[a]:first[a + 1]]``.
        listed: int32: rows, ascending for each attribute; of those that have no bitset.
    """

    cells: Cells
    held: Integers
    dense: npt.NDArray[np.int32]
    bits: npt.NDArray[np.uint64]
    first: Integers
    listed: npt.NDArray[np.int32]


@njit(cache=True, nogil=True)
def count_cells(cells: Cells, held: Integers) -> None:
    """Add to each attribute the number of cells that it stands in."""
    for row in range(cells.shape[0]):
        for slot in range(cells.shape[1]):
            held[cells[row, slot]] += 1


@njit(cache=True, nogil=True)
def fill_index(index: Index) -> None:
    """Set the bits and lists of an index; its bits are 0 and its ``first`` are where lists begin."""
    cells, place = index.cells, index.first.copy()
    for row in range(cells.shape[0]):
        word, bit = row >> 6, np.uint64(1) << np.uint64(row & 63)
        for slot in range(cells.shape[1]):
            attribute = cells[row, slot]
            dense = index.dense[attribute]
            if dense >= 0:
                index.bits[dense, word] |= bit
            elif place[attribute] < index.first[np.int64(attribute) + 1]:
                index.listed[place[attribute]] = row
                place[attribute] += 1
