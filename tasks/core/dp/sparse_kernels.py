# mypy: disable-error-code="no-untyped-def", disallow-untyped-decorators=False
"""Compiled loops for combinations whose cube is too large to visit (R15).

In go ascending lists: of each surviving (k-2)-tuple the codes that extend it to a surviving
(k-1)-tuple. A prefix, itself a survivor, is extended to a candidate by what its lists have in common.
"""

import numpy as np

from tasks.core.compiling.decorator import njit
from tasks.core.dp.kernels import GAMMA, mix


@njit(cache=True)
def drop_at(places, counts, coins):
    """As `drop_tuples` for one choice of slots whose cells are listed: -1 where it is no candidate."""
    state, left, to_drop = coins
    for row in range(len(places)):
        if places[row] >= 0:
            state[row] += GAMMA
            word = np.int64(mix(state[row]) >> np.uint64(33))
            if word * left[row] < (to_drop[row] << 31):
                counts[places[row]] -= 1
                to_drop[row] -= 1
            left[row] -= 1


@njit(cache=True)
def _mark(lists, begins, ends, before, prefix, marks):
    """Bring ``marks[code]`` to how many lists but the first hold the code; those of ``before`` stand there.

    Prefixes that follow each other mostly share these lists, which are then left as they are.
    """
    same = before >= 0
    for other in range(1, begins.shape[1]):
        same = same and begins[before, other] == begins[prefix, other]
        same = same and ends[before, other] == ends[prefix, other]  # an empty list begins where the next does
    if same:
        return
    for other in range(1, begins.shape[1]):
        if before >= 0:
            for place in range(begins[before, other], ends[before, other]):
                marks[lists[place]] -= 1
        for place in range(begins[prefix, other], ends[prefix, other]):
            marks[lists[place]] += 1


@njit(cache=True)
def count_extensions(lists, begins, ends, above, width):
    """For each prefix, how many last codes extend it: the size of an intersection of ascending lists.

    ``lists`` holds all lists one after the other, ``begins`` and ``ends`` (prefixes, lists) are places in
    it, ``above`` (prefixes,) is what the last code must exceed, ``width`` is more than any code.
    """
    found = np.zeros(len(begins), np.int64)
    if begins.shape[1] == 1:  # length 2: a product, counted without visiting it
        for prefix in range(len(begins)):
            inside = lists[begins[prefix, 0] : ends[prefix, 0]]
            found[prefix] = len(inside) - np.searchsorted(inside, above[prefix], side="right")
        return found
    marks = np.zeros(width, np.int32)
    others = begins.shape[1] - 1
    for prefix in range(len(begins)):
        _mark(lists, begins, ends, prefix - 1, prefix, marks)
        for code in lists[begins[prefix, 0] : ends[prefix, 0]]:
            found[prefix] += (marks[code] == others) & (code > above[prefix])
    return found


@njit(cache=True)
def select_extensions(lists, begins, ends, above, width, taken, taken_ends, wanted, wanted_ends):
    """The wanted-th (from 0, ascending a prefix) extensions of each prefix, not counting the taken codes.

    ``lists`` to ``width`` are as in `count_extensions`, for the prefixes that something is wanted of.
    ``taken`` (codes) and ``wanted`` (ranks) ascend within each prefix and end there at ``taken_ends`` and
    ``wanted_ends``. Returns a code for each wanted rank.

        extensions of a prefix   2  4  5  7  9
        taken                       4     7            so rank 0 is 2, rank 1 is 5, rank 2 is 9
    """
    codes = np.zeros(len(wanted), np.int64)
    marks = np.zeros(width, np.int32)
    others = begins.shape[1] - 1
    taken_place = 0
    wanted_place = 0
    for prefix in range(len(begins)):
        _mark(lists, begins, ends, prefix - 1, prefix, marks)
        rank = 0
        for code in lists[begins[prefix, 0] : ends[prefix, 0]]:
            if wanted_place == wanted_ends[prefix]:
                break
            if marks[code] != others or code <= above[prefix]:
                continue
            while taken_place < taken_ends[prefix] and taken[taken_place] < code:
                taken_place += 1
            if taken_place < taken_ends[prefix] and taken[taken_place] == code:
                continue
            if wanted[wanted_place] == rank:
                codes[wanted_place] = code
                wanted_place += 1
            rank += 1
        taken_place = taken_ends[prefix]
    return codes
