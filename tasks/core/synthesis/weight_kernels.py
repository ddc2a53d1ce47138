"""What the next attribute of a record may be, and by which weights: a record in the making in and out.

The law is sds.md 4.4; `tests/oracles/aggregate_seeded.py` says it slowly and plainly. Two things make it
fast (performance.md section 4). What may still join a record is the AND of the bitsets of its
combinations. And of the counts of all combinations that a candidate makes with the record, only the
``depth`` largest (or smallest) that the percentile can need are kept, sorted, and each accepted
attribute only adds the counts of the combinations that it is part of.
"""

from typing import NamedTuple

import numpy as np

from tasks.core.arrays import Flags, Ids, Integers, Words
from tasks.core.compiling.decorator import njit
from tasks.core.synthesis.index_kernels import ONE, CombinationRows, attribute_at, longer_combination, rank_of

#: Places in ``Supply.now``.
FIRST_TOTAL = 0  # sum of the weights of first attributes
CANDIDATE_WORDS = 1  # how many words of candidates
SUBSETS = 2  # how many combinations of the record are listed
KEPT_COUNTS = 3  # how many counts are kept of each candidate


class Law(NamedTuple):
    """What the weights follow; constant through a run.

    Attributes:
        rows: of the index.
        header_of: int32 (A,), for each attribute the place of its header.
        longest: the largest size that a record can have.
        reporting_length: R.
        synthetic_counts: whether what was synthesised is taken off every count.
        sign: 1 if the largest counts are kept, -1 if the smallest are.
        depth: how many counts are kept of each candidate.
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
        remaining: int64, by combination number: its count, less what was synthesised of it where the
            law says so.
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
        subset, subset_length: the record's combinations that weights or synthetic counts need.
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
    """Keep only the candidates that may join a combination."""
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
