"""What a release may spend, and on what: everything that is fixed before the data is read.

From a claim (epsilon, delta) to a budget there are two ways: Gaussian DP, and zCDP as SDS documents it (D2,
R8, R9, R12, R16; S3.2). Floats are rounded in the safe direction, each checked against the exact formula at
240 bits (D3, D4).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from math import inf, isfinite, nextafter

from tasks.core.dp.claim_limits import refusals
from tasks.core.dp.parameters import DpParameters
from tasks.core.dp.sampling.normal import (
    Mpf,
    exact_number,
    float_above,
    float_below,
    precision,
    upper_quantile,
    upper_tail,
)
from tasks.core.dp.thresholds import rule_problems
from tasks.core.errors import InternalError, ParameterError

Number = float | Fraction | Mpf

_CONVERSION_BITS = 240
_BRACKET = 2.0**-66
_LARGEST_EPSILON = 10_000
_SMALLEST_EPSILON = 1e-6
_SMALLEST_DELTA = 1e-100


def check_claim(epsilon: Number, delta: Number) -> None:
    """Raises ParameterError unless 1e-6 <= epsilon <= 10,000 and 1e-100 <= delta < 1, NaN included."""
    problems = []
    if not (isfinite(epsilon) and _SMALLEST_EPSILON <= epsilon <= _LARGEST_EPSILON):
        problems.append(
            f"epsilon must be from {_SMALLEST_EPSILON:g} to {_LARGEST_EPSILON:g}, not {float(epsilon):g}: "
            "give a number such as 1."
        )
    if not (isfinite(delta) and _SMALLEST_DELTA <= delta < 1):
        problems.append(
            f"delta must be from {_SMALLEST_DELTA:g} to below 1, not {float(delta):g}: "
            "give a small constant such as 1e-6."
        )
    if problems:
        raise ParameterError(problems)


def _gdp_delta(mu: Mpf, epsilon: Mpf) -> Mpf:
    """Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu), at the current precision."""
    with precision(_CONVERSION_BITS) as mp:
        return upper_tail(epsilon / mu - mu / 2) - mp.exp(epsilon) * upper_tail(epsilon / mu + mu / 2)


def gdp_delta(mu: Number, epsilon: Number) -> float:
    """The delta of a mu-GDP mechanism at epsilon >= 0, rounded up; mu >= 0.

    >>> f"{gdp_delta(0.4, 1):.1e}", f"{gdp_delta(0.2, 1):.1e}"  # with twice the noise
    ('1.3e-03', '1.8e-08')
    """
    with precision(_CONVERSION_BITS):
        return float_above(_gdp_delta(exact_number(mu), exact_number(epsilon))) if mu > 0 else 0.0


def gdp_epsilon(mu: Number, delta: Number) -> float:
    """The least epsilon >= 0 at which a mu-GDP mechanism has this delta in (0, 1), rounded up; mu >= 0."""
    if not 0 < delta < 1:
        raise ParameterError(f"delta must be above 0 and below 1, not {float(delta):g}.")
    with precision(_CONVERSION_BITS) as mp:
        mu, delta = exact_number(mu), exact_number(delta)
        if mu == 0 or _gdp_delta(mu, mp.mpf(0)) <= delta:
            return 0.0
        high = mp.mpf(1)
        while _gdp_delta(mu, high) > delta:
            high *= 2
        return float_above(_bisect(lambda epsilon: _gdp_delta(mu, epsilon) > delta, mp.mpf(0), high)[1])


def gdp_mu(epsilon: Number, delta: Number) -> float:
    """The largest mu whose mechanism is (epsilon, delta)-DP, rounded down.

    Raises:
        ParameterError: for a claim out of the range of `check_claim`.
    """
    check_claim(epsilon, delta)
    with precision(_CONVERSION_BITS) as mp:
        epsilon, delta = exact_number(epsilon), exact_number(delta)
        high = mp.sqrt(2 * epsilon)
        while _gdp_delta(high, epsilon) <= delta:
            high *= 2
        return float_below(_bisect(lambda mu: _gdp_delta(mu, epsilon) <= delta, mp.mpf(0), high)[0])


def _bisect(holds: Callable[[Mpf], bool], low: Mpf, high: Mpf) -> tuple[Mpf, Mpf]:
    """(low, high) within 2^-66 of each other; the condition holds at low and not at high."""
    while high - low > high * _BRACKET:
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low, high


def zcdp_rho(epsilon: Number, delta: Number) -> float:
    """EQ1: rho = (sqrt(eps + ln(2 / delta)) - sqrt(ln(2 / delta)))^2, rounded down.

    rho-zCDP is (eps, delta / 2)-DP; the other half of delta pays for the threshold of length 1.
    """
    check_claim(epsilon, delta)
    with precision(_CONVERSION_BITS) as mp:
        log_term = mp.log(2 / exact_number(delta))
        return float_below((mp.sqrt(exact_number(epsilon) + log_term) - mp.sqrt(log_term)) ** 2)


def _claim_problems(parameters: DpParameters) -> list[str]:
    problems: list[str] = []
    try:
        check_claim(parameters.epsilon, parameters.delta)
    except ParameterError as error:
        problems += error.problems
    else:
        problems += refusals(parameters.epsilon, parameters.delta)
    factor = parameters.delta_factor
    # Far beyond any use; without an end, a delta computed from a noisy count could be out of range.
    if factor is not None and not 1e-20 <= factor <= 1e20:
        problems.append(f"delta_factor must be a positive number such as 1, not {factor}.")
    return problems


def _proportion_problems(parameters: DpParameters, levels: int) -> list[str]:
    problems: list[str] = []
    proportions = parameters.sigma_proportions
    if levels < 1:
        problems.append("The reporting length must be at least 1.")
    if proportions and len(proportions) < levels:
        problems.append(
            f"sigma_proportions must have one number for each of {levels} lengths, not {len(proportions)}."
        )
    if not all(isfinite(p) and 1e-6 <= p <= 1e6 for p in proportions):
        problems.append("Each of sigma_proportions must be a number from 1e-6 to 1e6.")
    return problems


def _share_problems(parameters: DpParameters, all_declared: bool, levels: int) -> list[str]:
    problems: list[str] = []
    gdp = parameters.accountant == "gdp"
    if not 0 < parameters.count_share < 1:
        problems.append(f"The noisy count's share must be between 0 and 1, not {parameters.count_share}.")
    if gdp and not all_declared and not 1e-12 <= parameters.threshold_delta_share < 1:
        problems.append(
            "An open column needs a threshold_delta_share from 1e-12 to below 1: give one, or declare "
            "every column's domain."
        )
    if parameters.contribution == "schema":
        return problems
    if parameters.contribution != ("profile" if gdp else "percentile"):
        problems.append("contribution: profile goes with the accountant gdp, percentile with zcdp.")
    share = parameters.percentile_share
    if not (share > 0 and (parameters.count_share + levels * share if gdp else share) < 1):
        problems.append(f"A percentile share of {share} leaves nothing for the counts: give less.")
    if not 0 <= parameters.percentile_percentage <= 100:
        problems.append(
            f"percentile_percentage must be from 0 to 100, not {parameters.percentile_percentage}."
        )
    return problems


_BITS = 256
_MU_MARGIN = 1 - Fraction(1, 10**9)
"""R9: the budget that is split is smaller than the claim's by more than all rounding together."""


