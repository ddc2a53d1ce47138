"""The rows that hold what a record has chosen: one more attribute in, fewer rows out (sds.md 4.1).

They are all rows of a block, or a bitset of them, or a list where few are left.

Arrays are *borrowed*, without an owner: every function that is handed an array counts itself among its
owners and no longer, atomically, and with a few dozen arrays that takes as long as the work, and threads
wait for each other. The owner of what is borrowed must outlive it, as a kernel's arguments outlive the
call.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba.extending import intrinsic

from tasks.core.arrays import Codes, Ids, Integers
from tasks.core.compiling import njit
from tasks.core.synthesis.block_kernels import ROWS_A_BIT, BlockIndex
from tasks.core.synthesis.index_kernels import ONE, lowest_in, ones_in


def _borrowed(typing_context: Any, array: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        view.meminfo = view.meminfo.type(None)
        view.parent = view.parent.type(None)
        return view._getvalue()

    return array(array), generate


#: The same array, not owned.
borrowed: Any = intrinsic(_borrowed)


#: The rows that hold what was chosen are: all of the block, a bitset, a list.
WHOLE, BITS, LIST = 0, 1, 2
#: Where `Work.now` keeps: which of these, how many rows, which bitset of the index (-1: one of our own),
#: which of our own bitsets or lists; how many candidates are listed, how many attributes
#: were dropped; the record's size; how many candidates were used up.
KIND, HELD, SHARED, OWN, CANDIDATES, DROPPED, SIZE, ENDED = 0, 1, 2, 3, 4, 5, 6, 7
NO_ATTRIBUTE = -1


class Effort(NamedTuple):
    """When to go over from one way to another; the law of the records is the same for all values.

    Attributes:
        resolution: the fewest rows that a drawn combination stands in.
        short: of so few rows all counts are taken.
        hits: at most so many present rows are looked at, on average, before all counts are taken.
        refusals: attributes of too few rows that are drawn before all counts are taken.
        rows_a_list: one row in so many is left: a list of them takes the place of the bitset.
        rows_a_bit: as in `rows.indexed`, for blocks that are made on the way.
    """

    resolution: int
    short: int = 48
    hits: int = 64
    refusals: int = 4
    rows_a_list: int = 128
    rows_a_bit: int = ROWS_A_BIT


class Work(NamedTuple):
    """Room for one record over an index.

    Attributes:
        wanted: bool (attributes + 1,): what may join; never the empty cell.
        candidates: int32 (attributes + 1,): all that is wanted or dropped, no attribute twice; and some
            that were used up.
        words: uint64 (2, words). lists: int32 (2, rows).
        weights: int64 (attributes + 1,), all 0 between draws.
        met: int32 (attributes + 1,): attributes that have a weight.
        dropped: int32 (attributes + 1,): what is no longer wanted for this record.
        record: int32 (slots,): what was chosen.
        now: int64 (8,), see above.
    """

    wanted: npt.NDArray[np.bool_]
    candidates: Ids
    words: npt.NDArray[np.uint64]
    lists: Ids
    weights: Integers
    met: Ids
    dropped: Ids
    record: Ids
    now: Integers


class Drawing(NamedTuple):
    """Where records come from (an inverted index), room for one, and how it is drawn."""

    inverted: BlockIndex
    work: Work
    effort: Effort


@njit(cache=True, nogil=True)
def borrowed_drawing(drawing: Drawing) -> Drawing:
    """The same, all its arrays borrowed."""
    index, work = drawing.inverted, drawing.work
    return Drawing(
        BlockIndex(
            borrowed(index.cells),
            borrowed(index.held),
            borrowed(index.dense),
            borrowed(index.bits),
            borrowed(index.first),
            borrowed(index.listed),
        ),
        Work(
            borrowed(work.wanted),
            borrowed(work.candidates),
            borrowed(work.words),
            borrowed(work.lists),
            borrowed(work.weights),
            borrowed(work.met),
            borrowed(work.dropped),
            borrowed(work.record),
            borrowed(work.now),
        ),
        drawing.effort,
    )


@njit(cache=True, nogil=True)
def bits_of(index: BlockIndex, work: Work) -> npt.NDArray[np.uint64]:
    """The present rows, where they are a bitset."""
    bits: npt.NDArray[np.uint64] = work.words[work.now[OWN]]
    if work.now[SHARED] >= 0:
        bits = index.bits[work.now[SHARED]]
    return bits


@njit(cache=True, nogil=True)
def _both(mine: npt.NDArray[np.uint64], other: npt.NDArray[np.uint64], into: npt.NDArray[np.uint64]) -> int:
    found = np.uint64(0)
    for word in range(len(mine)):
        into[word] = mine[word] & other[word]
        found += ones_in(into[word])
    return int(found)


@njit(cache=True, nogil=True)
def _common(mine: npt.NDArray[np.uint64], other: npt.NDArray[np.uint64], into: Ids) -> int:
    """The rows of both bitsets as a list; -1 where there might not be room for all."""
    used, room = 0, len(into) - 64
    for word in range(len(mine)):
        left = mine[word] & other[word]
        if left:
            if used > room:
                return -1
            while left:
                into[used] = (word << 6) + np.int64(lowest_in(left))
                used += 1
                left &= left - ONE
    return used


@njit(cache=True, nogil=True)
def _with_bit(rows: Ids, bits: npt.NDArray[np.uint64], into: Ids) -> int:
    """Those of the rows that are in a bitset; ``into`` may be the rows themselves."""
    used = 0
    for row in rows:
        into[used] = row
        used += int((bits[row >> 6] >> np.uint64(row & 63)) & ONE)
    return used


@njit(cache=True, nogil=True)
def _with_cell(rows: Ids, cells: Codes, attribute: int, into: Ids) -> int:
    """Those of the rows that have an attribute in some slot."""
    used = 0
    for row in rows:
        into[used] = row
        found = 0
        for slot in range(cells.shape[1]):
            found |= cells[row, slot] == attribute
        used += found
    return used


@njit(cache=True, nogil=True)
def _narrowed_list(index: BlockIndex, work: Work, attribute: int, resolution: int) -> bool:
    rows, into = work.lists[work.now[OWN]][: work.now[HELD]], work.lists[1 - work.now[OWN]]
    if index.dense[attribute] >= 0:
        used = _with_bit(rows, index.bits[index.dense[attribute]], into)
    else:
        used = _with_cell(rows, index.cells, attribute, into)
    if used < resolution:
        return False
    work.now[HELD], work.now[OWN] = used, 1 - work.now[OWN]
    return True


@njit(cache=True, nogil=True)
def _narrowed_to_listed(index: BlockIndex, work: Work, attribute: int, resolution: int) -> bool:
    """What the attribute's own list and the present rows (all, or a bitset) have in common."""
    listed = index.listed[index.first[attribute] : index.first[attribute + 1]]
    into = work.lists[0]
    if work.now[KIND] == WHOLE:
        for place in range(len(listed)):
            into[place] = listed[place]
        used = len(listed)
    else:
        used = _with_bit(listed, bits_of(index, work), into)
    if used < resolution:
        return False
    work.now[KIND], work.now[HELD], work.now[OWN] = LIST, used, 0
    return True


