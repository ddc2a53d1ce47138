"""The chain on disk: append-only, complete, and refused when damaged in any way (R4, P6)."""

import json
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tasks.core.dp.digest import canonical, sha256_of
from tasks.core.errors import LedgerError
from tasks.core.ledger.account import Registration
from tasks.core.ledger.drawing import draw_once
from tasks.core.ledger.ledger import Ledger, open_ledger
from tasks.core.ledger.sqlite import SqliteStore
from tests.oracles.drawing import must_not_draw, write_measurement
from tests.oracles.ledger_runs import DATASET, charged, edit, gdp_charge, is_refused, ledger_for, release


@pytest.fixture
def ledger(tmp_path):
    ledger = ledger_for(tmp_path / "ledger", releases=3, epsilon=3.0)
    draw_once(ledger, release("2026-01"), gdp_charge(), write_measurement)
    return ledger


def folder_of(ledger: Ledger) -> Path:
    assert isinstance(ledger.store, SqliteStore)
    return ledger.store.folder


WORDS = "Restore the folder from a backup"


@pytest.mark.parametrize(
    "statement",
    [
        "update entries set body = replace(body, '1E-7', '1E-9') where seq = 3",
        "update entries set body = replace(body, '3.0', '9.0') where seq = 2",
        "update entries set sha256 = sha256 || '0' where seq = 4",
        "delete from entries where seq = 3",
        "delete from entries where seq = 1",
        "delete from entries",
        "update entries set body = 'not json' where seq = 5",
        "update entries set seq = 9 where seq = 5",
        "insert into entries (seq, body, sha256) values (6, '{}', 'x')",
        "drop table entries",
    ],
)
def test_p6_a_tampered_entry_is_detected(place, statement):
    ledger = ledger_for(place, releases=3, epsilon=3.0)
    draw_once(ledger, release("2026-01"), gdp_charge(), write_measurement)
    edit(place, statement)
    is_refused(place, ledger, "Restore the (folder|database) from a backup")


def test_p6_an_entry_rewritten_with_its_own_hash_breaks_the_next(ledger):
    body = dict(ledger.store.entries()[2].body) | {"mu2": "0.001"}
    text = canonical(body)
    edit(folder_of(ledger), f"update entries set body = '{text}', sha256 = '{sha256_of(text)}' where seq = 3")
    is_refused(folder_of(ledger), ledger, WORDS)


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
    edit(folder_of(ledger), "delete from entries where seq >= 3")
    head = {"seq": last.seq, "sha256": last.sha256}
    (folder_of(ledger) / "head.json").write_text(json.dumps(head))
    with pytest.raises(LedgerError, match="none of its entries names"):
        draw_once(ledger, release("2026-01"), gdp_charge(), must_not_draw)


@pytest.mark.parametrize(
    "left",
    [lambda held: held[: len(held) // 2], lambda held: b"\0" * len(held), lambda held: b""],
    ids=["cut", "overwritten", "empty"],
)
def test_a_damaged_file_is_refused(ledger, left):
    file = folder_of(ledger) / "ledger.sqlite"
    file.write_bytes(left(file.read_bytes()))
    is_refused(folder_of(ledger), ledger, WORDS)


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


#: Each entry of its draw is longer than a page of the file.
LONG = release("x" * 9000)


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


@pytest.fixture
def store(tmp_path):
    """One that can fill up, with a budget for one release."""
    store = _FullStore(tmp_path / "ledger")
    Ledger(store).register(Registration(DATASET, 1.0, 1e-6, 1e-7))
    return store


def test_a_ledger_on_a_full_disk_admits_nothing(store):
    store.full = True
    with pytest.raises(LedgerError, match="disk is full"):
        draw_once(Ledger(store), LONG, gdp_charge(), must_not_draw)
    store.full = False
    assert charged(Ledger(store)) == 0


def test_a_ledger_that_fills_up_before_drawing_draws_nothing_and_keeps_the_reservation(store):
    began: list[bool] = []

    def draw(folder: Path, leave: Callable[[], None]) -> None:
        store.full = True
        leave()
        began.append(True)

    with pytest.raises(LedgerError, match="disk is full"):
        draw_once(Ledger(store), LONG, gdp_charge(), draw)
    assert began == []
    store.full = False
    assert draw_once(Ledger(store), LONG, gdp_charge(), write_measurement).reused is False
    assert charged(Ledger(store)) == 1


def test_a_ledger_that_fills_up_before_the_commit_keeps_the_measurement(store):
    def draw(folder: Path, leave: Callable[[], None]) -> None:
        write_measurement(folder, leave)
        store.full = True

    with pytest.raises(LedgerError, match="does not draw again"):
        draw_once(Ledger(store), LONG, gdp_charge(), draw)
    store.full = False
    assert draw_once(Ledger(store), LONG, gdp_charge(), must_not_draw).reused
    assert charged(Ledger(store)) == 1
