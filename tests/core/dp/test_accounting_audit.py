"""Audit A7: the accountants against loss distributions composed numerically by another project."""

import math
from dataclasses import replace

import pytest
from dp_accounting.pld import common
from dp_accounting.pld import privacy_loss_distribution as pld

from tasks.core.dp.accounting import gdp_epsilon, gdp_mu, plan_release
from tasks.core.dp.parameters import DpParameters
from tests.oracles.privacy_vectors import OLD_DOCUMENT

GDP = DpParameters(1.0, 1e-6, 3)
ZCDP = DpParameters(4.0, 1e-5, 3, accountant="zcdp", count_share=0.005)


def open_plan(parameters):
    return plan_release(parameters, all_declared=False, levels=parameters.reporting_length)


def pld_epsilon(planned, delta):
    """The epsilon of count, percentiles and levels composed by discretised loss distributions."""
    parts = [
        pld.from_gaussian_mechanism(sigma, value_discretization_interval=1e-3) for sigma in planned.sigmas
    ]
    if planned.count_sigma is not None:
        parts.append(pld.from_gaussian_mechanism(planned.count_sigma, value_discretization_interval=1e-3))
    if planned.count_epsilon is not None:
        parts.append(
            pld.from_laplace_mechanism(1 / planned.count_epsilon, value_discretization_interval=1e-3)
        )
    if planned.percentile_epsilon is not None:
        pure = common.DifferentialPrivacyParameters(planned.percentile_epsilon, 0)
        parts += [pld.from_privacy_parameters(pure, value_discretization_interval=1e-3)] * len(planned.sigmas)
    total = parts[0]
    for part in parts[1:]:
        total = total.compose(part)
    return total.get_epsilon_for_delta(delta)


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


@pytest.mark.parametrize("parameters", [GDP, ZCDP, replace(ZCDP, contribution="percentile")])
def test_rule_8_what_is_charged_covers_what_is_drawn(parameters):
    planned = open_plan(replace(parameters, reporting_length=2))
    charged = gdp_epsilon(math.sqrt(planned.mu_squared), 1e-6)
    assert pld_epsilon(planned, 1e-6) < charged + 1e-3


def of_the_old_document(planned):
    """rho without its square."""
    (old,) = (float(old) for epsilon, _, old, _ in OLD_DOCUMENT if epsilon == "1")
    return replace(planned, sigmas=((2 / (2 * old)) ** 0.5,) * 2)


def one_length_for_free(planned):
    return replace(planned, sigmas=(planned.sigmas[0] / 2**0.5,) * 2)


def delta_spent_twice(planned):
    mu = gdp_mu(1.0, 2e-5)
    return replace(planned, sigmas=((0.495 * mu**2) ** -0.5,) * 2)


@pytest.mark.parametrize("wrong", [of_the_old_document, one_length_for_free, delta_spent_twice])
def test_a7_a_wrong_accountant_is_caught(wrong):
    asked = replace(GDP, delta=1e-5, reporting_length=2)
    assert pld_epsilon(wrong(open_plan(asked)), gaussian_delta(asked)) > 1 + 1e-2
