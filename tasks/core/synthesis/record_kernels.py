"""Many records one after the other (S4.1, S4.3).

In the row pass a record may hold what its seed, a row of the table, holds. Records without a seed may hold
what is available.

An attribute is drawn with probability proportional to the number of rows that hold it and all that was
chosen before. That is how often one meets it in a random cell of those rows, so most are drawn by looking
at random cells. What turns out to be in fewer of them than the resolution is dropped and another is drawn,
which leaves the law of the others as it is. Only where few rows are left, or where nothing is met in many
tries, are all counts taken.
"""

from typing import NamedTuple

import numpy as np

from tasks.core.arrays import Codes, Flags, Ids, Integers
from tasks.core.compiling.decorator import njit
from tasks.core.random_kernels import RecordStates, begin_states, state_below
from tasks.core.synthesis.index import ONE
from tasks.core.synthesis.rows import (
    BITS,
    HELD,
    KIND,
    LIST,
    NO_ATTRIBUTE,
    ROWS_A_BIT,
    WHOLE,
    RowSet,
    begin_with_all,
    bits_of,
    borrowed,
    count_with,
    list_of,
    narrow,
)

#: Where `Work.now` keeps: how many candidates are listed; how many attributes were dropped; the record's
#: size; how many candidates were used up.
CANDIDATES, DROPPED, SIZE, ENDED = 0, 1, 2, 3


class Effort(NamedTuple):
    """When to go over from one way to another; the law of the records is the same for all values.

    Attributes:
        hits: at most so many present rows are looked at, on average, before all counts are taken.
        rows_a_list: as in `RowSet`.
        rows_a_bit: as in `rows.indexed`, for blocks that are made on the way.
    """

    resolution: int
    short: int = 48
    hits: int = 64
    refusals: int = 4
    rows_a_list: int = 128
    rows_a_bit: int = ROWS_A_BIT


class Work(NamedTuple):
    """Room for one record.

    Attributes:
        wanted: bool (attributes + 1,): what may join; never the empty cell.
        candidates: int32 (attributes + 1,): all that is wanted or dropped, no attribute twice; and some
            that were used up.
        weights: int64 (attributes + 1,), all 0 between draws.
        met: int32 (attributes + 1,): attributes that have a weight.
        dropped: int32 (attributes + 1,): what is no longer wanted for this record.
        record: int32 (slots,): what was chosen.
        now: int64 (4,), see above.
    """

    wanted: Flags
    candidates: Ids
    weights: Integers
    met: Ids
    dropped: Ids
    record: Ids
    now: Integers


class Drawing(NamedTuple):
    """The rows that a record is drawn from, room for it, and how it is drawn."""

    rows: RowSet
    work: Work
    effort: Effort


@njit(cache=True, nogil=True)
def _worth(drawing: Drawing) -> int:
    rows, work, effort = drawing
    left, held = work.now[CANDIDATES] - work.now[DROPPED], rows.now[HELD]
    if rows.now[KIND] == WHOLE:
        looks, enough = left // 4, effort.hits
    elif rows.now[KIND] == BITS:
        looks = left * rows.block.bits.shape[1] // 16
        enough = effort.hits * len(rows.block.cells) // held
    else:
        looks = held * rows.block.cells.shape[1] // 8 if held > effort.short else 0
        enough = effort.hits
    return int(min(looks, enough))


@njit(cache=True, nogil=True)
def met(drawing: Drawing, states: RecordStates, place: int) -> int:
    """What is wanted of a random cell of the present rows, or `NO_ATTRIBUTE` after too many looks."""
    rows, work, _ = drawing
    cells, kind = rows.block.cells, rows.now[KIND]
    bits = bits_of(rows) if kind == BITS else rows.words[0]
    listed = list_of(rows) if kind == LIST else rows.lists[0]
    number = rows.now[HELD] if kind == LIST else len(cells)
    for _ in range(_worth(drawing)):
        row = state_below(states, place, number)
        if kind == LIST:
            row = np.int64(listed[row])
        elif kind == BITS and not (bits[row >> 6] >> np.uint64(row & 63)) & ONE:
            continue
        attribute = int(cells[row, state_below(states, place, cells.shape[1])])
        if work.wanted[attribute]:
            return attribute
    return NO_ATTRIBUTE


