"""Who is counted and how noisily: the obvious forms of the kernels' low-count filter and flattened counts.

In: hashes of the entities (see `hashing.hash_entities`) of a node's rows, one array per id column. Out:
whether the node must be suppressed, and its noisy number of rows (X2.3, X2.4).

Every distinct entity is counted, however many there are, so that thresholds hold at any value.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log, pi, sin, sqrt

import numpy as np
import numpy.typing as npt

from tasks.core.arrays import Words
from tasks.core.syndiffix.hashing import hash_strings, step_seed, uniform
from tasks.core.syndiffix.intervals import Interval
from tasks.core.syndiffix.settings import AnonymizationParameters, FlatteningInterval
from tests.oracles.syndiffix_intervals import middle

Amounts = npt.NDArray[np.int64]
_LEAST_ROWS = 1
_HALF = 0x7FFFFFFF
_LEAST_UNIFORM = 2.220446049250313e-16  # keeps the logarithm finite


@dataclass(frozen=True)
class Entities:
    """The distinct entities of a set of rows: how many, and the XOR of their hashes as a seed."""

    count: int
    seed: int


@dataclass(frozen=True)
class Contributions:
    """How many rows each entity has, the largest first.

    Attributes:
        amounts: rows of each entity, int64 (N,), descending.
        hashes: their hashes, uint64 (N,), aligned; descending among equal amounts.
        unaccounted: rows whose entity is missing.
    """

    amounts: Amounts
    hashes: Words
    unaccounted: int = 0

    @property
    def entities(self) -> Entities:
        """Who contributes, without how much."""
        return Entities(len(self.hashes), _xor(self.hashes))


@dataclass(frozen=True)
class FlattenedCount:
    """A count in which the largest contributors stand out no more, and its noise; in rows.

    Attributes:
        count: rows, after flattening.
        flattening: rows by which the outliers were flattened.
        noise_sd: standard deviation of each noise layer.
        noise: the sum of both layers.
    """

    count: float
    flattening: float
    noise_sd: float
    noise: float


def distinct_entities(hashes: Words) -> Entities:
    """The distinct entities of rows (n,); rows without an entity (0) count for none."""
    distinct = np.unique(hashes)
    distinct = distinct[distinct != 0]
    return Entities(len(distinct), _xor(distinct))


def contributions(hashes: Words) -> Contributions:
    """The rows (n,) of each entity, sorted for the flattening."""
    distinct, amounts = np.unique(hashes, return_counts=True)
    known = distinct != 0
    distinct, amounts = distinct[known], amounts[known].astype(np.int64)
    order = np.lexsort((distinct, amounts))[::-1]
    return Contributions(amounts[order], distinct[order], len(hashes) - int(amounts.sum()))


def normal(seed: int) -> float:
    """A standard normal number that follows from a seed; within +-`noise_kernels.LARGEST_NORMAL`."""
    radius = max((seed & _HALF) / _HALF, _LEAST_UNIFORM)
    angle = ((seed >> 32) & _HALF) / _HALF
    return sqrt(-2.0 * log(radius)) * sin(2.0 * pi * angle)


def layered_noise(salt: bytes, step: str, sd: float, seeds: Iterable[int]) -> float:
    """The sum of one normal number of standard deviation ``sd`` for each layer's seed."""
    return sum((sd * normal(step_seed(salt, step, seed)) for seed in seeds), 0.0)


def is_low_count(entities: Entities, threshold: int, parameters: AnonymizationParameters) -> bool:
    """Whether there are too few entities to be shown, against a threshold with sticky noise.

    Args:
        entities: of one id column.
        threshold: never passed by fewer; the noisy threshold's mean is ``low_mean_gap`` SDs above it.
        parameters: the salt, and the filter's noise.
    """
    if entities.count < threshold:
        return True
    filter_ = parameters.low_count_params
    noise = layered_noise(parameters.salt, "suppress", filter_.layer_sd, [entities.seed])
    return entities.count < threshold + filter_.low_mean_gap * filter_.layer_sd + noise


def is_any_low_count(
    id_columns: Iterable[Entities], threshold: int, parameters: AnonymizationParameters
) -> bool:
    """Whether any of the id columns has too few entities."""
    return any(is_low_count(entities, threshold, parameters) for entities in id_columns)


