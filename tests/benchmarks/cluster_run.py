"""A run on a cluster of this machine: ``python -m tests.benchmarks.cluster_run RECORDS TARGET PARTITIONS``.

One JSON line: a generated table of 15 columns in Parquet, fitted under differential privacy (epsilon 1,
R = 3), TARGET synthetic records, by `marginalia run` with two workers. Elapsed seconds by step; of
the run and of each worker CPU seconds, the most memory, and how much was read and written.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.data import FOLDER, generated_parquet
from tests.benchmarks.running import cpu_seconds, print_line, process_tree

#: Of a step; a part of one has a number behind its name.
_ENDS = re.compile(r"Task run '(\w+)' - Finished")


@dataclass
class Process:
    """What is known of one process of the run; the last look counts, as it may have ended."""

    role: str
    cpu_s: float = 0.0
    peak_mb: int = 0
    read_mb: int = 0
    written_mb: int = 0

    def look(self, folder: Path) -> None:
        """Take in what the system says of it."""
        self.cpu_s = cpu_seconds(int(folder.name))
        status, moved = _numbers(folder / "status"), _numbers(folder / "io")
        self.peak_mb = max(self.peak_mb, status.get("VmHWM", 0) >> 10)
        self.read_mb, self.written_mb = moved["rchar"] >> 20, moved["wchar"] >> 20


def _numbers(path: Path) -> dict[str, int]:
    lines = (line.split(":") for line in path.read_text().splitlines())
    return {name: int(rest.split()[0]) for name, rest in lines if rest.split() and rest.split()[0].isdigit()}


class Watched:
    """A process and all that it starts, looked at twice a second."""

    def __init__(self, process: int) -> None:
        """Args: process: its id."""
        self.found: dict[int, Process] = {}
        self._first, self._ends = process, threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> "Watched":
        """Begin to look."""
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        """Look no more."""
        self._ends.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ends.wait(0.5):
            for process in process_tree(self._first):
                folder = Path(f"/proc/{process}")
                try:
                    role = _role((folder / "cmdline").read_bytes(), process == self._first)
                    self.found.setdefault(process, Process(role)).look(folder)
                except (OSError, IndexError):
                    continue


def _role(command: bytes, is_first: bool) -> str:
    if is_first:
        return "run"
    if b"spawn_main" in command:
        return "worker"
    return "server" if b"prefect" in command or b"uvicorn" in command else "other"


def configuration(path: Path, target: int, partitions: int, output: Path) -> dict[str, object]:
    """Of the run."""
    return {
        "sensitive_microdata_path": str(path),
        "sensitive_zeros": [f"c{place}" for place in range(15)],
        "reporting_length": 3,
        "dp_aggregates": True,
        "noise_epsilon": 1.0,
        "synthesis_mode": "fitted",
        "fitted_target_number_of_records": target,
        "dataset": "benchmark",
        "vintage": "2026-11",
        "prefix": "benchmark",
        "output_dir": str(output),
        "privacy": {"cap": {"epsilon": 20, "delta": 1e-5, "population": "records of a benchmark"}},
        "engine": "dask",
        "workers": 2,
        "partitions": partitions,
    }


def measured(records: int, target: int, partitions: int) -> dict[str, object]:
    """Run it; what it took."""
    path, steps = generated_parquet(records), list[tuple[str, float]]()
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        output = Path(folder) / "out"
        written = Path(folder) / "benchmark.json"
        written.write_text(json.dumps(configuration(path, target, partitions, output)), encoding="utf-8")
        command = [sys.executable, "-m", "flows", "run", str(written), "--verbose"]
        environment = os.environ | {"MARGINALIA_LEDGER": str(Path(folder) / "ledger")}
        started = time.monotonic()
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
        ) as run:
            assert run.stdout is not None
            with Watched(run.pid) as watched:
                for line in run.stdout:
                    print(line, end="", file=sys.stderr)
                    if step := _ENDS.search(line):
                        steps.append((step[1], time.monotonic() - started))
        if run.returncode:
            raise SystemExit(f"The run failed with exit code {run.returncode}: see above.")
        elapsed = time.monotonic() - started
        sizes = {
            found.name: found.stat().st_size >> 20
            for found in sorted((output / "release" / "benchmark" / "latest").iterdir())
        }
    begins = [0.0] + [ended for _, ended in steps]
    return {
        "elapsed_s": round(elapsed, 1),
        "steps_s": {name: round(end - begun, 1) for (name, end), begun in zip(steps, begins, strict=False)},
        "processes": [vars(process) for process in watched.found.values() if process.cpu_s > 1],
        "release_mb": {name: size for name, size in sizes.items() if size},
    }


def main() -> None:
    """Run with the numbers that the command line gives."""
    records, target, partitions = (int(each) for each in (sys.argv[1:] or ["1000000", "1000000", "4"]))
    asked = {"records": records, "target": target, "partitions": partitions}
    print_line("cluster_run", **asked, **measured(records, target, partitions))


if __name__ == "__main__":
    main()
