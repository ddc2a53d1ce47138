"""A Prefect server on loopback, started once per user and kept for the next run.

Its state is a folder of its own (0700: the database, the log, ``server.json``), it has none of the caller's
streams, and it is replaced when it is dead or of another version. An ephemeral server would cost eleven
seconds of CPU at every run.
"""

import contextlib
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import time
import tomllib
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Self

from tasks.core.errors import MarginaliaError

#: In the user's folder: the server that was started last.
_RECORD = "server.json"
#: First gently, then not.
GENTLY = (signal.SIGTERM, signal.SIGKILL)


@dataclass(frozen=True)
class Process:
    """A process; `started` is when, in the system's own words, or "" where it had ended already."""

    pid: int
    started: str

    @property
    def is_alive(self) -> bool:
        return started(self.pid) == self.started

    @classmethod
    def recorded(cls, file: str) -> Self | None:
        """The process that a file of the user's folder names, alive or not."""
        try:
            return cls(**json.loads((state_folder() / file).read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def record(self, file: str) -> None:
        path = state_folder() / file
        part = path.with_suffix(".part")
        part.write_text(json.dumps(asdict(self)), encoding="utf-8")
        part.replace(path)

    def children(self) -> "list[Process]":
        listing = ""
        with contextlib.suppress(FileNotFoundError):
            listing = subprocess.run(
                ["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=False
            ).stdout
        pairs = [line.split() for line in listing.splitlines()]
        found = [(int(pid), started(int(pid))) for pid, parent in pairs if parent == str(self.pid)]
        return [Process(pid, when) for pid, when in found if when]

    def end(self, signals: Iterable[signal.Signals] = GENTLY, seconds: float = 15) -> None:
        """End it and what it started in its session."""
        for sign in signals:
            deadline = time.monotonic() + seconds
            if self.is_alive:
                with contextlib.suppress(OSError):
                    os.killpg(self.pid, sign)
            while self.is_alive and time.monotonic() < deadline:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(self.pid, os.WNOHANG)
                time.sleep(0.1)


def started(pid: int) -> str | None:
    """When a process started, so that a recycled pid is not taken for ours; None if it runs no more."""
    try:
        # After the name (which may hold anything, in parentheses): state is field 3, start time field 22.
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return _started_by_ps(pid)
    return None if fields[0] == "Z" else fields[19]


def _started_by_ps(pid: int) -> str | None:
    if Path("/proc/self").exists():
        return None
    listing = subprocess.run(
        ["ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    ).stdout.split(maxsplit=1)
    return listing[1].strip() if len(listing) == 2 and not listing[0].startswith("Z") else None


#: A first start migrates a new database: half a minute on a busy machine.
START_SECONDS = 240

#: Nothing is sent anywhere, by the server or by its clients.
OFFLINE = {
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
    "DO_NOT_TRACK": "1",
}
#: The turns of runs are kept on disk: in memory a server that is restarted would never give them back.
LEASES = {"PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE": "prefect.server.concurrency.lease_storage.filesystem"}


@dataclass(frozen=True)
class Server(Process):
    port: int
    version: str

    @property
    def api_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/api"


def state_folder() -> Path:
    configured = os.environ.get("MARGINALIA_SERVER")
    if configured:
        return Path(configured)
    state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(state) / "marginalia" / "server"


def configured_api_url() -> str | None:
    """The Prefect API that the user has configured, by environment or by the active profile."""
    if url := os.environ.get("PREFECT_API_URL"):
        return url
    home = Path(os.environ.get("PREFECT_HOME") or Path.home() / ".prefect")
    path = Path(os.environ.get("PREFECT_PROFILES_PATH") or home / "profiles.toml")
    try:
        profiles = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError):
        return None
    active = os.environ.get("PREFECT_PROFILE") or profiles.get("active")
    url = profiles.get("profiles", {}).get(active, {}).get("PREFECT_API_URL")
    return str(url) if url else None


def ensure(say: Callable[[str], None]) -> str:
    """URL of this user's server, started if there is none that answers."""
    with lock():
        server = Server.recorded(_RECORD)
        if server is not None and _usable(server):
            return server.api_url
        if server is not None:
            _end(server)
        say("Starting the local Prefect server (once; it is kept for the next run).")
        return _start().api_url


def stop() -> bool:
    if not state_folder().is_dir():
        return False
    with lock():
        server = Server.recorded(_RECORD)
        if server is None or not server.is_alive:
            return False
        _end(server)
        return True


def is_running() -> bool:
    server = Server.recorded(_RECORD)
    return server is not None and server.is_alive


@contextlib.contextmanager
def lock() -> Iterator[None]:
    """One starter at a time; the kernel releases it when the holder dies."""
    folder = state_folder()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder.chmod(0o700)
    with (folder / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _usable(server: Server) -> bool:
    return server.version == version("prefect") and server.is_alive and _answers(server.api_url, seconds=20)


def _answers(url: str, seconds: float) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=seconds) as response:
            return bool(response.status == 200)
    except (OSError, urllib.error.URLError):
        return False


def _start() -> Server:
    folder = state_folder()
    port = _port()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    environment |= (
        OFFLINE | LEASES | {"PREFECT_HOME": str(folder), "PREFECT_API_URL": f"http://127.0.0.1:{port}/api"}
    )
    command = [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port)]
    with (folder / "server.log").open("ab") as log:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    server = Server(process.pid, started(process.pid) or "", port, version("prefect"))
    server.record(_RECORD)
    deadline = time.monotonic() + START_SECONDS
    try:
        while time.monotonic() < deadline and process.poll() is None:
            if _answers(server.api_url, seconds=2):
                return server
            time.sleep(0.25)
    except BaseException:
        _end(server)
        raise
    _end(server)
    raise MarginaliaError(
        f"The local Prefect server did not start; its log is {folder / 'server.log'}. "
        "Set PREFECT_API_URL to use a server of your own."
    )


def _end(server: Server) -> None:
    server.end()
    (state_folder() / _RECORD).unlink(missing_ok=True)


def _port() -> int:
    """That of the last server where it is free, so that links to its pages stay; else any free one."""
    try:
        last = int((state_folder() / "port").read_text(encoding="utf-8"))
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", last))
    except (OSError, ValueError, OverflowError):
        last = _free_port()
    (state_folder() / "port").write_text(str(last), encoding="utf-8")
    return last


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
