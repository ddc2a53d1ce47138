"""Progress of a long step, for the person at the terminal, and lines that are for that person alone.

Written to standard error: how fast a step goes depends on the data (G23), so it stays out of logs
and of Prefect. Of a step on protected data alone it is also shown elsewhere, by whoever is given for that.
What a run tells everybody goes through `tasks.messages`.
"""

import functools
import sys
import time
from collections.abc import Callable

#: Nothing is said of what takes less than this.
QUIET_SECONDS = 2.0
_REWRITTEN_SECONDS, _LINE_SECONDS = 0.2, 10.0


class Progress:
    """One step's progress: a line that is rewritten on a terminal, elsewhere one for what is new."""

    def __init__(
        self,
        step: str,
        clock: Callable[[], float] = time.monotonic,
        shown: Callable[[float], None] | None = None,
    ) -> None:
        """Args: step: its name, as shown. clock: seconds. shown: told each fraction too."""
        self._step, self._clock, self._shown = step, clock, shown
        self._started = self._said = clock()
        self._terminal = sys.stderr.isatty()
        self._open = False
        self._last: tuple[str, int] | None = None

    def __call__(self, what: str, fraction: float) -> None:
        """Say how far the step is. Args: what: a few words. fraction: 0 to 1."""
        if self._shown is not None:
            self._shown(fraction)
        now, at = self._clock(), (what, int(10 * fraction))
        if not (self._rewrites(now) if self._terminal else self._adds(now, at)):
            return
        self._said, self._last = now, at
        line = f"  {self._step}: {what} {min(max(fraction, 0.0), 1.0):4.0%}"
        if self._terminal:
            sys.stderr.write(f"\r\033[K{line}")
            self._open = True
        else:
            sys.stderr.write(f"{line}\n")
        sys.stderr.flush()

    def of(self, what: str) -> Callable[[float], None]:
        """For whoever says no more than how far this one thing is."""
        return functools.partial(self, what)

    def _rewrites(self, now: float) -> bool:
        return now - self._started >= QUIET_SECONDS and now - self._said >= _REWRITTEN_SECONDS

    def _adds(self, now: float, at: tuple[str, int]) -> bool:
        """Whether a line is due: of what is new at once, of a further tenth now and then."""
        if now - self._started < _LINE_SECONDS or at == self._last:
            return False
        is_new = self._last is None or at[0] != self._last[0]
        return is_new or now - self._said >= _LINE_SECONDS

    def close(self) -> None:
        if self._open:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()


def say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
