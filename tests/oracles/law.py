"""Whether outcomes follow a law; of a right one a test fails as often as `FALSE_ALARM` says."""

from collections.abc import Mapping
from typing import Any

from scipy.stats import chi2

FALSE_ALARM = 1e-6


def distance(seen: Mapping[Any, int], expected: Mapping[Any, float]) -> tuple[float, int]:
    """Chi-square and degrees of freedom; what is expected fewer than five times counts together."""
    assert {outcome for outcome, number in seen.items() if number} <= set(expected)
    rare = [outcome for outcome, mean in expected.items() if mean < 5]
    pairs = [(seen.get(outcome, 0), mean) for outcome, mean in expected.items() if mean >= 5]
    together = sum(expected[outcome] for outcome in rare)
    if together >= 5:
        pairs.append((sum(seen.get(outcome, 0) for outcome in rare), together))
    return sum((found - mean) ** 2 / mean for found, mean in pairs), len(pairs) - 1


def check_law(seen: Mapping[Any, int], chances: Mapping[Any, Any]) -> int:
    """Assert that outcomes follow their chances; return the degrees of freedom."""
    total = sum(seen.values())
    statistic, freedom = distance(seen, {each: float(chance) * total for each, chance in chances.items()})
    assert freedom <= 0 or chi2.sf(statistic, freedom) > FALSE_ALARM
    return freedom