@njit(cache=True, nogil=True)
def _narrowed_bits(index: BlockIndex, work: Work, dense: int, effort: Effort) -> bool:
    now = work.now
    into = 1 - now[OWN]
    used = _both(bits_of(index, work), index.bits[dense], work.words[into])
    if used < effort.resolution:
        return False
    now[HELD], now[SHARED], now[OWN] = used, NO_ATTRIBUTE, into
    if used <= effort.short or used * effort.rows_a_list <= len(index.cells):
        _common(work.words[into], work.words[into], work.lists[0])
        now[KIND], now[OWN] = LIST, 0
    return True


@njit(cache=True, nogil=True)
def _narrowed_to_few(index: BlockIndex, work: Work, attribute: int, effort: Effort) -> int:
    """A list at once, where that is what it will probably be; -1: it has become too long, no change."""
    now, rows = work.now, len(index.cells)
    if now[HELD] * index.held[attribute] * effort.rows_a_list > rows * rows:
        return -1
    used = _common(bits_of(index, work), index.bits[index.dense[attribute]], work.lists[0])
    if used >= effort.resolution:
        now[KIND], now[HELD], now[OWN] = LIST, used, 0
    return used


@njit(cache=True, nogil=True)
def narrowed(drawing: Drawing, attribute: int) -> bool:
    """Keep only the rows that hold one more attribute; False, and no change, where those are too few."""
    index, work, effort = drawing
    now, held = work.now, index.held[attribute]
    if held == len(index.cells):
        return True
    if now[KIND] == LIST:
        return _narrowed_list(index, work, attribute, effort.resolution)
    dense = index.dense[attribute]
    if dense < 0:
        return _narrowed_to_listed(index, work, attribute, effort.resolution)
    if now[KIND] == BITS:
        used = _narrowed_to_few(index, work, attribute, effort)
        return used >= effort.resolution if used >= 0 else _narrowed_bits(index, work, dense, effort)
    now[KIND], now[HELD], now[SHARED] = BITS, held, dense
    return True
