"""Compiled sticky noise: SHA-256 of salt and seed, the low-count filter, noisy counts of rows and entities.

The obvious forms, to which these agree bit for bit, are in tests/oracles/syndiffix_counters.py.
"""

from math import log, pi, sin, sqrt
from typing import NamedTuple

import numpy as np

from tasks.core.arrays import Flags, HalfWords, Ids, Integers, Words
from tasks.core.compiling.decorator import njit
from tasks.core.syndiffix.hashing import hash_string
from tasks.core.syndiffix.settings import AnonymizationParameters

_BLOCK = 64
_LEAST_UNIFORM = 2.220446049250313e-16  # keeps the logarithm finite
# The farthest that `normal` gets from 0, 8.490424416849509: more entities than that many SDs above the mean
# threshold are never too few.
LARGEST_NORMAL = sqrt(-2.0 * log(_LEAST_UNIFORM))
_ROUND_CONSTANTS = np.array(
    [
        # The first 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4).
        *(0x428A2F98, 0x71374491, 0xB5C0FBCF, 0xE9B5DBA5, 0x3956C25B, 0x59F111F1, 0x923F82A4, 0xAB1C5ED5),
        *(0xD807AA98, 0x12835B01, 0x243185BE, 0x550C7DC3, 0x72BE5D74, 0x80DEB1FE, 0x9BDC06A7, 0xC19BF174),
        *(0xE49B69C1, 0xEFBE4786, 0x0FC19DC6, 0x240CA1CC, 0x2DE92C6F, 0x4A7484AA, 0x5CB0A9DC, 0x76F988DA),
        *(0x983E5152, 0xA831C66D, 0xB00327C8, 0xBF597FC7, 0xC6E00BF3, 0xD5A79147, 0x06CA6351, 0x14292967),
        *(0x27B70A85, 0x2E1B2138, 0x4D2C6DFC, 0x53380D13, 0x650A7354, 0x766A0ABB, 0x81C2C92E, 0x92722C85),
        *(0xA2BFE8A1, 0xA81A664B, 0xC24B8B70, 0xC76C51A3, 0xD192E819, 0xD6990624, 0xF40E3585, 0x106AA070),
        *(0x19A4C116, 0x1E376C08, 0x2748774C, 0x34B0BCB5, 0x391C0CB3, 0x4ED8AA4A, 0x5B9CCA4F, 0x682E6FF3),
        *(0x748F82EE, 0x78A5636F, 0x84C87814, 0x8CC70208, 0x90BEFFFA, 0xA4506CEB, 0xBEF9A3F7, 0xC67178F2),
    ],
    np.uint32,
)
State = tuple[np.uint32, np.uint32, np.uint32, np.uint32, np.uint32, np.uint32, np.uint32, np.uint32]
_INITIAL: State = (
    np.uint32(0x6A09E667),
    np.uint32(0xBB67AE85),
    np.uint32(0x3C6EF372),
    np.uint32(0xA54FF53A),
    np.uint32(0x510E527F),
    np.uint32(0x9B05688C),
    np.uint32(0x1F83D9AB),
    np.uint32(0x5BE0CD19),
)


class Secret(NamedTuple):
    """What noise is computed from: the salt, ready to be hashed with a seed, and the noises' sizes.

    Attributes:
        message: SHA-256's padded message, big-endian words (16 m,): salt, eight bytes for a seed, padding.
        seed_at: the byte where the seed begins.
        suppress: hash of the step's name; so are ``noise``, ``outlier`` and ``top``.
        threshold_gap: entities by which the mean noisy threshold is above the threshold.
        count_sd: of each of a count's two noise layers, in rows.
        groups: bounds of the flattened and the averaged group: (outlier low, high, top low, high).
    """

    message: HalfWords
    seed_at: int
    suppress: np.uint64
    noise: np.uint64
    outlier: np.uint64
    top: np.uint64
    threshold_gap: float
    threshold_sd: float
    largest: float
    low_threshold: int
    count_sd: float
    groups: tuple[int, int, int, int]


def secret(parameters: AnonymizationParameters) -> Secret:
    salt, filter_ = parameters.salt, parameters.low_count_params
    length = len(salt) + 8
    padding = -(length + 9) % _BLOCK
    message = salt + bytes(8) + b"\x80" + bytes(padding) + (8 * length).to_bytes(8, "big")
    outlier, top = parameters.outlier_count, parameters.top_count
    return Secret(
        message=np.frombuffer(message, ">u4").astype(np.uint32),
        seed_at=len(salt),
        suppress=np.uint64(hash_string("suppress")),
        noise=np.uint64(hash_string("noise")),
        outlier=np.uint64(hash_string("outlier")),
        top=np.uint64(hash_string("top")),
        threshold_gap=float(filter_.low_mean_gap * filter_.layer_sd),
        threshold_sd=float(filter_.layer_sd),
        largest=LARGEST_NORMAL,
        low_threshold=filter_.low_threshold,
        count_sd=float(parameters.layer_noise_sd),
        groups=(outlier.lower, outlier.upper, top.lower, top.upper),
    )


