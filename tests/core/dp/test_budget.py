import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.dp.accounting import plan_release
from tasks.core.dp.budget import (
    MOST_RUNS,
    Caps,
    Charge,
    Spent,
    caps_of,
    decimal_up,
    default_threshold_delta_cap,
    runs_left,
    sum_of,
)
from tasks.core.dp.parameters import DpParameters
from tasks.core.errors import InternalError, ParameterError
from tests.oracles.ledger_runs import gdp_charge

#: D16: runs of (1, 1e-6, share 0.1), totals, epsilon at delta = 1e-5.
VECTORS = [
    (1, "0.23550145494183426", "1.0e-7", "0.86820003721274654"),
    (2, "0.33304935153733836", "1.9999999e-7", "1.2715352739002562"),
    (4, "0.47100290988366852", "3.99999940000004e-7", "1.8692143795460632"),
    (12, "0.81580097043129919", "1.19999934000022e-6", "3.4878891971652823"),
]
#: R7: twelve such runs with D = 1.2e-6 need at least this epsilon cap at delta cap 1e-5.
TWELVE_RUNS_NEED = 3.4878892115


def _exact(charge: Charge) -> tuple[Decimal, Decimal]:
    return charge.mu_squared_exact, charge.threshold_delta_exact


@pytest.mark.parametrize(("runs", "mu", "delta_t", "epsilon"), VECTORS)
def test_section_7_ledger_vectors(runs, mu, delta_t, epsilon):
    spent = sum_of([_exact(gdp_charge())] * runs)
    assert float(spent.mu_squared.sqrt()) == pytest.approx(float(mu), rel=1e-14)
    assert float(spent.threshold_delta) == pytest.approx(float(delta_t), rel=1e-13)
    assert spent.epsilon(Decimal("1e-5")) == pytest.approx(float(epsilon), rel=1e-12)
    assert spent.epsilon(Decimal("1e-5")) >= float(epsilon) * (1 - 1e-15)


def test_rule_7_twelve_runs_fit_just_above_their_cap_and_not_just_below():
    charge = _exact(gdp_charge())
    above = caps_of(TWELVE_RUNS_NEED, 1e-5, 1.2e-6)
    below = caps_of(TWELVE_RUNS_NEED - 2e-10, 1e-5, 1.2e-6)
    assert runs_left(above, Spent(), *charge) == 12
    assert runs_left(below, Spent(), *charge) == 11


def test_rule_7_the_thresholds_part_of_delta_is_a_limit_of_its_own():
    charge = _exact(gdp_charge())
    assert runs_left(caps_of(50, 1e-5, 1.19999935e-6), Spent(), *charge) == 12
    assert runs_left(caps_of(50, 1e-5, 1.19999930e-6), Spent(), *charge) == 11


@pytest.mark.parametrize("factor", [0.5, 1 - 1e-8, 1 + 1e-9, 2])
def test_rule_9_a_gdp_charge_that_is_not_its_claims_is_our_fault(factor):
    whole = gdp_charge()
    with pytest.raises(InternalError):
        _ = Charge(whole.mu_squared * factor, 1e-7, 1.0, 1e-6).mu_squared_exact


@pytest.mark.parametrize("share", [0.1, 0.3])
@pytest.mark.parametrize("all_declared", [True, False])
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 7.3])
def test_rule_9_a_planned_release_is_charged_its_whole_nominal_mu_squared(epsilon, all_declared, share):
    parameters = DpParameters(epsilon, 1e-6, reporting_length=3, threshold_delta_share=share)
    planned = plan_release(parameters, all_declared=all_declared, levels=3)
    charge = Charge.planned(parameters, planned.mu_squared, planned.threshold_delta)
    assert planned.mu_squared < charge.mu_squared_exact < Decimal(planned.mu_squared) * (1 + Decimal("3e-9"))
    caps = caps_of(epsilon, 1e-6, default_threshold_delta_cap(1e-6, charge))
    assert runs_left(caps, Spent(), *_exact(charge)) == 1


