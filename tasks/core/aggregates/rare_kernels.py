"""Compiled loops over the records that rare combinations single out (oracle: tests/oracles/rare.py).

A *mark* is one byte: 1 for a rare combination, 2 for a unique one, 3 for both. Bounds are the
caller's promise.
"""

import numpy as np
import numpy.typing as npt

from tasks.core.aggregates.kernels import Codes, Cube, Integers, Numbers, Truths
from tasks.core.compiling import njit

Marks = npt.NDArray[np.uint8]


@njit(cache=True, nogil=True)
def mark_rare(cube: Cube, whole: Truths, first: int, resolution: int, marks: Marks) -> None:
    """The mark of each cell.

    Args:
        cube: counts by cell, (prefixes * size,).
        whole: by prefix, whether nothing in it is absent.
        first: the first code of the last column that is not absent.
        resolution: a count below it is rare.
        marks: by cell, filled; 0 for what is not rare or has an absent value.
    """
    # Without a branch, many cells at once; what is absent is taken back.
    for cell in range(len(cube)):
        marks[cell] = np.uint8(cube[cell] < resolution) | np.uint8(2) * np.uint8(cube[cell] == 1)
    size = len(cube) // max(len(whole), 1)
    for prefix in range(len(whole)):
        for cell in range(prefix * size, prefix * size + (first if whole[prefix] else size)):
            marks[cell] = 0


@njit(cache=True, nogil=True)
def look_up(records: Integers, cells: tuple[Numbers, Codes, int], marks: Marks, found: Marks) -> None:
    """The mark of each record's cell, block by block.

    Args:
        records: which are looked at, (N,).
        cells: by row prefix and last code, and the number of last codes; rows are blocks of all records.
        marks: by cell.
        found: (blocks, N), filled.
    """
    prefix, last, size = cells
    for block in range(len(found)):
        first = block * (len(prefix) // len(found))
        for row in range(len(records)):
            own = first + records[row]
            found[block, row] = marks[prefix[own] * np.uint32(size) + np.uint32(last[own])]
