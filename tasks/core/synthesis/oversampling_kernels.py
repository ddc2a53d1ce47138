"""Records under oversampling control (S4.3).

As `record_kernels.draw_in_turn`, but an attribute joins only where every reported combination that it makes
with the record's may be synthesised once more. Up to the reporting length a combination is held by enough
rows if it is reported, so the rows that hold the record are not looked for before it is that long, as long
as one of them is met soon.
"""

from typing import NamedTuple

import numpy as np

from tasks.core.arrays import Ids, Integers
from tasks.core.compiling.decorator import njit
from tasks.core.random_kernels import RecordStates, state_below
from tasks.core.synthesis import index_kernels
from tasks.core.synthesis.index_kernels import MISSING, ONE, longer_combination
from tasks.core.synthesis.record_kernels import (
    CANDIDATES,
    DROPPED,
    SIZE,
    Drafts,
    Drawing,
    add,
    begin_record,
    drop,
    keep_record,
    met,
    use_up,
    want_again,
    weighed,
)
from tasks.core.synthesis.row_set_kernels import NO_ATTRIBUTE, borrowed, narrow

#: A row that holds the record is looked for among all rows while one in so many holds it.
_ROWS_A_LOOK = 128
#: Where `Combinations.now` keeps: how many combinations there are; how many of the record's attributes the
#: rows were not narrowed to; how many attributes have joined records so far.
USED, LATE, JOINED = 0, 1, 2


class Limits(NamedTuple):
    """How often reported combinations may still be synthesised.

    Attributes:
        left, reported: int64, by number; the second: their counts.
        tries: how many draws in a row may be refused before a record ends.
    """

    rows: index_kernels.CombinationRows
    left: Integers
    reported: Integers
    reporting_length: int
    tries: int


class Combinations(NamedTuple):
    """Room for the reported combinations of one record.

    Attributes:
        number, length: int32: those shorter than R, which a new attribute makes others with.
        made: int32: what the attribute at hand makes, alone and with each of them; `MISSING`: not reported.
        late: int32 (slots,): attributes that the rows were not narrowed to, the rarest first.
        refused_at: int64 (A,): how many attributes had joined records when this one was last refused.
        now: int64 (3,), see above.
    """

    number: Ids
    length: Ids
    made: Ids
    late: Ids
    refused_at: Integers
    now: Integers


@njit(cache=True, nogil=True)
def _fits(limits: Limits, combinations: Combinations, attribute: int) -> bool:
    """Whether all that an attribute makes may be synthesised once more; fills ``made`` where it does."""
    number, made = combinations.number, combinations.made
    made[0] = attribute
    if limits.left[attribute] <= 0:
        return False
    # The longest ones have the lowest limits.
    for place in range(combinations.now[USED] - 1, -1, -1):
        joined = longer_combination(limits.rows, number[place], attribute)
        if joined != MISSING and limits.left[joined] <= 0:
            return False
        made[place + 1] = joined
    return True


@njit(cache=True, nogil=True)
def _count_made(limits: Limits, combinations: Combinations) -> None:
    number, length, made = combinations.number, combinations.length, combinations.made
    before = combinations.now[USED]
    end = before
    for place in range(before + 1):
        if made[place] == MISSING:
            continue
        limits.left[made[place]] -= 1
        size = 1 if place == 0 else length[place - 1] + 1
        if size < limits.reporting_length:
            number[end], length[end] = made[place], size
            end += 1
    combinations.now[USED] = end


@njit(cache=True, nogil=True)
def _is_reported(limits: Limits, room: Combinations, attribute: int) -> bool:
    used = room.now[USED]
    # The whole record is the last of its combinations.
    return bool(used == 0 or longer_combination(limits.rows, room.number[used - 1], attribute) != MISSING)


@njit(cache=True, nogil=True)
def _holds_record(drawing: Drawing, row: int, room: Combinations) -> bool:
    index = drawing.rows.block
    for place in range(room.now[LATE]):
        # `row_holds`, of an attribute that has a bitset: others are not put off.
        if not (index.bits[index.dense[room.late[place]], row >> 6] >> np.uint64(row & 63)) & ONE:
            return False
    return True


@njit(cache=True, nogil=True)
def _met_late(drawing: Drawing, room: Combinations, states: RecordStates, place: int) -> int:
    """As `met`, of the rows that hold the record, which they were not narrowed to."""
    index, work, effort = drawing.rows.block, drawing.work, drawing.effort
    rows, slots = index.cells.shape
    # So many looks take about as long as narrowing and counting.
    left = int(work.now[CANDIDATES] - work.now[DROPPED])
    enough = (16 + left) * index.bits.shape[1] // 16
    for _ in range(min(enough, effort.hits * _ROWS_A_LOOK)):
        row = int(state_below(states, place, rows))
        if _holds_record(drawing, row, room):
            attribute = int(index.cells[row, state_below(states, place, slots)])
            if work.wanted[attribute]:
                return attribute
    return NO_ATTRIBUTE


