"""Whole records: a law and what is available in, synthetic records out (sds.md 4.4).

While a record grows nothing that a weight depends on changes, since every weight is of combinations
that hold an attribute the record has not got. So availability and synthetic counts are settled when the
record is done, and a record that outgrows its workspace is given up and drawn again from the same state.

On request a record is held to the resolution. The counts vouch for combinations up to the reporting length;
beyond it an attribute joins only where enough raw rows hold it with the others.
"""

from typing import NamedTuple

import numpy as np

from tasks.core.arrays import Ids, Integers, Words
from tasks.core.compiling.decorator import njit
from tasks.core.random_kernels import below
from tasks.core.synthesis.row_set_kernels import (
    HELD,
    RowSet,
    begin_with_all,
    count_with,
    narrow,
    present_rows,
)
from tasks.core.synthesis.weight_kernels import (
    FIRST_TOTAL,
    SUBSETS,
    Law,
    RecordWorkspace,
    Supply,
    accept,
    weigh,
    weigh_alone,
)

#: How `draw_records` ended.
OUT_OF_ROOM, EXHAUSTED, RECORD_TOO_LONG = 0, 1, 2


class Holders(NamedTuple):
    """The raw records that hold the record in the making.

    Attributes:
        rows: a set of them; where it is short, all that its rows hold is counted at once.
        tally: int64 (attributes + 1,), all 0 between draws.
        resolution: how many must hold a combination; 0 where nothing is held to it.
    """

    rows: RowSet
    tally: Integers
    resolution: int


@njit(cache=True, nogil=True)
def find_holders(held: Holders, record: Ids) -> None:
    """Begin with the rows that hold all of a record, the rarest of it first."""
    counts, rarest = held.rows.block.held, 0
    for place in range(len(record)):
        if counts[record[place]] < counts[record[rarest]]:
            rarest = place
    begin_with_all(held.rows)
    narrow(held.rows, record[rarest])
    for place in range(len(record)):
        if place != rarest:
            narrow(held.rows, record[place])


@njit(cache=True, nogil=True)
def enough_hold(held: Holders, attribute: int) -> bool:
    """Whether at least ``resolution`` of the rows also hold an attribute; looks no further than it must."""
    return count_with(held.rows, attribute, held.resolution) >= held.resolution


@njit(cache=True, nogil=True)
def are_few(held: Holders) -> bool:
    """Whether the rows are few enough for `keep_held`."""
    return bool(held.rows.now[HELD] <= held.rows.short)


@njit(cache=True, nogil=True)
def keep_held(held: Holders, drawn: Ids, cumulative: Integers, allowed: int) -> int:
    """Keep those of the weighed candidates that enough rows hold; returns how many they are."""
    cells, tally, rows = held.rows.block.cells, held.tally, present_rows(held.rows)
    for row in rows:
        for slot in range(cells.shape[1]):
            tally[cells[row, slot]] += 1
    kept, before, total = 0, 0, 0
    for place in range(allowed):
        weight = cumulative[place] - before
        before = cumulative[place]
        if tally[drawn[place]] >= held.resolution:
            total += weight
            drawn[kept], cumulative[kept] = drawn[place], total
            kept += 1
    for row in rows:
        for slot in range(cells.shape[1]):
            tally[cells[row, slot]] = 0
    return kept


@njit(cache=True, nogil=True)
def fill_tree(supply: Supply) -> None:
    """Build the tree of first weights: the remaining count of every attribute that is available.

    A Fenwick tree: place p holds the sum of as many weights, ending with the p-th, as p's lowest bit says.

        weights of attributes  0  1  2  3  4  5  6  7
        tree[8]               └────────────────────────┘
        tree[4], tree[6]      └───────────┘└────┘
        tree[2]               └────┘
    """
    size = len(supply.available)
    supply.now[FIRST_TOTAL] = 0
    supply.tree[:] = 0
    for attribute in range(size):
        if supply.available[attribute] > 0 and supply.remaining[attribute] > 0:
            supply.now[FIRST_TOTAL] += supply.remaining[attribute]
            supply.tree[attribute + 1] += supply.remaining[attribute]
        above = (attribute + 1) + ((attribute + 1) & -(attribute + 1))
        if above <= size:
            supply.tree[above] += supply.tree[attribute + 1]


@njit(cache=True, nogil=True)
def lower_first_weight(supply: Supply, attribute: int, by: int) -> None:
    """Take ``by`` off an attribute's weight as a first attribute."""
    supply.now[FIRST_TOTAL] -= by
    place = attribute + 1
    while place < len(supply.tree):
        supply.tree[place] -= by
        place += place & -place


