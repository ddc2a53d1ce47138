"""The ledger's folder: a place of its own that only its owner can open."""

import os
import stat
import threading

import pytest

from tasks.core.errors import LedgerError, ParameterError
from tasks.core.ledger.drawing import draw_once
from tasks.core.ledger.entries import Whereabouts
from tasks.core.ledger.ledger import open_ledger
from tasks.core.ledger.place import hold_file_lock, is_lock_held, ledger_place, require_absolute
from tasks.core.ledger.salts import salt_of
from tests.oracles.drawing import write_measurement
from tests.oracles.ledger_runs import gdp_charge, ledger_for, release


def test_the_environment_names_the_place(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.delenv("MARGINALIA_LEDGER", raising=False)
    assert ledger_place() == tmp_path / ".local" / "state" / "marginalia" / "ledger"
    monkeypatch.setenv("XDG_STATE_HOME", "relative/is/ignored")
    assert ledger_place() == tmp_path / ".local" / "state" / "marginalia" / "ledger"
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert ledger_place() == tmp_path / "state" / "marginalia" / "ledger"
    monkeypatch.setenv("MARGINALIA_LEDGER", str(tmp_path / "mine"))
    assert ledger_place() == tmp_path / "mine"
    assert open_ledger().store.whereabouts == Whereabouts(str(tmp_path / "mine"), "folder")


def test_everything_in_it_is_closed_to_others_whatever_the_umask(tmp_path):
    folder, before = tmp_path / "state" / "ledger", os.umask(0)
    try:
        draw_once(ledger_for(folder), release("2026-01"), gdp_charge(), write_measurement)
        salt_of(folder, "people")
    finally:
        os.umask(before)
    paths = [folder, *folder.glob("*"), *folder.glob("measurements/*"), *folder.glob("salts/*")]
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in paths}
    assert len(modes) == 8
    assert set(modes.values()) == {0o600, 0o700}, modes


@pytest.mark.parametrize(
    ("name", "mode", "advice"), [("", 0o750, "700"), ("", 0o701, "700"), ("ledger.sqlite", 0o640, "600")]
)
def test_what_others_may_open_is_refused(tmp_path, name, mode, advice):
    open_ledger(tmp_path / "ledger")
    (tmp_path / "ledger" / name).chmod(mode)
    with pytest.raises(LedgerError, match=f"chmod {advice}"):
        open_ledger(tmp_path / "ledger")


@pytest.mark.needs_root
def test_another_users_folder_is_refused(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("needs root, to give a folder to another user")
    open_ledger(tmp_path / "ledger")
    os.chown(tmp_path / "ledger", 1, 1)
    with pytest.raises(LedgerError, match="another user's"):
        open_ledger(tmp_path / "ledger")


def test_a_place_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerError, match="MARGINALIA_LEDGER"):
        open_ledger(tmp_path / "file" / "ledger")


def test_a_lock_excludes_also_within_one_process(tmp_path):
    lock, entered, waited = tmp_path / "lock", threading.Event(), threading.Event()

    def enter() -> None:
        with hold_file_lock(lock, waited.set):
            entered.set()

    with hold_file_lock(lock):
        assert is_lock_held(lock)
        other = threading.Thread(target=enter)
        other.start()
        assert waited.wait(20)
        assert not entered.is_set()
    other.join(20)
    assert entered.is_set()
    assert not is_lock_held(lock)


def test_a_ledger_of_the_working_directory_is_refused_where_that_is_one_of_many(monkeypatch):
    for named in ("/srv/ledger", "~/ledger", "postgresql://me@database.example/ledger"):
        monkeypatch.setenv("MARGINALIA_LEDGER", named)
        require_absolute()
    monkeypatch.delenv("MARGINALIA_LEDGER")
    require_absolute()
    monkeypatch.setenv("MARGINALIA_LEDGER", "ledger")
    with pytest.raises(ParameterError, match="MARGINALIA_LEDGER must be an absolute path"):
        require_absolute()
