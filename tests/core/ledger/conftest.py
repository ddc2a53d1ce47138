"""Noise tables of the tests are kept apart from the user's; ledgers are in folders and in databases."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tasks.core.ledger.place import Database, Place
from tests.core.dp.conftest import noise_table_cache as noise_table_cache

#: Names a ledger of one test: the place that is given for a name, made when it is opened.
Places = Callable[[str], Place]


@pytest.fixture(params=["folder", pytest.param("database", marks=pytest.mark.needs_postgresql)])
def places(request, tmp_path, monkeypatch):
    """Places for ledgers, of either kind: the same tests hold for both."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    if request.param == "folder":
        return lambda name: tmp_path / name
    server = request.getfixturevalue("postgresql")
    return lambda name: Database(server.of_test(tmp_path, name))


@pytest.fixture
def place(places):
    return places("ledger")


@pytest.fixture
def synced(monkeypatch):
    """The paths of what is made durable, in order."""
    paths, fsync = [], os.fsync

    def recording(descriptor):
        paths.append(Path(f"/proc/self/fd/{descriptor}").readlink())
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", recording)
    return paths


@pytest.fixture
def fails_to_sync(monkeypatch):
    """Called with a name and an error: from then on what has this name can't be made durable."""
    fsync = os.fsync

    def fail(name, code):
        def failing(descriptor):
            if Path(f"/proc/self/fd/{descriptor}").readlink().name == name:
                raise OSError(code, os.strerror(code))
            fsync(descriptor)

        monkeypatch.setattr(os, "fsync", failing)

    return fail
