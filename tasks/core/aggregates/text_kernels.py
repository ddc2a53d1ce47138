"""Compiled loops between coded cells and lines of text (oracles: the writers' tests).

Bounds are the caller's promise. A *text* that is copied from ends with `SPARE` bytes that nobody reads, and
what is written to has as many: bytes are moved so many at a time.
"""

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

from tasks.core.arrays import Bytes, Flags, HalfWords, Ids, Integers
from tasks.core.compiling.decorator import njit

#: Texts one behind the other, and where each begins (and the last ends).
Texts = tuple[Bytes, Integers]

SPARE = 16
_QUOTE, _ZERO, _MINUS = 34, 48, 45


def _moved(context: Any, out: Any, at: Any, text: Any, start: Any) -> Any:
    """``out[at : at + 16] = text[start : start + 16]``, wherever in memory they lie."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        chunk = ir.VectorType(ir.IntType(8), SPARE).as_pointer()
        to, source = (
            builder.bitcast(
                builder.gep(context.make_array(kind)(context, builder, array).data, [place]), chunk
            )
            for kind, array, place in (
                (signature.args[0], *arguments[:2]),
                (signature.args[2], *arguments[2:]),
            )
        )
        builder.store(builder.load(source, align=1), to, align=1)
        return context.get_dummy_value()

    return types.void(out, at, text, start), generate


move: Any = intrinsic(_moved)


@njit(cache=True, nogil=True)
def number_cells(sets: HalfWords, codes: HalfWords, before: Integers, numbers: Ids, rows: Ids) -> None:
    """Each cell as its attributes' numbers, ascending within the row.

    Args:
        sets: of each cell the set of columns, (N,).
        codes: of its values, (length, N), at least 1.
        before: (sets, length): where in ``numbers`` code 0 of each column would stand.
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
def write_text_rows(
    rows: Ids,
    counts: Integers,
    pieces: tuple[Bytes, Integers, Flags],
    around: Texts,
    out: Bytes,
) -> int:
    """Write each row's pieces of text and its count; how many bytes were written.

        before  "  sex:female;  town:Lyon;  "  between  45  after
                ^ if enclosed           ^ the last piece's ``;`` is stepped back over

    Args:
        rows: (N, length) places of pieces.
        pieces: texts, each with one more character at its end, which is left out behind the row's last
            one; and whether a row with the piece stands between quotation marks (empty: none does).
        around: three texts: what is written before, between and after the pieces and the count.
    """
    text, starts, enclosed = pieces
    beside, bounds = around
    at = 0
    for row in range(len(rows)):
        quoted = False
        if len(enclosed):
            for place in range(rows.shape[1]):
                quoted |= enclosed[rows[row, place]]
        at = put(beside, bounds[0], bounds[1], out, at)
        if quoted:
            out[at] = _QUOTE
            at += 1
        for place in range(rows.shape[1]):
            piece = rows[row, place]
            at = put(text, starts[piece], starts[piece + 1], out, at)
        at -= 1
        if quoted:
            out[at] = _QUOTE
            at += 1
        at = put(beside, bounds[1], bounds[2], out, at)
        at = put_number(counts[row], out, at)
        at = put(beside, bounds[2], bounds[3], out, at)
    return at


@njit(cache=True, nogil=True)
def join_rows(rows: Ids, pieces: Texts, out: Bytes, ends: Ids) -> None:
    """Write each row's pieces as `write_text_rows`, nothing between rows; ``ends``: (N,) where each ends."""
    at = 0
    for row in range(len(rows)):
        for place in range(rows.shape[1]):
            piece = rows[row, place]
            at = put(pieces[0], pieces[1][piece], pieces[1][piece + 1], out, at)
        at -= 1
        ends[row] = at


@njit(cache=True, nogil=True)
def put(text: Bytes, start: int, end: int, out: Bytes, at: int) -> int:
    """Copy ``text[start:end]`` to ``out[at:]``; where what is written ends.

    16 bytes are moved at once, the last time too many: the next piece is written over those.

        text  sex:female;town:Lyon;…       out  sex:female;town:
                                                           ^ the place returned, after 11 bytes
    """
    while start < end:
        move(out, at, text, start)
        at += SPARE
        start += SPARE
    return at - (start - end)


@njit(cache=True, nogil=True)
def put_number(number: int, out: Bytes, at: int) -> int:
    """Write a number to ``out[at:]``; where what is written ends."""
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
