"""Compiled counting of entities: how many hold a set of rows, and its noisy number of rows.

The obvious forms, to which these agree bit for bit, are in tests/oracles/syndiffix_counters.py. In: row
numbers, and whose each row is. Out: a `Tally`, or counts.
"""

from typing import NamedTuple

import numpy as np

from tasks.core.arrays import Flags, Ids, Integers, Words
from tasks.core.compiling.decorator import njit
from tasks.core.syndiffix.noise_kernels import Secret, count_noise, is_low, secret_seed

_LEAST_ROWS, _MOST_ROWS = 1.0, 2147483647.0


class Entities(NamedTuple):
    """Whose the rows are, by id column.

    Attributes:
        hashes: of each row's entity, (n, columns); 0 where it is missing.
        numbers: of each row's entity among its id column's, (n, columns); -1 where it is missing.
        most: how many entities the fullest id column has.
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
        holders: their distinct entities, by id column.
        seeds: the XOR of those entities' hashes, by id column.
        seen: by id column and entity, the last set that it was seen in.
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
    """Room for counting."""
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
    """The noisy number of rows of each node, at least 1.

    Args:
        key: of the noise.
        order: rows, those of a node side by side.
        start: of each node's rows, (N,).
        length: how many, passengers among them, (N,).
        places: the seed of each node's place, (N,).
        entities: whose the rows are.
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
