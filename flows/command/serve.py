"""``marginalia serve``: the local Prefect server and one worker, on this machine, until they are stopped.

The worker is recorded beside the server, so that a second call finds both, and ``marginalia stop`` ends both.
"""

import argparse
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from flows.command import server
from flows.command.server import Process, started
from tasks.core.errors import MarginaliaError, ParameterError
from tasks.core.ledger.place import VARIABLE, ledger_place
from tasks.messages import say

#: In the user's folder: the worker that was started last.
_RECORD = "worker.json"
#: How often a worker asks for runs: one that is due starts within so many seconds.
QUERY_SECONDS = 2
#: After so long, what does not end by itself is killed.
END_SECONDS = 30


@dataclass(frozen=True)
class Worker(Process):
    pool: str
    api_url: str


def serve(options: argparse.Namespace) -> int:
    """Run server and worker until ctrl-C, SIGTERM or ``marginalia stop``."""
    pool: str = options.pool
    configured = server.configured_api_url()
    url = configured or server.ensure(say)
    with server.lock():
        running = recorded()
        if running is not None:
            return _tell_running(running, pool)
        process = _start(pool, url)
    say(f"Prefect's pages: {url.removesuffix('/api')}")
    say(f"A worker waits for runs of the pool {pool}. End both by ctrl-C or marginalia stop.")
    try:
        _watch(process, is_ours=configured is None)
    except KeyboardInterrupt:
        say("Stopping.")
    finally:
        stop_worker()
        if configured is None:
            server.stop()
    return 0


def stop_serving(options: argparse.Namespace) -> int:
    stopped = [stop_worker(), server.stop()]
    print("Stopped." if any(stopped) else "No server was running.")
    return 0


def stop_worker() -> bool:
    worker = recorded()
    if worker is None:
        return False
    _place().unlink(missing_ok=True)
    # First what it runs, which then says on the server that it was ended: the worker would kill it unheard.
    # A signal can be lost in it, so there are several.
    for run in worker.children():
        run.end((signal.SIGTERM,) * 3, seconds=END_SECONDS / 3)
    # A worker takes SIGINT as the wish to end.
    worker.end((signal.SIGINT, signal.SIGTERM, signal.SIGKILL), seconds=END_SECONDS)
    return True


def recorded() -> Worker | None:
    worker = Worker.recorded(_RECORD)
    return worker if worker is not None and worker.is_alive else None


def _tell_running(worker: Worker, pool: str) -> int:
    if worker.pool != pool:
        prefect = Path(sys.executable).with_name("prefect")
        raise ParameterError(
            f"A worker of the pool {worker.pool} runs already, and serve runs one. End it by marginalia "
            f"stop, or start a second one: {prefect} worker start --pool {pool}"
        )
    say(
        f"Running already: the server {worker.api_url.removesuffix('/api')} and a worker of the pool {pool} "
        f"(process {worker.pid})."
    )
    return 0


def _start(pool: str, url: str) -> "subprocess.Popen[bytes]":
    environment = dict(os.environ) | server.OFFLINE
    environment |= {"PREFECT_API_URL": url, "PREFECT_WORKER_QUERY_SECONDS": str(QUERY_SECONDS)}
    # Folders that the environment names start here, while each run works in the folder of its deployment.
    named = [name for name in ("MARGINALIA_CACHE", "MARGINALIA_SERVER") if os.environ.get(name)]
    environment |= {name: str(Path(os.environ[name]).absolute()) for name in named}
    if os.environ.get(VARIABLE) and isinstance(ledger := ledger_place(), Path):
        environment[VARIABLE] = str(ledger)
    command = [sys.executable, "-m", "prefect", "worker", "start", "--pool", pool, "--type", "process"]
    # Started in the background, a process ignores SIGINT and so would the worker, which is ended by it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    if before is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, before)
    process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, start_new_session=True)
    Worker(process.pid, started(process.pid) or "", pool, url).record(_RECORD)
    return process


def _watch(process: "subprocess.Popen[bytes]", *, is_ours: bool) -> None:
    while process.poll() is None:
        time.sleep(0.5)
        if is_ours and not server.is_running() and _place().exists():
            raise MarginaliaError("The local Prefect server ended by itself: run marginalia serve again.")
    if _place().exists():
        raise MarginaliaError(
            f"The worker ended by itself (exit code {process.returncode}). Its last lines say why; then run "
            "marginalia serve again."
        )


def _place() -> Path:
    return server.state_folder() / _RECORD
