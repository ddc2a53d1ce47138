"""Value-seeded synthesis: raw rows in, synthetic records out (S4.3).

Records grow from nothing out of what is available: each attribute as often as its count, rounded down to
the resolution. Under oversampling control an attribute joins a record only if no reported combination that
it makes with the record's, up to the reporting length, is then synthesised more often than its reported
count allows. Up to that length a combination is held by enough rows if it is reported, so the rows that hold
the record are not looked for before it is that long, as long as one of them is met soon.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.arrays import Ids, Integers, ShareDone
from tasks.core.compiling.decorator import njit
from tasks.core.errors import InternalError
from tasks.core.random_kernels import RecordStates, state_below, stream
from tasks.core.synthesis.assembly import order_records
from tasks.core.synthesis.index import (
    MISSING,
    ONE,
    CombinationIndex,
    CombinationRows,
    build_index,
    longer_combination,
)
from tasks.core.synthesis.record_kernels import (
    CANDIDATES,
    DROPPED,
    SIZE,
    Drafts,
    Drawing,
    Effort,
    add,
    begin_record,
    drop,
    keep_record,
    met,
    use_up,
    want_again,
    weighed,
)
from tasks.core.synthesis.records import SyntheticRecords
from tasks.core.synthesis.rows import (
    NO_ATTRIBUTE,
    FrequentRows,
    block_cells,
    borrowed,
    build_block_index,
    narrow,
)
from tasks.core.synthesis.tree import (
    Consolidation,
    DrawnRecords,
    drafts_of,
    drawing_over,
    drawn_of,
    join_drawn,
    table_of,
)

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

    rows: CombinationRows
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
                rows[place] = before[place]  # one step back, see `rows`
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


@dataclass(frozen=True)
class Oversampling:
    """How far synthetic counts may exceed the reported ones.

    Attributes:
        ratio: a combination of reported count a is synthesised at most a (1 + ratio) times; at least 0.
        tries: how often in a row an attribute may be drawn in vain before the record ends; at least 1.
    """

    ratio: float
    tries: int = 1


def draw_value_seeded(
    rows: FrequentRows,
    seed: int,
    *,
    oversampling: Oversampling | None = None,
    reported: Aggregates | None = None,
    threads: int = 1,
    progress: ShareDone = lambda share: None,
) -> SyntheticRecords:
    """Draw synthetic records by S4.3, in the published order (S4.0), none empty; on any machine the same.

    Args:
        seed: any integer; as sensitive as the rows.
        oversampling: how far synthetic counts may exceed the ``reported`` ones; None: as far as it comes.
        threads: 0 for all cores. Under oversampling control records depend on each other, and one is used.
    """
    if oversampling is None:
        available = rows.counts // rows.resolution * rows.resolution
        drawn = Consolidation(table_of(rows), available, seed).run(threads, progress)
    elif reported is None:
        raise InternalError("Oversampling control compares with the reportable aggregates.")
    else:
        drawn = draw_oversampled(rows, reported, oversampling, seed, progress)
    synthetic = order_records(rows.headers, rows.attributes, drawn.sizes, drawn.attribute_ids)
    progress(1.0)
    return synthetic


_RECORDS_A_SLICE = 256
_NO_LIMIT = 2**62


def draw_oversampled(
    rows: FrequentRows,
    reported: Aggregates,
    oversampling: Oversampling,
    seed: int,
    progress: ShareDone,
) -> DrawnRecords:
    """Draw records one after the other until every attribute is used as often as its rounded count.

    An attribute is drawn with probability proportional to the number of rows that hold it and all that was
    chosen, where those are at least the resolution. It is refused if a combination of up to R attributes that
    it makes with the record's, reported with count a, is in more than a (1 + ratio) - 1 synthetic records. A
    refusal uses up a try and another attribute is drawn by the same weights; tries are restored with each
    acceptance. A record ends when no try is left or nothing has a weight.

    What is available is the rounded count, not SDS's 2 floor_res(c) - c (S4.3). No record is empty. Every
    combination of any length is in at least as many rows as the resolution; every attribute in exactly as
    many records as reported.
    """
    available = rows.counts // rows.resolution * rows.resolution
    _check(rows, reported, available)
    if not len(available):
        return join_drawn([])
    combinations = build_index(reported)
    limits = Limits(
        combinations.rows,
        allowed(combinations.counts, oversampling.ratio),
        combinations.counts,
        reported.reporting_length,
        oversampling.tries,
    )
    room = _room(rows, combinations)
    index = build_block_index(block_cells(rows), np.append(rows.counts, 0), rows.resolution)
    left, total = available.copy(), int(available.sum())
    drawing = drawing_over(index, Effort(rows.resolution), left)
    base, first, parts = stream("oversampling", seed)[0], 0, []
    # Every record uses at least one attribute up, so this ends: the limit of an attribute alone begins at or
    # above what is available of it, and both fall by one with every use.
    while left.any():
        drafts = drafts_of(index.cells, _RECORDS_A_SLICE, base, first)
        parts.append(drawn_of(drafts, draw_limited(drawing, drafts, left, limits, room)))
        first += _RECORDS_A_SLICE
        progress(1.0 - int(left.sum()) / total)
    return join_drawn(parts)


def _check(rows: FrequentRows, reported: Aggregates, available: Integers) -> None:
    """Refuse aggregates of other records or another resolution: with them records might not end."""
    if rows.attributes != reported.attributes:
        raise InternalError(
            "Oversampling is controlled by the reportable aggregates of the same records only."
        )
    if len(available) and not np.array_equal(reported.counts[0], available):
        raise InternalError("Oversampling is controlled by the aggregates of the same resolution only.")


def allowed(counts: Integers, ratio: float) -> Integers:
    """How often a combination of each count may be synthesised: floor(count (1 + ratio)).

    Exact, the ratio being the decimal as written: in floating point 100 * (1 + 0.15) is a little below 115.

    >>> allowed(np.array([100, 10]), 0.15).tolist()
    [115, 11]
    """
    distinct, places = np.unique(counts, return_inverse=True)
    factor = 1 + Fraction(str(ratio))
    allowed = [min(math.floor(int(count) * factor), _NO_LIMIT) for count in distinct]
    return np.array(allowed, np.int64)[places]


def _room(rows: FrequentRows, reported: CombinationIndex) -> Combinations:
    slots = rows.ids.shape[1]
    shorter = sum(math.comb(slots, length) for length in range(1, min(reported.reporting_length, slots + 1)))
    most = min(shorter, len(reported.counts))
    return Combinations(
        np.empty(most, np.int32),
        np.empty(most, np.int32),
        np.empty(most + 1, np.int32),
        np.empty(slots, np.int32),
        np.zeros(len(rows.attributes), np.int64),
        np.zeros(3, np.int64),
    )
