"""`marginalia serve`: server, worker and the run at work come up together, once, and end together."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from flows.command import serve, server
from tests.flows.processes import ROOT, configuration_file, phases, releases
from tests.operations.installation import Gate, awaited

pytestmark = pytest.mark.operations


@pytest.fixture
def own_place(tmp_path, monkeypatch):
    """A server's folder of one test; nothing runs there afterwards."""
    monkeypatch.setenv("MARGINALIA_SERVER", str(tmp_path / "server"))
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path / "prefect"))
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    return tmp_path / "server"


def marginalia(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "flows", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def served(log: Path) -> "tuple[subprocess.Popen[bytes], serve.Worker]":
    """The command in the background of a shell, where ctrl-C is ignored; once its worker has started."""
    with log.open("wb") as output:
        ignored: Callable[[], object] = lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)  # noqa: E731
        process = subprocess.Popen(
            [sys.executable, "-m", "flows", "serve"],
            cwd=ROOT,
            stdout=output,
            stderr=output,
            preexec_fn=ignored,
        )
    awaited(lambda: "started!" in log.read_text() or process.poll() is not None, "the worker starts")
    worker = serve.recorded()
    assert worker is not None and process.poll() is None, log.read_text()
    return process, worker


def test_the_life_of_server_and_worker(own_place, tmp_path, monkeypatch):
    """One life for all claims: each start costs ten seconds of CPU."""
    log = tmp_path / "serve.log"
    monkeypatch.setenv("MARGINALIA_LEDGER", "a-ledger")
    process, worker = served(log)
    try:
        assert worker.pool == "marginalia" and server.is_running()
        # A second call says what runs, and starts nothing; of another pool it is refused.
        again = marginalia("serve")
        assert again.returncode == 0 and f"(process {worker.pid})" in again.stderr
        other = marginalia("serve", "--pool", "other")
        assert other.returncode == 2 and "A worker of the pool marginalia runs already" in other.stderr
        assert serve.recorded() == worker
        # The worker has a session and a SIGINT of its own, and asks often.
        assert os.getsid(worker.pid) == worker.pid
        status = Path(f"/proc/{worker.pid}/status").read_text()
        ignored = int(next(line for line in status.splitlines() if line.startswith("SigIgn")).split()[1], 16)
        assert not ignored & 1 << (signal.SIGINT - 1)
        environment = Path(f"/proc/{worker.pid}/environ").read_bytes()
        assert b"PREFECT_WORKER_QUERY_SECONDS=2\0" in environment
        # Its runs work in folders of their own: the ledger is where the command was called.
        assert f"MARGINALIA_LEDGER={ROOT / 'a-ledger'}\0".encode() in environment
        # `stop` ends both, and the first call with them.
        port = int((own_place / "port").read_text())
        assert marginalia("stop").stdout == "Stopped.\n"
        assert process.wait(60) == 0
        assert not worker.is_alive and not server.is_running() and serve.recorded() is None
        assert marginalia("stop").stdout == "No server was running.\n"
        # The next one has the same address, so that links stay; SIGTERM ends it, as systemd does.
        process, worker = served(tmp_path / "second.log")
        assert int((own_place / "port").read_text()) == port
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 0
        time.sleep(1)
        assert not worker.is_alive and not server.is_running()
        # A worker that dies is told of, and the server ends too.
        process, worker = served(tmp_path / "third.log")
        os.kill(worker.pid, signal.SIGKILL)
        assert process.wait(120) == 1
        assert "The worker ended by itself" in (tmp_path / "third.log").read_text()
        assert not server.is_running()
    finally:
        process.kill()
        serve.stop_worker()
        server.stop()


def test_a_run_at_work_says_that_it_was_ended_and_can_be_retried(
    own_place, own_ledger, tmp_path, monkeypatch
):
    gate = Gate(tmp_path / "gate", "mkdir", r"/\.marginals-")
    for name, value in gate.environment.items():
        monkeypatch.setenv(name, value)
    path = configuration_file(tmp_path)
    assert marginalia("deploy", str(path)).returncode == 0
    process, worker = served(tmp_path / "first.log")
    try:
        with httpx.Client(base_url=worker.api_url, timeout=60) as client:
            deployment = client.get("/deployments/name/release/people").json()["id"]
            asked = {"parameters": {"vintage": "2026-11"}}
            run = client.post(f"/deployments/{deployment}/create_flow_run", json=asked).json()["id"]
            gate.reached()
        assert marginalia("stop").stdout == "Stopped.\n"
        assert process.wait(60) == 0
        process, worker = served(tmp_path / "second.log")
        with httpx.Client(base_url=worker.api_url, timeout=60) as client:

            def state() -> str:
                return str(client.get(f"/flow_runs/{run}").json()["state"]["type"])

            assert state() == "CRASHED"
            retry = {"state": {"type": "SCHEDULED", "name": "AwaitingRetry"}, "force": False}
            client.post(f"/flow_runs/{run}/set_state", json=retry).raise_for_status()
            awaited(lambda: state() in ("COMPLETED", "FAILED"), "the retried run ends")
            assert state() == "COMPLETED"
        assert phases("people") == ["commit"] and releases(tmp_path) == ["2026-11-1", "latest"]
    finally:
        process.kill()
        serve.stop_worker()
        server.stop()
