"""Noise scales, the least noisy counts that are released, and what they mean for a reader.

Scales lie on the 1/64 grid; everything is rounded towards more privacy (R10, R11, R15; S3.5).
"""

from fractions import Fraction
from math import ceil, isqrt

from tasks.core.dp.parameters import ReleaseThresholds
from tasks.core.dp.sampling.noise import GRID
from tasks.core.dp.sampling.normal import (
    Mpf,
    exact_number,
    float_above,
    precision,
    upper_quantile,
    upper_tail,
)
from tasks.core.errors import InternalError, ParameterError

_BITS = 256
_HALF = Fraction(1, 2)
_LARGEST_FIXED = 1e18
_SMALLEST_ETA = 1e-100


def scale(sigma: float, sensitivity: int) -> Fraction:
    """The scale s = ceil(64 sigma sqrt(Delta)) / 64, exactly (R10), for Delta items of one subject.

    >>> scale(1.0, sensitivity=4), scale(1.0, sensitivity=3)
    (Fraction(2, 1), Fraction(111, 64))
    """
    if sensitivity < 1 or sigma <= 0:
        raise InternalError("A noise scale needs sigma > 0 and a sensitivity of at least 1.")
    return Fraction(root_above(Fraction(sigma) ** 2 * sensitivity * GRID**2), GRID)


def root_above(square: Fraction) -> int:
    """The least whole number whose square is no less than ``square``, which is at least 0; exactly."""
    root = isqrt(ceil(square))
    return root if root * root >= square else root + 1


def first_threshold(noise_scale: Fraction, open_sensitivity: int, threshold_delta: float) -> int:
    """The least noisy count at which an attribute of an open column is released (R10 and R11).

    tau = ceil(1.5 + s_1 z + 1e-9), z = Phi^-1((1 - delta_t)^(1 / Delta_open)): all of one newcomer's
    unseen attributes stay out with probability at least 1 - delta_t.

    >>> first_threshold(Fraction(10), open_sensitivity=1, threshold_delta=1e-7)
    54

    Args:
        noise_scale: s_1 of all of length 1, public and open columns together, on the grid.
        open_sensitivity: Delta_open >= 1, the number of one subject's counted items that can be new.
        threshold_delta: delta_t in (0, 1).
    """
    if open_sensitivity < 1 or not 0 < threshold_delta < 1:
        raise InternalError("An open column needs a threshold delta above 0 and below 1.")
    with precision(_BITS) as mp:
        tail = -mp.expm1(mp.log1p(-exact_number(threshold_delta)) / open_sensitivity)
        least = mp.mpf("1.5") + exact_number(noise_scale) * upper_quantile(tail) + mp.mpf("1e-9")
        return max(1, int(mp.ceil(least)))


def level_threshold(
    rule: ReleaseThresholds, length: int, noise_scale: Fraction, survivors_before: int, candidates: int
) -> int | None:
    """The least noisy count of a survivor of length k >= 2; None if there is no candidate.

    A real threshold r is applied to integers as >= ceil(r + 1/2), and nothing below 1 is released.
    ``fixed``: r is the rule's value. ``adaptive``: r = s Phi^-1(1 - min(eta / 2, 1/2)) (S3.5).
    ``spurious``: r = s Phi^-1(1 - eta min(1, |S_{k-1}| / |V_k|)), so that the expected number of
    survivors that nobody holds is at most eta |S_{k-1}| (D6).

    >>> level_threshold(ReleaseThresholds("spurious", default=0.1), 2, Fraction(10), 50, 5000)
    32

    Args:
        length: k >= 2.
        noise_scale: s_k, that is SDS's sigma_k sqrt(Delta_k), on the grid.
        survivors_before: |S_{k-1}|.
        candidates: |V_k|.
    """
    if problems := _value_problems(rule, length):
        raise ParameterError(problems)
    if candidates == 0:
        return None
    value = rule.value(length)
    if rule.kind == "fixed":
        return ceil(Fraction(value) + _HALF)
    if rule.kind == "adaptive":
        tail = min(Fraction(value) / 2, _HALF)
    else:
        tail = Fraction(value) * min(Fraction(1), Fraction(survivors_before, candidates))
    if tail <= 0:
        raise InternalError("There are candidates although nothing survived at the length before.")
    # At one half and beyond the real threshold is 0 or less, and 1 is the least count released.
    if tail >= _HALF:
        return 1
    with precision(_BITS) as mp:
        real = exact_number(noise_scale) * upper_quantile(exact_number(tail))
        return max(1, int(mp.ceil(real + mp.mpf("0.5"))))


def rule_problems(rule: ReleaseThresholds, levels: int) -> list[str]:
    """What is wrong with a rule for lengths 2..R: one sentence each."""
    return [problem for length in range(2, levels + 1) for problem in _value_problems(rule, length)]


def _value_problems(rule: ReleaseThresholds, length: int) -> list[str]:
    value = rule.value(length)
    if rule.kind == "fixed":
        if not 0 <= value <= _LARGEST_FIXED:
            return [f"The fixed threshold of length {length} must be a number from 0 on, not {value}."]
    elif not _SMALLEST_ETA <= value <= 1:
        return [f"The eta of length {length} must be above 0 and at most 1, not {value}."]
    return []


def _chance(noise_scale: Fraction, least: int) -> Mpf:
    """P(Z >= least) of the rounded Gaussian, at the current precision."""
    return upper_tail(exact_number((least - _HALF) / noise_scale))


def survival_probability(noise_scale: Fraction, threshold: int | None, true_count: int) -> float:
    """The chance that a combination of this true count is released, if it is a candidate."""
    if threshold is None:
        return 1.0
    with precision(_BITS):
        return float(_chance(noise_scale, threshold - true_count))


def expected_spurious(noise_scale: Fraction, threshold: int, candidates: int) -> float:
    """An upper bound of the expected number of survivors among candidates that nobody holds."""
    with precision(_BITS):
        return float_above(candidates * _chance(noise_scale, threshold))


def error_bar(noise_scale: Fraction, confidence: float) -> int:
    """The least h with P(|Z| <= h) >= confidence, in records: the noise alone, not truncation (R3).

    >>> error_bar(Fraction(10), confidence=0.95)
    20
    """
    if not 0 < confidence < 1:
        raise ParameterError(f"A confidence lies between 0 and 1, not at {confidence}.")
    with precision(_BITS) as mp:
        quantile = upper_quantile((1 - exact_number(confidence)) / 2)
        return max(0, int(mp.ceil(exact_number(noise_scale) * quantile - mp.mpf("0.5"))))
