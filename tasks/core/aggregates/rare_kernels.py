"""Compiled loops over the records that rare combinations single out (oracle: tests/oracles/rare.py).

A *mark* is one byte: 1 for a rare combination, 2 for a unique one, 3 for both. Bounds are the
caller's promise.
"""

import numpy as np
import numpy.typing as npt
from numba import njit

from tasks.core.aggregates.kernels import Codes, Cube, Integers, Numbers, Truths


@njit(cache=True, nogil=True)
def mark_rare(
    records: Integers,
    cells: tuple[Numbers, Codes, int],
    cube: Cube,
    bounds: tuple[Truths, int, int],
    marks: npt.NDArray[np.uint8],
) -> None:
    """The mark of each record's cell.

    Args:
        records: which are looked at, (N,).
        cells: by record prefix and last code, and the number of last codes.
        cube: counts by cell.
        bounds: by prefix, whether nothing in it is absent; the first last code that is not; the resolution.
        marks: (N,), filled; 0 for what is not rare or has an absent value.
    """
    prefix, last, size = cells
    whole, first, resolution = bounds
    for row in range(len(records)):
        record = records[row]
        count = cube[prefix[record] * np.uint32(size) + np.uint32(last[record])]
        mark = np.uint8(count < resolution) | np.uint8(count == 1) << np.uint8(1)
        marks[row] = mark if whole[prefix[record]] and last[record] >= first else np.uint8(0)
