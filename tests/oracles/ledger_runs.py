"""A run of a release in a process of its own, which strikes itself down where it is told to.

`run` forks it from a server that has imported everything. A blow is ``BLOW@PLACE``: BLOW is KILL, INT or
TERM; PLACE is ``before PHASE`` (the entry is written but not committed), ``after PHASE`` (it is
committed), or a place in the draw: ``counting``, ``leave given``, ``half written``, ``written``.
``wait`` in place of a blow makes the draw wait until another process waits for it, ``hold`` until a file
beside the log ends in ``.released``; ``slow`` makes it slow.

Each noise word drawn is a line in the log. Prints the measurement's folder and whether it was reused.
"""

import multiprocessing
import os
import signal
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from decimal import Decimal
from pathlib import Path

import psycopg
import pytest

from tasks.core.dp.budget import Charge, decimal_up, mu_squared
from tasks.core.errors import LedgerError, MarginaliaError
from tasks.core.ledger.account import Registration
from tasks.core.ledger.drawing import DrawInto, draw_once
from tasks.core.ledger.entries import Transaction
from tasks.core.ledger.ledger import Ledger, open_ledger, open_store
from tasks.core.ledger.names import ReleaseName
from tasks.core.ledger.place import Database, Place
from tasks.core.ledger.store import LedgerStore
from tests.oracles.drawing import must_not_draw

ROOT = Path(__file__).resolve().parents[2]
DATASET = "survey"


def gdp_charge(epsilon: float = 1.0, delta: float = 1e-6, share: float = 0.1) -> Charge:
    """The charge that the default accountant plans for a claim."""
    mu2 = mu_squared(decimal_up(epsilon), decimal_up(delta), decimal_up(share * delta))
    return Charge(float(mu2), share * delta, epsilon, delta)


def release(vintage: str, dataset: str = DATASET) -> ReleaseName:
    """A release's name of some configuration."""
    return ReleaseName(dataset, vintage, "0" * 64)


def ledger_for(place: Place, releases: int = 1, epsilon: float = 1.0) -> Ledger:
    """A ledger whose dataset has exactly the budget of so many releases of `gdp_charge()`."""
    ledger = Ledger(open_store(place))
    ledger.register(Registration(DATASET, epsilon, 1e-6 * releases, 1e-7 * releases))
    return ledger


def charged(ledger: Ledger) -> Decimal:
    """How many releases of `gdp_charge()` are charged."""
    return ledger.account(DATASET).spent.mu_squared / gdp_charge().mu_squared_exact


def told_of_draw(ledger: Ledger, name: ReleaseName, charge: Charge, draw: DrawInto) -> list[str]:
    """What the operator is told of a draw."""
    told: list[str] = []
    draw_once(ledger, name, charge, draw, told.append)
    return told


def stored_measurement(ledger: Ledger, name: ReleaseName) -> Path | None:
    """The folder of a committed release's measurement, verified; None where there is none."""
    latest = ledger.account(name.dataset).latest(name)
    return ledger.committed_folder(latest) if latest is not None and latest.phase == "commit" else None


def is_refused(place: Place, ledger: Ledger, words: str) -> None:
    """Whatever somebody asks of a ledger that was damaged, who holds it open and who opens it."""
    for asked in (
        ledger.verify,
        lambda: ledger.account(DATASET),
        lambda: ledger.check_admission(release("2026-02"), gdp_charge()),
        lambda: draw_once(ledger, release("2026-01"), gdp_charge(), must_not_draw),
        lambda: ledger.register(Registration("other", 1.0, 1e-6, 1e-7)),
        lambda: open_ledger(place).datasets(),
    ):
        with pytest.raises(LedgerError, match=words):
            asked()


