"""From a claim (epsilon, delta) to a budget and back: Gaussian DP, zCDP as SDS documents it, and CKS.

In: floats, fractions or mpf. Out: floats rounded in the safe direction, each checked against the
exact formula at 240 bits (privacy.md sections 1.3 and 2).
"""

from collections.abc import Callable
from fractions import Fraction
from math import isfinite

from tasks.core.dp.normal import Mpf, float_above, float_below, number, precision, upper_tail
from tasks.core.errors import ParameterError

Number = float | Fraction | Mpf

_BITS = 240
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
    with precision(_BITS) as mp:
        return upper_tail(epsilon / mu - mu / 2) - mp.exp(epsilon) * upper_tail(epsilon / mu + mu / 2)


def gdp_delta(mu: Number, epsilon: Number) -> float:
    """The delta of a mu-GDP mechanism at epsilon >= 0, rounded up; mu >= 0."""
    with precision(_BITS):
        return float_above(_gdp_delta(number(mu), number(epsilon))) if mu > 0 else 0.0


def gdp_epsilon(mu: Number, delta: Number) -> float:
    """The least epsilon >= 0 at which a mu-GDP mechanism has this delta in (0, 1), rounded up; mu >= 0."""
    if not 0 < delta < 1:
        raise ParameterError(f"delta must be above 0 and below 1, not {float(delta):g}.")
    with precision(_BITS) as mp:
        mu, delta = number(mu), number(delta)
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
    with precision(_BITS) as mp:
        epsilon, delta = number(epsilon), number(delta)
        high = mp.sqrt(2 * epsilon)
        while _gdp_delta(high, epsilon) <= delta:
            high *= 2
        return float_below(_bisect(lambda mu: _gdp_delta(mu, epsilon) <= delta, mp.mpf(0), high)[0])


def _bisect(holds: Callable[[Mpf], bool], low: Mpf, high: Mpf) -> tuple[Mpf, Mpf]:
    """(low, high) within 2^-66 of each other, with the condition true at low and false at high."""
    while high - low > high * _BRACKET:
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low, high


def zcdp_rho(epsilon: Number, delta: Number) -> float:
    """EQ1: rho = (sqrt(eps + ln(2 / delta)) - sqrt(ln(2 / delta)))^2, rounded down.

    rho-zCDP is (eps, delta / 2)-DP; the other half of delta pays for the threshold of length 1.
    """
    check_claim(epsilon, delta)
    with precision(_BITS) as mp:
        log_term = mp.log(2 / number(delta))
        return float_below((mp.sqrt(number(epsilon) + log_term) - mp.sqrt(log_term)) ** 2)


def cks_delta(rho: Number, epsilon: Number) -> float:
    """The delta of rho-zCDP at epsilon by the optimal order (Canonne, Kamath, Steinke), rounded up."""
    with precision(_BITS):
        return float_above(_cks_delta(number(rho), number(epsilon)))


def cks_rho(epsilon: Number, delta: Number) -> float:
    """The largest rho that this conversion turns into (epsilon, delta)-DP, rounded down."""
    check_claim(epsilon, delta)
    with precision(_BITS) as mp:
        epsilon, delta = number(epsilon), number(delta)
        return float_below(_bisect(lambda rho: _cks_delta(rho, epsilon) <= delta, mp.mpf(0), epsilon)[0])


def _cks_delta(rho: Mpf, epsilon: Mpf) -> Mpf:
    """The infimum over a > 1 of e^((a - 1)(a rho - eps)) (1 - 1/a)^a / (a - 1); any order is valid."""
    with precision(_BITS) as mp:
        above = (epsilon / rho + 1) / 2 + 1

        def falls(excess: Mpf) -> bool:
            order = 1 + excess
            return bool((2 * order - 1) * rho - epsilon + mp.log1p(-1 / order) < 0)

        while falls(above):
            above *= 2
        excess = _bisect(falls, mp.mpf(0), above)[0]
        order = 1 + excess
        exponent = excess * (order * rho - epsilon) + order * mp.log1p(-1 / order)
        return mp.exp(exponent) / excess
