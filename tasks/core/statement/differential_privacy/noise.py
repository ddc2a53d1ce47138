"""The noise's part of the privacy statement: counts and levels go in, their error bars come out.

Everything is of the law of the noise, never of the data, and rounded towards larger errors.
"""

import math
from fractions import Fraction

from tasks.core.arrays import Json
from tasks.core.dp.accounting import Plan
from tasks.core.dp.measurement import Level, Measurement
from tasks.core.dp.thresholds import error_bar
from tasks.core.statement.differential_privacy import law
from tasks.core.statement.differential_privacy.constants import count_charge


def noisy_count(measurement: Measurement, planned: Plan) -> Json:
    """The number of records as drawn, with its noise, and what it is charged."""
    scale = measurement.count_scale
    content: Json = {
        "value": measurement.number_of_records,
        "scale": scale,
        "mu_squared": count_charge(planned),
    }
    if measurement.parameters.accountant == "gdp":
        drawn = {"law": "rounded Gaussian", "sd": _rounded_sd(scale), "half_width_95": _half_width(scale)}
        return content | drawn | {"sigma": planned.count_sigma}
    # P(|Z| >= j) = e^(-(j - 1/2) / b), so both figures of a rounded Laplace are closed forms.
    ratio = math.exp(-1 / scale)
    variance = math.exp(0.5 / scale) * ratio * (1 + ratio) / (1 - ratio) ** 2
    half_width = max(0, math.ceil(scale * math.log(20) - 0.5))
    drawn = {"law": "rounded Laplace", "sd": math.sqrt(variance), "half_width_95": half_width}
    return content | drawn | {"epsilon": planned.count_epsilon}


def _half_width(scale: float) -> int:
    """The least h with P(|round(N(0, s^2))| <= h) >= 0.95."""
    return error_bar(Fraction(scale), 0.95)


def _rounded_sd(scale: float) -> float:
    """An upper bound of the standard deviation after rounding to integers: sqrt(s^2 + 1/12)."""
    return math.sqrt(scale * scale + 1 / 12)


def spurious(level: Level, survivors: int) -> Json:
    """Expected combinations that nobody holds, and their share of what is published, at most."""
    expected = level.expected_spurious
    if expected is None:
        return {"expected_spurious": None, "expected_spurious_share": None, "text": law.SPURIOUS_OPEN}
    share = min(1.0, expected / survivors) if survivors else None
    return {"expected_spurious": expected, "expected_spurious_share": share, "text": law.SPURIOUS}


def level_error_bar(level: Level) -> Json | None:
    """Standard deviation and 95 % half width of one noisy count, None where nothing was measured."""
    if not level.scale:
        return None
    return {**error_bar_of(level.scale), "excluded": law.ERROR_BAR_EXCLUDES}


def error_bar_of(scale: float) -> Json:
    """Standard deviation and 95 % half width of a count with rounded Gaussian noise."""
    return {"sd": _rounded_sd(scale), "half_width_95": _half_width(scale)}
