# mypy: disable-error-code="no-untyped-def", disallow-untyped-decorators=False
"""Compiled loops for combinations whose cube is too large to visit (rule 15).

In go ascending lists: of each surviving (k-2)-tuple the codes that extend it to a surviving
(k-1)-tuple. A prefix, itself a survivor, is extended to a candidate by what its lists have in common.
"""

import numpy as np
from numba import njit

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
def _intersect(lists, begins, ends, above, out):
    """Write what several ascending lists share beyond ``above``; return how much that is."""
    written = 0
    places = begins.copy()
    for first in range(begins[0], ends[0]):
        code = lists[first]
        if code <= above:
            continue
        shared = True
        for other in range(1, len(begins)):
            place = places[other]
            while place < ends[other] and lists[place] < code:
                place += 1
            places[other] = place
            if place == ends[other]:
                return written
            if lists[place] != code:
                shared = False
                break
        if shared:
            out[written] = code
            written += 1
    return written


@njit(cache=True)
def count_extensions(lists, begins, ends, above, width):
    """For each prefix, how many last codes extend it: the size of an intersection of ascending lists.

    ``lists`` holds all lists one after the other, ``begins`` and ``ends`` (prefixes, lists) are places in
    it, ``above`` (prefixes,) is what the last code must exceed, ``width`` the longest list.
    """
    found = np.zeros(len(begins), np.int64)
    if begins.shape[1] == 1:  # length 2: a product, counted without visiting it
        for prefix in range(len(begins)):
            inside = lists[begins[prefix, 0] : ends[prefix, 0]]
            found[prefix] = len(inside) - np.searchsorted(inside, above[prefix], side="right")
        return found
    out = np.zeros(width, np.int64)
    for prefix in range(len(begins)):
        found[prefix] = _intersect(lists, begins[prefix], ends[prefix], above[prefix], out)
    return found


@njit(cache=True)
def select_extensions(lists, begins, ends, above, taken, taken_ends, wanted, wanted_ends, width):
    """The wanted-th (from 0, ascending a prefix) extensions of each prefix, not counting the taken codes.

    ``lists`` to ``above`` are as in `count_extensions`, for the prefixes that something is wanted of.
    ``taken`` (codes) and ``wanted`` (ranks) ascend within each prefix and end there at ``taken_ends`` and
    ``wanted_ends``. Returns a code for each wanted rank.
    """
    codes = np.zeros(len(wanted), np.int64)
    out = np.zeros(width, np.int64)
    taken_place = 0
    wanted_place = 0
    for prefix in range(len(begins)):
        size = _intersect(lists, begins[prefix], ends[prefix], above[prefix], out)
        rank = 0
        for place in range(size):
            if taken_place < taken_ends[prefix] and taken[taken_place] == out[place]:
                taken_place += 1
                continue
            if wanted_place == wanted_ends[prefix]:
                break
            if wanted[wanted_place] == rank:
                codes[wanted_place] = out[place]
                wanted_place += 1
            rank += 1
        taken_place = taken_ends[prefix]
    return codes