@dataclass(frozen=True)
class Plan:
    """The budget of one release and how it is split; a function of public things alone.

    Attributes:
        mu_squared: the nominal charge to the ledger, rounded up.
        threshold_delta: delta_t, the nominal charge to the ledger.
        applied_threshold_delta: the delta_t that the threshold of length 1 is computed from: the same,
            or smaller once a noisy count is known (R16). 0 if there is no open column (gdp).
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


def plan_release(parameters: DpParameters, *, all_declared: bool, levels: int) -> Plan:
    """The plan of a release.

    >>> asked = DpParameters(epsilon=1.0, delta=1e-6, reporting_length=2)
    >>> plan = plan_release(asked, all_declared=True, levels=2)
    >>> plan.threshold_delta, [round(sigma, 1) for sigma in plan.sigmas]
    (0.0, [6.0, 6.0])

    Args:
        all_declared: whether every column's domain is declared: no threshold, so (gdp) no delta_t.
        levels: R, the number of lengths that are measured; nothing is spent beyond it.

    Raises:
        ParameterError: for a claim, a share or a proportion that can't be used, all of them at once.
    """
    problems = [
        *_claim_problems(parameters),
        *_proportion_problems(parameters, levels),
        *_share_problems(parameters, all_declared, levels),
        *rule_problems(parameters.thresholds, levels),
    ]
    if problems:
        raise ParameterError(problems)
    return _planned(parameters, all_declared, levels)


def _planned(parameters: DpParameters, all_declared: bool, levels: int) -> Plan:
    """The plan of parameters that were checked, perhaps with the smaller delta of R16."""
    proportions = tuple(Fraction(p) for p in parameters.sigma_proportions[:levels])
    proportions = proportions or (Fraction(1),) * levels
    delta = Fraction(parameters.delta)
    if parameters.accountant == "gdp":
        return _gdp_plan(parameters, proportions, delta, all_declared)
    return _zcdp_plan(parameters, proportions, delta)


def for_noisy_count(nominal: Plan, parameters: DpParameters, noisy_count: int) -> Plan:
    """The plan after the count is drawn, with delta = min(delta_max, 1 / (factor n)) (R16).

    What is charged and claimed stays at delta_max, and so does the count; no other part becomes
    cheaper. Without a ``delta_factor``, or from a count below 1, the plan is unchanged.
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
    """min(delta_max, 1 / (factor n)), rounded down; delta_max without a factor or where n < 1.

    >>> applied_delta(DpParameters(epsilon=1.0, delta=1e-6, reporting_length=2, delta_factor=10.0), 200_000)
    5e-07
    """
    if parameters.delta_factor is None or noisy_count < 1:
        return parameters.delta
    with precision(_BITS) as mp:
        delta = 1 / (exact_number(parameters.delta_factor) * noisy_count)
        return float_below(mp.mpf(min(delta, exact_number(parameters.delta))))