@njit(cache=True, nogil=True)
def _weigh_list(rows: RowSet, work: Work) -> int:
    """As `_weigh_candidates`, of listed rows; returns how many different attributes were met."""
    cells, number = rows.block.cells, 0
    for row in list_of(rows):
        for slot in range(cells.shape[1]):
            attribute = cells[row, slot]
            if work.wanted[attribute]:
                if work.weights[attribute] == 0:
                    work.met[number] = attribute
                    number += 1
                work.weights[attribute] += 1
    return number


@njit(cache=True, nogil=True)
def _weigh_candidates(rows: RowSet, work: Work) -> int:
    number = 0
    for attribute in work.candidates[: work.now[CANDIDATES]]:
        if work.wanted[attribute]:
            work.weights[attribute] = count_with(rows, attribute, rows.now[HELD])
            work.met[number] = attribute
            number += 1
    return number


@njit(cache=True, nogil=True)
def weighed(drawing: Drawing, states: RecordStates, place: int) -> int:
    """What is wanted, drawn by all counts that reach the resolution; `NO_ATTRIBUTE` where none does."""
    rows, work, effort = drawing
    number = _weigh_list(rows, work) if rows.now[KIND] == LIST else _weigh_candidates(rows, work)
    total = 0
    for attribute in work.met[:number]:
        if work.weights[attribute] < effort.resolution:
            work.weights[attribute] = 0
        total += work.weights[attribute]
    chosen, rest = NO_ATTRIBUTE, state_below(states, place, total) if total else 0
    for attribute in work.met[:number]:
        if chosen == NO_ATTRIBUTE and rest < work.weights[attribute]:
            chosen = int(attribute)
        rest -= work.weights[attribute]
        work.weights[attribute] = 0
    return chosen


@njit(cache=True, nogil=True)
def drop(work: Work, attribute: int) -> None:
    work.wanted[attribute] = False
    work.dropped[work.now[DROPPED]] = attribute
    work.now[DROPPED] += 1


@njit(cache=True, nogil=True)
def add(work: Work, attribute: int) -> None:
    work.record[work.now[SIZE]] = attribute
    work.now[SIZE] += 1


@njit(cache=True, nogil=True)
def _join(drawing: Drawing, attribute: int) -> bool:
    """Add an attribute to the record if enough rows hold it with the others; it is wanted no longer."""
    drop(drawing.work, attribute)
    if not narrow(drawing.rows, attribute):
        return False
    add(drawing.work, attribute)
    return True


@njit(cache=True, nogil=True)
def begin_record(drawing: Drawing, chosen: Codes, size: int) -> None:
    """Begin a record with the first ``size`` of what was chosen, which enough rows hold together."""
    begin_with_all(drawing.rows)
    drawing.work.now[DROPPED], drawing.work.now[SIZE] = 0, 0
    for place in range(size):
        _join(drawing, int(chosen[place]))


@njit(cache=True, nogil=True)
def finish_record(drawing: Drawing, states: RecordStates, place: int) -> None:
    """Add attributes to a record that was begun until none may join."""
    work, effort, refused = drawing.work, drawing.effort, 0
    while work.now[DROPPED] < work.now[CANDIDATES] - work.now[ENDED]:
        attribute = NO_ATTRIBUTE
        if refused < effort.refusals:
            attribute = met(drawing, states, place)
        if attribute == NO_ATTRIBUTE:
            attribute = weighed(drawing, states, place)
        if attribute == NO_ATTRIBUTE:
            break
        refused = 0 if _join(drawing, attribute) else refused + 1


class Drafts(NamedTuple):
    """Records while they are drawn.

    Attributes:
        records: (records, slots), of the type of the table's cells: what was chosen, in its order.
        sizes: int32 (records,): how many of them count.
        states: uint64 (records,), of each record's random stream.
    """

    records: Codes
    sizes: Ids
    states: RecordStates


@njit(cache=True, nogil=True)
def keep_record(drawing: Drawing, drafts: Drafts, record: int) -> None:
    size = drawing.work.now[SIZE]
    drafts.sizes[record] = size
    for place in range(size):
        drafts.records[record, place] = drawing.work.record[place]


@njit(cache=True, nogil=True)
def _want_row(drawing: Drawing, row: Codes) -> None:
    work, number = drawing.work, 0
    for attribute in row:
        if drawing.rows.block.held[attribute] >= drawing.effort.resolution:
            work.wanted[attribute] = True
            work.candidates[number] = attribute
            number += 1
    work.now[CANDIDATES] = number


