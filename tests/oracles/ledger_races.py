"""A round of a race for a budget: processes that run at once, one perhaps killed at a random moment.

What must hold after every round, whatever happened: never overspent, never deadlocked, nothing charged twice,
no release with two draws.
"""

import random
import time
from collections import Counter
from pathlib import Path

from tasks.core.ledger.ledger import Ledger, open_ledger
from tasks.core.ledger.place import Place
from tests.oracles.ledger_runs import DATASET, Run, charged, ledger_for, run

#: A run takes about so long, from its fork to its commit: two wait for each other.
_RUN_SECONDS = 0.5


def race(place: Place, folder: Path, seed: int) -> str:
    """Do one round and check it; what it was.

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
