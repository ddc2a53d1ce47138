"""The account on the run's page: what is told of a budget, and what happens where it refuses."""

import base64
import re
from xml.etree import ElementTree

import pytest

from tasks.core.ledger.drawing import draw_once
from tasks.core.ledger.ledger import Ledger
from tasks.sensitive.account import account_page
from tests.oracles.drawing import write_measurement
from tests.oracles.ledger_runs import DATASET, gdp_charge, ledger_for, release


@pytest.fixture
def ledger(tmp_path):
    return ledger_for(tmp_path / "ledger", releases=3, epsilon=3.0)


def page(ledger: Ledger) -> str:
    account = ledger.account(DATASET)
    left = account.remaining_runs(gdp_charge().mu_squared_exact, gdp_charge().threshold_delta_exact)
    return account_page(account, ledger.audit(), left)


def test_the_page_tells_what_is_spent_and_left_and_that_all_is_verified(ledger):
    assert "**3 more releases** at this setting" in page(ledger)
    draw_once(ledger, release("2026-01"), gdp_charge(), write_measurement)
    ledger.reserve(release("2026|02"), gdp_charge())
    told = page(ledger)
    assert "**1 more release** at this setting" in told
    assert "All 6 entries verified." in told
    assert re.search(r"\| 2026-01 \| charged, drawn, \d{4}-\d\d-\d\d \| 1, 1e-06 \|", told)
    assert "| 2026\\|02 | charged, not drawn yet" in told
    assert told.index("2026\\|02") < told.index("2026-01"), "the newest first"


def test_the_bar_is_an_image_of_its_own_filled_by_what_adds_up_and_not_by_epsilon(ledger):
    """One of three releases: a third of mu², and more than a third of epsilon."""
    draw_once(ledger, release("2026-01"), gdp_charge(), write_measurement)
    account = ledger.account(DATASET)
    found = re.match(
        r"!\[Budget of the dataset\]\(data:image/svg\+xml;base64,([A-Za-z0-9+/=]+)\)", page(ledger)
    )
    assert found
    svg = ElementTree.fromstring(base64.b64decode(found[1]))
    told = "".join(svg.itertext())
    assert int(svg.attrib["width"]) <= 600 and "http" not in told
    share = float(account.spent.mu_squared / account.caps.mu_squared)
    assert f"{share:.0%} used" in told
    assert f"{account.epsilon_spent / float(account.caps.epsilon):.0%}" not in told