@njit(cache=True, nogil=True)
def finish_seeded(drawing: Drawing, seeds: Codes, drafts: Drafts, numbers: Ids) -> None:
    """Finish the numbered records, each from what its row holds; nothing is wanted before or after."""
    drawing, states = borrowed(drawing), borrowed(drafts.states)
    work = drawing.work
    for record in numbers:
        _want_row(drawing, seeds[record])
        begin_record(drawing, drafts.records[record], drafts.sizes[record])
        finish_record(drawing, states, record)
        keep_record(drawing, drafts, record)
        for attribute in work.candidates[: work.now[CANDIDATES]]:
            work.wanted[attribute] = False


@njit(cache=True, nogil=True)
def want_again(drawing: Drawing) -> None:
    work = drawing.work
    for attribute in work.dropped[: work.now[DROPPED]]:
        work.wanted[attribute] = True


@njit(cache=True, nogil=True)
def finish_unseeded(drawing: Drawing, drafts: Drafts, numbers: Ids) -> None:
    """Finish the numbered records from the candidates, all of them wanted before and after."""
    drawing, states = borrowed(drawing), borrowed(drafts.states)
    for record in numbers:
        begin_record(drawing, drafts.records[record], drafts.sizes[record])
        finish_record(drawing, states, record)
        keep_record(drawing, drafts, record)
        want_again(drawing)


@njit(cache=True, nogil=True)
def draw_in_turn(drawing: Drawing, drafts: Drafts, available: Integers) -> int:
    """Draw records from the candidates, each using up what it holds; returns how many.

    Fewer than there is room for only when nothing is available any more. All candidates are wanted, before
    and after, but for those that are used up.
    """
    drawing, states = borrowed(drawing), borrowed(drafts.states)
    work = drawing.work
    for record in range(len(drafts.sizes)):
        if work.now[CANDIDATES] == 0:
            return record
        begin_record(drawing, drafts.records[record], 0)
        finish_record(drawing, states, record)
        keep_record(drawing, drafts, record)
        want_again(drawing)
        use_up(drawing, available)
    return len(drafts.sizes)


@njit(cache=True, nogil=True)
def use_up(drawing: Drawing, available: Integers) -> None:
    work = drawing.work
    for attribute in work.record[: work.now[SIZE]]:
        available[attribute] -= 1
        if available[attribute] == 0:
            work.wanted[attribute] = False
            work.now[ENDED] += 1
    # Now and then only: there may be as many attributes as records.
    if 2 * work.now[ENDED] > work.now[CANDIDATES]:
        kept = 0
        for attribute in work.candidates[: work.now[CANDIDATES]]:
            if work.wanted[attribute]:
                work.candidates[kept] = attribute
                kept += 1
        work.now[CANDIDATES], work.now[ENDED] = kept, 0


@njit(cache=True, nogil=True)
def use_up_in_order(drafts: Drafts, first: int, available: Integers) -> int:
    """Take records from the first on off what is available, up to one that uses up an attribute.

    Returns the record behind the last one taken off.
    """
    for record in range(first, len(drafts.sizes)):
        ended = False
        for attribute in drafts.records[record, : drafts.sizes[record]]:
            available[attribute] -= 1
            ended |= available[attribute] == 0
        if ended:
            return record + 1
    return len(drafts.sizes)


@njit(cache=True, nogil=True)
def cut_used_up(drafts: Drafts, first: int, available: Integers) -> Ids:
    """Cut records from the first on before what is not available any more; returns which were cut."""
    numbers, number = np.empty(len(drafts.sizes) - first, np.int32), 0
    for record in range(first, len(drafts.sizes)):
        for place in range(drafts.sizes[record]):
            if available[drafts.records[record, place]] == 0:
                drafts.sizes[record] = place
                numbers[number] = record
                number += 1
                break
    return numbers[:number]


@njit(cache=True, nogil=True)
def shuffled(number: int, base: np.uint64) -> Ids:
    order = np.arange(number).astype(np.int32)
    states = np.empty(1, np.uint64)
    begin_states(states, base, 0)
    for place in range(number - 1, 0, -1):
        other = state_below(states, 0, place + 1)
        order[place], order[other] = order[other], order[place]
    return order


@njit(cache=True, nogil=True)
def remove_excess(offsets: Integers, ids: Ids, order: Ids, excess: Integers) -> Flags:
    """Which occurrences are left when the first of each attribute are removed, in an order of the records."""
    kept = np.ones(len(ids), np.bool_)
    for record in order:
        for place in range(offsets[record], offsets[record + 1]):
            if excess[ids[place]] > 0:
                excess[ids[place]] -= 1
                kept[place] = False
    return kept