@njit(cache=True, nogil=True)
def _narrow_late(drawing: Drawing, room: Combinations) -> None:
    for place in range(room.now[LATE]):
        narrow(drawing.rows, int(room.late[place]))
    room.now[LATE] = 0


@njit(cache=True, nogil=True)
def _join(drawing: Drawing, limits: Limits, room: Combinations, attribute: int) -> None:
    _count_made(limits, room)
    drop(drawing.work, attribute)
    add(drawing.work, attribute)
    room.now[JOINED] += 1


@njit(cache=True, nogil=True)
def _put_off(drawing: Drawing, limits: Limits, room: Combinations, attribute: int) -> None:
    """Narrow the rows to an attribute that has joined, and all others, later; or now, where few hold all."""
    index, place = drawing.rows.block, room.now[LATE]
    held = index.held
    while place and held[room.late[place - 1]] > held[attribute]:
        room.late[place] = room.late[place - 1]
        place -= 1
    room.late[place] = attribute
    room.now[LATE] += 1
    number = 0
    if drawing.work.now[SIZE] < limits.reporting_length:
        number = limits.reported[room.number[room.now[USED] - 1]]
    if index.dense[attribute] < 0 or number * _ROWS_A_LOOK < len(index.cells):
        _narrow_late(drawing, room)


@njit(cache=True, nogil=True)
def _drawn(drawing: Drawing, room: Combinations, states: RecordStates, place: int, scarce: int) -> int:
    """The next attribute by the law, or one of too few rows; `NO_ATTRIBUTE` where nothing has a weight."""
    attribute = NO_ATTRIBUTE
    if room.now[LATE]:
        attribute = _met_late(drawing, room, states, place)
        if attribute == NO_ATTRIBUTE:
            _narrow_late(drawing, room)
    elif scarce < drawing.effort.refusals:
        attribute = met(drawing, states, place)
    if attribute == NO_ATTRIBUTE:
        attribute = weighed(drawing, states, place)
    return attribute


@njit(cache=True, nogil=True)
def _draw_limited(
    drawing: Drawing, states: RecordStates, record: int, limits: Limits, room: Combinations
) -> None:
    """Add attributes to a record that was begun, empty, until none may join or all tries are used up."""
    work, rows = drawing.work, drawing.rows.now
    before = np.empty_like(rows)
    room.now[USED], room.now[LATE], tries, scarce = 0, 0, limits.tries, 0
    room.now[JOINED] += 1
    while tries and work.now[DROPPED] < work.now[CANDIDATES]:
        attribute = _drawn(drawing, room, states, record, scarce)
        if attribute == NO_ATTRIBUTE:
            break
        late = work.now[SIZE] == 0 or room.now[LATE] > 0
        if room.refused_at[attribute] == room.now[JOINED]:
            tries -= 1
            continue
        for place in range(len(rows)):
            before[place] = rows[place]
        if not (_is_reported(limits, room, attribute) if late else narrow(drawing.rows, attribute)):
            # Its weight is 0: it was not drawn by the law, and no try is used up.
            drop(work, attribute)
            scarce += 1
        elif _fits(limits, room, attribute):
            _join(drawing, limits, room, attribute)
            if late:
                _put_off(drawing, limits, room, attribute)
            tries, scarce = limits.tries, 0
        else:
            for place in range(len(rows)):
                rows[place] = before[place]  # one step back, see `row_set_kernels`
            room.refused_at[attribute] = room.now[JOINED]
            tries -= 1


@njit(cache=True, nogil=True)
def draw_limited(
    drawing: Drawing, drafts: Drafts, available: Integers, limits: Limits, room: Combinations
) -> int:
    """Draw records within the limits, each using up what it holds; returns how many.

    Fewer than there is room for only when nothing is available any more. No record is empty: the limit of
    an attribute alone is never below what is available of it, so a record's first draw is not refused.
    """
    drawing, states = borrowed(drawing), borrowed(drafts.states)
    limits, room = borrowed(limits), borrowed(room)
    for record in range(len(drafts.sizes)):
        if drawing.work.now[CANDIDATES] == 0:
            return record
        begin_record(drawing, drafts.records[record], 0)
        _draw_limited(drawing, states, record, limits, room)
        keep_record(drawing, drafts, record)
        want_again(drawing)
        use_up(drawing, available)
    return len(drafts.sizes)