@njit(cache=True, nogil=True)
def first_attribute(supply: Supply) -> int:
    """Draw by first weights; their sum must be positive."""
    rest = below(supply.random, supply.now[FIRST_TOTAL])
    size = len(supply.tree) - 1
    step = 1
    while 2 * step <= size:
        step *= 2
    place = 0
    while step > 0:
        if place + step <= size and supply.tree[place + step] <= rest:
            place += step
            rest -= supply.tree[place]
        step >>= 1
    return place


@njit(cache=True, nogil=True)
def settle(law: Law, supply: Supply, work: RecordWorkspace, record: Ids) -> None:
    """Take a finished record off what is available and, where the law says so, off the counts."""
    for attribute in record:
        supply.available[attribute] -= 1
        by = 1 if law.synthetic_counts else 0
        if supply.available[attribute] == 0:
            by = supply.remaining[attribute]
        if by > 0:
            lower_first_weight(supply, attribute, by)
    if law.synthetic_counts:
        for i in range(supply.now[SUBSETS]):
            supply.remaining[work.subset[i]] -= 1


@njit(cache=True, nogil=True)
def drawn_place(supply: Supply, work: RecordWorkspace, allowed: int) -> int:
    """Draw one of the weighed candidates: the first whose running sum is above a uniform integer."""
    cumulative = work.cumulative
    rest = below(supply.random, cumulative[allowed - 1])
    low, high = 0, allowed - 1
    while low < high:
        middle = (low + high) >> 1
        if cumulative[middle] > rest:
            high = middle
        else:
            low = middle + 1
    return low


@njit(cache=True, nogil=True)
def next_attribute(supply: Supply, work: RecordWorkspace, held: Holders, allowed: int, beyond: bool) -> int:
    """Draw one of the weighed candidates, or -1 if none may join.

    ``beyond``: what it makes is longer than the reporting length, so that the records must be asked. One
    that too few of them hold is put back and another drawn, which leaves the others' law as it is.
    """
    drawn, cumulative = work.drawn, work.cumulative
    asked = beyond and held.resolution > 0
    if asked and allowed > 0 and are_few(held):
        allowed, asked = keep_held(held, drawn, cumulative, allowed), False
    while allowed > 0:
        place = drawn_place(supply, work, allowed)
        chosen = int(drawn[place])
        if not asked or enough_hold(held, chosen):
            return chosen
        weight = cumulative[place] - (cumulative[place - 1] if place else 0)
        allowed -= 1
        for i in range(place, allowed):
            drawn[i], cumulative[i] = drawn[i + 1], cumulative[i + 1] - weight
    return -1


@njit(cache=True, nogil=True)
def draw_record(law: Law, supply: Supply, work: RecordWorkspace, held: Holders, record: Ids) -> int:
    """Draw one record into ``record``; returns its size, or -1 if the workspace is too small for it."""
    supply.now[SUBSETS] = 0
    size, chosen = 0, first_attribute(supply)
    while size + 1 < len(law.lower):
        record[size] = chosen
        size += 1
        if held.resolution:
            if size == law.reporting_length:
                find_holders(held, record[:size])
            elif size > law.reporting_length:
                narrow(held.rows, chosen)
        accept(law, supply, work, chosen, size)
        if law.reporting_length == 1:
            allowed = weigh_alone(law, supply, work, record[:size])
        else:
            allowed = weigh(law, supply, work, size)
        chosen = next_attribute(supply, work, held, allowed, size >= law.reporting_length)
        if chosen < 0:
            return size
    return -1


@njit(cache=True, nogil=True)
def copy_words(source: Words, target: Words) -> None:
    """Copy a generator's state (assigning a slice would cost a second of compiling)."""
    for place in range(len(source)):
        target[place] = source[place]


@njit(cache=True, nogil=True)
def draw_records(
    law: Law,
    supply: Supply,
    work: RecordWorkspace,
    held: Holders,
    sizes: Ids,
    attribute_ids: Ids,
) -> tuple[int, int, int]:
    """Draw records until there is no room, nothing is available, or one outgrows the workspace.

    ``sizes`` and ``attribute_ids`` (one record after the other) are filled from their beginning; before
    each record there must be room in them for the longest possible one.

    Returns:
        How it ended, the number of records, the number of attribute ids.
    """
    records, used = 0, 0
    state = np.empty(4, np.uint64)
    while records < len(sizes) and used + law.longest <= len(attribute_ids):
        if supply.now[FIRST_TOTAL] == 0:
            return EXHAUSTED, records, used
        copy_words(supply.random, state)
        record = attribute_ids[used : used + law.longest]
        size = draw_record(law, supply, work, held, record)
        if size < 0:
            copy_words(state, supply.random)
            return RECORD_TOO_LONG, records, used
        settle(law, supply, work, record[:size])
        sizes[records] = size
        records += 1
        used += size
    return OUT_OF_ROOM, records, used
