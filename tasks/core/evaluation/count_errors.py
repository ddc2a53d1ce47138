"""Suppression, fabrication and errors of counts (sds.md 5), SDS's definitions and better ones beside.

SDS takes mean errors over what both sides hold, so that losing a combination costs nothing; the errors
over the union count what is absent as 0.
"""

from typing import Any

from tasks.core.evaluation.preservation import mean_proportional_error, weighted_mean_proportional_error
from tasks.core.evaluation.sums import Comparison, ratio


def summary(comparison: Comparison) -> dict[str, float]:
    """Measures over all lengths; percentages 0..100, errors in records.

    ``fabricated_pct`` is of the reference side's combinations (SDS; it can exceed 100),
    ``fabricated_pct_of_compared`` of the compared side's.
    """
    total = comparison.total
    return {
        "suppressed_pct": 100 * ratio(total("suppressed"), total("reference")),
        "fabricated_pct": 100 * ratio(total("fabricated"), total("reference")),
        "fabricated_pct_of_compared": 100 * ratio(total("fabricated"), total("compared")),
        "mean_count": ratio(total("reference_count"), total("reference")),
        "mean_error": ratio(total("error_kept"), total("kept")),
        "mean_error_of_union": ratio(total("error_union"), total("combinations")),
        "mean_proportional_error": mean_proportional_error(comparison),
        "mean_proportional_error_unbinned": ratio(total("proportional_error"), total("population")),
        "weighted_mean_proportional_error": weighted_mean_proportional_error(comparison),
        "record_expansion_pct": record_expansion(comparison),
    }


def errors_by_length(comparison: Comparison) -> list[dict[str, Any]]:
    """One row a length: combinations, kept, suppressed, fabricated, mean count and mean errors."""
    rows = []
    for index, length in enumerate(comparison.lengths):
        sums = {name: float(table[index].sum()) for name, table in comparison.sums.items()}
        rows.append(
            {
                "length": length,
                **{name: int(sums[name]) for name in ("reference", "compared", "kept")},
                **{name: int(sums[name]) for name in ("suppressed", "fabricated")},
                "mean_count": ratio(sums["reference_count"], sums["reference"]),
                "mean_error": ratio(sums["error_kept"], sums["kept"]),
                "mean_error_of_union": ratio(sums["error_union"], sums["combinations"]),
            }
        )
    return rows


def record_expansion(comparison: Comparison) -> float:
    """How many more records the compared side has, in percent; 0 where the reference has none."""
    if not comparison.reference_records:
        return 0.0
    return 100 * (comparison.compared_records / comparison.reference_records - 1)
