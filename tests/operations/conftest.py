"""Installations for the tests of operations: one with SQLite that tests share, and new ones to take apart."""

import os
from pathlib import Path

import pytest

from tests.operations.installation import Installation


@pytest.fixture(scope="module")
def installation(tmp_path_factory):
    """A server on SQLite, shared by the tests of one file; each starts the worker that it needs."""
    folder = tmp_path_factory.mktemp("installation")
    shared_cache = os.environ.get("MARGINALIA_CACHE") or str(Path.home() / ".cache" / "marginalia")
    made = Installation(folder, MARGINALIA_CACHE=shared_cache)
    made.start_server()
    yield made
    made.close()


@pytest.fixture
def worker(installation, tmp_path):
    """The installation with a ledger of this test's own; when the test ends, so do its worker and schedules.

    Else the next test's worker would do what this one left: runs that had to wait, and those of a schedule
    that is still on, of a deployment that may have the name of the next one's.
    """
    installation.environment["MARGINALIA_LEDGER"] = str(tmp_path / "ledger")
    yield installation
    installation.kill_worker()
    installation.forget()