@njit(cache=True, nogil=True)
def _rotated(word: np.uint32, bits: int) -> np.uint32:
    return np.uint32((word >> np.uint32(bits)) | (word << np.uint32(32 - bits)))


@njit(cache=True, nogil=True)
def _compress(words: HalfWords, state: State) -> State:
    """The state after one block: words[:16] hold it, words (64,) are overwritten."""
    for i in range(16, 64):
        x, y = words[i - 15], words[i - 2]
        small0 = _rotated(x, 7) ^ _rotated(x, 18) ^ np.uint32(x >> np.uint32(3))
        small1 = _rotated(y, 17) ^ _rotated(y, 19) ^ np.uint32(y >> np.uint32(10))
        words[i] = np.uint32(words[i - 16] + small0 + words[i - 7] + small1)
    a, b, c, d, e, f, g, h = state
    for i in range(64):
        big1 = _rotated(e, 6) ^ _rotated(e, 11) ^ _rotated(e, 25)
        chosen = (e & f) ^ (~e & g)
        first = np.uint32(h + big1 + chosen + _ROUND_CONSTANTS[i] + words[i])
        big0 = _rotated(a, 2) ^ _rotated(a, 13) ^ _rotated(a, 22)
        second = np.uint32(big0 + ((a & b) ^ (a & c) ^ (b & c)))
        h, g, f, e, d, c, b, a = g, f, e, np.uint32(d + first), c, b, a, np.uint32(first + second)
    return (
        np.uint32(state[0] + a),
        np.uint32(state[1] + b),
        np.uint32(state[2] + c),
        np.uint32(state[3] + d),
        np.uint32(state[4] + e),
        np.uint32(state[5] + f),
        np.uint32(state[6] + g),
        np.uint32(state[7] + h),
    )


@njit(cache=True, nogil=True)
def secret_seed(key: Secret, seed: np.uint64) -> np.uint64:
    """The start of SHA-256(salt, seed), as a seed."""
    words, state = np.empty(64, np.uint32), _INITIAL
    for block in range(0, len(key.message), 16):
        for i in range(16):
            words[i] = key.message[block + i]
        for i in range(8):
            at = key.seed_at + i - 4 * block
            if 0 <= at < _BLOCK:
                byte = (seed >> np.uint64(8 * i)) & np.uint64(0xFF)
                words[at >> 2] |= np.uint32(byte << np.uint64(24 - 8 * (at & 3)))
        state = _compress(words, state)
    return np.uint64(_little_endian(state[0]) | (_little_endian(state[1]) << np.uint64(32)))


@njit(cache=True, nogil=True)
def _little_endian(word: np.uint32) -> np.uint64:
    x = np.uint64(word)
    return (
        ((x & np.uint64(0xFF)) << np.uint64(24))
        | ((x & np.uint64(0xFF00)) << np.uint64(8))
        | ((x >> np.uint64(8)) & np.uint64(0xFF00))
        | (x >> np.uint64(24))
    )


@njit(cache=True, nogil=True)
def normal(seed: np.uint64) -> float:
    """A standard normal number that follows from a seed; within +-`LARGEST_NORMAL`."""
    half = np.uint64(0x7FFFFFFF)
    radius = max(float(seed & half) / 2147483647.0, _LEAST_UNIFORM)
    angle = float((seed >> np.uint64(32)) & half) / 2147483647.0
    return sqrt(-2.0 * log(radius)) * sin(2.0 * pi * angle)


@njit(cache=True, nogil=True)
def is_low(key: Secret, entities: int, seed: np.uint64, threshold: int) -> bool:
    """Whether there are too few entities (seed: XOR of their hashes) against a noisy threshold."""
    if entities < threshold:
        return True
    mean = threshold + key.threshold_gap
    if entities >= mean + key.largest * key.threshold_sd:
        return False  # no noise is so large, and none need be computed
    return entities < mean + key.threshold_sd * normal(key.suppress ^ secret_seed(key, seed))


@njit(cache=True, nogil=True)
def count_noise(key: Secret, sd: float, place: np.uint64, entities: np.uint64) -> float:
    """The noise of a count: one layer for the place, one for who is in it."""
    if sd == 0.0:
        return 0.0
    first = sd * normal(key.noise ^ secret_seed(key, place))
    return first + sd * normal(key.noise ^ secret_seed(key, entities))


