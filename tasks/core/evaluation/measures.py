"""What a comparison finds: sums by length and bin in, the measures of evaluation out (S5.1).

Every measure is a ratio of a `Comparison`'s sums. s is a combination's count on the reference side
(sensitive, or reportable), y on the compared side (reportable, or synthetic); 0 where it is absent.

* Leakage: rare sensitive combinations that also appear on the compared side. SDS counts one only where it
  is rare there as well; ``leaked_anywhere`` counts any appearance.
* Preservation and proportional error, over combinations that reach the resolution on the reference side or
  appear on the compared side; bins are of the compared count.
* Suppression, fabrication, and errors of counts. SDS takes mean errors over what both sides hold, so that
  losing a combination costs nothing; errors over the union count what is absent as 0.
* Total variation: half the sum of the differences of two lists of shares.

What comes out is as sensitive as the reference.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tasks.core.arrays import Floats, Integers
from tasks.core.evaluation import kernels

_FIRST_BIN = 10


@dataclass(frozen=True)
class MarginalDistance:
    """Of all sets of columns of one length: mean and largest total variation distance, 0..1."""

    length: int
    marginals: int
    mean: float
    largest: float


@dataclass(frozen=True)
class Comparison:
    """Sums over combinations, by length and by bin of the compared count.

    Attributes:
        resolution: the reporting resolution; a count below it is rare.
        sums: by name float64 (lengths, bins): the kernels' ``MEASURES`` and those that follow from them (see
            `named_sums`). Kept: both sides hold it; suppressed, fabricated: one alone does. ``population`` is
            SDS's {s >= resolution} or {y > 0}, over which ``preservation`` and ``proportional_error`` are
            summed.
        distances: by length, where both sides are records: half the L1 distance of the two shares of
            records with each tuple of values, absence being a value like any other, so that leaving cells
            empty costs what it should. A multi-valued column stands by its slots: shares are then of
            records times choices of slots. Where one side has no record and the other has, the distance is 1.
    """

    resolution: int
    reference_records: int
    compared_records: int
    lengths: tuple[int, ...]
    sums: Mapping[str, Floats]
    distances: tuple[MarginalDistance, ...] = ()

    def total(self, measure: str) -> float:
        return float(self.sums[measure].sum())

    def by_length(self, measure: str) -> Floats:
        return np.asarray(self.sums[measure].sum(axis=1), np.float64)


def ratio(numerator: float, denominator: float) -> float:
    """The ratio, 0 where there is nothing to divide by: a table without rare combinations leaks none."""
    return numerator / denominator if denominator else 0.0


def named_sums(sums: Floats) -> dict[str, Floats]:
    """By name (lengths, bins) what the kernels add up, (lengths, bins, measures), and what follows from it.

    Bins beyond the largest compared count are left out.
    """
    held = np.flatnonzero(sums[:, :, kernels.MEASURES.index("compared")].any(axis=0))
    bins = int(held.max(initial=0)) + 1
    found = {name: sums[:, :bins, place].copy() for place, name in enumerate(kernels.MEASURES)}
    found["combinations"] = found["reference"] + found["compared"] - found["kept"]
    found["suppressed"] = found["reference"] - found["kept"]
    found["fabricated"] = found["compared"] - found["kept"]
    # |s - y| = s + y - 2 min(s, y)
    both = found["reference_count"] + found["compared_count"]
    found["error_union"] = both - 2 * found["preserved_count"]
    found["error_reference"] = found["error_union"] - found["fabricated_count"]
    return found


def leakage_by_length(comparison: Comparison) -> list[dict[str, Any]]:
    """One row a length: ``length`` and what `leakage` has."""
    return [
        {"length": length, **_leakage({name: float(comparison.sums[name][place].sum()) for name in _LEAKED})}
        for place, length in enumerate(comparison.lengths)
    ]


_LEAKED = ("reference", "compared", "rare", "leaked", "leaked_anywhere")


def leakage(comparison: Comparison) -> dict[str, Any]:
    """Combinations on both sides, rare ones, and how many of them are leaked.

    ``leak_proportion`` is of the compared side's combinations (SDS's pipeline), ``leaked_pct_of_reference``
    of the reference side's (SDS's web page), ``leaked_anywhere_proportion`` of the rare ones.
    """
    return _leakage({name: comparison.total(name) for name in _LEAKED})


def _leakage(sums: Mapping[str, float]) -> dict[str, Any]:
    leaked, anywhere = sums["leaked"], sums["leaked_anywhere"]
    return {
        **{name: int(number) for name, number in sums.items()},
        "leak_proportion": ratio(leaked, sums["compared"]),
        "leaked_pct_of_reference": 100 * ratio(leaked, sums["reference"]),
        "leaked_anywhere_proportion": ratio(anywhere, sums["rare"]),
    }


def preservation_by_count(comparison: Comparison) -> list[dict[str, Any]]:
    """One row a bin, by its upper bound, ascending; empty bins as zeros. Counts are of the compared side."""
    lengths = np.array(comparison.lengths, np.float64) @ comparison.sums["population"]
    rows = enumerate(zip(_means(comparison, 0), lengths, strict=True))
    return [
        {"bin": _FIRST_BIN << place, **row, "mean_length": ratio(float(length_sum), row["combinations"])}
        for place, (row, length_sum) in rows
    ]


def preservation_by_length(comparison: Comparison) -> list[dict[str, Any]]:
    """One row a length: ``length`` and the means of `preservation_by_count`."""
    rows = zip(comparison.lengths, _means(comparison, 1), strict=True)
    return [{"length": length, **row} for length, row in rows]


def _mean_proportional_error(comparison: Comparison) -> float:
    """SDS's: the unweighted mean of the bins' means, empty bins as 0."""
    rows = preservation_by_count(comparison)
    return float(sum(row["proportional_error"] for row in rows)) / len(rows)


def mean_preservation(comparison: Comparison) -> float:
    return ratio(comparison.total("preservation"), comparison.total("population"))


def weighted_mean_preservation(comparison: Comparison) -> float:
    """Each reference combination's preservation weighted by its count: sum min(s, y) / sum s."""
    return ratio(comparison.total("preserved_count"), comparison.total("reference_count"))


