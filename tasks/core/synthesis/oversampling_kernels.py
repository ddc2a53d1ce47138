"""Records under oversampling control: rows, what is available and reported in, records out (sds.md 4.3).

As `pass_kernels.draw_in_turn`, but an attribute joins only where every reported combination that it makes
with the record's may be synthesised once more.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from tasks.core.synthesis import index_kernels
from tasks.core.synthesis.block_kernels import Integers
from tasks.core.synthesis.index_kernels import MISSING, join
from tasks.core.synthesis.pass_kernels import Drafts, keep, use_up, want_again
from tasks.core.synthesis.present_row_kernels import (
    CANDIDATES,
    DROPPED,
    KIND,
    NONE,
    OWN,
    SIZE,
    Drawing,
    narrowed,
)
from tasks.core.synthesis.record_kernels import begin_record, met, weighed


class Limits(NamedTuple):
    """How often reported combinations may still be synthesised.

    Attributes:
        rows: of the index of the reported combinations, which are numbered in it.
        left: int64, by number.
        reporting_length: R.
        tries: how many draws in a row may be refused before a record ends.
    """

    rows: index_kernels.Rows
    left: Integers
    reporting_length: int
    tries: int


class Combinations(NamedTuple):
    """Room for the reported combinations of one record.

    Attributes:
        number, length: int32: those shorter than R, which a new attribute makes others with.
        made: int32: what the attribute at hand makes, alone and with each of them; `MISSING`: not reported.
        used: int64 (1,): how many there are of the first two.
    """

    number: npt.NDArray[np.int32]
    length: npt.NDArray[np.int32]
    made: npt.NDArray[np.int32]
    used: Integers


@njit(cache=True, nogil=True)
def _fits(limits: Limits, combinations: Combinations, attribute: int) -> bool:
    """Whether all that an attribute makes may be synthesised once more; fills ``made`` where it does."""
    number, made = combinations.number, combinations.made
    made[0] = attribute
    if limits.left[attribute] <= 0:
        return False
    for place in range(combinations.used[0]):
        joined = join(limits.rows, number[place], attribute)
        if joined != MISSING and limits.left[joined] <= 0:
            return False
        made[place + 1] = joined
    return True


@njit(cache=True, nogil=True)
def _count_made(limits: Limits, combinations: Combinations) -> None:
    """Take what `_fits` filled off the limits, and add the shorter ones to the record's."""
    number, length, made = combinations.number, combinations.length, combinations.made
    before = combinations.used[0]
    end = before
    for place in range(before + 1):
        if made[place] == MISSING:
            continue
        limits.left[made[place]] -= 1
        size = 1 if place == 0 else length[place - 1] + 1
        if size < limits.reporting_length:
            number[end], length[end] = made[place], size
            end += 1
    combinations.used[0] = end


@njit(cache=True, nogil=True)
def _drop(drawing: Drawing, attribute: int) -> None:
    """Want an attribute no longer, for this record."""
    work = drawing.work
    work.wanted[attribute] = False
    work.dropped[work.now[DROPPED]] = attribute
    work.now[DROPPED] += 1


@njit(cache=True, nogil=True)
def _draw_limited(drawing: Drawing, drafts: Drafts, record: int, limits: Limits, room: Combinations) -> None:
    """Add attributes to a record that was begun, empty, until none may join or all tries are used up."""
    work, effort = drawing.work, drawing.effort
    before = np.empty(OWN + 1, np.int64)
    room.used[0], tries, scarce = 0, limits.tries, 0
    while tries and work.now[DROPPED] < work.now[CANDIDATES]:
        attribute = NONE
        if scarce < effort.refusals:
            attribute = met(drawing, drafts.states, record)
        if attribute == NONE:
            attribute = weighed(drawing, drafts.states, record)
        if attribute == NONE:
            break
        for place in range(KIND, OWN + 1):
            before[place] = work.now[place]
        if not narrowed(drawing, attribute):
            # Its weight is 0: it was not drawn by the law, and no try is used up.
            _drop(drawing, attribute)
            scarce += 1
        elif _fits(limits, room, attribute):
            _count_made(limits, room)
            _drop(drawing, attribute)
            work.record[work.now[SIZE]] = attribute
            work.now[SIZE] += 1
            tries, scarce = limits.tries, 0
        else:
            # Narrowing leaves the rows that were present before where they are.
            for place in range(KIND, OWN + 1):
                work.now[place] = before[place]
            tries -= 1


@njit(cache=True, nogil=True)
def draw_limited(
    drawing: Drawing, drafts: Drafts, available: Integers, limits: Limits, room: Combinations
) -> int:
    """Draw records within the limits, each using up what it holds; returns how many.

    Fewer than there is room for only when nothing is available any more. No record is empty: the limit of
    an attribute alone is never below what is available of it, so a record's first draw is not refused.
    """
    for record in range(len(drafts.sizes)):
        if drawing.work.now[CANDIDATES] == 0:
            return record
        begin_record(drawing, drafts.records[record], 0)
        _draw_limited(drawing, drafts, record, limits, room)
        keep(drawing, drafts, record)
        want_again(drawing)
        use_up(drawing, available)
    return len(drafts.sizes)
