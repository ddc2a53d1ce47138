"""Compiled loops over listed combinations (oracles: those of the comparison and of the rare combinations)."""

import numpy as np
import numpy.typing as npt

from tasks.core.aggregates.text_kernels import Bytes, put, put_number
from tasks.core.compiling import njit

Integers = npt.NDArray[np.int64]
Ids = npt.NDArray[np.int32]
Codes = npt.NDArray[np.uint32]


@njit(cache=True, nogil=True)
def order_by_column(ids: Ids, columns: Integers, codes: Codes, base: int, rows: Ids, sets: Integers) -> None:
    """Each row's attributes by column, then by code, and the number of its set of columns.

    Args:
        ids: (N, length).
        columns: by attribute id.
        codes: by attribute id.
        base: more than any column; a set's number is that of its columns as digits.
        rows: (N, length), filled.
        sets: (N,), filled.
    """
    for row in range(len(ids)):
        for place in range(ids.shape[1]):
            own = ids[row, place]
            at = place
            while at > 0:
                other = rows[row, at - 1]
                if columns[other] < columns[own] or (
                    columns[other] == columns[own] and codes[other] < codes[own]
                ):
                    break
                rows[row, at] = other
                at -= 1
            rows[row, at] = own
        number = 0
        for place in range(ids.shape[1]):
            number = number * base + columns[rows[row, place]]
        sets[row] = number


@njit(cache=True, nogil=True)
def put_together(
    rows: Ids,
    counts: Integers,
    codes: Codes,
    places: tuple[Integers, Integers],
    grouped: tuple[npt.NDArray[np.uint32], Integers],
) -> None:
    """Put the rows of a set together, in order.

    Args:
        rows: attribute ids, (N, length).
        counts: (N,).
        codes: by attribute id.
        places: each row's set, and where each set's next row goes (moved on).
        grouped: codes (length, N) and counts (N,), filled.
    """
    sets, following = places
    for row in range(len(rows)):
        to = following[sets[row]]
        following[sets[row]] = to + 1
        for place in range(rows.shape[1]):
            grouped[0][place, to] = codes[rows[row, place]]
        grouped[1][to] = counts[row]


@njit(cache=True, nogil=True)
def write_combinations(
    rows: Ids,
    counts: tuple[Integers, Integers],
    holders: tuple[Integers, Integers],
    pieces: tuple[Bytes, Integers, npt.NDArray[np.bool_]],
    resolution: int,
    out: Bytes,
) -> int:
    """Write a line for each holder of each combination; how many bytes were written.

    A line: the length, the combination (its pieces, quoted where one of them has to be), the holder, the
    synthetic count, and the sensitive count rounded down, tabs between.

    Args:
        rows: (N, length) places of pieces, in the order in which they are written.
        counts: synthetic and sensitive, (N,).
        holders: where each combination's begin and the last one's end (N + 1,), and who they are.
        pieces: texts, each with `` AND `` behind; and whether a combination with it is quoted.
        resolution: at least 1.
        out: with room for all of it.
    """
    text, starts, enclosed = pieces
    synthetic, sensitive = counts
    begins, held = holders
    at = 0
    for row in range(len(rows)):
        head = at
        at = put_number(rows.shape[1], out, at)
        out[at] = 9
        at += 1
        quoted = False
        for place in range(rows.shape[1]):
            quoted |= enclosed[rows[row, place]]
        if quoted:
            out[at] = 34
            at += 1
        for place in range(rows.shape[1]):
            piece = rows[row, place]
            at = put(text, starts[piece], starts[piece + 1], out, at)
        at -= 5
        if quoted:
            out[at] = 34
            at += 1
        out[at] = 9
        at += 1
        length = at - head
        for place in range(begins[row], begins[row + 1]):
            if place > begins[row]:
                at = put(out, head, head + length, out, at)
            at = put_number(held[place], out, at)
            out[at] = 9
            at = put_number(synthetic[row], out, at + 1)
            out[at] = 9
            at = put_number(sensitive[row] - sensitive[row] % resolution, out, at + 1)
            out[at] = 10
            at += 1
    return at
