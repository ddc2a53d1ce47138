"""Caps: registered once, lowered freely, raised with a reason, always inside one another (R7)."""

from decimal import Decimal

import pytest

from tasks.core.errors import BudgetExhausted, LedgerError, ParameterError
from tasks.core.ledger.account import Registration
from tasks.core.ledger.drawing import draw_once
from tasks.core.ledger.ledger import open_ledger
from tests.oracles.drawing import write_measurement
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


def test_lowering_does_not_raise(ledger):
    for caps in ((3.1, 1e-5, None), (3.0, 1.1e-5, None), (2.0, 1e-5, 1.3e-6)):
        with pytest.raises(ParameterError, match="at most"):
            ledger.lower(DATASET, *caps)


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


def test_raising_does_not_lower(ledger):
    for caps in ((2.9, 1e-5, None), (4.0, 9e-6, None), (4.0, 1e-5, 1e-6)):
        with pytest.raises(ParameterError, match="at least"):
            ledger.raise_caps(DATASET, *caps, reason="more")


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
