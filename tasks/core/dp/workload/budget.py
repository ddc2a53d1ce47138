"""The budget of a fitted release: what its claim leaves to noise and to the threshold (Theorem W)."""

from fractions import Fraction
from functools import lru_cache

from tasks.core.dp.accounting import gdp_budget
from tasks.core.dp.workload.parameters import WorkloadParameters


def budget_of(parameters: WorkloadParameters, *, all_declared: bool) -> tuple[Fraction, float]:
    """mu^2, exact, and delta_t, which is spent only where a column is open."""
    delta = Fraction(parameters.delta)
    threshold_delta = 0.0 if all_declared else float(parameters.threshold_delta_share * delta)
    return _budget(parameters.epsilon, delta, threshold_delta), threshold_delta


#: A bisection of some 0.05 s, asked for before the draw and in it.
_budget = lru_cache(maxsize=64)(gdp_budget)
