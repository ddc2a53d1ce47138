"""SynDiffix's settings, each declared once: name, type, default, range, option and meaning (X1.1, X1.2).

From the same fields follow the keys of the flat file (`tasks.configuration.protections`), the
options (`flows.command.syndiffix.arguments`), the checks of both and what each says of itself. All is public
but the salt, which is in no text of these parameters.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import Field, astuple, dataclass, field, fields, replace
from math import inf, isfinite, sqrt
from typing import Any, TypeVar

from tasks.core.errors import ParameterError
from tasks.core.syndiffix.clusters import Clustering, Clusters, ListedClusters, Way, target_of, way_of

#: Columns of a blob's largest table, where the clusters of all columns need one of more than 3.
LARGEST_STORED = 10
#: Of no more columns the default clustering always makes one cluster.
MOST_TOGETHER = 4
_LEAST_SALT_BYTES = 8
_NO_SALT = bytes(32)  # where nothing is drawn
_LARGEST_SD = 1e6  # far beyond any use; noise stays a finite number
_LEAST_ALPHA = 1e-5  # 29 million steps
ColumnReference = str | int  # a header, or a position among the selected columns
T = TypeVar("T")


def count_sd(layer_noise_sd: float) -> float:
    """Standard deviation of the noise on a count of entities with one row each: of two independent layers."""
    return sqrt(2) * layer_noise_sd


@dataclass(frozen=True)
class FlatteningInterval:
    """From how many entities a group of the flattening is drawn: 0 <= lower <= upper, both inclusive."""

    lower: int = 2
    upper: int = 5

    def __post_init__(self) -> None:
        if problem := _interval_problem((self.lower, self.upper)):
            raise ParameterError(f"outlier_count and top_count {problem}")


def _interval_problem(bounds: Sequence[int]) -> str:
    if all(map(_is_whole, bounds)) and 0 <= bounds[0] <= bounds[1]:
        return ""
    return (
        "must be two whole numbers, the first at least 0 and the second at least the first, not "
        f"{bounds[0]} and {bounds[1]}: give such as 2 and 5."
    )


def _is_whole(value: object) -> bool:
    # A boolean is an int to Python and a slip in a configuration.
    return isinstance(value, int) and not isinstance(value, bool)


#: What a setting's value is, by the type of its field; columns are named by their headers in a file.
_KINDS = {
    int: "whole",
    float: "number",
    bool: "flag",
    FlatteningInterval: "interval",
    ColumnReference: "column",
    ColumnReference | None: "column",
    tuple[ColumnReference, ...] | None: "columns",
    frozenset[str]: "columns",
}


@dataclass(frozen=True)
class Setting:
    """A setting as files, options and forms know it.

    Attributes:
        kind: whole, number, flag, interval (two whole numbers), column or columns.
        default: as a file would write it; None or () where no column is named.
        meaning: in a few words, with the unit; the option's help and the form's description.
        least: of a number, as is ``most``; both may be reached.
    """

    name: str
    kind: str
    default: Any
    meaning: str
    options: list[str]
    least: float
    most: float

    def problem(self, value: Any) -> str:
        """What is wrong with a value of the right type, to follow a name; nothing where it is in range.

        >>> SETTINGS["low_threshold"].problem(1)
        'must be a whole number of at least 2, not 1: choose 2 or more.'
        """
        if self.kind == "interval":
            return _interval_problem(value)
        if self.kind == "whole" and not (_is_whole(value) and value >= self.least):
            least = f"{self.least:g}"
            return f"must be a whole number of at least {least}, not {value}: choose {least} or more."
        if self.kind == "number" and not (self.least <= value <= self.most and isfinite(value)):
            span = (
                f"of at least {self.least:g}" if self.most == inf else f"from {self.least:g} to {self.most:g}"
            )
            return f"must be a number {span}, not {value}: choose one such as {self.default:g}."
        return ""


def _setting(default: object, options: str, meaning: str, *, least: float = 0, most: float = inf) -> Any:
    found = {"meaning": meaning, "options": options.split(), "least": least, "most": most}
    return field(default=default, metadata={"setting": found})


def settings_of(kind: type) -> Iterator[Setting]:
    return (_as_setting(each) for each in fields(kind) if "setting" in each.metadata)


def _as_setting(found: "Field[Any]") -> Setting:
    kind, default = _KINDS[found.type], found.default
    if isinstance(default, FlatteningInterval):
        default = (default.lower, default.upper)
    elif kind in ("column", "columns"):
        default = None if kind == "column" else ()
    return Setting(found.name, kind, default, **found.metadata["setting"])


def by_name(*parameters: Any) -> dict[str, Any]:
    """The settings among the fields of parameters, as a file would write them."""
    found = {each.name: getattr(of, each.name) for of in parameters for each in settings_of(type(of))}
    return {n: list(astuple(v)) if isinstance(v, FlatteningInterval) else v for n, v in found.items()}


class Checked:
    """Parameters some of whose fields are settings; ParameterError names all that is out of range."""

    def __post_init__(self) -> None:
        problems = [
            f"{each.name} {problem}"
            for each in settings_of(type(self))
            if each.kind in ("whole", "number") and (problem := each.problem(getattr(self, each.name)))
        ]
        if problems := [*problems, *self.further_problems()]:
            raise ParameterError(problems)

    def further_problems(self) -> list[str]:
        return []


@dataclass(frozen=True)
class SuppressionParameters(Checked):
    """The low-count filter: who is in too small a group to be shown (X2.3)."""

    # A threshold of 1 would publish what a single entity holds.
    low_threshold: int = _setting(
        3, "--lcf-low-threshold -lcf", "a group of fewer people is never shown", least=2
    )
    layer_sd: float = _setting(
        1.0,
        "--threshold-sd -thresh_sd",
        "standard deviation of the noise on every threshold, in people",
        most=_LARGEST_SD,
    )
    low_mean_gap: float = _setting(
        2.0,
        "--low-mean-gap",
        "distance from the lowest to the mean threshold, in standard deviations of the threshold's noise",
        most=_LARGEST_SD,
    )

    @property
    def mean(self) -> float:
        return self.low_threshold + self.low_mean_gap * self.layer_sd


# While dependence is measured on a sample, which publishes nothing by itself (X1.1).
SAMPLE_SUPPRESSION = SuppressionParameters(low_threshold=2, layer_sd=0.5, low_mean_gap=1.0)


@dataclass(frozen=True)
class AnonymizationParameters(Checked):
    """How entities are protected.

    Attributes:
        salt: the secret key of all noise, at least 8 bytes; one per dataset.
    """

    salt: bytes = field(repr=False)
    low_count_params: SuppressionParameters = SuppressionParameters()
    outlier_count: FlatteningInterval = _setting(
        FlatteningInterval(),
        "--outlier-count",
        "least and most size of the group of people with the most rows, who are flattened",
    )
    top_count: FlatteningInterval = _setting(
        FlatteningInterval(),
        "--top-count",
        "least and most size of the next group, to whose mean the outliers are flattened",
    )
    layer_noise_sd: float = _setting(
        1.0,
        "--layer-noise-sd -noise_sd",
        "standard deviation of each of the two noises that are added to a count, in rows",
        most=_LARGEST_SD,
    )

    def further_problems(self) -> list[str]:
        if len(self.salt) >= _LEAST_SALT_BYTES:
            return []
        return [
            f"The salt must have at least {_LEAST_SALT_BYTES} bytes, not {len(self.salt)}: "
            "let one be made, or give a longer one."
        ]

    def for_sample(self) -> "AnonymizationParameters":
        """The same while dependence is measured on a sample: lower thresholds and counts without noise."""
        return replace(self, low_count_params=SAMPLE_SUPPRESSION, layer_noise_sd=0.0)


@dataclass(frozen=True)
class BucketizationParameters(Checked):
    singularity_low_threshold: int = _setting(
        5,
        "--singularity-low-threshold -sing",
        "people that a part with a single value needs in order to count",
        least=2,
    )
    range_low_threshold: int = _setting(
        15,
        "--range-low-threshold -range",
        "people that a part with several values needs in order to count",
        least=2,
    )
    precision_limit_row_fraction: int = _setting(
        10_000,
        "--precision-limit-row-fraction",
        "a deep part of a single column is divided only if it holds about one in so many of all rows",
        least=1,
    )
    precision_limit_depth_threshold: int = _setting(
        15, "--precision-limit-depth-threshold", "a part is deep if it comes of more than so many divisions"
    )


def _max_weight() -> Any:
    return _setting(
        15.0,
        "--clustering-maxweight",
        "most that the columns of a cluster may weigh together (one of more values weighs more); "
        "up to 1, each column is alone",
    )


@dataclass(frozen=True)
class DefaultClustering(Checked):
    """Clusters that keep strongly dependent columns together, found by simulated annealing.

    `solver.column_weights` says what a column weighs. The annealing takes about 286 / ``solver_alpha`` steps.
    """

    main_column: ColumnReference | None = _setting(
        None, "--clustering-maincolumn", "column that is in every cluster"
    )
    sample_size: int = _setting(
        100_000,
        "--clustering-samplesize",
        "rows on which the dependence of columns is measured, where that saves time",
        least=1,
    )
    max_weight: float = _max_weight()
    merge_threshold: float = _setting(
        0.1,
        "--clustering-thresh-merge",
        "least dependence, from 0 to 1, with which a column joins others",
        most=1,
    )
    solver_alpha: float = _setting(
        1e-2,
        "--clustering-solver-alpha",
        "how fast the search for clusters cools: less is slower and searches more",
        least=_LEAST_ALPHA,
        most=1,
    )


@dataclass(frozen=True)
class MlClustering(Checked):
    """Clusters for the prediction of one column: it is with its features, as many as fit, in each.

    The columns that are no features are dropped, or added each by its dependence on the target. Without
    ``main_features`` the features are selected.
    """

    target: ColumnReference
    drop_non_features: bool = _setting(
        False,
        "--ml-drop-non-features --ml_features_only",
        "leave out the columns that do not help to predict the target",
    )
    max_weight: float = _max_weight()
    main_features: tuple[ColumnReference, ...] | None = _setting(
        None,
        "--clustering-mainfeatures",
        "columns that predict the main column or target, the most important first",
    )

    def further_problems(self) -> list[str]:
        features = self.main_features or ()
        if len({self.target, *features}) == 1 + len(features):
            return []
        return [
            "Main features must differ from each other and from the main column or target: name each column "
            "once."
        ]


@dataclass(frozen=True)
class NoClustering:
    """Every column alone, rows paired at random."""


@dataclass(frozen=True)
class SingleClustering:
    """All columns in one cluster."""


#: A strategy whose columns are ids.
SolvableStrategy = DefaultClustering | MlClustering | NoClustering | SingleClustering | Clusters
ClusteringStrategy = SolvableStrategy | ListedClusters


@dataclass(frozen=True)
class SynDiffixParameters:
    anonymization: AnonymizationParameters
    bucketization: BucketizationParameters = BucketizationParameters()
    clustering: ClusteringStrategy = DefaultClustering()
    value_safe_columns: frozenset[str] = _setting(
        frozenset(),
        "--value-safe-columns",
        "columns whose values are public: they come out as they are, even if rare",
    )

    @classmethod
    def of(cls, settings: Mapping[str, Any], salt: bytes = _NO_SALT) -> "SynDiffixParameters":
        """Settings by name, as in a configuration's section; what is left out has its default.

        >>> SynDiffixParameters.of({"low_threshold": 4}).anonymization.low_count_params.mean
        6.0

        Raises:
            ParameterError: naming what is out of range or lacks.
        """
        return cls(
            _build(
                AnonymizationParameters,
                settings,
                salt=salt,
                low_count_params=_build(SuppressionParameters, settings),
            ),
            _build(BucketizationParameters, settings),
            clustering_of(settings),
            frozenset(settings.get("value_safe_columns", ())),
        )


_STRATEGIES: dict[Way, type[ClusteringStrategy]] = {
    "default": DefaultClustering,
    "one": SingleClustering,
    "none": NoClustering,
    "target": MlClustering,
    "lists": ListedClusters,
}
_KINDS_OF_PARAMETERS = (
    SuppressionParameters,
    AnonymizationParameters,
    BucketizationParameters,
    DefaultClustering,
    MlClustering,
    SynDiffixParameters,
)
#: Every setting, by its name.
SETTINGS = {each.name: each for kind in _KINDS_OF_PARAMETERS for each in settings_of(kind)}
#: What each way of clustering reads beside what all read.
CLUSTERING_KEYS: dict[Way, frozenset[str]] = {
    way: frozenset(each.name for each in settings_of(kind)) for way, kind in _STRATEGIES.items()
}


def unread_keys(way: Way) -> frozenset[str]:
    """What only other ways of clustering read."""
    return frozenset().union(*CLUSTERING_KEYS.values()) - CLUSTERING_KEYS[way]


def clustering_of(settings: Mapping[str, Any]) -> ClusteringStrategy:
    """How columns are divided into clusters: as ``clustering`` says, by what that way reads."""
    asked: Clustering = settings.get("clustering", "default")
    way = way_of(asked)
    if way == "target":
        return _build(MlClustering, settings, target=target_of(asked))
    if way == "lists":
        return ListedClusters(asked)  # type: ignore[arg-type]
    return _build(_STRATEGIES[way], settings)


def _build(kind: type[T], settings: Mapping[str, Any], **further: object) -> T:
    found: dict[str, Any] = {}
    for each in settings_of(kind):
        if each.name in settings:
            value = settings[each.name]
            if each.kind == "columns":
                value = tuple(value) or None
            found[each.name] = FlatteningInterval(*value) if each.kind == "interval" else value
    return kind(**found, **further)


def with_ids(strategy: ClusteringStrategy, columns: Sequence[str]) -> SolvableStrategy:
    """The same strategy with ids for all columns that it names, each one of these; else ParameterError."""
    match strategy:
        case DefaultClustering(main_column=main) if main is not None:
            return replace(strategy, main_column=_column_id("main_column", main, columns))
        case MlClustering(target=target, main_features=features):
            target = _column_id("target", target, columns)
            if features is not None:
                features = tuple(_column_id("main_features", feature, columns) for feature in features)
            return replace(strategy, target=target, main_features=features)
        case ListedClusters():
            return strategy.of(columns)
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