_LEAST_ROWS, _MOST_ROWS = 1.0, 2147483647.0


class Entities(NamedTuple):
    """Whose the rows are, by id column.

    Attributes:
        hashes: of each row's entity, (n, columns); 0 where it is missing.
        numbers: of each row's entity among its id column's, (n, columns); -1 where it is missing.
        outside: (n,), rows that are passengers.
        single: whether there is one id column in which every row has an entity of its own.
    """

    hashes: Words
    numbers: Ids
    most: int
    outside: Flags
    single: bool


class Tally(NamedTuple):
    """Who holds a set of rows: overwritten by each `count_entities`.

    Attributes:
        rows: (1,), rows that are not passengers.
        sets: (1,), how many sets were looked at.
        amounts: by entity, how many rows it has in the set; scratch of `noisy_counts`.
    """

    rows: Integers
    holders: Integers
    seeds: Words
    seen: Integers
    sets: Integers
    amounts: Integers


@njit(cache=True, nogil=True)
def new_tally(entities: Entities) -> Tally:
    columns = entities.hashes.shape[1]
    return Tally(
        np.zeros(1, np.int64),
        np.zeros(columns, np.int64),
        np.zeros(columns, np.uint64),
        np.zeros((columns, entities.most), np.int64),
        np.zeros(1, np.int64),
        np.zeros(entities.most, np.int64),
    )


@njit(cache=True, nogil=True)
def count_entities(entities: Entities, rows: Ids, tally: Tally) -> None:
    """The distinct entities of some rows, passengers left out."""
    if entities.single:
        count, seed = 0, np.uint64(0)
        for row in rows:
            if not entities.outside[row]:
                count += 1
                seed ^= entities.hashes[row, 0]
        tally.rows[0], tally.holders[0], tally.seeds[0] = count, count, seed
        return
    tally.sets[0] += 1
    tally.rows[0] = 0
    tally.holders[:] = 0
    tally.seeds[:] = 0
    for row in rows:
        if entities.outside[row]:
            continue
        tally.rows[0] += 1
        for column in range(len(tally.holders)):
            number = entities.numbers[row, column]
            if number >= 0 and tally.seen[column, number] != tally.sets[0]:
                tally.seen[column, number] = tally.sets[0]
                tally.holders[column] += 1
                tally.seeds[column] ^= entities.hashes[row, column]


@njit(cache=True, nogil=True)
def is_any_low(key: Secret, tally: Tally, threshold: int) -> bool:
    """Whether any id column has too few entities, against a noisy threshold."""
    for column in range(len(tally.holders)):
        if is_low(key, tally.holders[column], tally.seeds[column], threshold):
            return True
    return False


@njit(cache=True, nogil=True)
def noisy_counts(key: Secret, order: Ids, start: Ids, length: Ids, places: Words, entities: Entities) -> Ids:
    """The noisy number of rows of each node, (N,), at least 1.

    ``start``, ``length``: of each node's rows in ``order``, passengers among them, (N,).
    ``places``: the seed of each node's place, (N,).
    """
    counts = np.empty(len(start), np.int32)
    tally = new_tally(entities)
    for node in range(len(start)):
        rows = order[start[node] : start[node] + length[node]]
        if entities.single:
            seed = np.uint64(0)
            for row in rows:
                seed ^= entities.hashes[row, 0]
            noisy = len(rows) + count_noise(key, key.count_sd, places[node], seed)
        else:
            noisy = _flattened_count(key, rows, places[node], entities, tally)
        counts[node] = np.int32(min(max(np.rint(noisy), _LEAST_ROWS), _MOST_ROWS))
    return counts


@njit(cache=True, nogil=True)
def _flattened_count(key: Secret, rows: Ids, place: np.uint64, entities: Entities, tally: Tally) -> float:
    """The noisy count of rows whose entities may have several, over all id columns; 0 where too few."""
    flattening, count, noise_sd, noise = -1.0, 0.0, -1.0, 0.0
    for column in range(entities.hashes.shape[1]):
        found, its_flattening, its_count, its_sd, its_noise = _flatten(
            key, rows, place, entities, column, tally
        )
        if not found:
            return 0.0
        if (its_flattening, its_count) > (flattening, count):
            flattening, count = its_flattening, its_count
        if (its_sd, abs(its_noise)) > (noise_sd, abs(noise)):
            noise_sd, noise = its_sd, its_noise
    return count + noise


