"""Runs figures one after another: figures in, JSON lines and an exit code out; and what they measure with.

A figure that fails, or misses its bar, costs no other figure: its line says what is wrong, and the next one
runs.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from tasks.core.hints import did_you_mean
from tests.benchmarks.data import FOLDER, ROOT, Table

Result = dict[str, object]
#: The peer of counting and of aggregate-seeded synthesis.
PEER = "pac-synth==0.0.8"
_LONG = 60.0

#: Measures and prints its lines; returns what is wrong with them, if anything is.
Figure = Callable[[], str | None]
Figures = dict[str, Figure]


def chosen(figures: Figures, names: Sequence[str], left_out: Collection[str] = ()) -> Figures:
    """The figures with these names, or all; without those that are left out and were not named.

    Raises:
        SystemExit: a name is unknown.
    """
    for name in names:
        if name not in figures:
            suggestion = did_you_mean(name, figures) or f"the figures are {', '.join(figures)}."
            raise SystemExit(f"No figure is called {name}: {suggestion}")
    wanted = names or figures.keys() - left_out
    return {name: figure for name, figure in figures.items() if name in wanted}


def run(figures: Figures) -> int:
    """Run all of them, whatever becomes of each; 0 if all succeeded, else 1."""
    failed = [name for name, figure in figures.items() if not _succeeds(name, figure)]
    if failed:
        print(f"{len(failed)} of {len(figures)} figures failed: {', '.join(failed)}.", file=sys.stderr)
    return 1 if failed else 0


def _succeeds(name: str, figure: Figure) -> bool:
    try:
        wrong = figure()
    except (Exception, SystemExit) as error:  # a figure that lacks something ends itself alone
        wrong = f"{type(error).__name__}: {error}"
    if wrong:
        print_line(name, failed=wrong)
    return not wrong


def measured(command: Sequence[object]) -> Result:
    """The JSON object in the last line that a command prints."""
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, check=False, cwd=ROOT
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command[1:4]))} failed:\n{done.stderr[-2000:]}")
    result: Result = json.loads(done.stdout.splitlines()[-1])
    return result


def peer_python(name: str, *packages: str, base: str = sys.executable) -> Path:
    """Python of an environment that holds a peer, made when it is missing.

    Raises:
        SystemExit: there is no such base Python.
    """
    python = FOLDER / name / "bin" / "python"
    if not (FOLDER / name / "made").exists():
        FOLDER.mkdir(exist_ok=True)
        print(f"Making the peer's environment ({packages[0]})", file=sys.stderr)
        try:
            subprocess.run([base, "-m", "venv", FOLDER / name], check=True)
        except FileNotFoundError:
            raise SystemExit(
                f"Skipped: {packages[0]} needs {base}, which is not there. Install it."
            ) from None
        subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
        (FOLDER / name / "made").touch()
    return python


def peer(section: str, table: Table, length: int, records: int = 0) -> Result:
    """One measurement of `PEER`."""
    script = ROOT / "tests" / "benchmarks" / "peer.py"
    python = peer_python("peer", PEER, "pandas", "numpy")
    return measured([python, script, section, table.path, length, records])


def interleaved(us: Callable[[], Result], them: Callable[[], Result]) -> tuple[list[Result], list[Result]]:
    """Three pairs in turn; the peer once where it takes over a minute."""
    mine, theirs = [us()], [them()]
    for _ in range(2):
        mine.append(us())
        if number(theirs[0], "cpu_s") < _LONG:
            theirs.append(them())
    return mine, theirs


def number(result: Result, key: str) -> float:
    return float(str(result[key]))


def median(results: Sequence[Result], key: str = "cpu_s") -> float:
    """Median of one key over results."""
    return statistics.median(number(result, key) for result in results)


def print_line(name: str, **figures: object) -> None:
    print(json.dumps({"name": name} | figures), flush=True)


def report(name: str, mine: float, theirs: float, bar: float, **more: object) -> str:
    """Print one JSON line; return what is wrong with it: that the bar is missed, or nothing."""
    figures = {"ours_cpu_s": round(mine, 6), "peer_cpu_s": round(theirs, 6), "ratio": round(theirs / mine, 1)}
    print_line(name, **figures, bar=bar, unit="CPU s", **more)
    return f"a ratio of {theirs / mine:.1f} is below the bar of {bar}" if theirs < bar * mine else ""


def timed(run: Callable[[], Result]) -> Result:
    """The result with its CPU seconds."""
    begun = time.process_time()
    result = run()
    return result | {"cpu_s": time.process_time() - begun}


def seconds_of_children(run: Callable[[], object]) -> tuple[float, float]:
    """CPU seconds of the processes that something starts and waits for, and seconds on the clock."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    run()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, time.perf_counter() - started


def process_tree(process: int) -> Iterator[int]:
    """A process and all that it has started."""
    waiting = [process]
    while waiting:
        process = waiting.pop()
        yield process
        for children in Path(f"/proc/{process}/task").glob("*/children"):
            with suppress(OSError):  # it has ended
                waiting += map(int, children.read_text().split())


def cpu_seconds(process: int) -> float:
    """Of a process that may be somebody else's child."""
    stat = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (float(stat[11]) + float(stat[12])) / os.sysconf("SC_CLK_TCK")


def peak_mb() -> int:
    """Peak resident megabytes of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
