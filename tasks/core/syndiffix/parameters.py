"""SynDiffix's anonymization and bucketization parameters, with the reference's names and defaults.

In: what the configuration or the command says (syndiffix.md 1.1). Out: frozen values that are known to be
usable. All is public but the salt, which is never part of a text of these parameters.
"""

from dataclasses import asdict, dataclass, field, replace
from math import sqrt
from typing import Any

from tasks.core.errors import ParameterError

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
