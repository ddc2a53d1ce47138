"""The accountants: published numbers, directions of rounding, plans; and audit A7 by another project."""

import math
from dataclasses import replace
from fractions import Fraction
from functools import reduce

import mpmath
import pytest
from dp_accounting.pld import common
from dp_accounting.pld import privacy_loss_distribution as pld
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tasks.core.dp.accounting import (
    applied_delta,
    assert_within,
    check_claim,
    for_noisy_count,
    gdp_delta,
    gdp_epsilon,
    gdp_mu,
    plan_release,
    pure_mu,
    sigma_proportions_named,
    threshold_values_named,
    zcdp_rho,
)
from tasks.core.dp.parameters import DpParameters, ReleaseThresholds
from tasks.core.dp.thresholds import scale
from tasks.core.errors import InternalError, ParameterError
from tests.oracles.privacy_vectors import (
    DELTA_OF_N,
    DOCUMENTED,
    GAUSSIAN,
    GDP_DELTA,
    GDP_EPSILON,
    OLD_DOCUMENT,
)

close = pytest.approx
GDP = DpParameters(1.0, 1e-6, 3)
ZCDP = DpParameters(4.0, 1e-5, 3, accountant="zcdp", count_share=0.005, contribution="percentile")


def numbers(text):
    return tuple(float(Fraction(item)) for item in text.split())


def open_plan(parameters):
    return plan_release(parameters, all_declared=False, levels=parameters.reporting_length)


# ---- mu, epsilon and delta -----------------------------------------------------------------------------


@pytest.mark.parametrize(("mu", "epsilon", "delta"), GDP_DELTA)
def test_published_deltas(mu, epsilon, delta):
    assert gdp_delta(float(mu), Fraction(epsilon)) == close(float(delta), rel=1e-14)


@pytest.mark.parametrize(("mu", "epsilon", "delta"), GDP_EPSILON)
def test_published_epsilons(mu, epsilon, delta):
    assert gdp_epsilon(float(mu), Fraction(delta)) == close(float(epsilon), rel=1e-14)


@pytest.mark.parametrize(("epsilon", "delta", "old", "new"), OLD_DOCUMENT)
def test_the_older_documents_unsquared_rho_is_not_produced(epsilon, delta, old, new):
    rho = zcdp_rho(Fraction(epsilon), Fraction(delta))
    assert rho == close(float(new), rel=1e-14)
    assert rho != close(float(old), rel=1e-4)


@settings(max_examples=12, deadline=None)
@given(st.floats(1e-3, 50), st.floats(-40, -0.5))
def test_mu_is_rounded_down_and_epsilon_and_delta_up(epsilon, log_delta):
    delta = 10**log_delta
    mu = gdp_mu(epsilon, delta)
    with mpmath.workprec(500):
        exact_mu, exact_epsilon = mpmath.mpf(mu), mpmath.mpf(epsilon)

        def exact(m):
            return mpmath.ncdf(m / 2 - exact_epsilon / m) - mpmath.exp(exact_epsilon) * mpmath.ncdf(
                -m / 2 - exact_epsilon / m
            )

        assert exact(exact_mu) <= delta < exact(exact_mu * (1 + mpmath.mpf(2) ** -51))
        assert exact(exact_mu) <= gdp_delta(mu, epsilon) <= delta
    assert epsilon * (1 - 1e-12) <= gdp_epsilon(mu, delta) <= epsilon * (1 + 1e-15)


@settings(max_examples=12, deadline=None)
@given(st.floats(1e-3, 20), st.floats(1, 100), st.floats(1e-30, 0.3), st.floats(1, 3))
def test_a7_budgets_grow_with_epsilon_and_with_delta(epsilon, times, delta, wider):
    more, larger = epsilon * times, delta * wider
    for budget in (gdp_mu, zcdp_rho):
        assert budget(epsilon, delta) <= budget(more, delta) <= budget(more, larger)


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(1e4, 1e-100), (1e-6, 1e-100), (1e-6, 0.5), (1e4, 0.9999), (1e-6, 0.999999999)]
)
def test_mu_is_solved_at_the_ends_of_its_range(epsilon, delta):
    mu = gdp_mu(epsilon, delta)
    assert gdp_delta(mu, epsilon) <= delta < gdp_delta(mu * (1 + 1e-13), epsilon)


