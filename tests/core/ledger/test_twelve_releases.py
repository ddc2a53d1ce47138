"""Twelve scheduled releases: the ledger's total is the published vector's, and the thirteenth is refused."""

import pytest

from tasks.core.dp.accounting import gdp_epsilon
from tasks.core.errors import BudgetExhausted
from tasks.core.ledger.account import Registration
from tasks.core.ledger.drawing import draw_once
from tasks.core.ledger.ledger import Ledger, open_store
from tests.oracles.drawing import must_not_draw, write_measurement
from tests.oracles.ledger_runs import DATASET, gdp_charge, release

#: D16: each run (1, 1e-6, share .1), all of them at delta 1e-5.
MU, DELTA_T, EPSILON = 0.8158009704, 1.19999934e-06, 3.487889197


def test_privacy_md_7_twelve_releases_cost_what_the_vector_says(place, tmp_path):
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
