"""What a comparison finds: sums over combinations by length and bin, and distances between marginals.

The kernels' sums go in; a `Comparison` is what every measure of evaluation (sds.md 5) is a ratio of. s is a
combination's count on the reference side (sensitive, or reportable), y on the compared side (reportable, or
synthetic); 0 where it is absent.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tasks.core.evaluation import comparison_kernels as kernels

Numbers = npt.NDArray[np.float64]
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
        reference_records, compared_records: number of records of the two sides.
        lengths: the lengths compared, ascending from 1.
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
    sums: Mapping[str, Numbers]
    distances: tuple[MarginalDistance, ...] = ()

    @property
    def bins(self) -> tuple[int, ...]:
        """Upper bounds of the bins, ascending: 10, 20, 40, ..."""
        return tuple(_FIRST_BIN << index for index in range(self.sums["combinations"].shape[1]))

    def total(self, measure: str) -> float:
        """Over all combinations."""
        return float(self.sums[measure].sum())

    def by_length(self, measure: str) -> Numbers:
        """Over the combinations of each length."""
        return np.asarray(self.sums[measure].sum(axis=1), np.float64)

    def by_bin(self, measure: str) -> Numbers:
        """Over the combinations of each bin."""
        return np.asarray(self.sums[measure].sum(axis=0), np.float64)


def ratio(numerator: float, denominator: float) -> float:
    """The ratio, 0 where there is nothing to divide by."""
    return numerator / denominator if denominator else 0.0


def named_sums(sums: Numbers) -> dict[str, Numbers]:
    """The sums of a `Comparison` of what the kernels add up.

    Args:
        sums: float64 (lengths, bins, measures of `comparison_kernels`).

    Returns:
        By name (lengths, bins), without the bins beyond the largest compared count.
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