def bucket_seed(base_seed: int, intervals: Iterable[Interval]) -> int:
    """The seed of a node's place: its tree's base seed and the middles of its bucket intervals."""
    # Adding 0.0 makes one of the two zeros, whose texts differ.
    return base_seed ^ hash_strings(str(float(middle(interval)) + 0.0) for interval in intervals)


def noisy_entity_count(entities: Entities, seed: int, parameters: AnonymizationParameters) -> int:
    """The noisy number of rows where every entity has one; at least 1. ``seed``: see `bucket_seed`."""
    noise = layered_noise(parameters.salt, "noise", parameters.layer_noise_sd, [seed, entities.seed])
    return max(round(entities.count + noise), _LEAST_ROWS)


def noisy_row_count(
    id_columns: Sequence[Contributions], seed: int, parameters: AnonymizationParameters
) -> int:
    """The noisy number of rows where entities may have several, over one or more id columns; at least 1.

    Where some id column has too few entities to be flattened it is 1. ``seed``: see `bucket_seed`.
    """
    counts = [flatten(column, seed, parameters) for column in id_columns]
    known = [count for count in counts if count is not None]
    if len(known) < len(counts):
        return _LEAST_ROWS
    value = max(known, key=lambda c: (c.flattening, c.count)).count
    noise = max(known, key=lambda c: (c.noise_sd, abs(c.noise))).noise
    return max(round(value + noise), _LEAST_ROWS)


def flatten(column: Contributions, seed: int, parameters: AnonymizationParameters) -> FlattenedCount | None:
    """The flattened count of one id column, or None where there are too few entities.

    The largest contributors, of whom there are noisily ``outlier_count``, are cut to the mean of the
    next ``top_count``; the noise is in proportion to what an entity then contributes.
    """
    entities, salt = column.entities, parameters.salt
    sizes = compact(parameters.outlier_count, parameters.top_count, entities.count)
    if sizes is None:
        return None
    outliers, top = _group_sizes(column, sizes, parameters)
    average = float(column.amounts[outliers : outliers + top].mean()) if top else 0.0
    flattening = float((column.amounts[:outliers] - average).sum())  # none is below: they descend
    accounted = float(column.amounts.sum()) - flattening
    scale = max(accounted / entities.count, average / 2)
    noise_sd = parameters.layer_noise_sd * scale
    noise = layered_noise(salt, "noise", noise_sd, [seed, entities.seed])
    return FlattenedCount(accounted + max(column.unaccounted - flattening, 0.0), flattening, noise_sd, noise)


def compact(
    outlier: FlatteningInterval, top: FlatteningInterval, entities: int
) -> tuple[FlatteningInterval, FlatteningInterval] | None:
    """Both intervals with upper bounds that fit the number of entities; None where the lower don't."""
    if entities == 0 or entities < outlier.lower + top.lower:
        return None
    excess = max(outlier.upper + top.upper - entities, 0)
    from_outlier, outlier_range = excess // 2, outlier.upper - outlier.lower
    from_top, top_range = excess - excess // 2, top.upper - top.lower
    if from_outlier > outlier_range:
        from_outlier, from_top = outlier_range, excess - outlier_range
    elif from_top > top_range:
        from_outlier, from_top = excess - top_range, top_range
    return (
        FlatteningInterval(outlier.lower, outlier.upper - from_outlier),
        FlatteningInterval(top.lower, top.upper - from_top),
    )


def _group_sizes(
    column: Contributions,
    sizes: tuple[FlatteningInterval, FlatteningInterval],
    parameters: AnonymizationParameters,
) -> tuple[int, int]:
    """How many outliers, and how many after them: seeded by who they may be."""
    outlier, top = sizes
    seed = _xor(column.hashes[: outlier.upper + top.upper])
    return (
        uniform(step_seed(parameters.salt, "outlier", seed), outlier.lower, outlier.upper),
        uniform(step_seed(parameters.salt, "top", seed), top.lower, top.upper),
    )


def _xor(hashes: Words) -> int:
    return int(np.bitwise_xor.reduce(hashes))
