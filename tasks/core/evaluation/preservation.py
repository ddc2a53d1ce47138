"""Preservation and proportional error by length and by count (sds.md 5).

The population is SDS's: combinations that reach the resolution on the reference side or appear on the
compared side; bins are of the compared count.
"""

from typing import Any

import numpy as np

from tasks.core.evaluation.sums import Comparison, Numbers, ratio


def preservation_by_count(comparison: Comparison) -> list[dict[str, Any]]:
    """One row a bin, ascending, empty bins as zeros.

    Keys: ``bin`` (upper bound), ``combinations``, ``mean_count`` (of the compared side),
    ``mean_length``, ``preservation``, ``proportional_error``.
    """
    lengths = np.array(comparison.lengths, np.float64) @ comparison.sums["population"]
    rows = _means(comparison, Comparison.by_bin)
    return [
        {"bin": bound, **row, "mean_length": ratio(float(length_sum), row["combinations"])}
        for bound, row, length_sum in zip(comparison.bins, rows, lengths, strict=True)
    ]


def preservation_by_length(comparison: Comparison) -> list[dict[str, Any]]:
    """One row a length: ``length`` and the means of `preservation_by_count`."""
    rows = _means(comparison, Comparison.by_length)
    return [{"length": length, **row} for length, row in zip(comparison.lengths, rows, strict=True)]


def mean_proportional_error(comparison: Comparison) -> float:
    """SDS's: the unweighted mean of the bins' means, empty bins as 0."""
    rows = preservation_by_count(comparison)
    return float(sum(row["proportional_error"] for row in rows)) / len(rows)


def weighted_mean_proportional_error(comparison: Comparison) -> float:
    """Each reference combination's proportional error weighted by its count: sum |s - y| / sum s."""
    return ratio(comparison.total("error_reference"), comparison.total("reference_count"))


def mean_preservation(comparison: Comparison) -> float:
    """Of SDS's population, each combination alike."""
    return ratio(comparison.total("preservation"), comparison.total("population"))


def weighted_mean_preservation(comparison: Comparison) -> float:
    """Each reference combination's preservation weighted by its count: sum min(s, y) / sum s."""
    return ratio(comparison.total("preserved_count"), comparison.total("reference_count"))


def _means(comparison: Comparison, sums: Any) -> list[dict[str, Any]]:
    population: Numbers = sums(comparison, "population")
    columns = [sums(comparison, name) for name in ("compared_count", "preservation", "proportional_error")]
    return [
        {
            "combinations": int(size),
            "mean_count": ratio(count, size),
            "preservation": ratio(preservation, size),
            "proportional_error": ratio(error, size),
        }
        for size, count, preservation, error in zip(population, *columns, strict=True)
    ]