def _means(comparison: Comparison, axis: int) -> list[dict[str, Any]]:
    """Means of each length or bin. Args: axis: of the sums, which is added up over."""
    names = ("population", "compared_count", "preservation", "proportional_error")
    return [
        {
            "combinations": int(size),
            "mean_count": ratio(count, size),
            "preservation": ratio(preservation, size),
            "proportional_error": ratio(error, size),
        }
        for size, count, preservation, error in zip(
            *(comparison.sums[name].sum(axis=axis) for name in names), strict=True
        )
    ]


def summary(comparison: Comparison) -> dict[str, float]:
    """Measures over all lengths; percentages 0..100, errors in records.

    ``fabricated_pct`` is of the reference side's combinations (SDS; it can exceed 100),
    ``fabricated_pct_of_compared`` of the compared side's; ``weighted_mean_proportional_error`` weighs each
    reference combination by its count: sum |s - y| / sum s.
    """
    records = comparison.reference_records
    total = comparison.total
    return {
        "suppressed_pct": 100 * ratio(total("suppressed"), total("reference")),
        "fabricated_pct": 100 * ratio(total("fabricated"), total("reference")),
        "fabricated_pct_of_compared": 100 * ratio(total("fabricated"), total("compared")),
        "mean_count": ratio(total("reference_count"), total("reference")),
        "mean_error": ratio(total("error_kept"), total("kept")),
        "mean_error_of_union": ratio(total("error_union"), total("combinations")),
        "mean_proportional_error": _mean_proportional_error(comparison),
        "mean_proportional_error_unbinned": ratio(total("proportional_error"), total("population")),
        "weighted_mean_proportional_error": ratio(total("error_reference"), total("reference_count")),
        "record_expansion_pct": 100 * (comparison.compared_records / records - 1) if records else 0.0,
    }


def errors_by_length(comparison: Comparison) -> list[dict[str, Any]]:
    """One row a length: combinations, kept, suppressed, fabricated, mean count and mean errors."""
    rows = []
    for index, length in enumerate(comparison.lengths):
        sums = {name: float(table[index].sum()) for name, table in comparison.sums.items()}
        rows.append(
            {
                "length": length,
                **{
                    name: int(sums[name])
                    for name in ("reference", "compared", "kept", "suppressed", "fabricated")
                },
                "mean_count": ratio(sums["reference_count"], sums["reference"]),
                "mean_error": ratio(sums["error_kept"], sums["kept"]),
                "mean_error_of_union": ratio(sums["error_union"], sums["combinations"]),
            }
        )
    return rows


#: Up to so many codes each has a place of its own; of more, those that are held have one.
_DENSE = 1 << 20


def total_variation(one: Integers, other: Integers) -> float:
    """Of the shares of codes, from 0 on, in two lists: 0 where they are equal, 1 where nothing is shared.

    Of two lists of which one alone is empty it is 1.

    >>> total_variation(np.array([1, 1, 2, 3]), np.array([1, 2, 2, 4]))
    0.5
    """
    if not len(one) or not len(other):
        return float(len(one) != len(other))
    size = 1 + int(max(one.max(), other.max()))
    if size > _DENSE:
        held, places = np.unique(np.concatenate([one, other]), return_inverse=True)
        one, other, size = places[: len(one)], places[len(one) :], len(held)
    shares = (np.bincount(side, minlength=size) / len(side) for side in (one, other))
    return float(np.abs(next(shares) - next(shares)).sum() / 2)
