"""Compiled loops of counting in memory (oracle: tests/oracles/marginals.py)."""

import numpy as np
import numpy.typing as npt
from numba import njit


@njit(cache=True, nogil=True)
def add_cells(
    prefix: npt.NDArray[np.uint32],
    last: npt.NDArray[np.unsignedinteger],
    size: int,
    cells: npt.NDArray[np.uint32] | npt.NDArray[np.int64],
) -> None:
    """Count each record's cell: ``cells[prefix * size + last] += 1``; sizes are the caller's promise.

    Cells are fewer than 2^32: in 32 bits their numbers cost a fifth less.
    """
    for record in range(len(prefix)):
        cells[prefix[record] * np.uint32(size) + np.uint32(last[record])] += 1


@njit(cache=True, nogil=True)
def look_up_cells(
    prefix: npt.NDArray[np.uint32],
    last: npt.NDArray[np.unsignedinteger],
    size: int,
    numbers: npt.NDArray[np.int32],
    found: npt.NDArray[np.int32],
) -> None:
    """Each record's cell's number: ``found = numbers[prefix * size + last]``."""
    for record in range(len(prefix)):
        found[record] = numbers[np.int64(prefix[record]) * size + last[record]]


@njit(cache=True, nogil=True)
def count_present(cells: npt.NDArray[np.uint32] | npt.NDArray[np.int64], sizes: npt.NDArray[np.int64]) -> int:
    """How many cells are filled and have no code 0; ``sizes``: number of codes by column, 0 among them."""
    number, last = 0, sizes[-1]
    for prefix in range(len(cells) // last):
        rest, present = prefix, True
        for place in range(len(sizes) - 2, -1, -1):
            present &= rest % sizes[place] != 0
            rest //= sizes[place]
        if present:
            for code in range(1, last):
                number += cells[prefix * last + code] > 0
    return number


@njit(cache=True, nogil=True)
def list_present(
    cells: npt.NDArray[np.uint32] | npt.NDArray[np.int64],
    sizes: npt.NDArray[np.int64],
    codes: npt.NDArray[np.uint32],
    counts: npt.NDArray[np.int64],
) -> None:
    """The codes and counts of the cells of `count_present`, in their order.

    Args:
        cells: counts, the last column's code running fastest.
        sizes: as in `count_present`.
        codes: (N, columns), filled.
        counts: (N,), filled.
    """
    number, last = 0, sizes[-1]
    prefix_codes = np.zeros(len(sizes), np.uint32)
    for prefix in range(len(cells) // last):
        rest, present = prefix, True
        for place in range(len(sizes) - 2, -1, -1):
            prefix_codes[place] = rest % sizes[place]
            present &= prefix_codes[place] != 0
            rest //= sizes[place]
        if not present:
            continue
        for code in range(1, last):
            count = cells[prefix * last + code]
            if count > 0:
                for place in range(len(sizes) - 1):
                    codes[number, place] = prefix_codes[place]
                codes[number, len(sizes) - 1] = code
                counts[number] = count
                number += 1
