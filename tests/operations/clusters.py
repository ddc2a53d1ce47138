"""A cluster of Dask as an operator runs one: a scheduler and workers, processes that a test may kill."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from prefect import flow

from tests.flows.processes import ROOT
from tests.operations.hosts import HOME


class RunningCluster:
    """Processes of one cluster."""

    def __init__(
        self, folder: Path, workers: int, environment: Mapping[str, str], hosts: Sequence[tuple[str, str]]
    ) -> None:
        """Args: folder: for its files. workers: how many. environment: of all. hosts: of workers, if any."""
        self._folder, self._environment = folder, {**os.environ, **environment, "PYTHONPATH": str(ROOT)}
        self._file = folder / "scheduler.json"
        self._scheduler = self._started("scheduler", "--port", "0", "--host", HOME if hosts else "127.0.0.1")
        self.address = self._address()
        own = ("worker", self.address, "--nthreads", "1", "--local-directory", str(folder))
        self._workers = [
            self._started(*own, "--host", address, host=name)
            for name, address in hosts or [("", "127.0.0.1")] * workers
        ]

    def _started(self, *arguments: str, host: str = "") -> subprocess.Popen[bytes]:
        told = ["--scheduler-file", str(self._file)] if arguments[0] == "scheduler" else []
        inside = ["ip", "netns", "exec", host] if host else []
        command = [
            *inside,
            sys.executable,
            "-m",
            "distributed.cli.dask_" + arguments[0],
            *arguments[1:],
            *told,
        ]
        log = (self._folder / f"{arguments[0]}.log").open("ab")
        return subprocess.Popen(
            [*command, "--no-dashboard"], env=self._environment, cwd=self._folder, stdout=log, stderr=log
        )

    def _address(self) -> str:
        for _ in range(600):
            if self._file.exists() and (text := self._file.read_text()).strip():
                return str(json.loads(text)["address"])
            time.sleep(0.1)
        raise AssertionError("the scheduler does not start")

    def worker_processes(self) -> list[int]:
        """Ids of the processes that do the work: each is looked after by one that starts another."""
        found = []
        for nanny in self._workers:
            threads = Path(f"/proc/{nanny.pid}/task").glob("*/children")
            ids = [int(child) for children in threads for child in children.read_text().split()]
            found += [child for child in ids if b"spawn_main" in _command(child)]
        return found

    def kill_some_worker(self, seed: int) -> bool:
        """Kill one; False where there is none just now."""
        ids = self.worker_processes()
        if ids:
            os.kill(random.Random(seed).choice(ids), signal.SIGKILL)
        return bool(ids)

    def kill_scheduler(self) -> None:
        """Kill it; its workers end by themselves."""
        self._scheduler.kill()
        self._scheduler.wait()

    def close(self) -> None:
        """End all."""
        for process in [*self._workers, self._scheduler]:
            process.terminate()
        for process in [*self._workers, self._scheduler]:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()


def _command(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""


_WORK: list[Callable[[], None]] = []


def in_a_flow(work: Callable[[], None]) -> None:
    """Do some work in a flow, which goes to the workers by its name: what a test holds can't be sent."""
    _WORK.append(work)
    _flow()


@flow(name="on a cluster", persist_result=False)
def _flow() -> None:
    _WORK.pop()()


@contextmanager
def running_cluster(
    folder: Path,
    workers: int = 2,
    environment: Mapping[str, str] = os.environ,
    hosts: Sequence[tuple[str, str]] = (),
) -> Iterator[RunningCluster]:
    """A cluster for as long as it is needed; of one worker a host, where there are any."""
    folder.mkdir(exist_ok=True)
    made = RunningCluster(folder, workers, environment, hosts)
    try:
        yield made
    finally:
        made.close()