def edit(place: Place, *statements: str) -> None:
    """As somebody with the ledger's file or database in hand would: triggers are set aside."""
    if isinstance(place, Database):
        with psycopg.connect(place.address) as connection:
            connection.execute("set session_replication_role = replica")
            for statement in statements:
                connection.execute(statement)  # type: ignore[arg-type]
        return
    with closing(sqlite3.connect(place / "ledger.sqlite")) as connection, connection:
        for trigger in ("entries_are_never_changed", "entries_are_never_deleted"):
            connection.execute(f"drop trigger if exists {trigger}")
        for statement in statements:
            connection.execute(statement)


class Run:
    """A process with what it printed."""

    def __init__(self, place: Place, *arguments: str) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(
            ["pytest", "tests.oracles.ledger_runs", "tasks.core.ledger.postgresql"]
        )
        self._printed = Path(tempfile.mkdtemp(prefix="run.", dir=Path(arguments[1]).parent))
        self._process = context.Process(
            target=_redirected, args=(str(self._printed), dict(os.environ), place, arguments)
        )
        self._process.start()

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def kill(self) -> None:
        """End it at once, wherever it is."""
        self._process.kill()

    def communicate(self) -> tuple[str, str]:
        """Wait for its end; what it printed, and what it said."""
        self._process.join(60)
        assert self._process.exitcode is not None, "the run hangs"
        texts = (self._printed / name for name in ("out", "err"))
        out, err = (text.read_text() if text.exists() else "" for text in texts)  # killed before it began
        return out, err


def run(place: Place, vintage: str, log: Path, *blows: str) -> Run:
    """Start a run of the release of that vintage."""
    return Run(place, vintage, str(log), *blows)


def _redirected(printed: str, environment: dict[str, str], place: Place, arguments: tuple[str, ...]) -> None:
    os.environ.update(environment)  # the server that forks has its own, of when it began
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(Path(printed) / name, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600), number)
    sys.exit(main(place, *arguments))


class _Blows:
    def __init__(self, blows: list[str]) -> None:
        self.blows = [tuple(blow.split("@")) for blow in blows]

    def at(self, place: str) -> None:
        for blow, where in self.blows:
            if where == place:
                os.kill(os.getpid(), getattr(signal, f"SIG{blow}"))


def _mortal(store: LedgerStore, blows: _Blows) -> LedgerStore:
    """The store itself, with blows around its commits."""
    transaction = store.transaction

    @contextmanager
    def struck() -> Iterator[Transaction]:
        with transaction() as work:
            yield work
            phases = [entry.phase for entry in work.appended]
            for phase in phases:
                blows.at(f"before {phase}")
        for phase in phases:
            blows.at(f"after {phase}")

    store.transaction = struck  # type: ignore[method-assign]
    return store


def main(place: Place, vintage: str, log: str, *blows: str) -> int:
    waits = "wait" in blows or "hold" in blows
    pause = 0.05 if "slow" in blows else 0.0
    strike = _Blows([blow for blow in blows if "@" in blow])
    store = _mortal(open_store(place), strike)
    noise = Path(log)
    somebody_waits = noise.with_suffix(".waiting")
    awaited = noise.with_suffix(".released") if "hold" in blows else somebody_waits

    def draw(part: Path, leave: Callable[[], None]) -> None:
        strike.at("counting")
        leave()
        strike.at("leave given")
        with noise.open("a") as drawn:
            drawn.write(f"{vintage}\n")
        deadline = time.monotonic() + 60
        while waits and not awaited.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(pause)
        (part / "counts_1.parquet").write_text("1")
        time.sleep(pause)
        strike.at("half written")
        (part / "counts_2.parquet").write_text("2")
        strike.at("written")

    def notice(sentence: str) -> None:
        print(sentence, file=sys.stderr, flush=True)
        if "waits" in sentence:
            somebody_waits.touch()

    try:
        measured = draw_once(Ledger(store), release(vintage), gdp_charge(), draw, notice)
    except MarginaliaError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        return error.exit_code
    print(measured.folder, measured.reused, flush=True)
    return 0
