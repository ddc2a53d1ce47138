"""Who is counted and how noisily, as the specification says it (X2.1 to X2.4).

In: the hashes of the entities of a node's rows, 0 for a missing id, one sequence per id column. Out: whether
the node must be suppressed, and its noisy number of rows. Every distinct entity is counted, however many.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import reduce
from operator import xor
from typing import NamedTuple

import numpy as np

from tasks.core.syndiffix.hashing import hash_strings
from tasks.core.syndiffix.intervals import Interval
from tasks.core.syndiffix.settings import AnonymizationParameters
from tests.oracles.syndiffix import keyed, middle, normal

Hashes = Sequence[int]


class FlattenedCount(NamedTuple):
    """A count in which the largest contributors stand out no more, the rows that they lost, and its noise."""

    count: float
    flattening: float
    noise_sd: float
    noise: float


def layered_noise(salt: bytes, step: str, sd: float, seeds: Iterable[int]) -> float:
    """The sum of one normal number of standard deviation ``sd`` for each layer's seed."""
    return sum((sd * normal(keyed(step, seed, salt)) for seed in seeds), 0.0)


def is_low_count(count: int, seed: int, threshold: int, parameters: AnonymizationParameters) -> bool:
    """Whether so many entities, whose hashes' XOR is the seed, are too few to be shown; never if fewer."""
    if count < threshold:
        return True
    filter_ = parameters.low_count_params
    noise = layered_noise(parameters.salt, "suppress", filter_.layer_sd, [seed])
    return count < threshold + filter_.low_mean_gap * filter_.layer_sd + noise


def is_low(hashes: Hashes, threshold: int, parameters: AnonymizationParameters) -> bool:
    """The same of rows of one id column."""
    entities = set(map(int, hashes)) - {0}
    return is_low_count(len(entities), reduce(xor, entities, 0), threshold, parameters)


def bucket_seed(base_seed: int, intervals: Iterable[Interval]) -> int:
    """The seed of a node's place: its tree's base seed and the middles of its bucket intervals."""
    # Adding 0.0 makes one of the two zeros, whose texts differ.
    return base_seed ^ hash_strings(str(float(middle(interval)) + 0.0) for interval in intervals)


def noisy_entity_count(hashes: Hashes, seed: int, parameters: AnonymizationParameters) -> int:
    """The noisy number of rows where every entity has one; at least 1. ``seed``: see `bucket_seed`."""
    entities = [int(h) for h in hashes]
    seeds = [seed, reduce(xor, entities, 0)]
    return max(
        round(len(entities) + layered_noise(parameters.salt, "noise", parameters.layer_noise_sd, seeds)), 1
    )


def noisy_row_count(id_columns: Iterable[Hashes], seed: int, parameters: AnonymizationParameters) -> int:
    """The noisy number of rows where entities may have several, over one or more id columns; at least 1.

    Where some id column has too few entities to be flattened it is 1. ``seed``: see `bucket_seed`.
    """
    counts = [flatten(column, seed, parameters) for column in id_columns]
    known = [count for count in counts if count is not None]
    if len(known) < len(counts):
        return 1
    value = max(known, key=lambda c: (c.flattening, c.count)).count
    noise = max(known, key=lambda c: (c.noise_sd, abs(c.noise))).noise
    return max(round(value + noise), 1)


def flatten(hashes: Hashes, seed: int, parameters: AnonymizationParameters) -> FlattenedCount | None:
    """The flattened count of one id column, or None where there are too few entities.

    The largest contributors, of whom there are noisily ``outlier_count``, are cut to the mean of the
    next ``top_count``; the noise is in proportion to what an entity then contributes.
    """
    rows = Counter(map(int, hashes))
    missing = rows.pop(0, 0)
    outlier, top = parameters.outlier_count, parameters.top_count
    fitting = _largest_fitting((outlier.lower, outlier.upper), (top.lower, top.upper), len(rows))
    if fitting is None:
        return None
    (o_low, o_high), (t_low, t_high) = fitting
    ranked = sorted(((amount, h) for h, amount in rows.items()), reverse=True)
    who = reduce(xor, (h for _, h in ranked[: o_high + t_high]), 0)
    outliers = o_low + keyed("outlier", who, parameters.salt) % (o_high - o_low + 1)
    after = t_low + keyed("top", who, parameters.salt) % (t_high - t_low + 1)
    amounts = np.array([amount for amount, _ in ranked])
    average = float(amounts[outliers : outliers + after].mean()) if after else 0.0
    flattening = float((amounts[:outliers] - average).sum())  # none is below: they descend
    accounted = float(amounts.sum()) - flattening
    noise_sd = parameters.layer_noise_sd * max(accounted / len(rows), average / 2)
    noise = layered_noise(parameters.salt, "noise", noise_sd, [seed, reduce(xor, rows, 0)])
    return FlattenedCount(accounted + max(missing - flattening, 0.0), flattening, noise_sd, noise)


def _largest_fitting(outlier, top, entities):
    """Upper bounds that fit: one is taken from each in turn, top first, while it has any to give."""
    if entities < outlier[0] + top[0] or entities == 0:
        return None
    a, b = outlier[1], top[1]
    excess = max(a + b - entities, 0)
    give_a, give_b = excess // 2, excess - excess // 2
    while give_a > a - outlier[0]:
        give_a, give_b = give_a - 1, give_b + 1
    while give_b > b - top[0]:
        give_a, give_b = give_a + 1, give_b - 1
    return (outlier[0], a - give_a), (top[0], b - give_b)
