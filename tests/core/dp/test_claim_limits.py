import dataclasses
import math

import mpmath
import pytest

from tasks.core.dp.accounting import plan_release
from tasks.core.dp.claim_limits import (
    DISTANCE,
    MOST_SAMPLING_DELTA,
    cap_cautions,
    cautions,
    sampling_delta,
)
from tasks.core.dp.parameters import DpParameters
from tasks.core.dp.sampling.gaussian_tables import GUARD_BITS
from tasks.core.dp.sampling.noise import LARGEST_SCALE
from tasks.core.errors import ParameterError
from tasks.core.statement.differential_privacy.statement import RunChoices, accounted_statement
from tasks.core.statement.differential_privacy.words import LengthsWords
from tests.oracles.releases import cap_facts, ledger_facts, release


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"epsilon": 100.001}, "epsilon must be at most 100, not 100.001"),
        ({"epsilon": 5000.0}, "epsilon must be at most 100"),
        ({"delta": 0.0010001}, "delta must be from 1e-20 to 0.001"),
        ({"delta": 0.5}, "delta must be from 1e-20 to 0.001"),
        ({"delta": 1e-21}, "delta must be from 1e-20 to 0.001"),
    ],
)
@pytest.mark.parametrize("accountant", ["gdp", "zcdp"])
def test_a_claim_that_promises_nothing_is_refused(accountant, change, said):
    asked = dataclasses.replace(DpParameters(1.0, 1e-6, 2, accountant=accountant), **change)
    with pytest.raises(ParameterError, match=said):
        plan_release(asked, all_declared=False, levels=2)


def test_claims_at_the_limits_are_planned():
    for epsilon, delta in ((100.0, 1e-3), (100.0, 1e-20), (1e-3, 1e-20)):
        assert plan_release(DpParameters(epsilon, delta, 2), all_declared=False, levels=2).mu_squared > 0


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ((20.0, 1e-5), []),
        ((20.1, 1e-5), ["epsilon 20.1 is above 20"]),
        ((1.0, 1.1e-5), ["delta 1.1e-05 is above 1e-05"]),
        ((1.0, 1e-6, "subject", 100_000), []),
        ((1.0, 1e-6, "subject", 100_001), ["delta 1e-06 is above 1 / (10 x 100,001)"]),
        ((1.0, 1e-6, "row"), ["a row is protected, not a person"]),
        ((50.0, 1e-3, "row", 5000), ["epsilon 50", "above 1e-05", "10 x 5,000", "a row is protected"]),
    ],
)
def test_a_claim_that_promises_little_is_told_of(claim, said):
    told = cautions(*claim)
    assert len(told) == len(said)
    assert all(phrase in sentence for phrase, sentence in zip(said, told, strict=True))


def test_the_cap_is_the_guarantee_of_all_releases_and_has_limits_of_its_own():
    assert cap_cautions(20.0, 1e-3) == []
    assert "epsilon 50" in cap_cautions(50.0, 1e-5)[0]
    assert "delta 0.01" in cap_cautions(1.0, 0.01)[0]


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 20.0, 100.0])
@pytest.mark.parametrize("sensitivities", [(1,), (10, 45, 120), (10**12,) * 500])
def test_rule_20_the_sampling_term_is_the_formulas_and_below_the_stated_constant(epsilon, sensitivities):
    found = sampling_delta(epsilon, sensitivities)
    with mpmath.workprec(300):
        draws = 1 + sum(each + 2 for each in sensitivities)
        exact = (1 + mpmath.exp(epsilon)) * draws * mpmath.mpf(2) ** -280
        assert exact <= found <= exact * (1 + mpmath.mpf(2) ** -50)
    assert found < MOST_SAMPLING_DELTA


def test_rule_20_no_release_that_can_be_drawn_has_a_larger_term():
    # The largest scale bounds Delta_k, as s_k >= sigma_k sqrt(Delta_k), at the largest claim.
    sigma = min(plan_release(DpParameters(100.0, 1e-3, 1), all_declared=True, levels=1).sigmas)
    most = (LARGEST_SCALE / sigma) ** 2
    assert most * 512 < 2**51
    assert (1 + math.exp(100)) * 2**51 * DISTANCE < MOST_SAMPLING_DELTA


def test_rule_20_a_probability_is_known_far_beyond_the_stated_distance():
    assert 2.0 ** -(64 + GUARD_BITS) * 2**100 <= DISTANCE


def stated(**changes):
    measurement, _, _ = release(600)
    return accounted_statement(measurement, ledger_facts(**changes), "abc", RunChoices(least_records=200_000))


def test_the_released_statement_says_it_first():
    body = stated(unit="row", cap=cap_facts(60.0, 1e-5, 1e-6, 30.0))
    assert len(body["attention"]) == 3
    heading, said = LengthsWords(body).topics()[0]
    assert heading == "Attention" and len(said) == 3
    assert body["contract"]["least_records"] == 200_000
    measurement, _, _ = release(600)
    plain = accounted_statement(measurement, ledger_facts(), "abc")
    assert plain["attention"] == [] and LengthsWords(plain).topics()[0][0] == "The promise"
    assert plain["guarantee"]["sampling_exactness"]["delta_sampling"] < 1e-80
