"""Whole records, one attribute after the other (S4.4).

`tests/oracles/aggregate_seeded.py` says the law slowly and plainly. Two things make it fast. What may still
join a record is the AND of the bitsets of its combinations. And of the counts of all combinations that a
candidate makes with the record, only the ``depth`` largest (or smallest) that the percentile can need are
kept, sorted, and each accepted attribute only adds the counts of the combinations that it is part of.

While a record grows nothing that a weight depends on changes, since every weight is of combinations
that hold an attribute the record has not got. So availability and synthetic counts are settled when the
record is done, and a record that outgrows its workspace is given up and drawn again from the same state.

On request a record is held to the resolution. The counts vouch for combinations up to the reporting length;
beyond it an attribute joins only where enough raw rows hold it with the others.
"""

from typing import NamedTuple

import numpy as np

from tasks.core.arrays import Flags, Ids, Integers, Words
from tasks.core.compiling.decorator import njit
from tasks.core.random_kernels import below
from tasks.core.synthesis.index import ONE, CombinationRows, attribute_at, longer_combination, rank_of
from tasks.core.synthesis.rows import (
    HELD,
    RowSet,
    begin_with_all,
    count_with,
    narrow,
    present_rows,
)

#: Places in ``Supply.now``.
FIRST_TOTAL = 0  # sum of the weights of first attributes
CANDIDATE_WORDS = 1  # how many words of candidates
SUBSETS = 2  # how many combinations of the record are listed
KEPT_COUNTS = 3  # how many counts are kept of each candidate


class Law(NamedTuple):
    """What the weights follow; constant through a run.

    Attributes:
        header_of: int32 (A,), for each attribute the place of its header.
        longest: the largest size that a record can have.
        synthetic_counts: whether what was synthesised is taken off every count.
        sign: 1 if the largest counts are kept, -1 if the smallest are; ``depth``: how many of each candidate.
        lower, upper, share: by record size m, places among the kept counts and 300ths between them:
            the percentile of what a candidate makes with m attributes.
    """

    rows: CombinationRows
    header_of: Ids
    longest: int
    reporting_length: int
    synthetic_counts: bool
    sign: int
    depth: int
    lower: Integers
    upper: Integers
    share: Integers


class Supply(NamedTuple):
    """What a shard has left to give.

    Attributes:
        available: int64 (A,), how often each attribute may still be used.
        remaining: int64, by combination number: its count, less what was synthesised where the law says so.
        beside: int64: counts in the order of ``rows.joined``, where the law has no synthetic counts: those
            that are needed together then lie together in memory. Empty otherwise.
        tree: int64 (A + 1,), Fenwick tree of the weights of first attributes.
        random: uint64 (4,), the generator's state.
        now: int64 (4,), counters; see the constants above.
    """

    available: Integers
    remaining: Integers
    beside: Integers
    tree: Integers
    random: Words
    now: Integers


class RecordWorkspace(NamedTuple):
    """Room for one record in the making.

    Attributes:
        word, bits: candidates: the words that are not empty, ascending.
        kept: int64 (A * depth,), by attribute: sign * counts, descending.
        whole: int64 (A,): count of the record with the attribute, while that is at most R long.
        spent: bool (A,): a combination it makes with the record is used up.
        drawn, cumulative: int32 and int64 (A,): candidates in turn and running sums of weights.
    """

    word: Ids
    bits: Words
    kept: Integers
    whole: Integers
    spent: Flags
    subset: Ids
    subset_length: Ids
    drawn: Ids
    cumulative: Integers


@njit(cache=True, nogil=True)
def list_subsets(law: Law, supply: Supply, work: RecordWorkspace, attribute: int) -> int:
    """List the combinations that an attribute makes with the record's; returns where they start."""
    start = int(supply.now[SUBSETS])
    longest = law.reporting_length if law.synthetic_counts else law.reporting_length - 1
    rows, subset, length = law.rows, work.subset, work.subset_length
    end = start
    subset[end], length[end] = attribute, 1
    end += 1
    for i in range(start):
        if length[i] < longest:
            subset[end], length[end] = longer_combination(rows, subset[i], attribute), length[i] + 1
            end += 1
    supply.now[SUBSETS] = end
    return start


@njit(cache=True, nogil=True)
def start_candidates(law: Law, supply: Supply, work: RecordWorkspace, attribute: int) -> None:
    """Candidates beside a first attribute: what may join it and is available."""
    start, word, bits = law.rows.start, law.rows.word, law.rows.bits
    available, remaining, counts, spent = supply.available, supply.remaining, work.kept, work.spent
    words = 0
    for place in range(start[attribute], start[attribute + 1]):
        rest, usable = bits[place], np.uint64(0)
        while rest:
            bit = rest & (~rest + ONE)
            rest ^= bit
            candidate = attribute_at(word[place], bit)
            if available[candidate] > 0:
                usable |= bit
                counts[candidate * law.depth] = law.sign * remaining[candidate]
                spent[candidate] = remaining[candidate] <= 0
        if usable:
            work.word[words], work.bits[words] = word[place], usable
            words += 1
    supply.now[CANDIDATE_WORDS] = words
    supply.now[KEPT_COUNTS] = 1


@njit(cache=True, nogil=True)
def narrow_candidates(law: Law, supply: Supply, work: RecordWorkspace, combination: int) -> None:
    word, bits, candidate_word, candidate_bits = law.rows.word, law.rows.bits, work.word, work.bits
    place, end = law.rows.start[combination], law.rows.start[combination + 1]
    words = 0
    for i in range(supply.now[CANDIDATE_WORDS]):
        while place < end and word[place] < candidate_word[i]:
            place += 1
        if place < end and word[place] == candidate_word[i]:
            both = candidate_bits[i] & bits[place]
            if both:
                candidate_word[words], candidate_bits[words] = candidate_word[i], both
                words += 1
    supply.now[CANDIDATE_WORDS] = words


