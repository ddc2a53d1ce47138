"""P6: processes at once; of rounds of races `tests/operations/test_races.py` has more."""

import random
import time
from collections import Counter
from pathlib import Path

from tasks.core.ledger.ledger import Admission, Ledger, open_ledger
from tasks.core.ledger.place import Place
from tests.oracles.ledger_runs import DATASET, Run, charged, gdp_charge, ledger_for, release, run

#: A run takes about so long, from its fork to its commit: two wait for each other.
_RUN_SECONDS = 0.5


def race(place: Place, folder: Path, seed: int) -> str:
    """Do one round, of processes that run at once, one perhaps killed at a random moment; what it was.

    After every round, whatever happened: never overspent, never deadlocked, nothing charged twice, no release
    with two draws.

    Args:
        place: of a ledger that is not there yet.
        folder: for what is printed, made here.
        seed: of what happens in it: whose releases, and who is killed when.
    """
    chance = random.Random(seed)
    folder.mkdir()
    is_one_release, dies = chance.random() < 0.5, chance.random() < 0.6
    room = 2 if is_one_release and dies else 1
    ledger = ledger_for(place, releases=room, epsilon=2.0 if room == 2 else 1.0)
    vintages = ["2026-01"] * 2 if is_one_release else ["2026-01", "2026-02"]
    noise = folder / "noise"
    noise.touch()
    runs = [run(place, vintage, noise, "slow") for vintage in vintages]
    if dies:
        time.sleep(chance.uniform(0, _RUN_SECONDS))
        runs[chance.randrange(2)].kill()
    _finish(runs)
    codes = [each.returncode for each in runs]
    if not dies:
        assert sorted(codes) == ([0, 0] if is_one_release else [0, 3]), codes  # type: ignore[type-var]
    _check(ledger, noise, room)
    # Whoever was killed is run again, and so is who waited: that settles all that is open.
    again = [run(place, vintage, noise) for vintage in dict.fromkeys(vintages)]
    _finish(again)
    assert 0 in [each.returncode for each in again] or not is_one_release
    _check(open_ledger(place), noise, room)
    settled = {each.phase for each in ledger.account(DATASET).reservations}
    assert settled <= {"commit", "lost", "void", "replaced", "reserve"}
    return f"{'one release' if is_one_release else 'one budget'}, {codes}, {sorted(settled)}"


def _finish(runs: list[Run]) -> None:
    for each in runs:
        each.communicate()  # fails after a minute: a deadlock


def _check(ledger: Ledger, noise: Path, room: int) -> None:
    ledger.audit()
    account = ledger.account(DATASET)
    assert charged(ledger) <= room, "overspent"
    drawn = Counter(noise.read_text().splitlines())
    for vintage in {each.name.vintage for each in account.reservations}:
        own = [each for each in account.reservations if each.name.vintage == vintage]
        commits = [each for each in own if each.phase == "commit"]
        assert len(commits) <= 1, "a release with two draws"
        assert drawn[vintage] <= sum(each.is_charged for each in own), "noise that nobody was charged for"
        for each in commits:
            ledger.committed_folder(each)
    kept = ledger.store.measurements.names()
    assert kept <= {each.measurement_name for each in account.reservations}


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
