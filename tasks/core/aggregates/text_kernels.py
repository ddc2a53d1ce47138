"""Compiled loops between coded cells and lines of text (oracles: the writers' tests).

Bounds are the caller's promise.
"""

import numpy as np
import numpy.typing as npt
from numba import njit

Bytes = npt.NDArray[np.uint8]
Integers = npt.NDArray[np.int64]
Ids = npt.NDArray[np.int32]

_SEMICOLON, _QUOTE, _ZERO, _MINUS = 59, 34, 48, 45


@njit(cache=True, nogil=True)
def number_cells(
    sets: npt.NDArray[np.uint32], codes: npt.NDArray[np.uint32], before: Integers, numbers: Ids, rows: Ids
) -> None:
    """Each cell as its attributes' numbers, ascending within the row.

    Args:
        sets: of each cell the set of columns, (N,).
        codes: of its values, (length, N), at least 1.
        before: (sets, length): where in ``numbers`` code 0 of each column would stand.
        numbers: of each value of each column.
        rows: (N, length), filled here.
    """
    for cell in range(len(sets)):
        for place in range(len(codes)):
            number = numbers[before[sets[cell], place] + codes[place, cell]]
            at = place
            while at > 0 and rows[cell, at - 1] > number:
                rows[cell, at] = rows[cell, at - 1]
                at -= 1
            rows[cell, at] = number


@njit(cache=True, nogil=True)
def write_rows(
    rows: Ids,
    counts: Integers,
    texts: tuple[Bytes, Integers, npt.NDArray[np.bool_]],
    around: tuple[Bytes, Bytes, Bytes],
    out: Bytes,
) -> int:
    """Write each row's pieces of text, ``;`` between, and its count; how many bytes were written.

    Args:
        rows: (N, length) places of pieces.
        counts: (N,).
        texts: all pieces one behind the other, where each begins and the last ends, and whether a row
            with the piece stands between quotation marks.
        around: what is written before, between and after the pieces and the count.
        out: with room for all of it.
    """
    text, starts, enclosed = texts
    at = 0
    for row in range(len(rows)):
        quoted = False
        for place in range(rows.shape[1]):
            quoted |= enclosed[rows[row, place]]
        at = _put(around[0], 0, len(around[0]), out, at)
        if quoted:
            out[at] = _QUOTE
            at += 1
        for place in range(rows.shape[1]):
            if place:
                out[at] = _SEMICOLON
                at += 1
            piece = rows[row, place]
            at = _put(text, starts[piece], starts[piece + 1], out, at)
        if quoted:
            out[at] = _QUOTE
            at += 1
        at = _put(around[1], 0, len(around[1]), out, at)
        at = _put_number(counts[row], out, at)
        at = _put(around[2], 0, len(around[2]), out, at)
    return at


@njit(cache=True, nogil=True)
def _put(text: Bytes, start: int, end: int, out: Bytes, at: int) -> int:
    for place in range(start, end):
        out[at] = text[place]
        at += 1
    return at


@njit(cache=True, nogil=True)
def _put_number(number: int, out: Bytes, at: int) -> int:
    # Of a negative number the digits are those of its opposite, which the smallest one has not: unsigned.
    rest = np.uint64(number)
    if number < 0:
        out[at] = _MINUS
        at += 1
        rest = np.uint64(0) - rest
    digits = 1
    bound = np.uint64(10)
    while digits < 19 and rest >= bound:
        digits += 1
        bound *= np.uint64(10)
    for place in range(at + digits - 1, at - 1, -1):
        out[place] = np.uint8(_ZERO) + np.uint8(rest % np.uint64(10))
        rest //= np.uint64(10)
    return at + digits
