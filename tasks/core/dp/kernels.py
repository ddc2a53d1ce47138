# mypy: disable-error-code="no-untyped-def", disallow-untyped-decorators=False
"""Compiled loops of the measuring step: counting, sensitivities, dropping, candidates, noise.

In go code matrices (one row a slot, 0 = absent) and flat *cells*: the cubes of many combinations one
after the other, uint32, row-major, one more place a dimension than there are values, so that an absent
value has a place too and no loop has to branch on it. The top bit of a cell says that it is a candidate,
the other 31 bits are its count: one memory access then serves the count and the sensitivity.

    bit      31            30 ... 0
    holds    candidate?    count         cell + (cell >> 31) counts one more, but in candidates alone

Of combinations whose cube is too large to visit (R15), ascending lists go in: of each surviving
(k-2)-tuple the codes that extend it to a surviving (k-1)-tuple. A prefix, itself a survivor, is extended to a
candidate by what its lists have in common (from `drop_at` on).

Signatures are few because callers bring codes to one unsigned type and everything else to int64.
"""

import numpy as np

from tasks.core.compiling.decorator import njit
from tasks.core.random_kernels import mix_word, state_word

CANDIDATE = np.uint32(1 << 31)
COUNT = np.uint32((1 << 31) - 1)
#: The step of splitmix64 (Steele, Lea, Flood 2014).
GAMMA = np.uint64(0x9E3779B97F4A7C15)


@njit(cache=True)
def count_values(codes, counts):
    """Add to ``counts[c]`` the number of times that code c stands in ``codes``."""
    for row in range(len(codes)):
        counts[codes[row]] += 1


@njit(cache=True)
def count_filled(codes, filled):
    """Add one to ``filled[r]`` where record r has a value in this slot."""
    for row in range(len(codes)):
        filled[row] += codes[row] != 0


@njit(cache=True)
def _extend(keys, size, codes, out):
    for row in range(len(codes)):
        out[row] = keys[row] * size + codes[row]


@njit(cache=True)
def _count(cells, keys, size, codes):
    for row in range(len(codes)):
        place = keys[row] * size + codes[row]
        cell = cells[place]
        # Only candidates are counted: a record may reach a cell of absent values by any number of slots,
        # and 2^31 of those would turn it into a candidate.
        cells[place] = cell + (cell >> np.uint32(31))


@njit(cache=True)
def _count_and_sum(cells, keys, size, codes, sensitivity):
    for row in range(len(codes)):
        place = keys[row] * size + codes[row]
        cell = cells[place]
        candidate = cell >> np.uint32(31)
        sensitivity[row] += candidate
        cells[place] = cell + candidate


@njit(cache=True)
def _drop(cells, keys, size, codes, coins):
    """Selection sampling: drop the next candidate tuple with chance to_drop / left, exactly to_drop in all.

    No branch depends on a coin, which a processor could not foresee.
    """
    state, left, to_drop = coins
    for row in range(len(codes)):
        place = keys[row] * size + codes[row]
        cell = cells[place]
        candidate = np.int64(cell >> np.uint32(31))
        state[row] += np.uint64(candidate) * GAMMA
        word = np.int64(mix_word(state[row]) >> np.uint64(33))
        dropped = candidate & np.int64(word * left[row] < (to_drop[row] << 31))
        cells[place] = cell - np.uint32(dropped)
        left[row] -= candidate
        to_drop[row] -= dropped


@njit(cache=True)
def _prefix(slot_sets, index, codes, rows, sizes, keys):
    """Bring ``keys[d]`` to the key of the first d slots; those shared with the set before stand already.

    Of sets that follow each other:

        slots 0 1 2     keys[1] of slot 0 and keys[2] of slots 0 and 1 are made
        slots 0 1 3     both stand
        slots 0 2 3     keys[1] stands, keys[2] is made anew
    """
    length = slot_sets.shape[1]
    shared = 0
    if index > 0:
        while shared < length - 1 and slot_sets[index, shared] == slot_sets[index - 1, shared]:
            shared += 1
    for depth in range(shared, length - 1):
        slot = slot_sets[index, depth]
        _extend(keys[depth], np.uint64(sizes[slot]), codes[slot, rows[0] : rows[1]], keys[depth + 1])
    last = slot_sets[index, length - 1]
    # Unsigned, because a place that can't be negative is looked up without a check for it.
    return keys[length - 1], np.uint64(sizes[last]), codes[last, rows[0] : rows[1]]


@njit(cache=True)
def count_tuples(codes, rows, slot_sets, offsets, sizes, cells):
    """Add one to the candidate cell of every choice of slots of every record; other cells stay as they are.

    ``codes`` is (slots, n) and ``rows`` (first, stop), the block of records to count. ``slot_sets``
    is (T, k), lexicographic, so that sets with the same first slots are neighbours; ``offsets`` (T,)
    says where the cube of each set's combination begins in ``cells``; ``sizes`` is one more than the
    number of values, by slot.
    """
    keys = np.zeros((slot_sets.shape[1], rows[1] - rows[0]), np.uint32)
    for index in range(len(slot_sets)):
        key, size, last = _prefix(slot_sets, index, codes, rows, sizes, keys)
        _count(cells[offsets[index] :], key, size, last)


