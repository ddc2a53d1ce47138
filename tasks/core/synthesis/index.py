"""The aggregates as the sampler looks them up: numbered combinations and their counts.

The attributes are 0 .. A - 1 by their ids, then come the combinations of length 2, 3, ... in the order of the
aggregates. The *row* of a combination S of length k - 1 says for each attribute x that may join it the number
of S + x: a bitset over the attributes, of which only the 64-bit words that are not empty are kept, and behind
each word the numbers in the order of its bits. The number of any combination is then found by joining one
attribute after the other, in any order, without hashing; and what may join all of several combinations is the
AND of their bitsets.

    attributes 0..79, and 70 may join 3, as 5 and 64 may:     start[3]   start[3] + 1
    which 64 attributes (word)                                    0          1
    which of them (bits)                                      5: 100000   64, 70: 1000001
    where their numbers begin (first)                             8          9
    numbers of 3+5, 3+64, 3+70 (joined)                       joined[8]   joined[9], joined[10]
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import intrinsic

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.arrays import Flags, Ids, Integers, Words
from tasks.core.compiling.decorator import njit
from tasks.core.errors import ParameterError
from tasks.core.synthesis.records import header_places

ONE = np.uint64(1)
MISSING = -1


class CombinationRows(NamedTuple):
    """The rows of combinations 0, 1, ...

    Attributes:
        start: int64 (rows + 1,); row r holds words ``start[r]`` to ``start[r + 1] - 1``.
        word: int32 (words,); which 64 attributes the word is of; ascending within a row.
        bits: uint64 (words,); bit b of word w: attribute 64 w + b may join.
        first: int64 (words,); where in ``joined`` the number of the word's lowest attribute is.
        joined: int32; numbers of the joined combinations, by row and attribute ascending.
    """

    start: Integers
    word: Ids
    bits: Words
    first: Integers
    joined: Ids


def _ones_in(typing_context: Any, bits: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


def _lowest_in(typing_context: Any, bits: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], context.get_constant(types.boolean, True))

    return types.uint64(types.uint64), generate


#: Number of bits set in a uint64, and place of the lowest one set in a uint64 that is not 0: one
#: instruction each, which numba has no functions for.
ones_in: Any = intrinsic(_ones_in)
lowest_in: Any = intrinsic(_lowest_in)


@njit(cache=True, nogil=True)
def attribute_at(word: int, bit: np.uint64) -> int:
    """The attribute that one set bit (given as a mask) of a word stands for."""
    return int((np.int64(word) << 6) + np.int64(lowest_in(bit)))


@njit(cache=True, nogil=True)
def rank_of(bits: np.uint64, bit: np.uint64) -> int:
    """How many bits are set below one (given as a mask): how far behind ``first`` its number is."""
    return int(np.int64(ones_in(bits & (bit - ONE))))


@njit(cache=True, nogil=True)
def longer_combination(rows: CombinationRows, combination: int, attribute: int) -> int:
    wanted = attribute >> 6
    low, end = rows.start[combination], rows.start[combination + 1]
    if low == end:
        return MISSING
    # Of a common combination all words are there: each is where it would be then, else before that.
    high = min(low + wanted, end - 1)
    if rows.word[high] == wanted:
        low = high
    while low < high:
        middle = (low + high) >> 1
        if rows.word[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    if rows.word[low] != wanted:
        return MISSING
    bit = ONE << np.uint64(attribute & 63)
    if rows.bits[low] & bit == np.uint64(0):
        return MISSING
    return int(rows.joined[rows.first[low] + rank_of(rows.bits[low], bit)])


@njit(cache=True, nogil=True)
def parents_of(rows: CombinationRows, combinations: Ids) -> Ids:
    """For each combination the numbers of it without its first, second, ... attribute.

    A combination that lacks one of them gets `MISSING` in its first place: it can't be reached.
    """
    number, length = combinations.shape
    parents = np.empty((number, length), np.int32)
    for i in range(number):
        for left_out in range(length):
            found = MISSING
            for place in range(length):
                if place == left_out:
                    continue
                attribute = combinations[i, place]
                found = attribute if found == MISSING else longer_combination(rows, found, attribute)
                if found == MISSING:
                    break
            if found == MISSING:
                parents[i, 0] = MISSING
                break
            parents[i, left_out] = found
    return parents


@njit(cache=True, nogil=True)
def entries_of(
    combinations: Ids,
    parents: Ids,
    base: int,
    rows: int,
    first_number: int,
) -> tuple[Integers, Ids, Ids]:
    """Bounds of each row, and by row the attributes that may join and the numbers of what they make.

    Combinations are lexicographic, so of one row those with an earlier joining place have the lower
    attribute, and taking place after place leaves every row ascending without a sort.

    ``base``: the first number of the rows; ``first_number``: that of ``combinations[0]``.
    """
    number, length = combinations.shape
    start = np.zeros(rows + 1, np.int64)
    for i in range(number):
        if parents[i, 0] != MISSING:
            for place in range(length):
                start[parents[i, place] - base + 1] += 1
    for row in range(rows):
        start[row + 1] += start[row]
    cursor = start[:-1].copy()
    joining = np.empty(start[rows], np.int32)
    joined = np.empty(start[rows], np.int32)
    for place in range(length):
        for i in range(number):
            if parents[i, 0] != MISSING:
                row = parents[i, place] - base
                joining[cursor[row]] = combinations[i, place]
                joined[cursor[row]] = first_number + i
                cursor[row] += 1
    return start, joining, joined


@njit(cache=True, nogil=True)
def row_words(entry_start: Integers, joining: Ids) -> tuple[Integers, Ids, Words, Integers]:
    """``start``, ``word``, ``bits``, ``first`` of `CombinationRows` of each row's ascending attributes."""
    rows = len(entry_start) - 1
    start = np.zeros(rows + 1, np.int64)
    for row in range(rows):
        start[row + 1] = start[row]
        last = MISSING
        for entry in range(entry_start[row], entry_start[row + 1]):
            if joining[entry] >> 6 != last:
                last = joining[entry] >> 6
                start[row + 1] += 1
    word = np.empty(start[rows], np.int32)
    bits = np.zeros(start[rows], np.uint64)
    first = np.empty(start[rows], np.int64)
    for row in range(rows):
        place = start[row] - 1
        last = MISSING
        for entry in range(entry_start[row], entry_start[row + 1]):
            if joining[entry] >> 6 != last:
                last = joining[entry] >> 6
                place += 1
                word[place] = last
                first[place] = entry
            bits[place] |= ONE << np.uint64(joining[entry] & 63)
    return start, word, bits, first