def test_a_mechanism_without_loss_needs_nothing():
    assert gdp_delta(0, 1) == 0
    assert gdp_epsilon(0, 1e-6) == 0
    assert gdp_epsilon(1e-9, 1e-6) == 0


BAD_NUMBERS = [0, -1.0, float("nan"), float("inf"), -float("inf")]


@pytest.mark.parametrize("solve", [gdp_mu, zcdp_rho, check_claim])
@pytest.mark.parametrize("bad", [*BAD_NUMBERS, 1e-9, 1e5])
def test_an_epsilon_that_cannot_be_used_is_refused(solve, bad):
    with pytest.raises(ParameterError, match="epsilon"):
        solve(bad, 1e-6)


@pytest.mark.parametrize("solve", [gdp_mu, zcdp_rho, check_claim])
@pytest.mark.parametrize("bad", [*BAD_NUMBERS, 1.0, 2.0, 1e-200])
def test_a_delta_that_cannot_be_used_is_refused(solve, bad):
    with pytest.raises(ParameterError, match="delta"):
        solve(1.0, bad)


def test_both_problems_of_a_claim_are_named():
    with pytest.raises(ParameterError) as caught:
        check_claim(float("nan"), 2)
    assert len(caught.value.problems) == 2


# ---- plans ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("vector", GAUSSIAN)
def test_published_plans_of_gdp(vector):
    fractions = numbers(vector.fractions)
    parameters = DpParameters(
        epsilon=float(vector.epsilon),
        delta=float(vector.delta),
        reporting_length=len(fractions) - 1,
        count_share=fractions[0],
        sigma_proportions=tuple(f**-0.5 for f in fractions[1:]),
        threshold_delta_share=float(vector.share),
    )
    declared = vector.share == "0"
    planned = plan_release(parameters, all_declared=declared, levels=len(fractions) - 1)
    assert math.sqrt(planned.mu_squared) == close(float(vector.mu) * (1 - 1e-9), rel=1e-12)
    assert planned.threshold_delta == planned.applied_threshold_delta
    assert planned.threshold_delta == close(float(vector.threshold_delta), rel=1e-14)
    expected = [sigma / (1 - 1e-9) for sigma in numbers(vector.sigmas)]
    assert [planned.count_sigma, *planned.sigmas] == close(expected, rel=1e-12)
    assert (planned.count_epsilon, planned.percentile_epsilon, planned.profile_sigma) == (None, None, None)


@pytest.mark.parametrize("vector", DOCUMENTED)
def test_published_plans_of_eq1_and_eq2(vector):
    proportions = numbers(vector.proportions)
    parameters = DpParameters(
        epsilon=float(vector.epsilon),
        delta=float(vector.delta),
        reporting_length=len(proportions),
        accountant="zcdp",
        count_share=float(vector.count_share),
        sigma_proportions=proportions,
        contribution="percentile",
        percentile_share=float(vector.percentile_share),
    )
    planned = open_plan(parameters)
    assert planned.count_epsilon == close(float(vector.count_epsilon), rel=1e-14)
    assert planned.percentile_epsilon == close(float(vector.percentile_epsilon), rel=1e-13)
    assert planned.sigmas == close(numbers(vector.sigmas), rel=1e-13)
    assert planned.threshold_delta == close(float(vector.delta) / 2, rel=1e-14)
    rho = len(proportions) * planned.percentile_epsilon**2 / 2 + sum(0.5 / s**2 for s in planned.sigmas)
    assert rho == close(float(vector.rho), rel=1e-12)
    assert rho <= float(vector.rho) * (1 + 1e-15)


