"""The guarantee for several rows at once.

Without a subject id the unit is one row, and a person with m rows is protected less (T4).
"""

import math

from tasks.core.arrays import Json
from tasks.core.dp.accounting import gdp_epsilon
from tasks.core.dp.measurement import LengthOne
from tasks.core.normal import normal_above

#: How many rows of one person the guarantee is stated for.
SIZES = (2, 3, 5, 10)
#: Beyond this delta a guarantee says nothing that is worth publishing.
_WORTHLESS = 0.01


def group_guarantees(
    mu_squared: float, delta: float, first: LengthOne | None, sizes: tuple[int, ...] = SIZES
) -> list[Json]:
    """For each m: epsilon and delta of the guarantee for m rows; both None where none is left.

    delta is the release's own where the threshold leaves room for it, else twice what the threshold needs.

    >>> declared = LengthOne(threshold=None, scale=10.0, sensitivity=1, open_sensitivity=0)
    >>> guarantees = group_guarantees(0.04, 1e-6, declared, sizes=(1, 2, 5))
    >>> [round(guarantee["epsilon"], 2) for guarantee in guarantees]
    [0.83, 1.77, 4.89]
    """
    return [_guarantee(mu_squared, delta, first, rows) for rows in sizes]


def _guarantee(mu_squared: float, delta: float, first: LengthOne | None, rows: int) -> Json:
    threshold_part = _passing(first, rows)
    delta = max(delta, 2 * threshold_part)
    if delta > _WORTHLESS:
        return {"rows": rows, "epsilon": None, "delta": None}
    noise_part = (delta - threshold_part) / (1 - threshold_part)
    return {"rows": rows, "epsilon": gdp_epsilon(rows * math.sqrt(mu_squared), noise_part), "delta": delta}


def _passing(first: LengthOne | None, rows: int) -> float:
    """Chance that any value held by these rows alone passes the threshold; 0 without open columns."""
    if first is None or first.threshold is None:
        return 0.0
    if rows >= first.threshold:
        return 1.0
    # The noise is rounded to the nearest integer, so a count passes from half a record below.
    chance = {count: normal_above((first.threshold - 0.5 - count) / first.scale) for count in (1, rows)}
    return min(1.0, first.open_sensitivity * max(rows * chance[1], chance[rows]))
