"""The chain on disk: append-only, complete, and refused when damaged in any way (R4, P6)."""

import json
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tasks.core.dp.digest import canonical, sha256_of
from tasks.core.errors import LedgerError, MeasurementLost
from tasks.core.ledger.account import Registration
from tasks.core.ledger.drawing import draw_once
from tasks.core.ledger.ledger import Ledger, open_ledger
from tasks.core.ledger.sqlite import SqliteStore
from tests.oracles.drawing import must_not_draw, write_measurement
from tests.oracles.ledger_runs import DATASET, ROOT, charged, edit_file, gdp_charge, ledger_for, release


@pytest.fixture
def ledger(tmp_path):
    ledger = ledger_for(tmp_path / "ledger", releases=3, epsilon=3.0)
    draw_once(ledger, release("2026-01"), gdp_charge(), write_measurement)
    return ledger


def folder_of(ledger: Ledger) -> Path:
    assert isinstance(ledger.store, SqliteStore)
    return ledger.store.folder


def _is_refused(ledger: Ledger) -> None:
    for refused in (
        ledger.verify,
        lambda: ledger.account(DATASET),
        lambda: ledger.check_admission(release("2026-02"), gdp_charge()),
        lambda: draw_once(ledger, release("2026-01"), gdp_charge(), must_not_draw),
        lambda: ledger.register(Registration("other", 1.0, 1e-6, 1e-7)),
    ):
        with pytest.raises(LedgerError, match="Restore the folder from a backup"):
            refused()


@pytest.mark.parametrize(
    "statement",
    [
        "update entries set body = replace(body, '1E-7', '1E-9') where seq = 3",
        "update entries set body = replace(body, '3.0', '9.0') where seq = 2",
        "update entries set sha256 = replace(sha256, 'a', 'b') where seq = 4",
        "delete from entries where seq = 3",
        "delete from entries where seq = 1",
        "delete from entries",
        "update entries set body = 'not json' where seq = 5",
        "update entries set seq = 9 where seq = 5",
        "insert into entries (seq, body, sha256) values (6, '{}', 'x')",
        "drop table entries",
    ],
)
def test_p6_a_tampered_entry_is_detected(ledger, statement):
    edit_file(folder_of(ledger), statement)
    _is_refused(ledger)


def test_p6_an_entry_rewritten_with_its_own_hash_breaks_the_next(ledger):
    body = dict(ledger.store.entries()[2].body) | {"mu2": "0.001"}
    text = canonical(body)
    edit_file(
        folder_of(ledger), f"update entries set body = '{text}', sha256 = '{sha256_of(text)}' where seq = 3"
    )
    _is_refused(ledger)


