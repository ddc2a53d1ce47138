"""What a release may spend, and on what: everything that is fixed before the data is read.

In: `DpParameters` and public facts of the schema. Out: a `Plan` with the nominal charge and every
noise multiplier (privacy.md section 2, rules 8, 9, 12, 16; sds.md 3.2). The conversions between
claims and budgets are in `conversions` and can be imported from here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from tasks.core.dp.conversions import (
    check_claim,
    cks_delta,
    cks_rho,
    gdp_delta,
    gdp_epsilon,
    gdp_mu,
    zcdp_rho,
)
from tasks.core.dp.normal import Mpf, float_above, float_below, number, precision, upper_quantile
from tasks.core.dp.parameter_checks import check_parameters
from tasks.core.dp.parameters import DpParameters
from tasks.core.errors import InternalError, ParameterError

__all__ = [
    "Plan",
    "applied_delta",
    "assert_within",
    "check_claim",
    "cks_delta",
    "cks_rho",
    "for_noisy_count",
    "fraction_above",
    "gdp_budget",
    "gdp_delta",
    "gdp_epsilon",
    "gdp_mu",
    "plan",
    "pure_mu",
    "sigma_proportions_named",
    "threshold_values_named",
    "zcdp_rho",
]

_BITS = 256
_MU_MARGIN = 1 - Fraction(1, 10**9)
"""Rule 9: the budget that is split is smaller than the claim's by more than all rounding together."""


@dataclass(frozen=True)
class Plan:
    """The budget of one release and how it is split; a function of public things alone.

    Attributes:
        accountant: ``gdp`` or ``zcdp``.
        mu_squared: the nominal charge to the ledger, rounded up.
        threshold_delta: delta_t, the nominal charge to the ledger.
        applied_threshold_delta: the delta_t that the threshold of length 1 is computed from: the same,
            or smaller once a noisy count is known (rule 16). 0 if there is no open column (gdp).
        count_sigma: gdp: sigma_0 of the noisy count, the k = 0 Gaussian; else None.
        count_epsilon: zcdp: eps_N of the count's rounded Laplace noise; else None.
        sigmas: sigma_1, ..., sigma_R: noise of level k has scale sigma_k sqrt(Delta_k).
        percentile_epsilon: zcdp with ``percentile``: eps_Q of the choice of each Delta_k; else None.
        profile_sigma: gdp with ``profile``: noise multiplier of each of R histograms; else None.
    """

    accountant: str
    mu_squared: float
    threshold_delta: float
    applied_threshold_delta: float
    count_sigma: float | None
    count_epsilon: float | None
    sigmas: tuple[float, ...]
    percentile_epsilon: float | None = None
    profile_sigma: float | None = None


def plan(parameters: DpParameters, *, all_declared: bool, levels: int) -> Plan:
    """The plan of a release.

    Args:
        parameters: what was asked for.
        all_declared: whether every column's domain is declared: no threshold, so (gdp) no delta_t.
        levels: R, the number of lengths that are measured; nothing is spent beyond it.

    Raises:
        ParameterError: for a claim, a share or a proportion that can't be used, all of them at once.
    """
    check_parameters(parameters, all_declared=all_declared, levels=levels)
    return _planned(parameters, all_declared, levels)


def _planned(parameters: DpParameters, all_declared: bool, levels: int) -> Plan:
    """The plan of parameters that were checked, perhaps with the smaller delta of rule 16."""
    proportions = tuple(Fraction(p) for p in parameters.sigma_proportions[:levels])
    proportions = proportions or (Fraction(1),) * levels
    delta = Fraction(parameters.delta)
    if parameters.accountant == "gdp":
        return _gdp_plan(parameters, proportions, delta, all_declared)
    return _zcdp_plan(parameters, proportions, delta)


