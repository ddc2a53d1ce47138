# mypy: disable-error-code="no-untyped-def"
"""Compiled loops of the measuring step: counting, sensitivities, dropping, candidates, noise.

In go code matrices (one row a slot, 0 = absent) and flat *cells*: the cubes of many combinations one
after the other, uint32, row-major, one more place a dimension than there are values, so that an absent
value has a place too and no loop has to branch on it. The top bit of a cell says that it is a candidate,
the other 31 bits are its count: one memory access then serves the count and the sensitivity.

    bit      31            30 ... 0
    holds    candidate?    count         cell + (cell >> 31) counts one more, but in candidates alone

Each has a slow obvious oracle in ``tests/oracles/measuring.py``. Compiled on first use and kept on disk;
signatures are few because callers bring codes to one unsigned type and everything else to int64.
"""

import numpy as np

from tasks.core.compiling.decorator import njit

CANDIDATE = np.uint32(1 << 31)
COUNT = np.uint32((1 << 31) - 1)
#: Steps of splitmix64 (Steele, Lea, Flood 2014).
GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


@njit(cache=True)
def mix(state):
    """One output of splitmix64: a bijection of 64-bit words that looks random."""
    state = (state ^ (state >> np.uint64(30))) * _MIX_1
    state = (state ^ (state >> np.uint64(27))) * _MIX_2
    return state ^ (state >> np.uint64(31))


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
        word = np.int64(mix(state[row]) >> np.uint64(33))
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