def test_without_a_percentile_nothing_is_spent_on_one():
    planned = open_plan(replace(ZCDP, contribution="schema"))
    assert planned.percentile_epsilon is None
    assert sum(0.5 / s**2 for s in planned.sigmas) == close(0.2803414672449809, rel=1e-13)


def test_rule_8_the_charge_of_the_documents_accountant():
    assert pure_mu(0.1) == close(0.125309012211608, rel=1e-14)
    s3 = replace(ZCDP, epsilon=1.0)
    assert open_plan(s3).mu_squared == close(0.0392431236496512, rel=1e-14)
    assert plan_release(s3, all_declared=True, levels=3).threshold_delta == 5e-6


@pytest.mark.parametrize("epsilon", [1e-4, 0.3, 20.0])
def test_rule_8_a_pure_mechanism_is_gaussian_at_its_epsilon(epsilon):
    """Randomised response is the worst eps-DP mechanism: its two error rates add up as Gaussian's do."""
    assert stats.norm.sf(pure_mu(epsilon) / 2) == close(1 / (1 + math.exp(epsilon)), rel=1e-9)


def test_profile_pays_for_a_histogram_a_length():
    """R12."""
    planned = open_plan(replace(GDP, contribution="profile", percentile_share=0.02))
    mu_squared = planned.mu_squared
    assert planned.profile_sigma == close((0.02 * mu_squared) ** -0.5, rel=1e-12)
    charges = [planned.count_sigma, *[planned.profile_sigma] * 3, *planned.sigmas]
    assert sum(s**-2 for s in charges) == close(mu_squared, rel=1e-12)


def test_declared_domains_leave_all_of_delta_to_the_noise():
    planned = plan_release(GDP, all_declared=True, levels=3)
    assert planned.threshold_delta == planned.applied_threshold_delta == 0
    assert planned.mu_squared == close(gdp_mu(1, 1e-6) ** 2, rel=1e-8)


def test_nothing_is_spent_on_lengths_that_are_not_measured():
    asked = replace(GDP, reporting_length=4, sigma_proportions=(1, 1, 1, 1))
    planned = plan_release(asked, all_declared=False, levels=2)
    assert len(planned.sigmas) == 2
    assert planned.sigmas == close([(planned.mu_squared * 0.495) ** -0.5] * 2, rel=1e-12)


asked_for = st.builds(
    DpParameters,
    epsilon=st.floats(0.01, 12),
    delta=st.floats(1e-12, 1e-3),
    reporting_length=st.integers(1, 6),
    accountant=st.sampled_from(["gdp", "zcdp"]),
    count_share=st.floats(1e-4, 0.5),
)


@settings(max_examples=30, deadline=None)
@given(asked_for, st.lists(st.floats(0.05, 20), min_size=6, max_size=6), st.data())
def test_rule_9_what_is_drawn_costs_at_most_the_nominal_charge(parameters, proportions, data):
    length = parameters.reporting_length
    bounded = "profile" if parameters.accountant == "gdp" else "percentile"
    parameters = replace(
        parameters,
        sigma_proportions=tuple(proportions[:length]),
        contribution=data.draw(st.sampled_from(["schema", bounded])),
    )
    planned = open_plan(parameters)
    sensitivities = data.draw(st.lists(st.integers(1, 10**6), min_size=length, max_size=length))
    realised = [(d, scale(s, d)) for d, s in zip(sensitivities, planned.sigmas, strict=True)]
    assert_within(planned, realised)
    assert_within(planned, realised[:-1])


@pytest.mark.parametrize("parameters", [GDP, ZCDP])
def test_rule_9_a_scale_one_step_too_small_is_refused(parameters):
    planned = open_plan(parameters)
    for place, sensitivity in enumerate((10, 45, 120)):
        realised = [(d, scale(s, d)) for d, s in zip((10, 45, 120), planned.sigmas, strict=True)]
        realised[place] = (sensitivity, realised[place][1] - Fraction(1, 64))
        with pytest.raises(InternalError, match="charged"):
            assert_within(planned, realised)
    with pytest.raises(InternalError):
        assert_within(planned, [(1, 1000)] * 4)
    with pytest.raises(InternalError):
        assert_within(replace(planned, mu_squared=math.nextafter(planned.mu_squared, 0) * (1 - 1e-15)), [])