def test_the_file_itself_refuses_changes(ledger):
    connection = sqlite3.connect(folder_of(ledger) / "ledger.sqlite")
    for statement in ("update entries set body = ''", "delete from entries"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            connection.execute(statement)
    connection.close()


def test_a_head_recorded_earlier_is_still_good(ledger):
    recorded = ledger.head()
    draw_once(ledger, release("2026-02"), gdp_charge(), write_measurement)
    assert ledger.verify(recorded) == ledger.head() != recorded


def test_another_ledgers_head_is_refused(ledger, tmp_path):
    other = ledger_for(tmp_path / "other", releases=3, epsilon=3.0)
    with pytest.raises(LedgerError, match="another ledger"):
        ledger.verify(other.head())


def test_a_chain_cut_before_a_stored_measurement_is_detected_without_a_recorded_head(ledger):
    last = ledger.store.entries()[1]
    edit_file(folder_of(ledger), "delete from entries where seq >= 3")
    head = {"seq": last.seq, "sha256": last.sha256}
    (folder_of(ledger) / "head.json").write_text(json.dumps(head))
    with pytest.raises(LedgerError, match="none of its entries names"):
        draw_once(ledger, release("2026-01"), gdp_charge(), must_not_draw)


def _cut_in_half(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def _overwrite(file: Path) -> None:
    file.write_bytes(b"\0" * file.stat().st_size)


def _empty(file: Path) -> None:
    file.write_bytes(b"")


@pytest.mark.parametrize("damage", [_cut_in_half, _overwrite, _empty])
def test_a_damaged_file_is_refused(ledger, damage):
    damage(folder_of(ledger) / "ledger.sqlite")
    _is_refused(ledger)


def test_rule_4_a_commit_is_on_the_disk_when_it_returns(ledger):
    store = ledger.store
    assert isinstance(store, SqliteStore)
    with store._connection() as connection:
        assert connection.execute("pragma synchronous").fetchone() == (3,)
        assert connection.execute("pragma journal_mode").fetchone() == ("delete",)


def test_transactions_take_turns(tmp_path):
    store = SqliteStore(tmp_path / "ledger")
    began, seen = threading.Event(), []

    def second() -> None:
        with store.transaction() as work:
            began.set()
            seen.append(len(work.entries))
            work.append({"phase": "note", "text": "second"})

    thread = threading.Thread(target=second)
    with store.transaction() as work:
        thread.start()
        assert not began.wait(0.2)
        work.append({"phase": "note", "text": "first"})
    thread.join(60)
    assert seen == [2]
    assert [entry.phase for entry in store.entries()] == ["open", "note", "note"]


def test_a_transaction_that_fails_leaves_nothing(tmp_path):
    store = SqliteStore(tmp_path / "ledger")
    with suppress(ValueError), store.transaction() as work:
        work.append({"phase": "note"})
        raise ValueError
    assert len(store.entries()) == 1


_WRITER = """
import sys
from pathlib import Path
from tasks.core.ledger.account import Registration; from tasks.core.ledger.ledger import open_ledger
ledger = open_ledger(Path(sys.argv[1]))
for number in range(10_000):
    ledger.register(Registration(f"dataset {sys.argv[2]}.{number}", 1.0, 1e-6, 1e-7))
    print(number, flush=True)
"""


def test_a_torn_last_write_is_ignored_and_nothing_acknowledged_is_lost(tmp_path):
    folder = tmp_path / "ledger"
    open_ledger(folder)
    for attempt, delay in enumerate((0.02, 0.05, 0.09)):
        command = [sys.executable, "-c", _WRITER, str(folder), str(attempt)]
        writer = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(delay)
        writer.send_signal(signal.SIGKILL)
        acknowledged = 1 + len(writer.stdout.readlines())
        writer.wait()
        names = [name for name in open_ledger(folder).datasets() if name.startswith(f"dataset {attempt}.")]
        assert len(names) in (acknowledged, acknowledged + 1)


def test_a_write_that_was_torn_in_the_file_is_undone(ledger):
    """What a power cut in the middle of a commit leaves: a half-written file beside a whole journal."""
    file = folder_of(ledger) / "ledger.sqlite"
    head = ledger.head()
    connection = sqlite3.connect(file, isolation_level=None)
    connection.execute("pragma cache_size = 1")
    connection.execute("begin immediate")
    for seq in range(100, 140):
        connection.execute(
            "insert into entries (seq, body, sha256) values (?, ?, ?)", (seq, "x" * 4000, str(seq))
        )
    torn = file.parents[1] / "torn"
    shutil.copytree(file.parent, torn)
    connection.execute("rollback")
    connection.close()
    assert (torn / "ledger.sqlite").read_bytes() != file.read_bytes()
    assert (torn / "ledger.sqlite-journal").stat().st_size > 0
    assert open_ledger(torn).head() == head


class _FullStore(SqliteStore):
    """A store whose file may not grow once `full` is set: SQLite's own "disk is full"."""

    full = False

    @contextmanager
    def _connection(self, file: Path | None = None) -> Iterator[sqlite3.Connection]:
        with super()._connection(file) as connection:
            if self.full:
                pages = connection.execute("pragma page_count").fetchone()[0]
                connection.execute(f"pragma max_page_count = {pages}")
            yield connection


def test_a_ledger_on_a_full_disk_admits_nothing(tmp_path):
    ledger, store = _nearly_full(tmp_path)
    store.full = True
    with pytest.raises(LedgerError, match="disk is full"):
        draw_once(ledger, release("2026-01"), gdp_charge(), must_not_draw)
    store.full = False
    assert charged(ledger) == 0


def test_a_ledger_that_fills_up_before_drawing_draws_nothing_and_keeps_the_reservation(
    tmp_path,
):
    ledger, store = _nearly_full(tmp_path)
    began: list[bool] = []

    def draw(folder: Path, leave: Callable[[], None]) -> None:
        _fill(ledger)
        store.full = True
        leave()
        began.append(True)

    with pytest.raises(LedgerError, match="disk is full"):
        draw_once(ledger, release("2026-01"), gdp_charge(), draw)
    assert began == []
    store.full = False
    assert draw_once(ledger, release("2026-01"), gdp_charge(), write_measurement).reused is False
    assert charged(ledger) == 1


def test_a_ledger_that_fills_up_before_the_commit_keeps_the_measurement(tmp_path):
    ledger, store = _nearly_full(tmp_path)

    def draw(folder: Path, leave: Callable[[], None]) -> None:
        write_measurement(folder, leave)
        _fill(ledger)
        store.full = True

    with pytest.raises(LedgerError, match="does not draw again"):
        draw_once(ledger, release("2026-01"), gdp_charge(), draw)
    store.full = False
    assert draw_once(ledger, release("2026-01"), gdp_charge(), must_not_draw).reused
    assert charged(ledger) == 1


def test_a_draw_that_goes_on_though_the_ledger_could_not_say_drawing_is_lost(tmp_path):
    ledger, store = _nearly_full(tmp_path)

    def draw(folder: Path, leave: Callable[[], None]) -> None:
        _fill(ledger)
        store.full = True
        with suppress(LedgerError):
            leave()
        store.full = False
        raise ValueError

    with pytest.raises(MeasurementLost):
        draw_once(ledger, release("2026-01"), gdp_charge(), draw)
    assert ledger.account(DATASET).reservations[0].phase == "lost"


def _nearly_full(tmp_path: Path) -> tuple[Ledger, _FullStore]:
    store = _FullStore(tmp_path / "ledger")
    ledger = Ledger(store)
    ledger.register(Registration(DATASET, 1.0, 1e-6, 1e-7))
    _fill(ledger)
    return ledger, store


def _fill(ledger: Ledger) -> None:
    """Append until the last page has no room for one more entry."""
    file = folder_of(ledger) / "ledger.sqlite"
    for number in range(len(ledger.datasets()), 200):
        if _would_grow(file):
            return
        ledger.register(Registration(f"filler {number}", 1.0, 1e-6, 1e-7, population="x" * (number % 9 * 60)))
    raise AssertionError("the file never fills")


def _would_grow(file: Path) -> bool:
    connection = sqlite3.connect(file, isolation_level=None)
    try:
        pages = connection.execute("pragma page_count").fetchone()[0]
        connection.execute(f"pragma max_page_count = {pages}")
        connection.execute("begin immediate")
        connection.execute(
            "insert into entries (seq, body, sha256) values (999999, ?, 'probe')", ("x" * 250,)
        )
        connection.execute("rollback")
    except sqlite3.OperationalError:
        return True
    finally:
        connection.close()
    return False
