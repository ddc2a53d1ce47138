"""Compiled loops of counting in memory (oracle: tests/oracles/marginals.py)."""

import numpy as np
import numpy.typing as npt
from numba import njit


@njit(cache=True, nogil=True)
def add_cells(
    prefix: npt.NDArray[np.uint32],
    last: npt.NDArray[np.unsignedinteger],
    size: int,
    cells: npt.NDArray[np.int64],
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