@settings(max_examples=15, deadline=None)
@given(asked_for, st.floats(1, 10), st.floats(1, 1000))
def test_a7_noise_shrinks_with_epsilon_and_delta_and_grows_with_length(parameters, more, larger):
    epsilon, delta = min(100, parameters.epsilon * more), min(1e-3, parameters.delta * larger)
    base = open_plan(parameters)
    for richer in (replace(parameters, epsilon=epsilon), replace(parameters, delta=delta)):
        assert all(a <= b for a, b in zip(open_plan(richer).sigmas, base.sigmas, strict=True))
    longer = open_plan(replace(parameters, reporting_length=parameters.reporting_length + 1))
    assert longer.sigmas[0] > base.sigmas[0]


@pytest.mark.parametrize(("n", "delta"), DELTA_OF_N.items())
def test_rule_16_delta_of_the_noisy_count(n, delta):
    asked = replace(ZCDP, delta=1e-3, delta_factor=10 * math.log(n))
    nominal = open_plan(asked)
    applied = for_noisy_count(nominal, asked, n)
    there = open_plan(replace(asked, delta=float(delta) / 10))
    assert applied.applied_threshold_delta == close(float(delta) / 20, rel=1e-13)
    assert applied.sigmas == close(there.sigmas, rel=1e-13)
    assert applied.percentile_epsilon == close(there.percentile_epsilon, rel=1e-13)


@pytest.mark.parametrize("parameters", [GDP, ZCDP, replace(GDP, contribution="profile")])
@pytest.mark.parametrize("n", [-(10**9), -1, 0, 1, 2, 3, 40, 10**4, 10**9, 2**60])
def test_rule_16_the_claim_stays_and_nothing_gets_cheaper(parameters, n):
    asked = replace(parameters, delta_factor=5.0)
    nominal = open_plan(asked)
    applied = for_noisy_count(nominal, asked, n)
    kept = ("mu_squared", "threshold_delta", "count_sigma", "count_epsilon")
    assert all(getattr(applied, name) == getattr(nominal, name) for name in kept)
    assert applied.applied_threshold_delta <= nominal.applied_threshold_delta
    assert all(a >= b for a, b in zip(applied.sigmas, nominal.sigmas, strict=True))
    assert (applied.profile_sigma or 0) >= (nominal.profile_sigma or 0)
    assert (applied.percentile_epsilon or 0) <= (nominal.percentile_epsilon or 0)
    assert_within(applied, [(10, scale(applied.sigmas[0], 10))])
    if n < 1:
        assert applied == nominal


def test_a_larger_delta_factor_is_a_smaller_delta_as_in_sds():
    deltas = [
        applied_delta(replace(GDP, delta=1e-5, delta_factor=factor), 10**6)
        for factor in (None, 1e-2, 1.0, 2.0, 50.0)
    ]
    assert deltas == close([1e-5, 1e-5, 1e-6, 5e-7, 2e-8], rel=1e-13)


def test_rule_16_a_delta_factor_keeps_declared_domains_without_a_threshold():
    asked = replace(GDP, delta_factor=100.0)
    applied = for_noisy_count(plan_release(asked, all_declared=True, levels=3), asked, 10**6)
    assert applied.applied_threshold_delta == 0


def test_a_constant_delta_is_constant():
    nominal = open_plan(GDP)
    assert for_noisy_count(nominal, GDP, 10**6) is nominal


def test_t14_the_named_sigma_proportions():
    assert sigma_proportions_named("short", 4) == close((0.25, 1 / 3, 0.5, 1))
    assert sigma_proportions_named("long", 4) == close((1, 0.5, 1 / 3, 0.25))
    assert sigma_proportions_named("balanced", 3) == (1, 1, 1)
    with pytest.raises(ParameterError):
        sigma_proportions_named("medium", 3)


