"""One record at a time: an index of rows and what may be used in, a record's attributes out (sds.md 4.1).

An attribute is drawn with probability proportional to the number of rows that hold it and all that was
chosen before. That is how often one meets it in a random cell of those rows, so most are drawn by looking
at random cells. What turns out to be in fewer of them than the resolution is dropped and another is
drawn, which leaves the law of the others as it is. Only where few rows are left, or where nothing is met
in many tries, are all counts taken.
"""

import numpy as np

from tasks.core.compiling import njit
from tasks.core.synthesis.block_kernels import Cells, Index
from tasks.core.synthesis.index_kernels import ones_in
from tasks.core.synthesis.present_row_kernels import (
    BITS,
    CANDIDATES,
    DROPPED,
    ENDED,
    HELD,
    KIND,
    LIST,
    NONE,
    ONE,
    OWN,
    SHARED,
    SIZE,
    WHOLE,
    Drawing,
    Work,
    bits_of,
    narrowed,
)
from tasks.core.synthesis.record_stream_kernels import States, below


@njit(cache=True, nogil=True)
def _worth(drawing: Drawing) -> int:
    """How many looks at a random row take about as long as counting."""
    index, work, effort = drawing
    left = work.now[CANDIDATES] - work.now[DROPPED]
    if work.now[KIND] == WHOLE:
        looks, enough = left // 4, effort.hits
    elif work.now[KIND] == BITS:
        looks = left * index.bits.shape[1] // 16
        enough = effort.hits * len(index.cells) // work.now[HELD]
    else:
        looks = work.now[HELD] * index.cells.shape[1] // 8 if work.now[HELD] > effort.short else 0
        enough = effort.hits
    return int(min(looks, enough))


@njit(cache=True, nogil=True)
def met(drawing: Drawing, states: States, place: int) -> int:
    """What is wanted of a random cell of the present rows, or `NONE` after too many looks."""
    index, work, _ = drawing
    rows, slots = index.cells.shape
    kind, held = work.now[KIND], work.now[HELD]
    bits = bits_of(index, work) if kind == BITS else work.words[0]
    listed = work.lists[work.now[OWN]]
    for _ in range(_worth(drawing)):
        row = below(states, place, held if kind == LIST else rows)
        if kind == LIST:
            row = np.int64(listed[row])
        elif kind == BITS and not (bits[row >> 6] >> np.uint64(row & 63)) & ONE:
            continue
        attribute = int(index.cells[row, below(states, place, slots)])
        if work.wanted[attribute]:
            return attribute
    return NONE


@njit(cache=True, nogil=True)
def _weigh_list(index: Index, work: Work) -> int:
    """Count what is wanted in the listed rows; returns how many different attributes were met."""
    rows, number = work.lists[work.now[OWN]], 0
    for place in range(work.now[HELD]):
        for slot in range(index.cells.shape[1]):
            attribute = index.cells[rows[place], slot]
            if work.wanted[attribute]:
                if work.weights[attribute] == 0:
                    work.met[number] = attribute
                    number += 1
                work.weights[attribute] += 1
    return number


@njit(cache=True, nogil=True)
def _weight(index: Index, work: Work, attribute: int) -> int:
    """How many of the present rows (all, or a bitset) hold an attribute."""
    if work.now[KIND] == WHOLE:
        return int(index.held[attribute])
    if index.held[attribute] == len(index.cells):
        return int(work.now[HELD])
    bits, found, dense = bits_of(index, work), np.uint64(0), index.dense[attribute]
    if dense >= 0:
        other = index.bits[dense]
        for word in range(len(bits)):
            found += ones_in(bits[word] & other[word])
    else:
        for row in index.listed[index.first[attribute] : index.first[attribute + 1]]:
            found += (bits[row >> 6] >> np.uint64(row & 63)) & ONE
    return int(found)


@njit(cache=True, nogil=True)
def _weigh_candidates(index: Index, work: Work) -> int:
    number = 0
    for attribute in work.candidates[: work.now[CANDIDATES]]:
        if work.wanted[attribute]:
            work.weights[attribute] = _weight(index, work, attribute)
            work.met[number] = attribute
            number += 1
    return number


@njit(cache=True, nogil=True)
def weighed(drawing: Drawing, states: States, place: int) -> int:
    """What is wanted, drawn by all counts that reach the resolution; `NONE` where none does."""
    index, work, effort = drawing
    number = _weigh_list(index, work) if work.now[KIND] == LIST else _weigh_candidates(index, work)
    total = 0
    for attribute in work.met[:number]:
        if work.weights[attribute] < effort.resolution:
            work.weights[attribute] = 0
        total += work.weights[attribute]
    chosen, rest = NONE, below(states, place, total) if total else 0
    for attribute in work.met[:number]:
        if chosen == NONE and rest < work.weights[attribute]:
            chosen = int(attribute)
        rest -= work.weights[attribute]
        work.weights[attribute] = 0
    return chosen


@njit(cache=True, nogil=True)
def _join(drawing: Drawing, attribute: int) -> bool:
    """Add an attribute to the record if enough rows hold it with the others; it is wanted no longer."""
    work = drawing.work
    work.wanted[attribute] = False
    work.dropped[work.now[DROPPED]] = attribute
    work.now[DROPPED] += 1
    if not narrowed(drawing, attribute):
        return False
    work.record[work.now[SIZE]] = attribute
    work.now[SIZE] += 1
    return True


@njit(cache=True, nogil=True)
def begin_record(drawing: Drawing, chosen: Cells, size: int) -> None:
    """Begin a record with the first ``size`` of what was chosen, which enough rows hold together."""
    now = drawing.work.now
    now[KIND], now[HELD], now[SHARED], now[OWN] = WHOLE, len(drawing.inverted.cells), NONE, 0
    now[DROPPED], now[SIZE] = 0, 0
    for place in range(size):
        _join(drawing, int(chosen[place]))


@njit(cache=True, nogil=True)
def finish_record(drawing: Drawing, states: States, place: int) -> None:
    """Add attributes to a record that was begun until none may join."""
    work, effort, refused = drawing.work, drawing.effort, 0
    while work.now[DROPPED] < work.now[CANDIDATES] - work.now[ENDED]:
        attribute = NONE
        if refused < effort.refusals:
            attribute = met(drawing, states, place)
        if attribute == NONE:
            attribute = weighed(drawing, states, place)
        if attribute == NONE:
            break
        refused = 0 if _join(drawing, attribute) else refused + 1
