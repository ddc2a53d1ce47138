"""Sorting keys of records: their attributes' ranks in, packed words out."""

import numpy as np

from tasks.core.arrays import Ids, Integers, Words
from tasks.core.compiling.decorator import njit


@njit(cache=True, nogil=True)
def sort_within(offsets: Integers, values: Ids) -> None:
    """Sort every record's values in place, ascending; records are short."""
    for record in range(len(offsets) - 1):
        for i in range(offsets[record] + 1, offsets[record + 1]):
            value, place = values[i], i
            while place > offsets[record] and values[place - 1] > value:
                values[place] = values[place - 1]
                place -= 1
            values[place] = value


@njit(cache=True, nogil=True)
def packed(starts: Integers, size: int, ranks: Ids, width: int) -> Words:
    """Keys (words, records) of records of one size: their ranks from the last to the first.

    Comparing the words from first to last compares the ranks one after the other; each rank takes
    ``width`` bits.
    """
    each = 64 // width
    words = (size + each - 1) // each
    keys = np.zeros((words, len(starts)), np.uint64)
    for record in range(len(starts)):
        end = starts[record] + size
        for place in range(size):
            rank = np.uint64(ranks[end - 1 - place])
            keys[place // each, record] = (keys[place // each, record] << np.uint64(width)) | rank
    return keys


@njit(cache=True, nogil=True)
def gathered(
    offsets: Integers,
    values: Ids,
    order: Integers,
    attribute_of_rank: Ids,
) -> tuple[Integers, Ids]:
    """Offsets and attribute ids of the records in another order."""
    new_offsets = np.zeros(len(offsets), np.int64)
    new_values = np.empty(len(values), np.int32)
    used = 0
    for i in range(len(order)):
        for place in range(offsets[order[i]], offsets[order[i] + 1]):
            new_values[used] = attribute_of_rank[values[place]]
            used += 1
        new_offsets[i + 1] = used
    return new_offsets, new_values


@njit(cache=True, nogil=True)
def spread(
    offsets: Integers,
    attribute_ids: Ids,
    header_of: Ids,
    cells: Ids,
) -> None:
    """Fill cells (headers, records) with each record's attribute under a header; -1 where there is none."""
    cells[:] = -1
    for record in range(len(offsets) - 1):
        for place in range(offsets[record], offsets[record + 1]):
            cells[header_of[attribute_ids[place]], record] = attribute_ids[place]
