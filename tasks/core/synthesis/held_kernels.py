"""Holding the resolution: a record in the making in; the raw rows that hold it, and what they allow, out."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tasks.core.arrays import Ids, Integers
from tasks.core.compiling import njit
from tasks.core.synthesis.block_kernels import BlockIndex
from tasks.core.synthesis.index_kernels import lowest_in, ones_in

_ONE = np.uint64(1)
#: The rows that hold the record are: all, a bitset, a list.
WHOLE, BITS, LIST = 0, 1, 2
#: Where `Held.now` keeps: which of these, how many rows.
KIND, NUMBER = 0, 1


class Holders(NamedTuple):
    """The raw records, and which of them hold the record in the making.

    Attributes:
        raw: the index of the raw records.
        words: uint64 (words,): bit b of word w is row 64 w + b. rows: int32: the same as a list.
        tally: int64 (attributes + 1,), all 0 between draws.
        now: int64 (2,), see above.
        few: of so many rows all that they hold is counted at once.
        resolution: how many must hold a combination; 0 where nothing is held to it.
    """

    raw: BlockIndex
    words: npt.NDArray[np.uint64]
    rows: Ids
    tally: Integers
    now: Integers
    few: int
    resolution: int


@njit(cache=True, nogil=True)
def _is_in(words: npt.NDArray[np.uint64], row: int) -> bool:
    return bool((words[row >> 6] >> np.uint64(row & 63)) & _ONE)


@njit(cache=True, nogil=True)
def _list_few(held: Holders) -> None:
    """Turn a bitset of few rows into a list."""
    if held.now[NUMBER] > held.few:
        return
    used = 0
    for word in range(len(held.words)):
        left = held.words[word]
        while left:
            held.rows[used] = (word << 6) + int(np.int64(lowest_in(left)))
            used += 1
            left &= left - _ONE
    held.now[KIND] = LIST


@njit(cache=True, nogil=True)
def _choose_dense(held: Holders, bits: npt.NDArray[np.uint64]) -> None:
    words, rows = held.words, held.rows
    if held.now[KIND] == LIST:
        used = 0
        for row in rows[: held.now[NUMBER]]:
            rows[used] = row
            used += int(np.int64(_is_in(bits, row)))
        held.now[NUMBER] = used
        return
    found = np.uint64(0)
    if held.now[KIND] == WHOLE:
        for word in range(len(words)):
            words[word] = bits[word]
            found += ones_in(words[word])
    else:
        for word in range(len(words)):
            words[word] &= bits[word]
            found += ones_in(words[word])
    held.now[KIND], held.now[NUMBER] = BITS, int(np.int64(found))
    _list_few(held)


@njit(cache=True, nogil=True)
def _choose_sparse(held: Holders, listed: Ids, attribute: int) -> None:
    rows, used = held.rows, 0
    if held.now[KIND] == LIST:
        for row in rows[: held.now[NUMBER]]:
            rows[used] = row
            used += int(np.int64(_holds(held, row, attribute)))
    else:
        everything = held.now[KIND] == WHOLE
        for row in listed:
            rows[used] = row
            used += int(np.int64(everything or _is_in(held.words, row)))
    held.now[KIND], held.now[NUMBER] = LIST, used


@njit(cache=True, nogil=True)
def _holds(held: Holders, row: int, attribute: int) -> bool:
    """Whether a row holds an attribute, by its cells."""
    cells = held.raw.cells
    found = False
    for slot in range(cells.shape[1]):
        found |= cells[row, slot] == attribute
    return found


@njit(cache=True, nogil=True)
def narrow_holders(held: Holders, attribute: int) -> None:
    """Keep the rows that also hold an attribute."""
    index = held.raw
    if index.dense[attribute] >= 0:
        _choose_dense(held, index.bits[index.dense[attribute]])
    else:
        listed = index.listed[index.first[attribute] : index.first[attribute + 1]]
        _choose_sparse(held, listed, attribute)


@njit(cache=True, nogil=True)
def find_holders(held: Holders, record: Ids) -> None:
    """Begin with the rows that hold all of a record, the rarest of it first."""
    rarest = 0
    for place in range(len(record)):
        if held.raw.held[record[place]] < held.raw.held[record[rarest]]:
            rarest = place
    held.now[KIND] = WHOLE
    narrow_holders(held, record[rarest])
    for place in range(len(record)):
        if place != rarest:
            narrow_holders(held, record[place])


@njit(cache=True, nogil=True)
def enough_hold(held: Holders, attribute: int) -> bool:
    """Whether at least ``resolution`` of the rows also hold an attribute; looks no further than it must."""
    index, words, found = held.raw, held.words, 0
    dense = index.dense[attribute]
    if held.now[KIND] == LIST:
        for row in held.rows[: held.now[NUMBER]]:
            found += int(
                np.int64(_is_in(index.bits[dense], row) if dense >= 0 else _holds(held, row, attribute))
            )
            if found >= held.resolution:
                return True
        return False
    if dense >= 0:
        bits = index.bits[dense]
        for word in range(len(words)):
            both = words[word] & bits[word]
            if both:
                found += int(np.int64(ones_in(both)))
                if found >= held.resolution:
                    return True
        return False
    for row in index.listed[index.first[attribute] : index.first[attribute + 1]]:
        found += int(np.int64(_is_in(words, row)))
        if found >= held.resolution:
            return True
    return False


@njit(cache=True, nogil=True)
def are_few(held: Holders) -> bool:
    """Whether the rows are few enough for `keep_held`."""
    return bool(held.now[KIND] == LIST and held.now[NUMBER] <= held.few)


@njit(cache=True, nogil=True)
def keep_held(held: Holders, drawn: Ids, cumulative: Integers, allowed: int) -> int:
    """Keep those of the weighed candidates that enough rows hold; returns how many they are."""
    cells, tally, rows = held.raw.cells, held.tally, held.rows[: held.now[NUMBER]]
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
