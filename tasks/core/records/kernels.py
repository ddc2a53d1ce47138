"""Compiled loops over rows and texts: the keyed function, and the joining of a subject's rows.

SipHash-2-4 (Aumasson and Bernstein, 2012) is the pseudo-random function: 128-bit key, 64-bit result,
made for short inputs. Arrays in, arrays out; nothing is allocated but the results.
"""

import numpy as np

from tasks.core.arrays import Bytes, Integers, Words
from tasks.core.compiling.decorator import njit


@njit(cache=True, inline="always")
def _round(v0, v1, v2, v3):  # type: ignore[no-untyped-def]  # numba types it
    v0 += v1
    v1 = (v1 << np.uint64(13)) | (v1 >> np.uint64(51))
    v1 ^= v0
    v0 = (v0 << np.uint64(32)) | (v0 >> np.uint64(32))
    v2 += v3
    v3 = (v3 << np.uint64(16)) | (v3 >> np.uint64(48))
    v3 ^= v2
    v0 += v3
    v3 = (v3 << np.uint64(21)) | (v3 >> np.uint64(43))
    v3 ^= v0
    v2 += v1
    v1 = (v1 << np.uint64(17)) | (v1 >> np.uint64(47))
    v1 ^= v2
    v2 = (v2 << np.uint64(32)) | (v2 >> np.uint64(32))
    return v0, v1, v2, v3


@njit(cache=True, inline="always")
def _start(k0, k1):  # type: ignore[no-untyped-def]
    return (
        k0 ^ np.uint64(0x736F6D6570736575),
        k1 ^ np.uint64(0x646F72616E646F6D),
        k0 ^ np.uint64(0x6C7967656E657261),
        k1 ^ np.uint64(0x7465646279746573),
    )


@njit(cache=True, inline="always")
def _absorb(v0, v1, v2, v3, word):  # type: ignore[no-untyped-def]
    v3 ^= word
    v0, v1, v2, v3 = _round(v0, v1, v2, v3)
    v0, v1, v2, v3 = _round(v0, v1, v2, v3)
    return v0 ^ word, v1, v2, v3


@njit(cache=True, inline="always")
def _finish(v0, v1, v2, v3):  # type: ignore[no-untyped-def]
    v2 ^= np.uint64(0xFF)
    for _ in range(4):
        v0, v1, v2, v3 = _round(v0, v1, v2, v3)
    return v0 ^ v1 ^ v2 ^ v3


@njit(cache=True)
def pair_hash(k0, k1, first, second):  # type: ignore[no-untyped-def]
    """SipHash-2-4 of two words as sixteen little-endian bytes."""
    v0, v1, v2, v3 = _start(k0, k1)
    v0, v1, v2, v3 = _absorb(v0, v1, v2, v3, first)
    v0, v1, v2, v3 = _absorb(v0, v1, v2, v3, second)
    v0, v1, v2, v3 = _absorb(v0, v1, v2, v3, np.uint64(16) << np.uint64(56))
    return _finish(v0, v1, v2, v3)


@njit(cache=True)
def text_hashes(k0: np.uint64, k1: np.uint64, data: Bytes, ends: Integers) -> Words:
    """SipHash-2-4 of each text ``data[ends[i] : ends[i + 1]]``."""
    result = np.empty(len(ends) - 1, dtype=np.uint64)
    for index in range(len(result)):
        position, end = ends[index], ends[index + 1]
        length = np.uint64(end - position)
        v0, v1, v2, v3 = _start(k0, k1)
        while end - position >= 8:
            word = np.uint64(0)
            for byte in range(8):
                word |= np.uint64(data[position + byte]) << np.uint64(8 * byte)
            v0, v1, v2, v3 = _absorb(v0, v1, v2, v3, word)
            position += 8
        word = length << np.uint64(56)
        for byte in range(end - position):
            word |= np.uint64(data[position + byte]) << np.uint64(8 * byte)
        v0, v1, v2, v3 = _absorb(v0, v1, v2, v3, word)
        result[index] = _finish(v0, v1, v2, v3)
    return result


@njit(cache=True)
def pair_hashes(k0: np.uint64, k1: np.uint64, firsts: Words, seconds: Words) -> Words:
    result = np.empty(len(firsts), dtype=np.uint64)
    for index in range(len(firsts)):
        result[index] = pair_hash(k0, k1, firsts[index], seconds[index])
    return result


