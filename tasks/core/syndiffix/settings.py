"""SynDiffix's parameters, with the reference's names and defaults: anonymization, bucketization, clustering.

In: what the configuration or the command says (syndiffix.md 1.1, 1.2). Out: frozen values that are known to
be usable, in which columns are ids. All is public but the salt, which is never part of a text of these
parameters.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from math import isfinite, sqrt
from typing import Any

from tasks.core.errors import ParameterError
from tasks.core.syndiffix.clusters import Clusters, read_clusters

#: Columns of a blob's largest table, where the clusters of all columns need one of more than 3.
LARGEST_STORED = 10
_LEAST_SALT_BYTES = 8
_LARGEST_SD = 1e6  # far beyond any use; noise stays a finite number


def count_sd(layer_noise_sd: float) -> float:
    """Standard deviation of the noise on a count of entities with one row each: of two independent layers."""
    return sqrt(2) * layer_noise_sd


def _refuse(problems: list[str]) -> None:
    if problems:
        raise ParameterError(problems)


def _is_whole(value: object) -> bool:
    # A boolean is an int to Python and a slip in a configuration.
    return isinstance(value, int) and not isinstance(value, bool)


def _threshold_problems(name: str, value: int) -> list[str]:
    # A threshold of 1 would publish what a single entity holds.
    return _whole_problems(name, value, 2)


def _whole_problems(name: str, value: int, least: int) -> list[str]:
    if _is_whole(value) and value >= least:
        return []
    return [f"{name} must be a whole number of at least {least}, not {value}: choose {least} or more."]


def _deviation_problems(name: str, value: float) -> list[str]:
    if 0 <= value <= _LARGEST_SD:
        return []
    return [f"{name} must be a number from 0 to {_LARGEST_SD:g}, not {value}: choose one such as 1.0."]


@dataclass(frozen=True)
class FlatteningInterval:
    """From how many entities a group of the flattening is drawn: lower..upper, both inclusive.

    Raises:
        ParameterError: unless 0 <= lower <= upper.
    """

    lower: int = 2
    upper: int = 5

    def __post_init__(self) -> None:
        whole = _is_whole(self.lower) and _is_whole(self.upper)
        if not whole or not 0 <= self.lower <= self.upper:
            raise ParameterError(
                "outlier_count and top_count must each be two whole numbers, the first at least 0 and the "
                f"second at least the first, not {self.lower} and {self.upper}: give such as 2 and 5."
            )


@dataclass(frozen=True)
class SuppressionParameters:
    """The low-count filter: who is in too small a group to be shown (syndiffix.md 2.3).

    Attributes:
        low_threshold: entities; fewer than these are always suppressed; at least 2.
        layer_sd: standard deviation, in entities, of the noise on every threshold.
        low_mean_gap: how many ``layer_sd`` the mean threshold lies above ``low_threshold``.

    Raises:
        ParameterError: naming all that is out of range.
    """

    low_threshold: int = 3
    layer_sd: float = 1.0
    low_mean_gap: float = 2.0

    def __post_init__(self) -> None:
        _refuse(
            [
                *_threshold_problems("low_threshold", self.low_threshold),
                *_deviation_problems("layer_sd", self.layer_sd),
                *_deviation_problems("low_mean_gap", self.low_mean_gap),
            ]
        )

    @property
    def mean(self) -> float:
        """The mean threshold, in entities."""
        return self.low_threshold + self.low_mean_gap * self.layer_sd


# While dependence is measured on a sample, which publishes nothing by itself (syndiffix.md 1.1).
SAMPLE_SUPPRESSION = SuppressionParameters(low_threshold=2, layer_sd=0.5, low_mean_gap=1.0)


@dataclass(frozen=True)
class AnonymizationParameters:
    """How entities are protected.

    Attributes:
        salt: the secret key of all noise, at least 8 bytes; one per dataset.
        low_count_params: the low-count filter.
        outlier_count: size of the group of largest contributors, who are flattened.
        top_count: size of the group after it, whose mean they are flattened to.
        layer_noise_sd: standard deviation of each of the two noise layers of a count, in contributions.

    Raises:
        ParameterError: naming all that is out of range.
    """

    salt: bytes = field(repr=False)
    low_count_params: SuppressionParameters = SuppressionParameters()
    outlier_count: FlatteningInterval = FlatteningInterval()
    top_count: FlatteningInterval = FlatteningInterval()
    layer_noise_sd: float = 1.0

    def __post_init__(self) -> None:
        problems = _deviation_problems("layer_noise_sd", self.layer_noise_sd)
        if len(self.salt) < _LEAST_SALT_BYTES:
            problems.append(
                f"The salt must have at least {_LEAST_SALT_BYTES} bytes, not {len(self.salt)}: "
                "let one be made, or give a longer one."
            )
        _refuse(problems)

    def for_sample(self) -> "AnonymizationParameters":
        """The same while dependence is measured on a sample: lower thresholds and counts without noise."""
        return replace(self, low_count_params=SAMPLE_SUPPRESSION, layer_noise_sd=0.0)


@dataclass(frozen=True)
class BucketizationParameters:
    """How finely the trees divide the data.

    Attributes:
        singularity_low_threshold: entities that a subnode of a single value needs to count; at least 2.
        range_low_threshold: the same for a subnode of a range.
        precision_limit_row_fraction: below the depth threshold a node of a one-column tree is divided
            only with about rows / this many rows; at least 1.
        precision_limit_depth_threshold: the depth that is divided without this limit; the root's is 0.

    Raises:
        ParameterError: naming all that is out of range.
    """

    singularity_low_threshold: int = 5
    range_low_threshold: int = 15
    precision_limit_row_fraction: int = 10_000
    precision_limit_depth_threshold: int = 15

    def __post_init__(self) -> None:
        fraction, depth = self.precision_limit_row_fraction, self.precision_limit_depth_threshold
        _refuse(
            [
                *_threshold_problems("singularity_low_threshold", self.singularity_low_threshold),
                *_threshold_problems("range_low_threshold", self.range_low_threshold),
                *_whole_problems("precision_limit_row_fraction", fraction, 1),
                *_whole_problems("precision_limit_depth_threshold", depth, 0),
            ]
        )


def by_name(anonymization: AnonymizationParameters, bucketization: BucketizationParameters) -> dict[str, Any]:
    """All of both but the salt, by the names of the reference's port."""
    suppression = asdict(anonymization.low_count_params)
    flattening = (anonymization.outlier_count, anonymization.top_count)
    outliers, top = ([interval.lower, interval.upper] for interval in flattening)
    return {
        **suppression,
        "outlier_count": outliers,
        "top_count": top,
        "layer_noise_sd": anonymization.layer_noise_sd,
        **asdict(bucketization),
    }


