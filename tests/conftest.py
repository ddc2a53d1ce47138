"""What tests share: a home of their own, a Prefect server of their own, and skips that CI refuses."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from absl.logging import get_absl_handler
from hypothesis import settings

from tests.postgresql import programs, running

ROOT = Path(__file__).resolve().parents[1]
#: What deployments and automations alone need: with these at work a server takes twice as long for a run.
UNUSED_SERVICES = ("TRIGGERS", "LATE_RUNS", "PAUSE_EXPIRATIONS", "FOREMAN", "SCHEDULER", "CLEANUP_RECONCILER")


def pytest_configure() -> None:
    """Before any test imports Prefect: the settings that the command makes."""
    # Started in the background, a process ignores ctrl-C and so do its children: tests that press it need it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    from flows.command.run import quieten

    quieten(verbose=False)
    # dp_accounting logs by absl, which closes the stream that it found when Prefect sets up its own logging.
    # While tests are collected that stream is pytest's, and all later tests would fail without it.
    get_absl_handler().python_handler.stream = sys.__stderr__
    # A slow machine is no failure.
    settings.register_profile("whole", deadline=None)
    settings.load_profile("whole")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever needs Prefect's server comes first.

    So one worker of pytest-xdist begins with all of it, and another needs neither a server nor whole runs.
    """
    items.sort(key=lambda item: item.get_closest_marker("server") is None)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """With MARGINALIA_NO_SKIPS set, a skip is a failure: CI has everything that a test may need."""
    outcome = yield
    report = outcome.get_result()  # type: ignore[attr-defined]
    if report.skipped and os.environ.get("MARGINALIA_NO_SKIPS") and not hasattr(report, "wasxfail"):
        report.outcome = "failed"


@pytest.fixture(scope="session", autouse=True)
def home_of_our_own(tmp_path_factory):
    """No test touches the user's ledger, cache or server."""
    home = tmp_path_factory.mktemp("home")
    names = ("MARGINALIA_LEDGER", "MARGINALIA_SERVER", "PREFECT_HOME")
    with pytest.MonkeyPatch.context() as patch:
        for name in names:
            patch.setenv(name, str(home / name.lower()))
        patch.delenv("PREFECT_API_URL", raising=False)
        yield


@pytest.fixture
def own_ledger(tmp_path, monkeypatch):
    """A ledger for one test."""
    monkeypatch.setenv("MARGINALIA_LEDGER", str(tmp_path / "ledger"))
    return tmp_path / "ledger"


@pytest.fixture(scope="session")
def prefect_server(home_of_our_own):
    """URL of a Prefect server for this session, started as the command does, without `UNUSED_SERVICES`."""
    from prefect.logging.handlers import APILogHandler
    from prefect.settings import PREFECT_API_URL, temporary_settings

    from flows.command import server

    switched_off = "".join(f'PREFECT_SERVER_SERVICES_{name}_ENABLED = "false"\n' for name in UNUSED_SERVICES)
    server.state_folder().mkdir(mode=0o700, exist_ok=True)
    profiles = server.state_folder() / "profiles.toml"
    profiles.write_text(f'active = "tests"\n[profiles.tests]\n{switched_off}')
    url = server.ensure(lambda text: None)
    # Prefect may have been imported before: told by the environment alone, a flow that a test calls directly
    # would start another server, which on a loaded machine is not there in time.
    with pytest.MonkeyPatch.context() as patch, temporary_settings(updates={PREFECT_API_URL: url}):
        patch.setenv("PREFECT_API_URL", url)
        yield url
        APILogHandler().flush()  # while somebody listens
    server.stop()


@pytest.fixture(scope="session")
def shared_data():
    """Folder of the real tables; skips where it is absent."""
    folder = Path(os.environ.get("MARGINALIA_DATA", ROOT.parent / "shared" / "data"))
    if not (folder / "adult.csv").is_file():
        pytest.skip(f"needs the tables in $MARGINALIA_DATA or {folder}")
    return folder


@pytest.fixture(scope="session")
def postgresql(tmp_path_factory):
    """A PostgreSQL server of this session; skips where its programs are not installed."""
    if programs() is None:
        pytest.skip("needs the programs of PostgreSQL (Debian: apt-get install postgresql)")
    with running(tmp_path_factory.mktemp("database")) as server:
        yield server
