"""Look-up of a combination from a shorter one.

Every combination up to length R has a number. The *row* of a combination S of length k - 1 says for
each attribute x that may join it the number of S + x: a bitset over the attributes, of which only the
64-bit words that are not empty are kept, and behind each word the numbers in the order of its bits. The
number of any combination is then found by joining one attribute after the other, in any order, without
hashing; and what may join all of several combinations is the AND of their bitsets.

    attributes 0..79, and 70 may join 3, as 5 and 64 may:     start[3]   start[3] + 1
    which 64 attributes (word)                                    0          1
    which of them (bits)                                      5: 100000   64, 70: 1000001
    where their numbers begin (first)                             8          9
    numbers of 3+5, 3+64, 3+70 (joined)                       joined[8]   joined[9], joined[10]
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import intrinsic

from tasks.core.arrays import Ids, Integers, Words
from tasks.core.compiling.decorator import njit

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