def test_t14_the_named_thresholds():
    assert threshold_values_named("progressive", 5) == close({2: 0.1, 3: 0.4, 4: 0.7, 5: 1.0})
    assert threshold_values_named("progressive", 4) == close({2: 0.1, 3: 0.55, 4: 1.0})
    assert threshold_values_named("progressive", 2) == {2: 0.1}
    assert threshold_values_named("balanced", 4) == {2: 0.55, 3: 1.0, 4: 1.0}
    assert threshold_values_named("uncontrolled", 3) == {2: 1.0, 3: 1.0}
    assert threshold_values_named("minimize", 3) == {2: 0.01, 3: 0.01}
    assert threshold_values_named("minimize", 1) == {}
    with pytest.raises(ParameterError):
        threshold_values_named("none", 3)


NAN, INFINITE = float("nan"), float("inf")


@pytest.mark.parametrize(
    "change",
    [
        *({"epsilon": bad} for bad in (0.0, -1.0, NAN, INFINITE, 1e9, 1e-12)),
        *({"delta": bad} for bad in (0.0, 1.0, -1e-6, NAN, INFINITE, 1e-300)),
        *({"count_share": bad} for bad in (0.0, 1.0, NAN)),
        *({"sigma_proportions": (1, *bad)} for bad in ([1], (0, 1), (NAN, 1), (1, INFINITE), (1, -1))),
        *({"threshold_delta_share": bad} for bad in (0.0, 1.0, NAN)),
        *({"delta_factor": bad} for bad in (0.0, -1.0, NAN, INFINITE)),
        {"contribution": "percentile"},
        {"contribution": "profile", "percentile_share": 0.33},
        {"contribution": "profile", "percentile_share": 0.0},
        {"contribution": "profile", "percentile_percentage": 101},
        {"accountant": "zcdp", "contribution": "profile"},
        {"accountant": "zcdp", "contribution": "percentile", "percentile_share": 1.0},
        *({"thresholds": ReleaseThresholds("spurious", {3: bad})} for bad in (0.0, 1.1, NAN)),
        *({"thresholds": ReleaseThresholds("adaptive", {2: bad})} for bad in (0.0, 1.1, NAN)),
        *({"thresholds": ReleaseThresholds("fixed", {2: bad})} for bad in (-1.0, NAN, INFINITE)),
    ],
    ids=str,
)
def test_parameters_that_cannot_be_used_are_refused(change):
    with pytest.raises(ParameterError):
        open_plan(replace(GDP, **change))


def test_every_problem_is_named_at_once():
    with pytest.raises(ParameterError) as caught:
        open_plan(replace(GDP, epsilon=NAN, delta=2.0, count_share=3.0, sigma_proportions=(1, 0)))
    assert len(caught.value.problems) == 5


def test_a_release_without_a_length_is_refused():
    with pytest.raises(ParameterError, match="at least 1"):
        plan_release(GDP, all_declared=False, levels=0)


# ---- A7: against loss distributions composed numerically by another project ------------------------------


def pld_epsilon(planned, delta):
    """The epsilon of count, percentiles and levels composed by discretised loss distributions."""
    fine = {"value_discretization_interval": 1e-3}
    parts = [pld.from_gaussian_mechanism(sigma, **fine) for sigma in planned.sigmas]
    if planned.count_sigma is not None:
        parts.append(pld.from_gaussian_mechanism(planned.count_sigma, **fine))
    if planned.count_epsilon is not None:
        parts.append(pld.from_laplace_mechanism(1 / planned.count_epsilon, **fine))
    if planned.percentile_epsilon is not None:
        pure = common.DifferentialPrivacyParameters(planned.percentile_epsilon, 0)
        parts += [pld.from_privacy_parameters(pure, **fine)] * len(planned.sigmas)
    return reduce(lambda one, other: one.compose(other), parts).get_epsilon_for_delta(delta)


def gaussian_delta(parameters):
    threshold = parameters.delta * (0.1 if parameters.accountant == "gdp" else 0.5)
    return (parameters.delta - threshold) / (1 - threshold)


