"""SynDiffix's configuration in, the core's parameters out; the salt is added where noise is drawn."""

import json
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, TypeVar

from tasks.core.errors import ParameterError
from tasks.core.syndiffix.clusters import read_clusters
from tasks.core.syndiffix.settings import (
    AnonymizationParameters,
    BucketizationParameters,
    ClusteringStrategy,
    DefaultClustering,
    FlatteningInterval,
    MlClustering,
    NoClustering,
    SingleClustering,
    SuppressionParameters,
)

if TYPE_CHECKING:  # the settings ask this file what is out of range
    from tasks.configuration.protections.syndiffix import SynDiffix

_NO_SALT = bytes(32)  # where nothing is drawn
T = TypeVar("T")


def anonymization(settings: "SynDiffix", salt: bytes = _NO_SALT) -> AnonymizationParameters:
    """How entities are protected.

    Raises:
        ParameterError: naming what is out of range.
    """
    return AnonymizationParameters(
        salt=salt,
        low_count_params=_suppression(settings),
        outlier_count=FlatteningInterval(*settings.outlier_count),
        top_count=FlatteningInterval(*settings.top_count),
        layer_noise_sd=settings.layer_noise_sd,
    )


def _suppression(settings: "SynDiffix") -> SuppressionParameters:
    return SuppressionParameters(settings.low_threshold, settings.layer_sd, settings.low_mean_gap)


def bucketization(settings: "SynDiffix") -> BucketizationParameters:
    """How finely trees divide.

    Raises:
        ParameterError: naming what is out of range.
    """
    return BucketizationParameters(
        settings.singularity_low_threshold,
        settings.range_low_threshold,
        settings.precision_limit_row_fraction,
        settings.precision_limit_depth_threshold,
    )


def strategy(settings: "SynDiffix") -> ClusteringStrategy:
    """How columns are divided into clusters.

    Raises:
        ParameterError: naming what is out of range or lacks.
    """
    match settings.clustering:
        case "single":
            return SingleClustering()
        case "none":
            return NoClustering()
        case "clusters":
            if settings.clusters is None:
                raise ParameterError("clustering clusters needs clusters as well: which columns go together.")
            return read_clusters(json.dumps(settings.clusters))
        case "ml":
            if settings.target_column is None:
                raise ParameterError("clustering ml needs target_column as well: what is to be predicted.")
            return MlClustering(
                settings.target_column,
                settings.drop_non_features,
                settings.max_weight,
                main_features=settings.main_features or None,
            )
        case "default":
            return DefaultClustering(
                settings.main_column,
                settings.sample_size,
                settings.max_weight,
                settings.merge_threshold,
                settings.solver_alpha,
            )


def problems(settings: "SynDiffix") -> list[str]:
    """Everything that is out of range, in the core's sentences."""
    found: list[str] = []
    build: Callable[[], object]
    # Part by part, as each is told of for itself.
    for build in (
        lambda: _suppression(settings),
        lambda: FlatteningInterval(*settings.outlier_count),
        lambda: FlatteningInterval(*settings.top_count),
        lambda: AnonymizationParameters(_NO_SALT, layer_noise_sd=settings.layer_noise_sd),
        lambda: bucketization(settings),
        lambda: strategy(settings),
    ):
        found += _problems_of(build)
    return list(dict.fromkeys(found))


def _problems_of(build: Callable[[], T]) -> list[str]:
    try:
        build()
    except ParameterError as error:
        return error.problems
    return []


def questions(settings: "SynDiffix", columns: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """The column sets that each get a table of their own, each in the columns' order.

    Raises:
        ParameterError: a set names what is not a synthesized column, or one twice, or is there twice.
    """
    if settings.tables == "pairs":
        return tuple(combinations(columns, 2))
    found: list[tuple[str, ...]] = []
    wrong: list[str] = []
    for number, names in enumerate(settings.tables, start=1):
        unknown = sorted(set(names) - set(columns))
        if unknown:
            wrong.append(
                f"syndiffix.tables: set {number} must name columns that are synthesized, and "
                f"{', '.join(map(repr, unknown))} is not among them: correct the name."
            )
        if len(set(names)) < len(names):
            wrong.append(f"syndiffix.tables: set {number} must name each column once: remove what repeats.")
        found.append(tuple(column for column in columns if column in names))
    if len(set(found)) < len(found):
        wrong.append("syndiffix.tables must hold each set of columns once: remove what repeats.")
    if wrong:
        raise ParameterError(wrong)
    return tuple(found)