@njit(cache=True)
def fold_hashes(  # type: ignore[no-untyped-def]
    k0: np.uint64, k1: np.uint64, state: Words, codes, of_code: Words
) -> None:
    for row in range(len(state)):
        state[row] = pair_hash(k0, k1, state[row], of_code[codes[row]])


@njit(cache=True)
def join_values(rows: Integers, starts: Integers, codes, hashes: Words):  # type: ignore[no-untyped-def]
    """One code for each group of rows: that of the row with the smallest hash of those that have one.

    Rows of equal hash give the smallest of their codes, so that no order of rows decides. Besides, whether
    any group held two different ones.

        Ana's rows     hash 10: town (none)     hash 25: town Lyon     hash 40: town Lille
        best, lowest       0, 10                    Lyon, 25               unchanged; in conflict

    Args:
        starts: group g is ``rows[starts[g] : starts[g + 1]]``.
        hashes: for each place in ``rows`` its row's hash; of a group of one row any.
    """
    result = np.zeros(len(starts) - 1, dtype=codes.dtype)
    conflict = False
    for group in range(len(result)):
        best = codes[rows[starts[group]]]
        lowest = hashes[starts[group]]
        for place in range(starts[group] + 1, starts[group + 1]):
            code, drawn = codes[rows[place]], hashes[place]
            if code == 0:
                continue
            if best == 0 or drawn < lowest or (drawn == lowest and code < best):
                conflict |= best != 0 and code != best
                best, lowest = code, drawn
            else:
                conflict |= code != best
        result[group] = best
    return result, conflict


@njit(cache=True)
def _gather(rows, first, last, cells, cell_starts, cell_items):  # type: ignore[no-untyped-def]
    """The distinct items of a group's cells, ascending."""
    total = 0
    for place in range(first, last):
        cell = cells[rows[place]]
        total += cell_starts[cell + 1] - cell_starts[cell]
    items = np.empty(total, dtype=cell_items.dtype)
    filled = 0
    for place in range(first, last):
        cell = cells[rows[place]]
        for index in range(cell_starts[cell], cell_starts[cell + 1]):
            items[filled] = cell_items[index]
            filled += 1
    if last - first == 1:
        return items
    items = np.sort(items)
    kept = 0
    for index in range(total):
        if index == 0 or items[index] != items[kept - 1]:
            items[kept] = items[index]
            kept += 1
    return items[:kept]


@njit(cache=True)
def largest_union(rows: Integers, starts: Integers, cells, cell_starts: Integers, cell_items) -> int:  # type: ignore[no-untyped-def]
    largest = 0
    for group in range(len(starts) - 1):
        items = _gather(rows, starts[group], starts[group + 1], cells, cell_starts, cell_items)
        largest = max(largest, len(items))
    return largest


@njit(cache=True)
def join_items(  # type: ignore[no-untyped-def]
    rows: Integers,
    starts: Integers,
    cells,
    cell_starts: Integers,
    cell_items,
    identities: Words,
    of_item: Words,
    k0: np.uint64,
    k1: np.uint64,
    result,
) -> int:
    """Each group's distinct items, ascending over the slots; of too many, those of smallest keyed hash.

    Returns how many were too many, of all groups.

        Ana's rows {1, 2} and {2, 5}  →  items 1 2 5, their hashes 80 10 30; cap 2  →  slots 2 5, 1 dropped

    Args:
        starts: group g is ``rows[starts[g] : starts[g + 1]]``.
        cell_starts: cell c holds ``cell_items[cell_starts[c] : cell_starts[c + 1]]``: distinct, ascending.
        identities: for each group its record's hash.
        of_item: for each item code the hash of its text.
        result: slots x groups, zeros; filled in place. Its first length is the cap.
    """
    cap, dropped = result.shape[0], 0
    for group in range(len(starts) - 1):
        items = _gather(rows, starts[group], starts[group + 1], cells, cell_starts, cell_items)
        if len(items) > cap:
            dropped += len(items) - cap
            drawn = np.empty(len(items), dtype=np.uint64)
            for index in range(len(items)):
                drawn[index] = pair_hash(k0, k1, identities[group], of_item[items[index]])
            # A stable order: equal hashes keep the order of the texts.
            items = np.sort(items[np.argsort(drawn, kind="mergesort")[:cap]])
        for slot in range(len(items)):
            result[slot, group] = items[slot]
    return dropped
