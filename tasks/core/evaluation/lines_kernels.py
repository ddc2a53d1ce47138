"""Compiled loops that write lines of text (oracle: tests/core/evaluation/test_raw.py's plain lines)."""

import numpy as np
import numpy.typing as npt
from numba import njit

Integers = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
#: Texts one behind the other, and where each begins (and the last ends).
Texts = tuple[Bytes, npt.NDArray[np.int32]]


@njit(cache=True, nogil=True)
def group(places: Integers, records: Integers, starts: Integers, grouped: Integers) -> None:
    """Put records together by place, in the order given: those of place p from ``starts[p]`` on."""
    following = starts.copy()
    for row in range(len(places)):
        grouped[following[places[row]]] = records[row]
        following[places[row]] += 1


@njit(cache=True, nogil=True)
def write_lines(heads: Texts, tails: Texts, starts: Integers, numbers: Integers, out: Bytes) -> int:
    """Write, for each text p and each of its numbers, head, number and tail.

    Args:
        heads: what stands before the number; the bytes of all, and (N + 1,) bounds.
        tails: what stands behind it.
        starts: (N + 1,) bounds of each text's numbers.
        numbers: 0 or more.
        out: filled from its beginning.

    Returns:
        How many bytes were written.
    """
    end = 0
    digits = np.zeros(20, np.uint8)
    for place in range(len(starts) - 1):
        for row in range(starts[place], starts[place + 1]):
            for at in range(heads[1][place], heads[1][place + 1]):
                out[end] = heads[0][at]
                end += 1
            rest, length = numbers[row], 0
            while rest > 0 or length == 0:
                digits[length] = 48 + rest % 10
                rest //= 10
                length += 1
            for digit in range(length - 1, -1, -1):
                out[end] = digits[digit]
                end += 1
            for at in range(tails[1][place], tails[1][place + 1]):
                out[end] = tails[0][at]
                end += 1
    return end
