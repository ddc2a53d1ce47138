"""What compiling takes, and what Prefect adds: to ten steps, in memory, to a run that does nothing anew.

Server, worker and ledger are new ones in a folder of their own. Wall times are those of a quiet machine.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.benchmarks.data import ROOT
from tests.benchmarks.running import print_line, process_tree, seconds_of_children
from tests.flows.processes import configuration_file
from tests.operations.installation import Installation, awaited

#: Of a run whose every step is known, as the command does it: CPU seconds, and seconds on a quiet machine.
CACHED_CPU, CACHED_WALL = 3.0, 4.0
_TIMES = 5
#: CPU seconds in which all kernels must be compiled, on the machine of which the other bars are.
COMPILED_CPU = 110.0

_TEN_STEPS = """
import json, time
from pathlib import Path
from prefect import flow
from tasks.step import step
from tasks.storage import Workspace

@step("intermediate")
def nothing(workspace, before):
    return Workspace(workspace.root)

@flow(persist_result=False)
def ten():
    made = None
    for _ in range(10):
        made = nothing(Workspace(Path(".")), made)

found = {}
for call in ("first", "second"):
    wall, cpu = time.perf_counter(), time.process_time()
    ten()
    found[f"{call}_wall_s"] = round(time.perf_counter() - wall, 2)
    found[f"{call}_cpu_s"] = round(time.process_time() - cpu, 2)
print(json.dumps(found))
"""


@contextmanager
def installed_server() -> Iterator[Installation]:
    """A server that answers; modules are compiled once, whatever the environment says of that."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = Installation(folder / "installation", PYTHONPYCACHEPREFIX=str(folder / "bytecode"))
        made.environment.pop("PYTHONDONTWRITEBYTECODE", None)
        made.environment["MARGINALIA_CACHE"] = os.environ.get("MARGINALIA_CACHE") or str(
            Path.home() / ".cache" / "marginalia"
        )
        made.start_server()
        try:
            yield made
        finally:
            made.close()


def prefect_ten_steps() -> None:
    """Ten steps that do nothing, in the first flow of a process and in a later one."""
    with installed_server() as installed:
        done = subprocess.run(
            [sys.executable, "-c", _TEN_STEPS],
            cwd=ROOT,
            env=installed.environment | {"PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL"},
            capture_output=True,
            text=True,
            check=True,
        )
        print_line("prefect_ten_steps", **json.loads(done.stdout.splitlines()[-1]))


def prefect_memory() -> None:
    """Resident memory of a server on SQLite and of a worker that waits, both after one run."""
    with installed_server() as installed, tempfile.TemporaryDirectory() as folder:
        path = configuration_file(Path(folder))
        deployment = installed.deploy(path)
        installed.start_worker()
        assert installed.ended(installed.run(deployment, vintage="1"))["type"] == "COMPLETED"
        server, worker = installed._server, installed._worker
        assert server is not None and worker is not None
        awaited(lambda: list(process_tree(worker.pid)) == [worker.pid], "the flow's process has ended")
        print_line("prefect_memory", server_mb=_megabytes(server.pid), worker_mb=_megabytes(worker.pid))


def cached_run() -> str:
    """A run by the command whose every step is known, of six hundred people: medians of five."""
    with installed_server() as installed, tempfile.TemporaryDirectory() as folder:
        path = configuration_file(Path(folder))
        for _ in range(2):
            installed.command("run", path)
        found = [seconds_of_children(lambda: installed.command("run", path)) for _ in range(_TIMES)]
    cpu, wall = (round(statistics.median(each), 2) for each in zip(*found, strict=True))
    print_line("cached_run", cpu_s=cpu, wall_s=wall, bar_cpu_s=CACHED_CPU, bar_wall_s=CACHED_WALL)
    # Whoever else is at work on this machine decides on the wall time, so it is told and no bar.
    return f"{cpu} CPU seconds are above the bar of {CACHED_CPU}" if cpu > CACHED_CPU else ""


def compile_kernels() -> str:
    """CPU seconds of what `make kernels` does; then with all in the cache, which is what is not compiling."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"NUMBA_CACHE_DIR": folder, "MARGINALIA_CACHE": folder}
        command = [sys.executable, "-m", "flows.command.warm_up", "all"]

        def warm_up() -> None:
            subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True)

        cold, warm = (round(seconds_of_children(warm_up)[0], 1) for _ in range(2))
    print_line("compile_kernels", ours_cpu_s=cold, nothing_to_compile_cpu_s=warm, bar_cpu_s=COMPILED_CPU)
    return f"{cold} CPU seconds are above the bar of {COMPILED_CPU}" if cold > COMPILED_CPU else ""


def _megabytes(pid: int) -> int:
    """Of a process and all that it started."""
    statuses = (Path(f"/proc/{process}/status").read_text() for process in process_tree(pid))
    sizes = (next(line for line in status.splitlines() if line.startswith("VmRSS")) for status in statuses)
    return sum(int(size.split()[1]) // 1024 for size in sizes)
