"""Things break under the ledger itself: what is seen, what was charged, and what the next run does."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tasks.core.errors import LedgerError, MeasurementLost
from tasks.core.ledger.drawing import LOST, draw_once
from tasks.core.ledger.ledger import Ledger, open_ledger
from tasks.core.ledger.place import Database
from tests.operations.installation import small_disk
from tests.oracles.drawing import must_not_draw, write_measurement
from tests.oracles.ledger_runs import DATASET, charged, gdp_charge, ledger_for, release, run, told_of_draw
from tests.postgresql import PostgreSQL, programs, running

pytestmark = pytest.mark.operations
Leave = Callable[[], None]


@pytest.fixture
def database(postgresql, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return Database(postgresql.create(tmp_path.name))


def crash(server: PostgreSQL) -> None:
    """What a power cut and a restart are for PostgreSQL."""
    server.stop("immediate")
    server.start()


def phases(ledger: Ledger) -> list[str]:
    return [each.phase for each in ledger.account(DATASET).reservations]


@pytest.mark.needs_postgresql
def test_postgresql_restarted_in_the_noise_loses_the_draw_which_stays_charged(database, postgresql):
    ledger = ledger_for(database, releases=2, epsilon=2.0)

    def draw(folder: Path, leave: Leave) -> None:
        write_measurement(folder, leave)
        crash(postgresql)

    with pytest.raises(MeasurementLost, match="went out of reach"):
        draw_once(ledger, release("2026-01"), gdp_charge(), draw)
    assert phases(ledger) == ["drawing"], "the word is durable: it was there before the noise"
    assert told_of_draw(ledger, release("2026-01"), gdp_charge(), write_measurement) == [LOST]
    assert phases(ledger) == ["lost", "commit"]
    crash(postgresql)
    assert draw_once(ledger, release("2026-01"), gdp_charge(), must_not_draw).reused
    assert charged(ledger) == 2
    ledger.audit()


@pytest.mark.needs_postgresql
def test_postgresql_that_is_away_refuses_and_a_waiting_run_ends_with_it(database, postgresql, tmp_path):
    ledger = ledger_for(database)
    log = tmp_path / "noise"
    first = run(database, "2026-01", log, "hold")
    while not log.exists():
        time.sleep(0.05)
    second = run(database, "2026-01", log)
    while not log.with_suffix(".waiting").exists():
        time.sleep(0.05)
    postgresql.stop("immediate")
    log.with_suffix(".released").touch()
    try:
        ends = [each.communicate()[1] for each in (first, second)]
        with pytest.raises(LedgerError, match="must be readable and writable"):
            ledger.verify()
    finally:
        postgresql.start()
    assert all("LedgerError" in said or "MeasurementLost" in said for said in ends), ends
    assert [each.returncode for each in (first, second)] == [1, 1]
    assert charged(open_ledger(database)) == 1


@pytest.mark.needs_postgresql
def test_a_server_that_does_not_keep_what_it_confirms_is_refused(tmp_path_factory, tmp_path, monkeypatch):
    """On a server of its own: one that is told so while it runs may not survive it."""
    if programs() is None:
        pytest.skip("needs the programs of PostgreSQL (Debian: apt-get install postgresql)")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with running(tmp_path_factory.mktemp("careless")) as server:
        ledger = ledger_for(Database(server.create("ledger")))
        with (server.folder / "postgresql.conf").open("a") as settings:
            settings.write("fsync = off\n")
        server.stop()
        server.start()
        with pytest.raises(LedgerError, match="fsync is not on"):
            draw_once(ledger, release("2026-01"), gdp_charge(), must_not_draw)


@pytest.mark.needs_tmpfs
def test_a_ledger_on_a_disk_that_fills_up_charges_nothing_twice_and_draws_nothing_twice(
    tmp_path,
):
    disk = tmp_path / "disk"
    with small_disk(disk, "1m"):
        ledger = ledger_for(disk / "ledger", releases=50, epsilon=20.0)
        blocks, refused = disk / "blocks", 0
        noise: dict[str, int] = {}
        for month in range(1, 13):
            vintage = f"2026-{month:02}"

            def draw(folder: Path, leave: Leave, vintage: str = vintage) -> None:
                leave()
                noise[vintage] = noise.get(vintage, 0) + 1
                (folder / "counts_1.parquet").write_bytes(bytes(20_000))

            free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_bsize
            # Less and less room: here it is the chain that has none, there the measurement.
            blocks.write_bytes(bytes(max(0, free - 3_000 * month)))
            try:
                draw_once(ledger, release(vintage), gdp_charge(), draw)
            except (LedgerError, MeasurementLost, OSError) as error:
                refused += 1
                assert "space" in str(error) or "full" in str(error) or "charged twice" in str(error)
            blocks.unlink()
            draw_once(ledger, release(vintage), gdp_charge(), draw)
            reservations = [r for r in ledger.account(DATASET).reservations if r.name.vintage == vintage]
            assert [r.phase for r in reservations].count("commit") == 1
            assert noise[vintage] <= sum(r.is_charged for r in reservations)
        assert refused > 3
        ledger.audit()
