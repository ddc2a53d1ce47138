"""The guarantee for several rows at once: a measurement goes in, (epsilon, delta) for m rows comes out.

Without a subject id the unit is one row, and a person with m rows is protected less. Adding m rows moves a
level by at most m sqrt(Delta_k), so the Gaussian part is m mu-GDP. Their values that nobody else holds
have counts c_i of at most m with sum at most m Delta_open; the chance q(c) that such a count passes the
threshold is convex below it, so all of them together pass with at most
max(m Delta_open q(1), Delta_open q(m)). privacy.md 1.2, "subject_id".
"""

import math

from tasks.core.dp.accounting import gdp_epsilon
from tasks.core.dp.measurement import Measurement

Json = dict[str, object]

#: Beyond this delta a guarantee says nothing that is worth publishing.
_WORTHLESS = 0.01


def group_guarantees(measurement: Measurement, sizes: tuple[int, ...] = (2, 3, 5, 10)) -> list[Json]:
    """For each m: epsilon and delta of the guarantee for m rows; both None where none is left.

    delta is the release's own where the threshold leaves room for it, else twice what the threshold needs.
    """
    return [_guarantee(measurement, rows) for rows in sizes]


def _guarantee(measurement: Measurement, rows: int) -> Json:
    threshold_part = _passing(measurement, rows)
    delta = max(measurement.parameters.delta, 2 * threshold_part)
    if delta > _WORTHLESS:
        return {"rows": rows, "epsilon": None, "delta": None}
    noise_part = (delta - threshold_part) / (1 - threshold_part)
    return {
        "rows": rows,
        "epsilon": gdp_epsilon(rows * math.sqrt(measurement.mu_squared), noise_part),
        "delta": delta,
    }


def _passing(measurement: Measurement, rows: int) -> float:
    """Chance that any value held by these rows alone passes the threshold; 0 without open columns."""
    level = measurement.levels[0] if measurement.levels else None
    if level is None or level.threshold is None or not level.scale:
        return 0.0
    open_items = sum(column.max_items for column in measurement.schema.columns if column.is_open)
    items = min(level.sensitivity, open_items)
    if rows >= level.threshold:
        return 1.0
    # The noise is rounded to the nearest integer, so a count passes from half a record below.
    chance = {count: _tail((level.threshold - 0.5 - count) / level.scale) for count in (1, rows)}
    return min(1.0, items * max(rows * chance[1], chance[rows]))


def _tail(z: float) -> float:
    """1 - Phi(z)."""
    return 0.5 * math.erfc(z / math.sqrt(2))