@njit(cache=True, nogil=True)
def choose_spare_rows(cells: Codes, holders: tuple[Integers, Ids], beyond: Integers, number: int) -> Ids:
    """One row after the other that lacks the fewest attributes, the first of equals.

    An attribute is lacking once it is not beyond its rounded count any more, which happens once to each; so
    rows only come to lack more, and one pass over them for each number of lacking attributes finds all.

    Args:
        holders: where the list of each attribute's rows begins, and the lists; see `BlockIndex`.
        beyond: (attributes + 1,), how many rows with each may be chosen before it is lacking; above 0 for the
            empty cell. Counted down.
        number: how many rows to choose, at most all of them.
    """
    first, listed = holders
    empty = len(beyond) - 1
    lacking = np.zeros(len(cells), np.int32)
    for row in range(len(cells)):
        for attribute in cells[row]:
            lacking[row] += beyond[attribute] <= 0
    chosen, found, fewest = np.empty(number, np.int32), 0, 0
    while found < number:
        for row in range(len(cells)):
            if lacking[row] != fewest or found == number:
                continue
            chosen[found], lacking[row] = row, NO_ATTRIBUTE
            found += 1
            for attribute in cells[row]:
                if attribute != empty:
                    beyond[attribute] -= 1
                    if beyond[attribute] == 0:
                        for other in listed[first[attribute] : first[attribute + 1]]:
                            lacking[other] += lacking[other] != NO_ATTRIBUTE
        fewest += 1
    return chosen


@njit(cache=True, nogil=True)
def join_seeded(weights: Integers, seeds: Codes, drafts: Drafts, numbers: Ids, joined: Ids) -> None:
    """Let one attribute of its seed, drawn by weight, join each numbered record.

    ``joined``, aligned with the numbers, becomes that attribute, or -1 where none has a weight.
    """
    for place in range(len(numbers)):
        record, total = numbers[place], 0
        for attribute in seeds[record]:
            total += weights[attribute]
        joined[place] = -1
        if total == 0:
            continue
        rest = state_below(drafts.states, record, total)
        for attribute in seeds[record]:
            rest -= weights[attribute]
            if rest < 0:
                joined[place] = attribute
                break
        drafts.records[record, drafts.sizes[record]] = joined[place]
        drafts.sizes[record] += 1


@njit(cache=True, nogil=True)
def join_unseeded(weights: Integers, depth: int, drafts: Drafts, numbers: Ids, joined: Ids) -> None:
    """Let one of all attributes, drawn by weight, join each numbered record; as `join_seeded`.

    A record of more than ``depth`` attributes has its next one already.
    """
    cumulative = np.cumsum(weights)
    for place in range(len(numbers)):
        record = numbers[place]
        size = drafts.sizes[record]
        joined[place] = -1
        if size > depth:
            joined[place] = drafts.records[record, depth]
        elif cumulative[-1] > 0:
            drawn = state_below(drafts.states, record, cumulative[-1])
            joined[place] = np.searchsorted(cumulative, drawn, side="right")
            drafts.records[record, size] = joined[place]
            drafts.sizes[record] = size + 1


@njit(cache=True, nogil=True)
def grouped(numbers: Ids, joined: Ids, starts: Integers) -> Ids:
    """The numbers by what joined, leaving out those that nothing did; fills where each attribute's begin."""
    starts[:] = 0
    for attribute in joined:
        if attribute >= 0:
            starts[attribute + 1] += 1
    for attribute in range(1, len(starts)):
        starts[attribute] += starts[attribute - 1]
    place_of, order = starts.copy(), np.empty(starts[-1], np.int32)
    for place in range(len(numbers)):
        if joined[place] >= 0:
            order[place_of[joined[place]]] = numbers[place]
            place_of[joined[place]] += 1
    return order


@njit(cache=True, nogil=True)
def split(cells: Codes, first_slot: int, end_slot: int, place_of: Integers, into: Codes) -> None:
    """Copy each row to every block that one of its slots, from ``first_slot`` to ``end_slot``, says.

    ``place_of``: int64 (attributes + 1,): where in ``into`` the attribute's next row goes; -1: nowhere.
    """
    for row in range(cells.shape[0]):
        for slot in range(first_slot, end_slot):
            attribute = cells[row, slot]
            place = place_of[attribute]
            if place >= 0:
                for other in range(cells.shape[1]):
                    into[place, other] = cells[row, other]
                place_of[attribute] = place + 1