def assert_within(nominal: Plan, realised: Sequence[tuple[int, Fraction | float]]) -> None:
    """Check in exact rationals that the levels drawn cost no more than the plan charges (R9).

    Args:
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
    """The mu^2 that a claim leaves to Gaussian noise when its thresholds take delta_t of delta; exact."""
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
        mu_squared=float_up(mu_squared),
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
            percentile_epsilon = float_below(mp.sqrt(exact_number(2 * rho * percentile_share / levels)))
    whole = 2 * rho * (1 - percentile_share)
    inverse_squares = [1 / p**2 for p in proportions]
    sigmas = tuple(_sigma(whole * part / sum(inverse_squares)) for part in inverse_squares)
    half = float(delta / 2)
    nominal = Plan("zcdp", 0.0, half, half, None, count_epsilon, sigmas, percentile_epsilon)
    charge = _fixed_charge(nominal) + sum(1 / Fraction(sigma) ** 2 for sigma in sigmas)
    return replace(nominal, mu_squared=float_up(charge))


def pure_mu(epsilon: float) -> float:
    """m(eps) = 2 Phi^-1(e^eps / (1 + e^eps)), rounded up: eps-DP is m-GDP (R8)."""
    with precision(_BITS) as mp:
        return float_above(2 * upper_quantile(1 / (1 + mp.exp(exact_number(epsilon)))))


def _sigma(charge: Fraction) -> float:
    """The least float sigma with 1 / sigma^2 <= charge."""
    with precision(_BITS) as mp:
        return float_above(1 / mp.sqrt(exact_number(charge)))


def float_up(value: Fraction | Decimal) -> float:
    """The least float that is no less: of the two next to the value `float` gives the nearer one."""
    nearest = float(value)
    return nearest if Fraction(nearest) >= Fraction(value) else nextafter(nearest, inf)


def sigma_proportions_named(name: str, length: int) -> tuple[float, ...]:
    """SDS's accuracy modes as sigma proportions of lengths 1..R (S8.1).

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
    """SDS's fabrication modes as eta of lengths 2..R, for ``adaptive`` thresholds (S8.1).

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