def for_noisy_count(nominal: Plan, parameters: DpParameters, noisy_count: int) -> Plan:
    """The plan after the count is drawn, with delta = min(delta_max, factor / (n ln n)) (rule 16).

    What is charged and claimed stays at delta_max, and so does the count; no other part becomes
    cheaper. Without a ``delta_factor``, or from a count of at most e, the plan is unchanged.
    """
    smaller = applied_delta(parameters, noisy_count)
    if smaller >= parameters.delta:
        return nominal
    declared = nominal.applied_threshold_delta == 0
    smaller_plan = _planned(replace(parameters, delta=smaller), declared, len(nominal.sigmas))
    return replace(
        nominal,
        applied_threshold_delta=min(nominal.applied_threshold_delta, smaller_plan.threshold_delta),
        sigmas=tuple(map(max, nominal.sigmas, smaller_plan.sigmas)),
        percentile_epsilon=smaller_plan.percentile_epsilon,
        profile_sigma=smaller_plan.profile_sigma,
    )


def applied_delta(parameters: DpParameters, noisy_count: int) -> float:
    """min(delta_max, factor / (n ln n)), rounded down; delta_max without a factor or where n <= e."""
    if parameters.delta_factor is None or noisy_count <= 2:
        return parameters.delta
    with precision(_BITS) as mp:
        delta = number(parameters.delta_factor) / (noisy_count * mp.log(noisy_count))
        return float_below(mp.mpf(min(delta, number(parameters.delta))))


def assert_within(nominal: Plan, realised: Sequence[tuple[int, Fraction | float]]) -> None:
    """Check in exact rationals that the levels drawn cost no more than the plan charges (rule 9).

    Args:
        nominal: the plan in use.
        realised: (Delta_k, s_k) of each level that was drawn, in order from length 1; the count and
            the histograms are added here, as planned.

    Raises:
        InternalError: if a level's Delta_k / s_k^2 exceeds its share, or all of them mu^2.
    """
    charges = [Fraction(sensitivity) / Fraction(scale) ** 2 for sensitivity, scale in realised]
    shares = [1 / Fraction(sigma) ** 2 for sigma in nominal.sigmas]
    fixed = _fixed_charge(nominal)
    if (
        len(charges) > len(shares)
        or any(charge > share for charge, share in zip(charges, shares, strict=False))
        or fixed + sum(charges) > Fraction(nominal.mu_squared)
        or fixed + sum(shares) > Fraction(nominal.mu_squared)
    ):
        raise InternalError("The noise that would be drawn does not cover the privacy that is charged.")


def _fixed_charge(nominal: Plan) -> Fraction:
    """What count and contribution bounds cost of mu^2, whatever the levels cost."""
    levels, charge = len(nominal.sigmas), Fraction(0)
    if nominal.count_sigma is not None:
        charge += 1 / Fraction(nominal.count_sigma) ** 2
    if nominal.profile_sigma is not None:
        charge += levels / Fraction(nominal.profile_sigma) ** 2
    if nominal.count_epsilon is not None:
        charge += Fraction(pure_mu(nominal.count_epsilon)) ** 2
    if nominal.percentile_epsilon is not None:
        charge += levels * Fraction(pure_mu(nominal.percentile_epsilon)) ** 2
    return charge


def gdp_budget(epsilon: float, delta: Fraction, threshold_delta: float) -> Fraction:
    """The mu^2 that a claim leaves to Gaussian noise when its thresholds take delta_t of delta; exact.

    Args:
        epsilon: of the claim.
        delta: of the claim.
        threshold_delta: delta_t, as it is charged, below delta.
    """
    gaussian_delta = (delta - Fraction(threshold_delta)) / (1 - Fraction(threshold_delta))
    return (Fraction(gdp_mu(epsilon, gaussian_delta)) * _MU_MARGIN) ** 2


def _gdp_plan(
    parameters: DpParameters, proportions: tuple[Fraction, ...], delta: Fraction, all_declared: bool
) -> Plan:
    levels = len(proportions)
    threshold_delta = 0.0 if all_declared else float(parameters.threshold_delta_share * delta)
    mu_squared = gdp_budget(parameters.epsilon, delta, threshold_delta)
    count_share = Fraction(parameters.count_share)
    profile_share = Fraction(parameters.percentile_share) if parameters.contribution == "profile" else 0
    rest = 1 - count_share - levels * profile_share
    inverse_squares = [1 / p**2 for p in proportions]
    shares = [rest * part / sum(inverse_squares) for part in inverse_squares]
    if count_share + levels * profile_share + sum(shares) > 1:
        raise InternalError("The shares of the budget exceed the whole.")
    return Plan(
        accountant="gdp",
        mu_squared=fraction_above(mu_squared),
        threshold_delta=threshold_delta,
        applied_threshold_delta=threshold_delta,
        count_sigma=_sigma(mu_squared * count_share),
        count_epsilon=None,
        sigmas=tuple(_sigma(mu_squared * share) for share in shares),
        profile_sigma=_sigma(mu_squared * profile_share) if profile_share else None,
    )