#: Of no more columns the default clustering always makes one cluster.
MOST_TOGETHER = 4
ColumnReference = str | int  # a header, or a position among the selected columns
_LEAST_ALPHA = 1e-5  # 29 million steps
_MAX_WEIGHT = 15.0
_SAMPLE_SIZE = 100_000
_MERGE_THRESHOLD = 0.1


@dataclass(frozen=True)
class DefaultClustering:
    """Clusters that keep strongly dependent columns together, found by simulated annealing.

    Attributes:
        main_column: is in every cluster.
        sample_size: rows by which dependence is measured where that saves time; at least 1.
        max_weight: of the columns of a cluster, see `solver.column_weights`; up to 1, every column is alone.
        merge_threshold: least dependence, from 0 to 1, by which a column joins others.
        solver_alpha: how fast the annealing cools: it takes about 286 / alpha steps.

    Raises:
        ParameterError: naming all that is out of range.
    """

    main_column: ColumnReference | None = None
    sample_size: int = _SAMPLE_SIZE
    max_weight: float = _MAX_WEIGHT
    merge_threshold: float = _MERGE_THRESHOLD
    solver_alpha: float = 1e-2

    def __post_init__(self) -> None:
        problems = _weight_problems(self.max_weight)
        if type(self.sample_size) is not int or self.sample_size < 1:
            problems.append(
                f"sample_size must be a whole number of at least 1, not {self.sample_size}: give 100000, say."
            )
        if not 0 <= self.merge_threshold <= 1:
            problems.append(
                f"merge_threshold must be a number from 0 to 1, not {self.merge_threshold}: give such as 0.1."
            )
        if not _LEAST_ALPHA <= self.solver_alpha <= 1:
            problems.append(
                f"solver_alpha must be a number from {_LEAST_ALPHA:g} to 1, not {self.solver_alpha}: give "
                "such as 0.01."
            )
        if problems:
            raise ParameterError(problems)


