"""Evaluation that may be released: synthetic records against the reportable aggregates, and the noise.

Nothing here has seen the table: what comes out says how well the synthetic records keep what was
reported, and, from the measurement's public scales, how far what was reported may be from the truth.
"""

import math
from dataclasses import asdict, dataclass
from typing import Any

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.dp.measurement import Measurement
from tasks.core.evaluation.comparison import compare_two
from tasks.core.evaluation.measures import (
    errors_by_length,
    preservation_by_count,
    preservation_by_length,
    summary,
)
from tasks.core.queries import QueryResources

#: 97.5th percentile of the standard normal: half the width of a 95 % interval.
_NORMAL_95 = 1.959963984540054


@dataclass(frozen=True)
class NoiseError:
    """What the noise alone does to the counts of one length, in records; bounding bias excluded.

    Attributes:
        scale: its standard deviation, s_k.
        mean_absolute_error: s_k sqrt(2 / pi).
        error_bar_95: half the width of the interval that holds 95 of 100 draws.
    """

    length: int
    scale: float
    mean_absolute_error: float
    error_bar_95: float


@dataclass(frozen=True)
class ReleaseEvaluation:
    """What a release says of itself.

    Attributes:
        summary: measures over all lengths (see `measures.summary`, reference = reported).
        by_length: errors and preservation by length.
        by_count: preservation by bin of the synthetic count.
        noise: by length; empty where there was no noise.
    """

    summary: dict[str, float]
    by_length: list[dict[str, Any]]
    by_count: list[dict[str, Any]]
    noise: list[NoiseError]

    def to_dict(self) -> dict[str, Any]:
        """For JSON: plain numbers, texts, lists and dictionaries."""
        return asdict(self)


def compare_release(
    reportable: Aggregates,
    recounted: Aggregates,
    measurement: Measurement | None = None,
    resources: QueryResources = QueryResources(),
) -> ReleaseEvaluation:
    """Compare the synthetic records' counts with the reported ones, at every reported length.

    Args:
        reportable: the released counts.
        recounted: counts of the synthetic records, of the same columns (see `count_synthetic`).
        measurement: what the counts were drawn in, for its noise; None where there was none.
        resources: number of threads.
    """
    found = compare_two(reportable, recounted, 1, resources=resources)
    preserved = {row["length"]: row for row in preservation_by_length(found)}
    names = ("preservation", "proportional_error")
    return ReleaseEvaluation(
        summary=_reported(summary(found)),
        by_length=[
            {**row, **{name: preserved[row["length"]][name] for name in names}}
            for row in map(_reported, errors_by_length(found))
        ],
        by_count=preservation_by_count(found),
        noise=noise_errors(measurement) if measurement else [],
    )


def noise_errors(measurement: Measurement) -> list[NoiseError]:
    """The theoretical error of each length that was measured."""
    return [
        NoiseError(length, level.scale, level.scale * math.sqrt(2 / math.pi), level.scale * _NORMAL_95)
        for length, level in enumerate(measurement.levels, start=1)
    ]


def _reported(row: dict[str, Any]) -> dict[str, Any]:
    """The reference here is what was reported, and the compared side is synthetic: call them so.

    Suppressed and fabricated would be read as of the table: here they are missed and unreported.
    """
    names = {
        "reference": "reported",
        "compared": "synthetic",
        "suppressed": "missed",
        "fabricated": "unreported",
        "suppressed_pct": "missed_pct",
        "fabricated_pct": "unreported_pct",
        "fabricated_pct_of_compared": "unreported_pct_of_synthetic",
    }
    return {names.get(name, name): value for name, value in row.items()}
