from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.dp.accounting import check_claim, gdp_delta, gdp_epsilon, gdp_mu, zcdp_rho
from tasks.core.errors import ParameterError
from tests.oracles.privacy_vectors import GDP_DELTA, GDP_EPSILON, OLD_DOCUMENT

close = pytest.approx


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
