"""P6: processes at once."""

import time

from tasks.core.ledger.ledger import Admission
from tests.oracles.ledger_races import race
from tests.oracles.ledger_runs import DATASET, charged, gdp_charge, ledger_for, release, run


def test_of_processes_that_race_for_one_budget_one_wins(place, tmp_path):
    ledger = ledger_for(place, releases=1)
    runs = [run(place, f"2026-{month}", tmp_path / "noise") for month in range(1, 5)]
    errors = [process.communicate()[1] for process in runs]
    assert sorted(process.returncode for process in runs) == [0, 3, 3, 3]
    assert sum("BudgetExhausted" in error for error in errors) == 3
    assert charged(ledger) == 1
    assert len((tmp_path / "noise").read_text().splitlines()) == 1
    ledger.verify()


def test_five_rounds_of_races_with_kills_at_random_moments(places, tmp_path):
    """Shorter than `tests/operations/test_races.py`."""
    for seed in range(5):
        race(places(f"ledger{seed}"), tmp_path / f"round{seed}", seed)


def test_of_two_runs_of_one_release_the_second_waits_and_returns_the_firsts(place, tmp_path):
    ledger = ledger_for(place, releases=1)
    log = tmp_path / "noise"
    first = run(place, "2026-01", log, "wait")
    while not (log.exists() and log.read_text()):
        assert first.returncode is None
        time.sleep(0.01)
    assert ledger.check_admission(release("2026-01"), gdp_charge()) is Admission.AT_WORK
    second = run(place, "2026-01", log)
    waited, said = second.communicate()
    drew = first.communicate()[0]
    assert (first.returncode, second.returncode) == (0, 0)
    assert "This run waits" in said
    assert drew.split()[1] == "False"
    assert waited.split() == [drew.split()[0], "True"]
    assert log.read_text() == "2026-01\n"
    assert charged(ledger) == 1


def test_a_waiting_run_takes_over_from_one_that_is_killed(place, tmp_path):
    ledger = ledger_for(place, releases=2, epsilon=2.0)
    log = tmp_path / "noise"
    first = run(place, "2026-01", log, "wait", "KILL@half written")
    while not (log.exists() and log.read_text()):
        assert first.returncode is None
        time.sleep(0.01)
    second = run(place, "2026-01", log)
    out, said = second.communicate()
    first.communicate()
    assert first.returncode == -9
    assert second.returncode == 0
    assert out.split()[1] == "False"
    assert "Its measurement is lost" in said
    assert [r.phase for r in ledger.account(DATASET).reservations] == ["lost", "commit"]