def _zcdp_plan(parameters: DpParameters, proportions: tuple[Fraction, ...], delta: Fraction) -> Plan:
    """EQ1 and EQ2 of SDS's documents: eps = eps_N + eps_M, and half of delta for the threshold."""
    levels = len(proportions)
    count_epsilon = float(Fraction(parameters.count_share) * Fraction(parameters.epsilon))
    rho = Fraction(zcdp_rho(Fraction(parameters.epsilon) - Fraction(count_epsilon), delta))
    percentile_epsilon, percentile_share = None, Fraction(0)
    if parameters.contribution == "percentile":
        percentile_share = Fraction(parameters.percentile_share)
        with precision(_BITS) as mp:
            percentile_epsilon = float_below(mp.sqrt(number(2 * rho * percentile_share / levels)))
    whole = 2 * rho * (1 - percentile_share)
    inverse_squares = [1 / p**2 for p in proportions]
    sigmas = tuple(_sigma(whole * part / sum(inverse_squares)) for part in inverse_squares)
    half = float(delta / 2)
    nominal = Plan("zcdp", 0.0, half, half, None, count_epsilon, sigmas, percentile_epsilon)
    charge = _fixed_charge(nominal) + sum(1 / Fraction(sigma) ** 2 for sigma in sigmas)
    return replace(nominal, mu_squared=fraction_above(charge))


def pure_mu(epsilon: float) -> float:
    """m(eps) = 2 Phi^-1(e^eps / (1 + e^eps)), rounded up: eps-DP is m-GDP (rule 8)."""
    with precision(_BITS) as mp:
        return float_above(2 * upper_quantile(1 / (1 + mp.exp(number(epsilon)))))


def _sigma(charge: Fraction) -> float:
    """The least float sigma with 1 / sigma^2 <= charge."""
    with precision(_BITS) as mp:
        return float_above(1 / mp.sqrt(number(charge)))


def fraction_above(value: Fraction) -> float:
    """The least float that is no less."""
    with precision(_BITS):
        exact: Mpf = number(value)
        nearest = float_above(exact)
    return nearest if Fraction(nearest) >= value else float_above(exact * (1 + 2.0**-52))


def sigma_proportions_named(name: str, length: int) -> tuple[float, ...]:
    """SDS's accuracy modes as sigma proportions of lengths 1..R (sds.md section 8).

    ``long`` p_k = 1/k, ``short`` p_k = 1/(R - k + 1), ``balanced`` 1. Raises ParameterError otherwise.
    """
    lengths = range(1, length + 1)
    if name == "long":
        return tuple(1 / k for k in lengths)
    if name == "short":
        return tuple(1 / (length - k + 1) for k in lengths)
    if name == "balanced":
        return tuple(1.0 for _ in lengths)
    raise ParameterError(f"Sigma proportions are a list, long, balanced or short, not {name!r}.")


def threshold_values_named(name: str, length: int) -> dict[int, float]:
    """SDS's fabrication modes as eta of lengths 2..R, for ``adaptive`` thresholds (sds.md section 8).

    ``uncontrolled`` 1; ``balanced`` 0.55 at length 2, then 1; ``progressive`` from 0.1 in equal steps
    to 1; ``minimize`` 0.01. Raises ParameterError otherwise.
    """
    lengths = range(2, length + 1)
    if name == "uncontrolled":
        return dict.fromkeys(lengths, 1.0)
    if name == "balanced":
        return {k: 0.55 if k == 2 else 1.0 for k in lengths}
    if name == "progressive":
        return {k: 0.1 + 0.9 * (k - 2) / max(1, length - 2) for k in lengths}
    if name == "minimize":
        return dict.fromkeys(lengths, 0.01)
    raise ParameterError(
        f"Thresholds are values by length, uncontrolled, balanced, progressive or minimize, not {name!r}."
    )
