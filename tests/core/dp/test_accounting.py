import math
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.dp.accounting import (
    applied_delta,
    assert_within,
    for_noisy_count,
    gdp_mu,
    plan_release,
    pure_mu,
    sigma_proportions_named,
    threshold_values_named,
)
from tasks.core.dp.parameters import DpParameters, ReleaseThresholds
from tasks.core.dp.thresholds import scale
from tasks.core.errors import InternalError, ParameterError
from tests.oracles.privacy_vectors import DELTA_OF_N, DOCUMENTED, GAUSSIAN

close = pytest.approx
GDP = DpParameters(1.0, 1e-6, 3)
ZCDP = DpParameters(4.0, 1e-5, 3, accountant="zcdp", count_share=0.005, contribution="percentile")


def numbers(text):
    return tuple(float(Fraction(item)) for item in text.split())


def open_plan(parameters):
    return plan_release(parameters, all_declared=False, levels=parameters.reporting_length)


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
    from scipy import stats

    m = pure_mu(epsilon)
    assert stats.norm.sf(m / 2) == close(1 / (1 + math.exp(epsilon)), rel=1e-9)


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


def test_t5_the_default_delta_of_the_documents():
    for n, delta in ((996, 0.00014543059396532738), (1000, 0.00014476482730108395)):
        asked = replace(ZCDP, delta=1e-3, delta_factor=math.log(n))
        applied = for_noisy_count(open_plan(asked), asked, n).applied_threshold_delta
        assert applied == close(delta / 2, rel=1e-13)


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
        *(
            {"sigma_proportions": bad}
            for bad in ((1, 1), (1, 0, 1), (1, NAN, 1), (1, 1, INFINITE), (1, 1, -1))
        ),
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
