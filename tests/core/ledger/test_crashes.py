"""P6: whatever a run dies of, and wherever, the next one charges and draws exactly what it must."""

import signal
from pathlib import Path

import pytest

from tasks.core.ledger.drawing import LOST, RESCUED, REUSED, WAITING_FOR_THE_DRAW
from tasks.core.ledger.ledger import Admission
from tests.oracles.ledger_runs import (
    DATASET,
    charged,
    gdp_charge,
    ledger_for,
    release,
    run,
    stored_measurement,
)

PLACES = [
    # where it dies, what the next run says, charges after it, noise drawn in all
    ("before reserve", "", 1, 1),
    ("after reserve", REUSED, 1, 1),
    ("counting", REUSED, 1, 1),
    ("before drawing", REUSED, 1, 1),
    ("after drawing", LOST, 2, 1),
    ("leave given", LOST, 2, 1),
    ("half written", LOST, 2, 2),
    ("written", LOST, 2, 2),
    ("before commit", RESCUED, 1, 1),
    ("after commit", "", 1, 1),
]


@pytest.mark.parametrize(("moment", "said", "charges", "draws"), PLACES, ids=[p[0] for p in PLACES])
def test_rule_4_after_a_kill_at_each_phase_the_next_run_charges_what_it_must(
    place, tmp_path, moment, said, charges, draws
):
    ledger = ledger_for(place, releases=3, epsilon=3.0)
    log = tmp_path / "noise"
    log.touch()

    killed = run(place, "2026-01", log, f"KILL@{moment}")
    killed.communicate()
    assert killed.returncode == -signal.SIGKILL
    head = ledger.head()
    admission = ledger.check_admission(release("2026-01"), gdp_charge())
    assert ledger.head() == head, "to ask writes nothing"
    expected = {
        REUSED: Admission.RESERVED,
        RESCUED: Admission.COMMITTED,
        LOST: Admission.ADMISSIBLE,
        "": Admission.COMMITTED if moment == "after commit" else Admission.ADMISSIBLE,
    }
    assert admission is expected[said]

    resumed = run(place, "2026-01", log)
    out, err = resumed.communicate()
    assert resumed.returncode == 0
    assert err.strip() == said
    assert charged(ledger) == charges
    assert len(log.read_text().splitlines()) == draws
    assert ("True" in out) == (said == RESCUED or moment == "after commit")
    assert ledger.store.measurements.names() == {Path(out.split()[0]).name}
    ledger.verify()


def test_two_kills_before_the_noise_are_still_one_charge(place, tmp_path):
    ledger = ledger_for(place, releases=1)
    for moment in ("after reserve", "counting", "before drawing"):
        run(place, "2026-01", tmp_path / "noise", f"KILL@{moment}").communicate()
    last = run(place, "2026-01", tmp_path / "noise")
    last.communicate()
    assert last.returncode == 0
    assert charged(ledger) == 1


def test_a_lost_measurement_that_the_budget_does_not_cover_again_is_refused(place, tmp_path):
    ledger = ledger_for(place, releases=1)
    run(place, "2026-01", tmp_path / "noise", "KILL@half written").communicate()
    again = run(place, "2026-01", tmp_path / "noise")
    assert "BudgetExhausted" in again.communicate()[1]
    assert again.returncode == 3
    assert charged(ledger) == 1


@pytest.mark.parametrize("moment", ["after reserve", "counting"])
def test_ctrl_c_before_the_noise_leaves_nothing_charged_or_a_reservation(place, tmp_path, moment):
    ledger = ledger_for(place, releases=1)
    stopped = run(place, "2026-01", tmp_path / "noise", f"INT@{moment}")
    assert "KeyboardInterrupt" in stopped.communicate()[1]
    assert ledger.account(DATASET).reservations[0].phase == ("void" if moment == "counting" else "reserve")
    assert run(place, "2026-01", tmp_path / "noise").communicate()[0].endswith("False\n")
    assert charged(ledger) == 1


@pytest.mark.parametrize("blow", ["INT", "TERM"])
@pytest.mark.parametrize(
    "moment", ["before drawing", "after drawing", "leave given", "written", "before commit"]
)
def test_an_interrupt_while_noise_is_drawn_waits_for_the_commit(place, tmp_path, blow, moment):
    ledger = ledger_for(place, releases=1)
    stopped = run(place, "2026-01", tmp_path / "noise", f"{blow}@{moment}")
    out, err = stopped.communicate()
    assert WAITING_FOR_THE_DRAW in err
    assert out == ""
    assert stopped.returncode == (-signal.SIGTERM if blow == "TERM" else 1)
    assert ("KeyboardInterrupt" in err) == (blow == "INT")
    assert ledger.account(DATASET).reservations[0].phase == "commit"
    assert stored_measurement(ledger, release("2026-01")) is not None


@pytest.mark.parametrize("moment", ["after drawing", "leave given", "half written"])
def test_a_second_ctrl_c_while_noise_is_drawn_loses_the_measurement(place, tmp_path, moment):
    ledger = ledger_for(place, releases=1)
    stopped = run(place, "2026-01", tmp_path / "noise", f"INT@{moment}", f"INT@{moment}")
    err = stopped.communicate()[1]
    assert stopped.returncode == 1
    assert "MeasurementLost" in err
    assert "it was interrupted" in err
    assert ledger.account(DATASET).reservations[0].phase == "lost"
    assert charged(ledger) == 1


def test_a_second_ctrl_c_before_the_word_drawing_is_kept_is_void(place, tmp_path):
    ledger = ledger_for(place, releases=1)
    stopped = run(place, "2026-01", tmp_path / "noise", *["INT@before drawing"] * 2)
    assert "KeyboardInterrupt" in stopped.communicate()[1]
    assert ledger.account(DATASET).reservations[0].phase == "void"
    assert charged(ledger) == 0