@njit(cache=True)
def count_tuples_and_sensitivity(codes, rows, slot_sets, offsets, sizes, cells, sensitivity):
    """As `count_tuples`; also add to ``sensitivity``, a record each, how many candidate tuples it has."""
    keys = np.zeros((slot_sets.shape[1], rows[1] - rows[0]), np.uint32)
    for index in range(len(slot_sets)):
        key, size, last = _prefix(slot_sets, index, codes, rows, sizes, keys)
        _count_and_sum(cells[offsets[index] :], key, size, last, sensitivity)


@njit(cache=True)
def drop_tuples(codes, rows, slot_sets, offsets, sizes, cells, coins):
    """Take back from ``cells`` the tuples that records over the limit lose; ``coins`` moves on with them.

    ``coins`` is (state uint64, left int64, to_drop int64), an array each with one place a record of
    ``codes``: its own random stream, its candidate tuples not yet visited, and how many of those are
    still to be dropped. The rest is as in `count_tuples`.
    """
    keys = np.zeros((slot_sets.shape[1], rows[1] - rows[0]), np.uint32)
    for index in range(len(slot_sets)):
        key, size, last = _prefix(slot_sets, index, codes, rows, sizes, keys)
        _drop(cells[offsets[index] :], key, size, last, coins)


@njit(cache=True)
def _bases(prefix, sizes, codes, bases):
    """Decode a prefix key to ``codes``; set ``bases[j]`` to the row of the cube that lacks dimension j."""
    before = len(sizes) - 1
    for place in range(before - 1, -1, -1):
        codes[place] = prefix % sizes[place]
        prefix //= sizes[place]
    for skipped in range(before):
        key = 0
        for place in range(before):
            if place != skipped:
                key = key * sizes[place] + codes[place]
        bases[skipped] = key * sizes[before]


@njit(cache=True)
def mark_candidates(columns, sizes, offsets, alive, alive_offsets, cells):
    """Flag every cell all of whose (k-1)-subsets survive; items of one column strictly ascending.

    ``columns`` and ``sizes`` are (C, k): the columns of each combination and one more than their
    numbers of values; ``offsets`` (C,) are those of the cubes in ``cells``. ``alive`` holds the cubes of
    length k-1 (uint8, 1 where a tuple survives), ``alive_offsets`` (C, k) where in it the cube of the
    combination without its j-th column begins. Returns how many candidates each combination has.

        (sex, town, age) from the prefix (1, 2), which survives itself     age   0 1 2 3 4
        ``both``: begun with what survives with town 2                           0 1 1 0 1
        taken out: what does not survive with sex 1                              0 1 0 0 1
    """
    length = columns.shape[1]
    found = np.zeros(len(columns), np.int64)
    codes = np.zeros(length, np.int64)
    bases = np.zeros(length, np.int64)
    both = np.zeros(sizes.max() if len(columns) else 0, np.uint8)
    for index in range(len(columns)):
        last = sizes[index, length - 1]
        prefixes = 1
        for place in range(length - 1):
            prefixes *= sizes[index, place]
        repeated = columns[index, length - 1] == columns[index, length - 2]
        for prefix in range(prefixes):
            if not alive[alive_offsets[index, length - 1] + prefix]:
                continue
            _bases(prefix, sizes[index], codes, bases)
            begin = alive_offsets[index, 0] + bases[0]
            for code in range(last):
                both[code] = alive[begin + code]
            for skipped in range(1, length - 1):
                begin = alive_offsets[index, skipped] + bases[skipped]
                for code in range(last):
                    both[code] &= alive[begin + code]
            first = codes[length - 2] + 1 if repeated else 1
            row = offsets[index] + prefix * last
            for code in range(first, last):
                cells[row + code] |= np.uint32(both[code]) << np.uint32(31)
                found[index] += both[code]
    return found


@njit(cache=True)
def add_noise(cells, cubes, offsets, sizes, keep, threshold, noisy, ids, codes):
    """Noise on every candidate of some cubes, keeping survivors, or all of a cube where ``keep`` says so.

    ``cubes`` is (first, stop); ``offsets`` and ``sizes`` (C, k) are those of all cubes. ``noisy`` holds
    one draw for each candidate in order, and in its beginning, when this returns, the noisy counts of
    what is kept; ``ids`` and ``codes`` are filled beside it. Returns how many were kept.
    """
    length = sizes.shape[1]
    drawn = 0
    written = 0
    for cube in range(cubes[0], cubes[1]):
        for place in range(offsets[cube], offsets[cube + 1]):
            if cells[place] < CANDIDATE:
                continue
            count = np.int64(cells[place] & COUNT) + noisy[drawn]
            drawn += 1
            if not keep[cube] and count < threshold:
                continue
            rest = place - offsets[cube]
            for column in range(length - 1, -1, -1):
                codes[written, column] = rest % sizes[cube, column]
                rest //= sizes[cube, column]
            ids[written] = cube
            noisy[written] = count
            written += 1
    return written


@njit(cache=True)
def drop_at(places, counts, coins):
    """As `drop_tuples` for one choice of slots whose cells are listed: -1 where it is no candidate."""
    state, left, to_drop = coins
    for row in range(len(places)):
        if places[row] >= 0:
            word = np.int64(state_word(state, row) >> np.uint64(33))
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
