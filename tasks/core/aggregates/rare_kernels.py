"""Compiled loops over the records that rare combinations single out (oracle: tests/oracles/rare.py).

A *mark* is one byte: 1 for a rare combination, 2 for a unique one, 3 for both. Sizes and bounds are the
caller's promise.
"""

import numpy as np
import numpy.typing as npt
from numba import njit

Marks = npt.NDArray[np.uint8]
Codes = npt.NDArray[np.unsignedinteger]
Places = npt.NDArray[np.int64]


@njit(cache=True, nogil=True)
def add_slot(prefix: npt.NDArray[np.uint32], codes: Codes, size: int) -> None:
    """Append a slot to each record's cell number: ``prefix = prefix * size + codes``."""
    for record in range(len(prefix)):
        prefix[record] = prefix[record] * np.uint32(size) + np.uint32(codes[record])


@njit(cache=True, nogil=True)
def mark_by_table(
    prefix: npt.NDArray[np.uint32], last: Codes, table: Marks, targets: Places, marks: Marks
) -> None:
    """Join the mark of each record's cell to ``marks[target, record]`` of every target.

    Args:
        prefix: number of the cell's all but last codes, (N,).
        last: the last code, (N,).
        table: mark by prefix and code, (prefixes, size).
        targets: rows of ``marks``.
        marks: (rows, N).
    """
    for record in range(len(prefix)):
        mark = table[prefix[record], last[record]]
        if mark:
            for target in targets:
                marks[target, record] |= mark


@njit(cache=True, nogil=True)
def mark_by_search(
    codes: Codes,
    slots: Places,
    cells: npt.NDArray[np.uint32],
    cell_marks: Marks,
    targets: Places,
    marks: Marks,
) -> None:
    """As `mark_by_table`, by binary search: for more values than a table has room for.

    Args:
        codes: of all slots, (slots, N).
        slots: of the cells.
        cells: codes of the marked cells, (M, length), lexicographically ascending.
        cell_marks: (M,).
        targets: rows of ``marks``.
        marks: (rows, N).
    """
    for record in range(codes.shape[1]):
        low, high = 0, len(cells)
        while low < high:
            middle = (low + high) // 2
            if _order(cells[middle], codes, slots, record) < 0:
                low = middle + 1
            else:
                high = middle
        if low < len(cells) and _order(cells[low], codes, slots, record) == 0:
            for target in targets:
                marks[target, record] |= cell_marks[low]


@njit(cache=True, nogil=True)
def _order(cell: npt.NDArray[np.uint32], codes: Codes, slots: Places, record: int) -> int:
    """-1, 0 or 1: the cell comes before, is or comes after the record's."""
    for place in range(len(slots)):
        code = codes[slots[place], record]
        if cell[place] != code:
            return -1 if cell[place] < code else 1
    return 0