CLAIMS = [(0.5, 1e-6), (1.0, 1e-5), (4.0, 1e-6)]


@pytest.mark.parametrize(("epsilon", "delta"), CLAIMS)
def test_a7_gdp_uses_the_whole_claim_and_no_more(epsilon, delta):
    asked = replace(GDP, epsilon=epsilon, delta=delta, reporting_length=2)
    assert pld_epsilon(open_plan(asked), gaussian_delta(asked)) == pytest.approx(epsilon, abs=1e-3)


@pytest.mark.parametrize(("epsilon", "delta"), CLAIMS)
@pytest.mark.parametrize("contribution", ["schema", "percentile"])
def test_a7_the_documents_accountant_stays_below_its_claim(epsilon, delta, contribution):
    asked = replace(ZCDP, epsilon=epsilon, delta=delta, reporting_length=2, contribution=contribution)
    assert pld_epsilon(open_plan(asked), gaussian_delta(asked)) < epsilon


@pytest.mark.parametrize("parameters", [GDP, replace(ZCDP, contribution="schema"), ZCDP])
def test_rule_8_what_is_charged_covers_what_is_drawn(parameters):
    planned = open_plan(replace(parameters, reporting_length=2))
    charged = gdp_epsilon(math.sqrt(planned.mu_squared), 1e-6)
    assert pld_epsilon(planned, 1e-6) < charged + 1e-3


@pytest.mark.parametrize(
    "wrong_sigma",
    [
        lambda sigma: float(OLD_DOCUMENT[0][2]) ** -0.5,
        lambda sigma: sigma / 2**0.5,
        lambda sigma: (0.495 * gdp_mu(1.0, 2e-5) ** 2) ** -0.5,
    ],
    ids=["rho without its square", "a length for free", "delta spent twice"],
)
def test_a7_a_wrong_accountant_is_caught(wrong_sigma):
    asked = replace(GDP, delta=1e-5, reporting_length=2)
    planned = open_plan(asked)
    wrong = replace(planned, sigmas=(wrong_sigma(planned.sigmas[0]),) * 2)
    assert pld_epsilon(wrong, gaussian_delta(asked)) > 1 + 1e-2


T5 = [
    ((1, 0.5, 0.33), 1e-5, 0.04323127473214894, (5.054797363579042, 2.527398681789521, 1.668083129981084)),
    ((1, 0.5, 1 / 3), 1e-5, 0.04323127473214894, (5.022127702028037, 2.5110638510140184, 1.6740425673426789)),
    ((1, 1, 1), 1e-5, 0.04323127473214894, (2.324793385081046,) * 3),
    (
        (1, 0.5, 0.33, 0.25),
        1e-5,
        0.03743938215602528,
        (7.373998410939217, 3.6869992054696086, 2.433419475609942, 1.8434996027348043),
    ),
    (
        (1, 0.5, 1 / 3),
        0.00014543059396532738,
        0.048055101093322436,
        (4.518000742619999, 2.2590003713099995, 1.5060002475399996),
    ),
]


@pytest.mark.parametrize(("proportions", "delta", "percentile_epsilon", "sigmas"), T5)
def test_t5_the_documents_budget(proportions, delta, percentile_epsilon, sigmas):
    asked = replace(ZCDP, delta=delta, reporting_length=len(proportions), sigma_proportions=proportions)
    planned = open_plan(asked)
    assert planned.count_epsilon == close(0.02, rel=1e-14)
    assert planned.percentile_epsilon == close(percentile_epsilon, rel=1e-13)
    assert planned.sigmas == close(sigmas, rel=1e-13)


def test_t5_the_default_delta_of_the_documents():
    for n, delta in ((996, 0.00014543059396532738), (1000, 0.00014476482730108395)):
        asked = replace(ZCDP, delta=1e-3, delta_factor=math.log(n))
        applied = for_noisy_count(open_plan(asked), asked, n).applied_threshold_delta
        assert applied == close(delta / 2, rel=1e-13)
