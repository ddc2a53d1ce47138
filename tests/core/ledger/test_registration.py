"""Caps: registered once, lowered freely, raised with a reason, always inside one another (R7)."""

from decimal import Decimal

import pytest

from tasks.core.dp.accounting import gdp_epsilon
from tasks.core.errors import BudgetExhausted, LedgerError, ParameterError
from tasks.core.ledger.account import Registration
from tasks.core.ledger.drawing import draw_once
from tasks.core.ledger.ledger import Ledger, open_ledger, open_store
from tests.oracles.drawing import must_not_draw, write_measurement
from tests.oracles.ledger_runs import DATASET, gdp_charge, ledger_for, release, stored_measurement


@pytest.fixture
def ledger(place):
    ledger = open_ledger(place, code="0.1.0")
    ledger.register(Registration(DATASET, 3.0, 1e-5, 1.2e-6, "Adults of the survey, 2026"))
    return ledger


def test_a_dataset_is_registered_once(ledger):
    with pytest.raises(ParameterError, match="registered already"):
        ledger.register(Registration(DATASET, 30.0, 1e-5, 1e-6))
    assert ledger.account(DATASET).caps.epsilon == 3
    assert ledger.account(DATASET).population == "Adults of the survey, 2026"
    assert ledger.datasets() == (DATASET,)


def test_rule_4_an_unregistered_dataset_is_refused(ledger):
    other = release("2026-01", dataset="other")
    for refused in (
        lambda: ledger.check_admission(other, gdp_charge()),
        lambda: stored_measurement(ledger, other),
        lambda: draw_once(ledger, other, gdp_charge(), write_measurement),
    ):
        with pytest.raises(LedgerError, match="not registered"):
            refused()


def test_an_unknown_unit_is_refused(ledger):
    with pytest.raises(ParameterError, match="subject or row"):
        ledger.register(Registration("other", 1.0, 1e-6, 1e-7, unit="household"))


def test_caps_are_lowered_freely_and_below_what_is_spent(place):
    ledger = ledger_for(place, releases=3, epsilon=3.0)
    draw_once(ledger, release("2026-01"), gdp_charge(), write_measurement)
    lowered = ledger.lower(DATASET, 0.5, 1e-6)
    assert (lowered.caps.epsilon, lowered.caps.delta) == (Decimal("0.5"), Decimal("0.000001"))
    assert lowered.remaining[0] == 0
    with pytest.raises(BudgetExhausted):
        draw_once(ledger, release("2026-02"), gdp_charge(), write_measurement)
    assert stored_measurement(ledger, release("2026-01")) is not None


def test_lowering_does_not_raise_and_raising_does_not_lower(ledger):
    for caps in ((3.1, 1e-5, None), (3.0, 1.1e-5, None), (2.0, 1e-5, 1.3e-6)):
        with pytest.raises(ParameterError, match="at most"):
            ledger.lower(DATASET, *caps)
    for caps in ((2.9, 1e-5, None), (4.0, 9e-6, None), (4.0, 1e-5, 1e-6)):
        with pytest.raises(ParameterError, match="at least"):
            ledger.raise_caps(DATASET, *caps, reason="more")


def test_rule_7_lowering_the_thresholds_part_gives_nothing_to_the_noise(ledger):
    before = ledger.account(DATASET).caps.mu_squared
    assert ledger.lower(DATASET, 3.0, 1e-5, 1e-7).caps.mu_squared == before


def test_raising_needs_a_written_reason_that_stays_in_the_chain(ledger):
    with pytest.raises(ParameterError, match="reason"):
        ledger.raise_caps(DATASET, 4.0, 1e-5, reason="  ")
    raised = ledger.raise_caps(DATASET, 4.0, 1e-5, reason="Approved by the board on 2 May")
    assert raised.caps.epsilon == 4
    assert raised.reasons == ("Approved by the board on 2 May",)
    assert ledger.account(DATASET).guarantee == raised.caps


def test_rule_7_raising_does_not_move_budget_from_the_noise_to_the_thresholds(ledger):
    with pytest.raises(ParameterError, match="move budget between the noise and the thresholds"):
        ledger.raise_caps(DATASET, 3.0, 1e-5, 8e-6, reason="more open columns")


def test_the_guarantee_is_the_widest_cap_ever_in_force(ledger):
    widest = ledger.account(DATASET).caps
    ledger.lower(DATASET, 1.0, 1e-5)
    assert ledger.account(DATASET).guarantee == widest
    ledger.raise_caps(DATASET, 2.0, 1e-5, reason="lowered too far")
    assert ledger.account(DATASET).guarantee == widest
    ledger.raise_caps(DATASET, 5.0, 2e-5, reason="approved")
    assert ledger.account(DATASET).guarantee.epsilon == 5


def test_raised_caps_admit_more(place):
    ledger = ledger_for(place, releases=1)
    draw_once(ledger, release("2026-01"), gdp_charge(), write_measurement)
    with pytest.raises(BudgetExhausted):
        ledger.check_admission(release("2026-02"), gdp_charge())
    ledger.raise_caps(DATASET, 2.0, 2e-6, reason="a second year")
    draw_once(ledger, release("2026-02"), gdp_charge(), write_measurement)


#: D16: each run (1, 1e-6, share .1), all of them at delta 1e-5.
MU, DELTA_T, EPSILON = 0.8158009704, 1.19999934e-06, 3.487889197


def test_privacy_md_7_twelve_releases_cost_what_the_vector_says(place):
    ledger = Ledger(open_store(place))
    # R7: twelve such runs with D = 1.2e-6 need an epsilon of at least 3.4878892115.
    ledger.register(Registration(DATASET, 3.4878892116, 1e-5, 1.2e-6))
    for month in range(1, 13):
        drawn = draw_once(ledger, release(f"2026-{month:02}"), gdp_charge(), write_measurement)
        assert drawn.remaining_runs == 12 - month
    spent = ledger.account(DATASET).spent
    assert float(spent.mu_squared.sqrt()) == pytest.approx(MU, abs=1e-9)
    assert float(spent.threshold_delta) == pytest.approx(DELTA_T, rel=1e-8)
    rest = (1e-5 - float(spent.threshold_delta)) / float(spent.clean)
    assert gdp_epsilon(float(spent.mu_squared.sqrt()), rest) == pytest.approx(EPSILON, abs=1e-8)
    assert ledger.account(DATASET).epsilon_spent == pytest.approx(EPSILON, abs=1e-8)
    with pytest.raises(BudgetExhausted):
        draw_once(ledger, release("2027-01"), gdp_charge(), must_not_draw)
    assert draw_once(ledger, release("2026-07"), gdp_charge(), must_not_draw).reused
    assert ledger.audit().in_words == "all 38 entries verified"
