"""An installation to break: a real server, a real worker and a ledger in a folder; states and logs come out.

Everything runs as an operator runs it: the server and the worker as processes of their own, deployments made
by the command. Nothing is shared with the user's own installation.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from flows.command.server import LEASES
from flows.release import limit_of
from tests.flows.processes import phases

ROOT = Path(__file__).resolve().parents[2]
GATES = Path(__file__).parent / "gates"
POOL = "operations"
#: How long to wait for what must come: far beyond a slow machine's start of a server and of a run.
SECONDS = 900
ENDED = ("COMPLETED", "FAILED", "CRASHED", "CANCELLED")


class Installation:
    """A server, a worker and what they keep, below one folder."""

    def __init__(self, folder: Path, database: str = "", **environment: str) -> None:
        """Args: database: of the server; empty: SQLite. environment: of all processes."""
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = int(probe.getsockname()[1])
        self.api = f"http://127.0.0.1:{self._port}/api"
        mine = {
            "HOME": str(folder / "home"),
            "PREFECT_HOME": str(folder / "prefect"),
            "PREFECT_API_URL": self.api,
            "PREFECT_WORKER_QUERY_SECONDS": "1",
            "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
            "DO_NOT_TRACK": "1",
            "MARGINALIA_LEDGER": str(folder / "ledger"),
            "MARGINALIA_SERVER": str(folder / "local-server"),
        }
        mine |= LEASES
        if database:
            mine["PREFECT_SERVER_DATABASE_CONNECTION_URL"] = database
        self.environment = dict(os.environ) | mine | environment
        self.environment.pop("NUMBA_CACHE_DIR", None)  # of this process, which is none of an installation's
        (folder / "home").mkdir(exist_ok=True)
        self._server: subprocess.Popen[bytes] | None = None
        self._worker: subprocess.Popen[bytes] | None = None

    def start_server(self) -> None:
        self._server = self._spawn(
            "server", "server", "start", "--host", "127.0.0.1", "--port", str(self._port)
        )
        awaited(self._answers, "the server answers")

    def start_worker(self, **environment: str) -> None:
        self._worker = self._spawn("worker", "worker", "start", "--pool", POOL, **environment)

    def need_worker(self) -> None:
        if self._worker is None or self._worker.poll() is not None:
            self.start_worker()

    def another_worker(self) -> Callable[[], None]:
        """Start a second worker; what is returned kills it."""
        other = self._spawn("other-worker", "worker", "start", "--pool", POOL)
        return lambda: _kill(other)

    def stop_server(self) -> None:
        _kill(self._server)

    def kill_worker(self) -> None:
        """Kill the worker and the flows that it runs, all at once, as a loss of power does."""
        _kill(self._worker)

    def forget(self) -> None:
        """Delete all deployments, and all runs that are not over: a next worker has nothing of them to do."""
        for each in self.post("/deployments/filter", {}):
            self._told("DELETE", f"/deployments/{each['id']}", None)
        going_on = {"flow_runs": {"state": {"type": {"not_any_": ENDED}}}}
        for each in self.post("/flow_runs/filter", going_on):
            self._told("DELETE", f"/flow_runs/{each['id']}", None)

    def close(self) -> None:
        self.kill_worker()
        self.stop_server()

    def command(self, *arguments: str | Path, code: int = 0, folder: Path = ROOT) -> str:
        """Run ``marginalia`` in a folder; what it said, on both streams. Args: code: it must end with."""
        command = [Path(sys.executable).with_name("marginalia"), *map(str, arguments)]
        done = subprocess.run(
            command, cwd=folder, env=self.environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def deploy(self, configuration: Path, *options: str, folder: Path = ROOT) -> str:
        """Deploy a configuration; the deployment's id."""
        name = configuration.stem
        told = ("deploy", configuration, "--pool", POOL, "--name", name, "--overwrite", *options)
        self.command(*told, folder=folder)
        return str(self.get(f"/deployments/name/release/{name}")["id"])

    def run(self, deployment: str, environment: dict[str, str] | None = None, **parameters: Any) -> str:
        """Start a run by hand; its id. Args: environment: of this run's process alone."""
        asked: dict[str, Any] = {"parameters": parameters}
        if environment:
            asked["job_variables"] = {"env": environment}
        return str(self.post(f"/deployments/{deployment}/create_flow_run", asked)["id"])

    def state(self, run: str) -> dict[str, Any]:
        found: dict[str, Any] = self.get(f"/flow_runs/{run}")["state"]
        return found

    def ended(self, run: str, types: Iterable[str] = ENDED) -> dict[str, Any]:
        """A run's state as soon as it is one of these."""
        wanted = tuple(types)
        awaited(lambda: self.state(run)["type"] in wanted, f"the run is {' or '.join(wanted)}")
        return self.state(run)

    def set_state(
        self, run: str, kind: str, name: str | None = None, message: str = "", **details: str
    ) -> None:
        """Set a run's state, as the buttons of the UI and automations do."""
        state = {
            "type": kind,
            "name": name or kind.capitalize(),
            "message": message,
            "state_details": details,
        }
        self.post(f"/flow_runs/{run}/set_state", {"state": state, "force": False})

    def found_dead(self, run: str) -> None:
        """Do at once what the automation of `marginalia notify` does to a run that has no heartbeat."""
        self.set_state(run, "CRASHED", message="No heartbeat.")

    def retry(self, run: str, seconds: float = 0) -> None:
        """Press "Retry" on the run's page. Args: seconds: until the run is due."""
        due = datetime.now(UTC) + timedelta(seconds=seconds)
        self.set_state(run, "SCHEDULED", "AwaitingRetry", "Retry from the UI", scheduled_time=due.isoformat())

    def free_turn(self, dataset: str) -> None:
        """Do what a run that waits for a dead one says: `prefect gcl update NAME --active-slots 0`."""
        self.patch(f"/v2/concurrency_limits/{limit_of(dataset)}", {"active_slots": 0})

    def phases(self, dataset: str) -> list[str]:
        """What became of each reservation of a dataset in the ledger, in order."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("MARGINALIA_LEDGER", self.environment["MARGINALIA_LEDGER"])
            return phases(dataset)

    def logs(self, run: str) -> list[str]:
        asked = {"logs": {"flow_run_id": {"any_": [run]}}, "sort": "TIMESTAMP_ASC", "limit": 200}
        return [entry["message"] for entry in self.post("/logs/filter", asked)]

    def steps(self, run: str) -> dict[str, str]:
        """State of each step of a run, by its name."""
        asked = {"flow_runs": {"id": {"any_": [run]}}, "limit": 200}
        return {step["name"]: step["state_type"] for step in self.post("/task_runs/filter", asked)}

    def heartbeats(self, run: str) -> int:
        """How many signs of life the server has had of a run."""
        resource = {"id": [f"prefect.flow-run.{run}"]}
        asked = {"filter": {"event": {"name": ["prefect.flow-run.heartbeat"]}, "resource": resource}}
        return int(self.post("/events/filter", asked)["total"])

    def get(self, path: str) -> Any:
        for _ in range(3):  # a machine under load may need a minute to answer
            with suppress(httpx.TimeoutException):
                return httpx.get(self.api + path, timeout=60).raise_for_status().json()
        return httpx.get(self.api + path, timeout=60).raise_for_status().json()

    def post(self, path: str, body: object) -> Any:
        return self._told("POST", path, body).json()

    def patch(self, path: str, body: object) -> None:
        self._told("PATCH", path, body)

    def put(self, path: str, body: object) -> None:
        """Replace something by the API."""
        self._told("PUT", path, body)

    def _told(self, method: str, path: str, body: object) -> httpx.Response:
        """The answer; asked again where the server's SQLite is locked, as Prefect's own clients do."""
        for _ in range(10):
            answer = httpx.request(method, self.api + path, json=body, timeout=60)
            if answer.status_code != httpx.codes.SERVICE_UNAVAILABLE:
                break
            time.sleep(1)
        return answer.raise_for_status()

    def _answers(self) -> bool:
        try:
            return bool(httpx.get(f"{self.api}/health", timeout=2).status_code == 200)
        except httpx.HTTPError:
            return False

    def _spawn(self, name: str, *arguments: str, **environment: str) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "prefect", *arguments]
        with (self.folder / f"{name}.log").open("ab") as log:
            return subprocess.Popen(
                command,
                cwd=self.folder,
                env=self.environment | environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )


class Gate:
    """A point at which the flow's process of a worker stops (see `gates/sitecustomize.py`)."""

    def __init__(self, folder: Path, call: str, pattern: str, do: str = "wait") -> None:
        """Args: folder: for its files. call: a function of `os`. pattern: of its path. do: wait or kill."""
        folder.mkdir(parents=True, exist_ok=True)
        self._place = folder / "gate.json"
        for old in (self._here, self._go):
            old.unlink(missing_ok=True)
        self._place.write_text(json.dumps({"call": call, "pattern": pattern, "do": do}), encoding="utf-8")

    @property
    def environment(self) -> dict[str, str]:
        """What the worker must be started with."""
        return {"MARGINALIA_TEST_GATE": str(self._place), "PYTHONPATH": str(GATES)}

    @property
    def _here(self) -> Path:
        return self._place.with_suffix(".here")

    @property
    def _go(self) -> Path:
        return self._place.with_suffix(".go")

    def reached(self) -> int:
        """Wait until a process stands at it; its id."""
        awaited(lambda: self._here.exists() and self._here.read_text(), "the run is at the gate")
        return int(self._here.read_text())

    def open(self) -> None:
        self._go.touch()


def awaited(condition: Callable[[], object], what: str, seconds: float = SECONDS) -> None:
    """Wait until something holds; an assertion names what did not."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"in {seconds} s it did not happen that {what}"
        time.sleep(0.2)


@contextmanager
def small_disk(place: Path, size: str) -> Iterator[None]:
    """A disk of so many bytes at a place."""
    place.mkdir(parents=True)
    told = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", place]
    if os.geteuid() != 0 or subprocess.run(told, check=False).returncode:
        pytest.skip("needs root, to mount a tmpfs")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", place], check=True)


def _kill(process: "subprocess.Popen[bytes] | None") -> None:
    """Kill a process and all that it started."""
    if process is None or process.poll() is not None:
        return
    for each in [*_children(process.pid), process.pid]:
        try:
            os.kill(each, signal.SIGKILL)
        except ProcessLookupError:
            continue
    process.wait()


def _children(parent: int) -> list[int]:
    """Ids of all that a process started, and of all that these did."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == parent:
            child = int(stat.parent.name)
            found += [*_children(child), child]
    return found