@njit(cache=True, nogil=True)
def _flatten(
    key: Secret, rows: Ids, place: np.uint64, entities: Entities, column: int, tally: Tally
) -> tuple[bool, float, float, float, float]:
    """Whether one id column has enough entities, and its flattening, count, noise SD and noise.

    The number of outliers, and of those after them, follows from who they are and the salt:

        entities by rows     90  40 | 12 10 9 | 8 7 7 6 ...     2 outliers, 3 in the top group
        flattening           90 + 40 - 2 * average of (12, 10, 9): what the outliers have above the others
        count                all rows less the flattening: as if the two had as many rows as the next ones
    """
    distinct, known = _find_contributors(rows, entities, column, tally)
    number = len(distinct)
    outlier, top = _compacted(key.groups, number)
    if outlier < 0:
        return False, 0.0, 0.0, 0.0, 0.0
    everyone = np.uint64(0)
    for row in distinct:
        everyone ^= entities.hashes[row, column]
    largest = _largest(distinct, entities, column, tally, min(outlier + top, number))
    seed = np.uint64(0)
    for at in range(len(largest)):
        seed ^= entities.hashes[largest[at], column]
    secret = secret_seed(key, seed)
    outliers = _uniform(key.outlier ^ secret, key.groups[0], outlier)
    averaged = _uniform(key.top ^ secret, key.groups[2], top)
    total = 0.0
    for at in range(outliers, outliers + averaged):
        total += tally.amounts[entities.numbers[largest[at], column]]
    average = total / averaged if averaged else 0.0
    flattening = 0.0
    for at in range(outliers):
        flattening += tally.amounts[entities.numbers[largest[at], column]] - average
    accounted = float(known) - flattening
    sd = key.count_sd * max(accounted / number, average / 2)
    unaccounted = max(float(len(rows) - known) - flattening, 0.0)
    return True, flattening, accounted + unaccounted, sd, count_noise(key, sd, place, everyone)


@njit(cache=True, nogil=True)
def _find_contributors(rows: Ids, entities: Entities, column: int, tally: Tally) -> tuple[Ids, int]:
    """A row of each distinct entity, whose rows are counted in ``amounts``; how many rows have one."""
    tally.sets[0] += 1
    distinct = np.empty(len(rows), np.int32)
    number, known = 0, 0
    for row in rows:
        entity = entities.numbers[row, column]
        if entity < 0:
            continue
        known += 1
        if tally.seen[column, entity] != tally.sets[0]:
            tally.seen[column, entity] = tally.sets[0]
            tally.amounts[entity] = 0
            distinct[number] = row
            number += 1
        tally.amounts[entity] += 1
    return distinct[:number], known


@njit(cache=True, nogil=True)
def _compacted(groups: tuple[int, int, int, int], entities: int) -> tuple[int, int]:
    """Both groups' upper bounds so that they fit the number of entities; -1 where the lower don't.

    Each gives up half of what is too many, and the other one the rest where it has no more to give: bounds
    (1, 2) and (2, 3) become 2 and 2 for four entities, 1 and 2 for three; for two there is no answer.
    """
    outlier_low, outlier_high, top_low, top_high = groups
    if entities == 0 or entities < outlier_low + top_low:
        return -1, -1
    excess = max(outlier_high + top_high - entities, 0)
    from_outlier, from_top = excess // 2, excess - excess // 2
    if from_outlier > outlier_high - outlier_low:
        from_outlier = outlier_high - outlier_low
        from_top = excess - from_outlier
    elif from_top > top_high - top_low:
        from_top = top_high - top_low
        from_outlier = excess - from_top
    return outlier_high - from_outlier, top_high - from_top


@njit(cache=True, nogil=True)
def _largest(distinct: Ids, entities: Entities, column: int, tally: Tally, wanted: int) -> Ids:
    """Rows of the entities with most rows, then the greatest hashes, in descending order, (wanted,)."""
    best = np.empty(wanted, np.int32)
    found = 0
    for row in distinct:
        at = found
        while at > 0 and _exceeds(row, best[at - 1], entities, column, tally):
            if at < wanted:
                best[at] = best[at - 1]
            at -= 1
        if at < wanted:
            best[at] = row
            found = min(found + 1, wanted)
    return best


@njit(cache=True, nogil=True)
def _exceeds(row: int, other: int, entities: Entities, column: int, tally: Tally) -> bool:
    mine = tally.amounts[entities.numbers[row, column]]
    others = tally.amounts[entities.numbers[other, column]]
    if mine != others:
        return bool(mine > others)
    return bool(entities.hashes[row, column] > entities.hashes[other, column])


@njit(cache=True, nogil=True)
def _uniform(seed: np.uint64, lower: int, upper: int) -> int:
    return lower + int(seed % np.uint64(upper - lower + 1))
