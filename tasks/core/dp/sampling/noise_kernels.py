"""Compiled look-up of words in a table of cumulative probabilities."""
# mypy: disallow-untyped-decorators=False

import numpy as np

from tasks.core.arrays import Flags, Ids, Integers, Words
from tasks.core.compiling.decorator import njit


@njit(cache=True, nogil=True)
def look_up_noise(words: Words, table: Words, guide: Ids, shift: np.uint64, first: int, out: Integers) -> int:
    """Set out[i] = first + (number of table words <= words[i]); return how many words tie.

    A word that equals a table word is a tie: its ``out`` is the smallest int64, for the caller to resolve.

        guide      3    3   ~3    6        table words 3, 4 and 5 lie in bucket 6: a word of bucket 5 is above
        bucket     4    5    6    7        three of all, one of bucket 6 is searched between 3 and 6

    Args:
        words: below 2^bits.
        table: ascending.
        guide: int32 (2^g + 1,); entry k is the number of table words below the first word of bucket
            k, complemented (~) where a table word lies inside the bucket: where none does, this one
            load is the answer.
        shift: word length less g.
        first: the integer of the table's first entry.
    """
    ties = 0
    for i in range(words.size):
        word = words[i]
        bucket = np.int64(word >> shift)
        low = np.int64(guide[bucket])
        if low < 0:
            low = ~low
            high = np.int64(guide[bucket + 1])
            if high < 0:
                high = ~high
            while low < high:
                middle = (low + high) >> 1
                if table[middle] <= word:
                    low = middle + 1
                else:
                    high = middle
            if low > 0 and table[low - 1] == word:
                ties += 1
                out[i] = np.iinfo(np.int64).min
                continue
        out[i] = first + low
    return ties


@njit(cache=True, nogil=True)
def mark_new(places: Integers, marks: Flags) -> int:
    """Mark the places; return how many were not marked before."""
    new = 0
    for place in places:
        if not marks[place]:
            marks[place] = True
            new += 1
    return new
