from fractions import Fraction
from math import ceil, sqrt

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tasks.core.dp.accounting import gdp_mu
from tasks.core.dp.parameters import ReleaseThresholds
from tasks.core.dp.thresholds import (
    error_bar,
    expected_spurious,
    first_threshold,
    level_threshold,
    rule_problems,
    scale,
    survival_probability,
)
from tasks.core.errors import InternalError, ParameterError
from tests.oracles.privacy_vectors import DOCUMENTED, GAUSSIAN

close = pytest.approx


@settings(max_examples=200)
@given(st.floats(1e-3, 1e5), st.integers(1, 10**12))
def test_a_scale_is_the_least_on_the_grid_that_is_large_enough(sigma, sensitivity):
    s = scale(sigma, sensitivity)
    assert (s * 64).denominator == 1
    assert s**2 >= Fraction(sigma) ** 2 * sensitivity > (s - Fraction(1, 64)) ** 2


def test_a_scale_on_the_grid_stays():
    assert scale(3.0, 4) == 6
    assert scale(float.fromhex("0x1.8000000000001p+1"), 4) == 6 + Fraction(1, 64)


RULE_10 = [
    (1, "1e-6", 0.495, 2, 8.546875, 48),
    (8, "1e-5", 0.495, 8, 2.4375, 15),
    (4, "1e-8", 0.99, 1, 1.421875, 11),
]


@pytest.mark.parametrize(("epsilon", "delta", "fraction", "sensitivity", "expected", "tau"), RULE_10)
def test_rule_10_the_grid_comes_before_the_threshold(epsilon, delta, fraction, sensitivity, expected, tau):
    delta = Fraction(delta)
    threshold_delta = delta / 10
    mu = gdp_mu(epsilon, (delta - threshold_delta) / (1 - threshold_delta)) * (1 - 1e-9)
    s = scale(1 / (mu * sqrt(fraction)), sensitivity)
    assert s == expected
    assert first_threshold(s, sensitivity, float(threshold_delta)) == tau


@pytest.mark.parametrize("vector", [vector for vector in GAUSSIAN if vector.tau != "none"])
def test_published_thresholds_of_gdp(vector):
    sensitivity = int(vector.sensitivities.split()[0])
    sigma = float(vector.sigmas.split()[1])
    threshold_delta = float(vector.threshold_delta)
    s = scale(sigma, sensitivity)
    deviation = float(vector.deviations.split()[1])
    assert deviation <= s <= deviation + 1 / 64 + 1e-12
    # tau grows with the grid by at most z / 64 < 1
    assert first_threshold(s, sensitivity, threshold_delta) == ceil(1.5 + float(s) * float(vector.z) + 1e-9)
    assert first_threshold(s, sensitivity, threshold_delta) - int(vector.tau) in {0, 1}
    exact_scale = Fraction(deviation)
    assert first_threshold(exact_scale, sensitivity, threshold_delta) == int(vector.tau)


@pytest.mark.parametrize("vector", DOCUMENTED)
def test_published_thresholds_of_the_documents(vector):
    """The real rho_1 and rho_k, applied to integers as >= ceil(rho + 1/2)."""
    sensitivities = [int(item) for item in vector.sensitivities.split()]
    sigmas, rho = ([float(item) for item in text.split()] for text in (vector.sigmas, vector.thresholds))
    exact = [Fraction(sigma * sqrt(d)) for sigma, d in zip(sigmas, sensitivities, strict=True)]
    first = first_threshold(exact[0], sensitivities[0], float(vector.delta) / 2)
    assert first == ceil(rho[0] + 0.5)
    etas = dict(enumerate((float(eta) for eta in vector.etas.split()), start=2))
    rule = ReleaseThresholds("adaptive", etas)
    for length in range(2, len(rho) + 1):
        found = level_threshold(rule, length, exact[length - 1], 1, 1)
        assert found == max(1, ceil(rho[length - 1] + 0.5))


def newcomer_released(s, items, tau):
    """The chance that one of so many items that one newcomer alone holds is released."""
    with mpmath.workprec(300):
        tail = mpmath.ncdf(-(mpmath.mpf(tau) - 1 - mpmath.mpf("0.5")) / mpmath.mpf(float(s)))
        return -mpmath.expm1(items * mpmath.log1p(-tail))


grid = st.integers(20, 64 * 2000).map(lambda n: Fraction(n, 64))


@settings(max_examples=60, deadline=None)
@given(grid, st.integers(1, 5000), st.floats(1e-14, 1e-3))
def test_a_newcomers_values_stay_out_but_for_delta(s, items, threshold_delta):
    tau = first_threshold(s, items, threshold_delta)
    assert newcomer_released(s, items, tau) <= threshold_delta
    assert newcomer_released(s, items, tau - 2) > threshold_delta


def without_the_half(s, items, threshold_delta):
    return ceil(1 + float(s) * stats.norm.isf(1 - (1 - threshold_delta) ** (1 / items)))


def for_one_item(s, items, threshold_delta):
    return first_threshold(s, 1, threshold_delta)


def before_the_grid(s, items, threshold_delta):
    return first_threshold(s - Fraction(1, 64), items, threshold_delta)


@pytest.mark.parametrize("wrong", [without_the_half, for_one_item, before_the_grid])
def test_a_wrong_first_threshold_is_caught(wrong):
    cases = [(Fraction(n, 64), items) for n in range(40, 200) for items in (1, 4, 30)]
    assert any(newcomer_released(s, items, wrong(s, items, 1e-6)) > 1e-6 for s, items in cases)


