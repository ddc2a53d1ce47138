"""The head of the chain in a file of its own: a chain that was cut is refused though it is whole."""

import errno
import json
import shutil
import threading
from pathlib import Path

import pytest

from tasks.core.errors import LedgerError
from tasks.core.ledger.account import Registration
from tasks.core.ledger.drawing import draw_once
from tasks.core.ledger.ledger import Ledger, open_ledger
from tasks.core.ledger.sqlite import SqliteStore
from tests.oracles.drawing import write_measurement
from tests.oracles.ledger_runs import DATASET, edit, gdp_charge, is_refused, ledger_for, release


@pytest.fixture
def ledger(tmp_path):
    """One whose last entry no measurement and no release knows of."""
    ledger = ledger_for(tmp_path / "ledger", releases=3, epsilon=3.0)
    draw_once(ledger, release("2026-01"), gdp_charge(), write_measurement)
    ledger.raise_caps(DATASET, 4.0, 4e-6, reason="approved")
    return ledger


def home(ledger: Ledger) -> Path:
    assert isinstance(ledger.store, SqliteStore)
    return ledger.store.folder


def cut(folder: Path, last: int) -> None:
    """Take out all entries after the last one that is to stay."""
    edit(folder, f"delete from entries where seq > {last}")


@pytest.mark.parametrize("left", [5, 2, 1])
def test_a_chain_whose_last_entries_were_taken_out_is_refused(ledger, left):
    if left < 5:
        shutil.rmtree(home(ledger) / "measurements")
        (home(ledger) / "measurements").mkdir(mode=0o700)
    cut(home(ledger), left)
    is_refused(home(ledger), ledger, "cut short")


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.unlink(),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_text('{"seq": "six"}'),
        lambda path: path.write_text(json.dumps({"seq": 3, "sha256": "0" * 64})),
        lambda path: path.write_text(json.dumps({"seq": 0, "sha256": "0" * 64})),
        lambda path: path.chmod(0o644),
    ],
    ids=["gone", "empty", "garbled", "another", "below", "open"],
)
def test_a_head_that_is_gone_damaged_another_or_open_to_others_is_refused(ledger, damage):
    damage(home(ledger) / "head.json")
    for refused in (ledger.verify, lambda: open_ledger(home(ledger)).head()):
        with pytest.raises(LedgerError):
            refused()


@pytest.mark.parametrize(
    ("gone", "words"),
    [
        (("measurements", "head.json"), "which keeps its head, is gone"),
        (("ledger.sqlite",), "traces of releases"),
        (("ledger.sqlite", "head.json", "measurements"), "traces of releases"),
        (("ledger.sqlite", "locks", "measurements"), "traces of releases"),
    ],
)
def test_what_was_deleted_is_noticed_by_what_is_left(ledger, gone, words):
    if "ledger.sqlite" not in gone:
        cut(home(ledger), 1)
    for name in gone:
        path = home(ledger) / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    with pytest.raises(LedgerError, match=words):
        open_ledger(home(ledger))


def test_a_writer_that_died_before_its_head_was_noted_loses_nothing(ledger):
    path = home(ledger) / "head.json"
    before = path.read_bytes()
    ledger.register(Registration("other", 1.0, 1e-6, 1e-7))
    path.write_bytes(before)
    assert open_ledger(home(ledger)).datasets() == (DATASET, "other")
    cut(home(ledger), 6)
    with pytest.raises(LedgerError, match="cut short"):
        ledger.verify()


def test_a_making_that_died_before_the_chain_had_its_name_is_begun_again(tmp_path):
    SqliteStore(tmp_path / "ledger")
    (tmp_path / "ledger" / "ledger.sqlite").unlink()
    assert open_ledger(tmp_path / "ledger").datasets() == ()


def test_the_head_is_durable_before_the_entry_is(ledger, synced):
    ledger.register(Registration("other", 1.0, 1e-6, 1e-7))
    assert [path.name for path in synced] == [".head.part", "ledger"]


def test_a_head_that_has_no_room_stops_before_the_chain_grows(ledger, monkeypatch, fails_to_sync):
    head = ledger.head()
    fails_to_sync(".head.part", errno.ENOSPC)
    with pytest.raises(LedgerError, match="disk is full"):
        ledger.register(Registration("other", 1.0, 1e-6, 1e-7))
    monkeypatch.undo()
    assert ledger.head() == head


def test_writers_at_once_leave_the_newest_head(tmp_path):
    folder = tmp_path / "ledger"
    open_ledger(folder)

    def write(writer: int) -> None:
        for number in range(5):
            open_ledger(folder).register(Registration(f"dataset {writer}.{number}", 1.0, 1e-6, 1e-7))

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    last = SqliteStore(folder).entries()[-1]
    assert json.loads((folder / "head.json").read_text()) == {"seq": last.seq, "sha256": last.sha256}
    assert last.seq == 21


def test_an_older_copy_of_the_chain_alone_is_refused(ledger):
    older = (home(ledger) / "ledger.sqlite").read_bytes()
    draw_once(ledger, release("2026-02"), gdp_charge(), write_measurement)
    (home(ledger) / "ledger.sqlite").write_bytes(older)
    shutil.rmtree(next(home(ledger).glob("measurements/*.7")))
    with pytest.raises(LedgerError, match="older copy"):
        ledger.verify()
