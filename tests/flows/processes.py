"""The command in a process of its own, or in this one, struck by a signal at a chosen point of the run.

A blow is a signal, a function of `os` and a pattern: the process signals itself right after the first call of
that function whose path (of a rename: its target) matches.
"""

import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tests.flows import pipeline

ROOT = Path(__file__).resolve().parents[2]

#: Where a run is struck -> the call after which it is, and the path that the call is given.
POINTS = {
    "during encode": ("mkdir", r"/\.coded_records-"),
    "after encode": ("rename", r"/coded_records$"),
    "before drawing": ("mkdir", r"/measurements/[^/]*\.part$"),
    "during drawing": ("open", r"/measurements/[^/]*\.part/"),
    "after the measurement": ("rename", r"/measurements/[^/]*(?<!\.part)$"),
    "during hand-over": ("mkdir", r"/measurement/people/\."),
    "during normalise": ("mkdir", r"/\.aggregates-"),
    "during generate": ("mkdir", r"/\.synthetic_records-"),
    "during publish": ("mkdir", r"/\.\.candidate-"),
    "before latest": ("rename", r"/2026-11-1$"),
    "during count": ("mkdir", r"/\.marginals-"),
    "during sensitive evaluation": ("mkdir", r"/out/sensitive/.*/\.evaluation-"),
}
#: What is charged after a kill and a clean resume; elsewhere one committed draw.
LOST = {"during drawing": ["lost", "commit"]}
#: What an interrupt leaves in the ledger; the drawing window holds it back until the measurement is kept.
BEFORE_LEAVE = {"before drawing": ["void"]}
NOT_RESERVED = ("during encode", "after encode")
#: The release is out before these.
PUBLISHED = ("before latest", "during count", "during sensitive evaluation")


def python(
    code: str, *arguments: object, cwd: Path = ROOT, env: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """What an interpreter of its own printed and how it ended."""
    line = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(line, cwd=cwd, env=env, capture_output=True, text=True, check=False)


class Blow(NamedTuple):
    """What strikes, and where."""

    signal: signal.Signals
    call: str
    pattern: str


@contextmanager
def struck(blow: Blow) -> Iterator[list[str]]:
    """Within it, the process is struck once; yields the paths at which it was."""
    original = getattr(os, blow.call)
    struck_at: list[str] = []

    def watched(*arguments: Any, **keywords: Any) -> Any:
        result = original(*arguments, **keywords)
        path = os.fspath(arguments[1 if blow.call == "rename" else 0])
        if not struck_at and isinstance(path, str) and re.search(blow.pattern, path):
            struck_at.append(path)
            os.kill(os.getpid(), blow.signal)
        return result

    setattr(os, blow.call, watched)
    try:
        yield struck_at
    finally:
        setattr(os, blow.call, original)


class Run:
    """`marginalia` in a process forked from one that has imported everything."""

    def __init__(self, folder: Path, arguments: Sequence[str], blow: Blow | None = None) -> None:
        """Args: folder: for what it prints."""
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["tests.flows.preloaded"])
        self._printed = folder / f"printed-{len(list(folder.glob('printed-*')))}"
        self._printed.mkdir()
        told = (str(self._printed), dict(os.environ), list(arguments), blow)
        self._process = context.Process(target=_main, args=told)
        self._process.start()

    def finish(self) -> int:
        """Wait for its end; its exit code, or minus the signal that killed it."""
        self._process.join(240)
        code = self._process.exitcode
        if code is None:
            self._process.kill()
        assert code is not None, "the run hangs"
        return code

    @property
    def said(self) -> str:
        """What it wrote to standard error."""
        return (self._printed / "err").read_text()


def _main(printed: str, environment: dict[str, str], arguments: list[str], blow: Blow | None) -> None:
    os.environ.clear()
    os.environ.update(environment)
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(Path(printed) / name, os.O_CREAT | os.O_WRONLY, 0o600), number)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    from flows.command import main as command

    sys.argv = ["marginalia", *arguments]
    if blow is None:
        command.run()
    with struck(blow):
        command.run()


def configuration_file(folder: Path, table: Sequence[Sequence[str]] | None = None, **changes: Any) -> Path:
    """Write the table and its configuration; return the configuration's path."""
    pipeline.write(folder / "people.csv", pipeline.rows(300) if table is None else table)
    return configured(folder, **changes)


def configured(folder: Path, **changes: Any) -> Path:
    path = folder / "people.json"
    path.write_text(json.dumps(pipeline.flat(folder, **changes)), encoding="utf-8")
    return path


def phases(dataset: str = "people") -> list[str]:
    """What became of each reservation of a dataset in the ledger, in order; none where it has no account."""
    from tasks.core.ledger.ledger import open_ledger

    ledger = open_ledger()
    if not ledger.is_registered(dataset):
        return []
    return [reservation.phase for reservation in ledger.account(dataset).reservations]


def releases(folder: Path, dataset: str = "people") -> list[str]:
    """Names of what is visible in a dataset's folder of releases, beside their index."""
    home = folder / "out" / "release" / dataset
    return sorted(path.name for path in home.glob("*") if path.name[0] != "." and path.name != "INDEX.json")


def assert_whole(folder: Path, dataset: str = "people") -> None:
    """Every visible release holds exactly the files of its manifest, unchanged."""
    from tasks.core.stored_files import file_sha256

    home = folder / "out" / "release" / dataset
    for name in releases(folder, dataset):
        listed = {e["file"]: e["sha256"] for e in pipeline.json_of(home / name / "MANIFEST.json")["files"]}
        files = [path for path in (home / name).rglob("*") if path.is_file()]
        found = {path.relative_to(home / name).as_posix(): file_sha256(path) for path in files}
        del found["MANIFEST.json"]
        assert found == listed


def unfinished(folder: Path) -> list[str]:
    """Work in the workspace that nobody finished."""
    hidden = re.compile(r"\.(work|candidate|latest|\.candidate)-|\.part$")
    out = folder / "out"
    return sorted(str(path.relative_to(out)) for path in out.rglob(".*") if hidden.search(path.name))