#: Counts beyond this could overflow the sampler's exact percentile, which multiplies by 300.
LARGEST_COUNT = 2**53
#: Numbers of combinations are 32-bit.
LARGEST_NUMBER = 2**31 - 1


@dataclass(frozen=True)
class CombinationIndex:
    """Numbered combinations, their counts and how to get from one to a longer one.

    Attributes:
        counts: int64, by combination number; 0 for an attribute that is not in the aggregates.
        header_of: int32 (A,), for each attribute the place of its header in the output.
    """

    reporting_length: int
    counts: Integers
    rows: CombinationRows
    header_of: Ids
    number_of_headers: int

    @cached_property
    def counts_beside(self) -> Integers:
        return self.counts[self.rows.joined]  # in their order


def scale_up(counts: Integers, factor: float | None) -> Integers:
    """Every count c as ceil(c * factor) (S4.4), exactly, the factor being the decimal as written.

    In floating point 100 * 0.07 is a little above 7 and would become 8.

    >>> scale_up(np.array([10, 100]), 0.07).tolist()
    [1, 7]
    """
    if factor is None:
        return counts
    ratio = Fraction(str(factor))
    distinct, places = np.unique(counts, return_inverse=True)
    raised = [math.ceil(int(count) * ratio) for count in distinct]
    if raised and raised[-1] > LARGEST_COUNT:
        raise ParameterError(
            "aggregate_counts_scale_factor makes counts larger than 2^53: choose a smaller factor."
        )
    return np.array(raised, np.int64)[places]


def build_index(aggregates: Aggregates, scale_factor: float | None = None) -> CombinationIndex:
    """Number and index all combinations of which every part is in the aggregates too.

    Protected aggregates are closed in that sense; of others the combinations that lack a part are
    left out, since a record that held one would hold the missing part as well. A count above 2^53, and 2^31
    combinations or more, are a ParameterError.
    """
    _require_small_numbers(aggregates)
    size = len(aggregates.attributes)
    header_of = header_places(aggregates.headers, aggregates.attributes)
    counts = np.zeros(size, np.int64)
    if aggregates.combinations:
        counts[aggregates.combinations[0][:, 0]] = scale_up(aggregates.counts[0], scale_factor)
    levels, base = [counts], 0
    nothing, none = np.empty(0, np.int64), np.empty(0, np.int32)
    rows = CombinationRows(np.zeros(1, np.int64), none, np.empty(0, np.uint64), nothing, none)
    for ids, level in zip(aggregates.combinations[1:], aggregates.counts[1:], strict=True):
        first_number = base + len(levels[-1])
        kept_counts = scale_up(level, scale_factor)
        present = (kept_counts > 0) & (counts[ids] > 0).all(axis=1)
        rows = _add_level(rows, ids, present, (base, len(levels[-1]), first_number))
        levels.append(kept_counts)
        base = first_number
    return CombinationIndex(
        reporting_length=aggregates.reporting_length,
        counts=np.concatenate(levels),
        rows=rows,
        header_of=header_of,
        number_of_headers=len(np.unique(header_of[counts > 0])),
    )


def _add_level(
    rows: CombinationRows,
    ids: Ids,
    present: Flags,
    level: tuple[int, int, int],
) -> CombinationRows:
    """Rows with those of one more length; level: (first row, rows, number of the first combination)."""
    base, number_of_rows, first_number = level
    ids = np.ascontiguousarray(ids, np.int32)
    parents = parents_of(rows, ids)
    parents[~present, 0] = -1
    entry_start, joining, joined = entries_of(ids, parents, base, number_of_rows, first_number)
    start, word, bits, first = row_words(entry_start, joining)
    return CombinationRows(
        start=np.concatenate([rows.start, rows.start[-1] + start[1:]]),
        word=np.concatenate([rows.word, word]),
        bits=np.concatenate([rows.bits, bits]),
        first=np.concatenate([rows.first, first + len(rows.joined)]),
        joined=np.concatenate([rows.joined, joined]),
    )


def _require_small_numbers(aggregates: Aggregates) -> None:
    if len(aggregates.attributes) + sum(map(len, aggregates.combinations)) > LARGEST_NUMBER:
        raise ParameterError(
            "The aggregates hold more than 2^31 combinations: choose a smaller reporting length."
        )
    if any((counts > LARGEST_COUNT).any() for counts in aggregates.counts):
        raise ParameterError("The aggregates hold a count above 2^53, which synthesis can't take.")