def test_the_first_threshold_keeps_its_accuracy_at_a_tiny_delta():
    """(1 - delta)^(1 / Delta) is 1 in doubles here."""
    tau = first_threshold(Fraction(10), 100, 1e-18)
    assert newcomer_released(Fraction(10), 100, tau) <= 1e-18 < newcomer_released(Fraction(10), 100, tau - 2)


@pytest.mark.parametrize(("items", "threshold_delta"), [(0, 1e-7), (3, 0.0), (3, 1.0)])
def test_an_open_column_without_a_budget_is_refused(items, threshold_delta):
    with pytest.raises(InternalError):
        first_threshold(Fraction(3), items, threshold_delta)


@pytest.mark.parametrize(
    ("value", "tau"), [(0, 1), (0.4, 1), (0.5, 1), (0.51, 2), (1, 2), (7.5, 8), (7.6, 9)]
)
def test_rule_10_a_fixed_threshold_is_applied_half_a_record_higher(value, tau):
    assert level_threshold(ReleaseThresholds("fixed", {2: value}, 0.0), 2, Fraction(50), 7, 100) == tau
    assert level_threshold(ReleaseThresholds("fixed", {2: 99.0}, 0.0), 3, Fraction(50), 7, 100) == 1


@settings(max_examples=60, deadline=None)
@given(grid, st.integers(1, 10**6), st.integers(1, 10**12), st.floats(1e-6, 1))
def test_spurious_survivors_are_at_most_eta_times_the_survivors_before(s, survivors, candidates, eta):
    tau = level_threshold(ReleaseThresholds("spurious", {}, eta), 2, s, survivors, candidates)
    assert tau >= 1
    expected = expected_spurious(s, tau, candidates)
    assert expected <= eta * min(survivors, candidates) * (1 + 1e-12)
    if tau > 1:
        assert expected_spurious(s, tau - 1, candidates) > eta * min(survivors, candidates)


def test_the_adaptive_eta_is_not_divided_by_the_number_of_candidates():
    rule = ReleaseThresholds("adaptive", {}, 0.1)
    assert level_threshold(rule, 2, Fraction(5), 1, 10**9) == level_threshold(rule, 2, Fraction(5), 1, 1) == 9


@pytest.mark.parametrize("kind", ["fixed", "adaptive", "spurious"])
def test_without_candidates_there_is_no_threshold(kind):
    assert level_threshold(ReleaseThresholds(kind), 2, Fraction(5), 0, 0) is None


def test_candidates_without_survivors_are_our_fault():
    with pytest.raises(InternalError):
        level_threshold(ReleaseThresholds(), 2, Fraction(5), 0, 3)


@pytest.mark.parametrize(
    ("kind", "value"),
    [("fixed", -1), ("fixed", float("nan")), ("spurious", 0), ("adaptive", 1.5), ("spurious", float("nan"))],
)
def test_a_rule_that_cannot_be_applied_is_refused(kind, value):
    rule = ReleaseThresholds(kind, {3: value}, 0.1)
    assert len(rule_problems(rule, 4)) == 1
    assert not rule_problems(rule, 2)
    with pytest.raises(ParameterError, match="length 3"):
        level_threshold(rule, 3, Fraction(5), 1, 1)


@pytest.mark.parametrize(
    ("true_count", "chance"), [(132, 0.4914671260), (133, 0.5085328740), (0, 7.2047890468558662e-9)]
)
def test_the_survival_curve(true_count, chance):
    assert survival_probability(Fraction(23.375), 133, true_count) == close(chance, rel=1e-9)
    assert survival_probability(Fraction(23.375), None, true_count) == 1


@settings(max_examples=60, deadline=None)
@given(grid, st.floats(0.01, 0.9999))
def test_an_error_bar_is_the_least_that_covers(s, confidence):
    h = error_bar(s, confidence)
    assert 1 - 2 * stats.norm.sf((h + 0.5) / float(s)) >= confidence - 1e-12
    assert h == 0 or 1 - 2 * stats.norm.sf((h - 0.5) / float(s)) < confidence + 1e-12


@pytest.mark.parametrize("confidence", [0, 1, -1, float("nan")])
def test_an_error_bar_needs_a_confidence(confidence):
    with pytest.raises(ParameterError):
        error_bar(Fraction(3), confidence)


T5 = {
    1: 23.32791652486749,
    2: 33.631670735785676,
    3: 41.70392691235604,
    4: 48.59727948437914,
    5: 54.727334908806576,
    10: 79.19123331202162,
}


@pytest.mark.parametrize(("sensitivity", "rho"), T5.items())
def test_t5_the_first_threshold(sensitivity, rho):
    exact = Fraction(5.054797363579042 * sqrt(sensitivity))
    assert first_threshold(exact, sensitivity, 5e-6) == ceil(rho + 0.5)


@pytest.mark.parametrize(
    ("length", "eta", "sigma", "sensitivity", "rho"),
    [
        (2, 0.1, 2.527398681789521, 1, 4.1572),
        (2, 0.1, 2.527398681789521, 3, 7.2005),
        (2, 0.1, 2.527398681789521, 6, 10.183020935054834),
        (3, 0.55, 1.668083129981084, 4, 1.994227164053649),
        (2, 0.01, 2.527398681789521, 1, 6.5101),
        (2, 0.01, 2.527398681789521, 3, 11.2759),
        (2, 0.01, 2.527398681789521, 6, 15.9465),
        (2, 1.0, 2.527398681789521, 6, 0.0),
    ],
)
def test_t5_the_adaptive_threshold(length, eta, sigma, sensitivity, rho):
    exact = Fraction(sigma * sqrt(sensitivity))
    found = level_threshold(ReleaseThresholds("adaptive", {length: eta}), length, exact, 1, 1)
    assert found == max(1, ceil(rho + 0.5))
