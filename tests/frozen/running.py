"""Command lines run as a person runs them, in folders of their own, with one Prefect server for all."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]

#: What decides nothing, and is the same wherever it runs.
_SETTINGS = {
    "COLUMNS": "100",
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "NO_COLOR": "1",
    # Prefect is imported before a command could say so.
    "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
    "DO_NOT_TRACK": "1",
}
_KEPT = ("PATH", "HOME", "TMPDIR", "MARGINALIA_CACHE")


class Answer(NamedTuple):
    """What came of a command line."""

    code: int
    printed: str
    said: str
    seconds: float


class Runner:
    """Runs command lines, one after another."""

    def __init__(self, home: Path) -> None:
        """Args: home: for what the server keeps."""
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        places = {"MARGINALIA_SERVER": str(home / "server"), "PREFECT_HOME": str(home / "prefect")}
        self._environment, self._home = kept | places | _SETTINGS, home
        self._host = subprocess.Popen(
            [sys.executable, "-m", "tests.frozen.host"],
            cwd=ROOT,
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, folder: Path, arguments: Sequence[str]) -> Answer:
        """Run ``marginalia`` with these arguments in a folder, whose ledger is its own."""
        assert self._host.stdin is not None and self._host.stdout is not None
        environment = self._environment | {"MARGINALIA_LEDGER": str(folder / "ledger")}
        asked = {"folder": str(folder), "arguments": list(arguments), "environment": environment}
        self._host.stdin.write(json.dumps(asked) + "\n")
        self._host.stdin.flush()
        answered = self._host.stdout.readline()
        assert answered, "the host of the commands died; what it said is above"
        words = []
        for name in ("printed", "said"):
            words.append((folder / name).read_bytes().decode("utf-8", "backslashreplace"))
            (folder / name).unlink()
        body = json.loads(answered)
        return Answer(body["code"], *words, body["seconds"])

    def close(self) -> None:
        """End the server and the host."""
        assert self._host.stdin is not None
        if self._host.poll() is None:
            self.run(self._home, ["stop"])
        self._host.stdin.close()
        self._host.wait(60)


@contextmanager
def runner() -> Iterator[tuple[Runner, Path]]:
    """A runner, and a folder to work in that goes away afterwards."""
    with tempfile.TemporaryDirectory(prefix="frozen-") as made:
        home = Path(made).resolve()
        found = Runner(home)
        try:
            yield found, home
        finally:
            found.close()