@njit(cache=True, nogil=True)
def keep_count(counts: Integers, base: int, kept: int, depth: int, count: int) -> None:
    """Insert into the descending counts at ``base``, of which ``kept`` are there, the last falling out."""
    place = base + kept
    if kept == depth:
        place -= 1
        if count <= counts[place]:
            return
    while place > base and counts[place - 1] < count:
        counts[place] = counts[place - 1]
        place -= 1
    counts[place] = count


@njit(cache=True, nogil=True)
def add_remaining(law: Law, supply: Supply, work: RecordWorkspace, combination: int, whole: bool) -> None:
    """Note, for every candidate, the remaining count of a combination (``whole``: the record) with it."""
    word, bits, first, joined = law.rows.word, law.rows.bits, law.rows.first, law.rows.joined
    remaining, beside, counts, depth, sign = supply.remaining, supply.beside, work.kept, law.depth, law.sign
    candidate_word, candidate_bits, spent = work.word, work.bits, work.spent
    place, kept = law.rows.start[combination], int(supply.now[KEPT_COUNTS])
    for i in range(supply.now[CANDIDATE_WORDS]):
        while word[place] < candidate_word[i]:
            place += 1
        rest = candidate_bits[i]
        while rest:
            bit = rest & (~rest + ONE)
            rest ^= bit
            candidate = attribute_at(word[place], bit)
            entry = first[place] + rank_of(bits[place], bit)
            if law.synthetic_counts:
                count = remaining[joined[entry]]
                if count <= 0:
                    spent[candidate] = True
            else:
                count = beside[entry]
            if whole:
                work.whole[candidate] = count
            keep_count(counts, candidate * depth, kept, depth, sign * count)
    supply.now[KEPT_COUNTS] = min(kept + 1, depth)


@njit(cache=True, nogil=True)
def accept(law: Law, supply: Supply, work: RecordWorkspace, attribute: int, size: int) -> None:
    """Join an attribute to the record, which then has ``size``, and bring the candidates up to date."""
    start = list_subsets(law, supply, work, attribute)
    end = supply.now[SUBSETS]
    if law.reporting_length == 1:
        return
    longest = min(size, law.reporting_length - 1)
    subset, length = work.subset, work.subset_length
    if size == 1:
        start_candidates(law, supply, work, attribute)
    else:
        for i in range(start, end):
            if length[i] == longest:
                narrow_candidates(law, supply, work, subset[i])
    for i in range(start, end):
        if length[i] <= longest:
            add_remaining(law, supply, work, subset[i], length[i] == size)


@njit(cache=True, nogil=True)
def between(low: int, high: int, share: int) -> int:
    """``share`` 300ths of the way from one count to another, half rounded away from zero."""
    return low + ((high - low) * share + 150) // 300


@njit(cache=True, nogil=True)
def weigh(law: Law, supply: Supply, work: RecordWorkspace, size: int) -> int:
    """Fill ``drawn`` and ``cumulative`` for a record of ``size`` >= 1; returns how many are allowed."""
    counts, spent, whole, drawn, cumulative = work.kept, work.spent, work.whole, work.drawn, work.cumulative
    depth, sign = law.depth, law.sign
    lower, upper, share = law.lower[size], law.upper[size], law.share[size]
    allowed, total = 0, 0
    for i in range(supply.now[CANDIDATE_WORDS]):
        rest = work.bits[i]
        while rest:
            bit = rest & (~rest + ONE)
            rest ^= bit
            candidate = attribute_at(work.word[i], bit)
            if size < law.reporting_length:
                weight = whole[candidate]
            elif spent[candidate]:
                weight = 0
            else:
                base = candidate * depth
                weight = between(sign * counts[base + lower], sign * counts[base + upper], share)
            if weight > 0:
                total += weight
                drawn[allowed], cumulative[allowed] = candidate, total
                allowed += 1
    return allowed


@njit(cache=True, nogil=True)
def weigh_alone(law: Law, supply: Supply, work: RecordWorkspace, record: Ids) -> int:
    """`weigh` for R = 1, where an attribute's weight is its own count and only headers exclude."""
    allowed, total = 0, 0
    for candidate in range(len(supply.available)):
        weight = supply.remaining[candidate] if supply.available[candidate] > 0 else 0
        for attribute in record:
            if law.header_of[attribute] == law.header_of[candidate]:
                weight = 0
        if weight > 0:
            total += weight
            work.drawn[allowed], work.cumulative[allowed] = candidate, total
            allowed += 1
    return allowed


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
    cumulative = work.cumulative[:allowed]
    rest = np.int64(below(supply.random, cumulative[-1]))
    return int(np.searchsorted(cumulative, rest, side="right"))


@njit(cache=True, nogil=True)
def next_attribute(supply: Supply, work: RecordWorkspace, held: Holders, allowed: int, beyond: bool) -> int:
    """Draw one of the weighed candidates, or -1 if none may join.

    ``beyond``: what it makes is longer than the reporting length, so that the records must be asked. One
    that too few of them hold is put back and another drawn, which leaves the others' law as it is.
    """
    drawn, cumulative = work.drawn, work.cumulative
    asked = beyond and held.resolution > 0
    if asked and allowed > 0 and held.rows.now[HELD] <= held.rows.short:
        allowed, asked = keep_held(held, drawn, cumulative, allowed), False
    while allowed > 0:
        place = drawn_place(supply, work, allowed)
        chosen = int(drawn[place])
        if not asked or count_with(held.rows, chosen, held.resolution) >= held.resolution:
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

    Returns how it ended, the number of records, the number of attribute ids.
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
