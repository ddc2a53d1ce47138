"""Processes that outlive the command: told from others that got the same number later, and ended.

A process is known by its number and by when it was started, both kept in a file.
"""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

#: First gently, then not.
GENTLY = (signal.SIGTERM, signal.SIGKILL)


@dataclass(frozen=True)
class Process:
    """A process.

    Attributes:
        pid: its number.
        started: when, in the system's own words; "" where it had ended already.
    """

    pid: int
    started: str

    @property
    def is_alive(self) -> bool:
        """Whether it still runs."""
        return started(self.pid) == self.started

    def children(self) -> "list[Process]":
        """What it started itself, as far as that runs."""
        listing = ""
        with contextlib.suppress(FileNotFoundError):
            listing = subprocess.run(
                ["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=False
            ).stdout
        pairs = [line.split() for line in listing.splitlines()]
        found = [(int(pid), started(int(pid))) for pid, parent in pairs if parent == str(self.pid)]
        return [Process(pid, when) for pid, when in found if when]

    def end(self, signals: Iterable[signal.Signals] = GENTLY, seconds: float = 15) -> None:
        """End it and what it started in its session.

        Args:
            signals: one after the other, as long as it runs.
            seconds: to wait after each.
        """
        for sign in signals:
            deadline = time.monotonic() + seconds
            if self.is_alive:
                with contextlib.suppress(OSError):
                    os.killpg(self.pid, sign)
            while self.is_alive and time.monotonic() < deadline:
                _reap(self.pid)
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
    """The same where there is no /proc."""
    if Path("/proc/self").exists():
        return None
    listing = subprocess.run(
        ["ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    ).stdout.split(maxsplit=1)
    return listing[1].strip() if len(listing) == 2 and not listing[0].startswith("Z") else None


def _reap(pid: int) -> None:
    """Take the exit status of a process that this very process started."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