@dataclass(frozen=True)
class MlClustering:
    """Clusters for the prediction of one column: it is with its features, as many as fit, in each.

    Attributes:
        target_column: what is to be predicted.
        drop_non_features: leave the other columns out instead of adding each by its dependence on the target.
        max_weight: as of `DefaultClustering`.
        classifier_model: scikit-learn estimator that ranks features of a categorical target; a decision
            tree where there is none.
        regressor_model: the same for a numeric target.
        main_features: the features, the most important first; None: they are selected.

    Raises:
        ParameterError: naming all that is out of range.
    """

    target_column: ColumnReference
    drop_non_features: bool = False
    max_weight: float = _MAX_WEIGHT
    classifier_model: object | None = None
    regressor_model: object | None = None
    main_features: tuple[ColumnReference, ...] | None = None

    def __post_init__(self) -> None:
        problems = _weight_problems(self.max_weight)
        features = self.main_features or ()
        if len({self.target_column, *features}) < 1 + len(features):
            problems.append(
                "Main features must differ from each other and from the main column: name each column once."
            )
        if problems:
            raise ParameterError(problems)


@dataclass(frozen=True)
class NoClustering:
    """Every column alone, rows paired at random; the reference's ``--no-clustering`` is not this one."""


@dataclass(frozen=True)
class SingleClustering:
    """All columns in one cluster: the reference's ``--no-clustering``."""


ClusteringStrategy = DefaultClustering | MlClustering | NoClustering | SingleClustering | Clusters


@dataclass(frozen=True)
class ClusteringOptions:
    """What the reference's command says about clusters, by its options' names.

    Attributes:
        no_clustering: all columns in one cluster.
        clusters: JSON or a file's name.
        maincolumn: see `DefaultClustering`, or `MlClustering` where there are ``mainfeatures``.
        mainfeatures: see `MlClustering`.
        samplesize: see `DefaultClustering`.
        maxweight: see `DefaultClustering`.
        thresh_merge: see `DefaultClustering`.
    """

    no_clustering: bool = False
    clusters: str | None = None
    maincolumn: ColumnReference | None = None
    mainfeatures: tuple[ColumnReference, ...] = ()
    samplesize: int = _SAMPLE_SIZE
    maxweight: float = _MAX_WEIGHT
    thresh_merge: float = _MERGE_THRESHOLD


def choose_strategy(options: ClusteringOptions, columns: Sequence[str]) -> ClusteringStrategy:
    """The strategy for a table of such columns, in the reference's order of precedence.

    All options are checked, also those that another one overrides.

    Raises:
        ParameterError: an option is out of range, names no selected column or lacks another one.
    """
    if options.mainfeatures and options.maincolumn is None:
        raise ParameterError("Main features need a main column: say which with --clustering-maincolumn.")
    solved = DefaultClustering(
        options.maincolumn, options.samplesize, options.maxweight, options.thresh_merge
    )
    strategy = with_ids(solved, columns)
    if options.maincolumn is not None and options.mainfeatures:
        chosen = MlClustering(
            options.maincolumn, max_weight=options.maxweight, main_features=options.mainfeatures
        )
        strategy = with_ids(chosen, columns)
    if options.clusters is not None:
        strategy = read_clusters(options.clusters).require_all(len(columns))
    if options.maxweight <= 1:
        strategy = NoClustering()
    return SingleClustering() if options.no_clustering else strategy


def with_ids(strategy: ClusteringStrategy, columns: Sequence[str]) -> ClusteringStrategy:
    """The same strategy with ids for all columns that it names, for a table of such columns.

    Raises:
        ParameterError: it names a column that is not selected, or misses one.
    """
    match strategy:
        case DefaultClustering(main_column=main) if main is not None:
            return replace(strategy, main_column=_column_id("main_column", main, columns))
        case MlClustering(target_column=target, main_features=features):
            target = _column_id("target_column", target, columns)
            if features is not None:
                features = tuple(_column_id("main_features", feature, columns) for feature in features)
            return replace(strategy, target_column=target, main_features=features)
        case Clusters():
            return strategy.require_all(len(columns))
    return strategy


def _column_id(name: str, column: ColumnReference, columns: Sequence[str]) -> int:
    if isinstance(column, str) and column in columns:
        return columns.index(column)
    if type(column) is int and 0 <= column < len(columns):
        return column
    raise ParameterError(
        f"{name} must be among the selected columns, and {column!r} is not: select it or name another."
    )


def _weight_problems(weight: float) -> list[str]:
    if isfinite(weight) and weight >= 0:
        return []
    return [f"max_weight must be a number of at least 0, not {weight}: give such as 15."]
