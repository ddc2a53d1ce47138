"""Progress of a long step, for the person at the terminal.

Written to standard error and nowhere else: how fast a step goes depends on the data (privacy.md, G23), so it
stays out of logs and of Prefect.
"""

import sys
import time
from collections.abc import Callable

#: Nothing is said of what takes less than this.
QUIET_SECONDS = 2.0
_INTERVAL = {True: 0.2, False: 10.0}

Report = Callable[[str, float], None]


class Progress:
    """One step's progress: a line that is rewritten on a terminal, a line now and then elsewhere."""

    def __init__(self, step: str) -> None:
        """Args: step: its name, as shown."""
        self._step = step
        self._started = self._said = time.monotonic()
        self._terminal = sys.stderr.isatty()
        self._open = False

    def __call__(self, what: str, fraction: float) -> None:
        """Say how far the step is. Args: what: a few words. fraction: 0 to 1."""
        now = time.monotonic()
        if now - self._started < QUIET_SECONDS or now - self._said < _INTERVAL[self._terminal]:
            return
        self._said = now
        line = f"  {self._step}: {what} {min(max(fraction, 0.0), 1.0):4.0%}"
        if self._terminal:
            sys.stderr.write(f"\r\033[K{line}")
            self._open = True
        else:
            sys.stderr.write(f"{line}\n")
        sys.stderr.flush()

    def close(self) -> None:
        """Clear the line."""
        if self._open:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()


def say(text: str) -> None:
    """One line for the person at the terminal."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