def test_rule_8_a_planned_zcdp_release_is_charged_its_plan():
    parameters = DpParameters(
        1.0, 1e-5, 3, accountant="zcdp", count_share=0.005, contribution="percentile", percentile_share=0.01
    )
    planned = plan_release(parameters, all_declared=False, levels=3)
    charge = Charge.planned(parameters, planned.mu_squared, planned.threshold_delta)
    assert float(charge.mu_squared_exact) == pytest.approx(0.0392431236496512, rel=1e-12)
    assert charge.mu_squared_exact >= Decimal(planned.mu_squared)
    caps = caps_of(1.0, 1e-5, default_threshold_delta_cap(1e-5, charge))
    assert runs_left(caps, Spent(), *_exact(charge)) == 1


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 1.0, math.pi, 4.0, 8.0])
@pytest.mark.parametrize(("delta", "share"), [(1e-6, 0.1), (1e-9, 0.1), (3e-7, 0.0), (1.85e-6, 0.5)])
def test_a_cap_of_one_releases_own_claim_admits_it_once(epsilon, delta, share):
    charge = gdp_charge(epsilon, delta, share)
    caps = caps_of(epsilon, delta, default_threshold_delta_cap(delta, charge))
    assert runs_left(caps, Spent(), *_exact(charge)) == 1


@pytest.mark.parametrize("releases", [2, 10, 12, 52])
def test_by_default_releases_under_an_equal_share_of_delta_find_their_threshold_delta(releases):
    charge = gdp_charge(0.1, 1e-6, 0.1)
    cap = default_threshold_delta_cap(1e-6 * releases, charge)
    assert sum_of([_exact(charge)] * releases).threshold_delta <= decimal_up(cap)
    assert default_threshold_delta_cap(1e-5) == 0.1 * 1e-5
    assert default_threshold_delta_cap(1e-5, gdp_charge(share=0.0)) == 0.0


_NUMBERS = st.floats(1e-300, 1e300) | st.floats(1e-12, 1e3)


@given(_NUMBERS)
def test_decimals_never_fall_below_what_they_stand_for(value):
    assert Fraction(decimal_up(value)) >= Fraction(value)
    assert decimal_up(value) == decimal_up(float(value))
    assert Fraction(decimal_up(value)) <= Fraction(value) * Fraction(1 + 1e-15)


_CHARGES = st.lists(st.tuples(st.floats(1e-9, 0.5), st.sampled_from([0.0, 1e-7, 3e-8]) | st.floats(0, 1e-6)))


@settings(deadline=None)
@given(_CHARGES, st.floats(0.01, 2), st.floats(0, 2e-6))
def test_p6_admitted_charges_never_exceed_the_caps_in_exact_rationals(charges, mu_squared_cap, threshold_cap):
    caps = Caps(Decimal(1), Decimal("1e-5"), decimal_up(threshold_cap), Decimal(mu_squared_cap))
    spent = Spent()
    mu_squared, clean = Fraction(0), Fraction(1)
    for mu2, delta_t in charges:
        after = spent.plus(decimal_up(mu2), decimal_up(delta_t))
        if after.within(caps):
            spent = after
            mu_squared += Fraction(mu2)
            clean *= 1 - Fraction(delta_t)
    assert mu_squared <= Fraction(mu_squared_cap)
    assert 1 - clean <= Fraction(caps.threshold_delta)


def test_the_runs_that_are_left_are_counted_to_a_limit():
    assert runs_left(caps_of(1, 1e-6, 0), Spent(), Decimal("1e-9"), Decimal(0)) == MOST_RUNS


def test_what_was_spent_beyond_the_whole_delta_has_no_epsilon():
    spent = Spent().plus(Decimal("0.1"), Decimal("1e-5"))
    assert spent.epsilon(Decimal("1e-6")) == math.inf
    assert Spent().epsilon(Decimal("1e-6")) == 0.0


@pytest.mark.parametrize(
    ("epsilon", "delta", "threshold"),
    [
        (0, 1e-6, 0),
        (math.inf, 1e-6, 0),
        (math.nan, 1e-6, 0),
        (1, 0, 0),
        (1, 1, 0),
        (1, 1e-6, 1e-6),
        (1, 1e-6, -1e-9),
    ],
)
def test_caps_out_of_range_are_refused(epsilon, delta, threshold):
    with pytest.raises(ParameterError):
        caps_of(epsilon, delta, threshold)
