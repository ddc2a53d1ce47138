"""What a run says: a sentence in, a line at the terminal and one in the log that Prefect keeps of the run.

    tell        both: what may be known to whoever sees the run's page
    tell_log    the log alone: what the terminal has otherwise, or need not have; `fail` the same of a failure
    say         the terminal alone (standard error): what depends on the table before it is protected
    Progress    the same of a long step: how fast one goes depends on the data (G23), so it stays out of logs
                and of Prefect; of a step on protected data alone it is also told to whoever is given for that

All but the last two goes through a logger of the standard library, so nothing here knows Prefect;
`tasks.step` carries its records there. A sentence that begins with ATTENTION is a warning.
"""

import functools
import logging
import sys
import time
from collections.abc import Callable
from typing import Final

LOGGER: Final = logging.getLogger("marginalia")
_NOTES: Final = logging.getLogger("marginalia.notes")
_ATTENTION: Final = "ATTENTION: "


def say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


class TerminalHandler(logging.Handler):
    """Writes what is told, bare, as the command's other lines are; notes are not for it."""

    def __init__(self, write: Callable[[str], None] = say) -> None:
        super().__init__()
        self._write = write

    def emit(self, record: logging.LogRecord) -> None:
        if record.name != _NOTES.name:
            self._write(record.getMessage())


def tell(text: str) -> None:
    """One sentence to the terminal and to the run's log. Args: text: nothing that is not public."""
    LOGGER.log(_level(text), "%s", text)


def tell_log(text: str) -> None:
    """One sentence to the run's log alone. Args: text: nothing that is not public."""
    _NOTES.log(_level(text), "%s", text)


def fail(text: str) -> None:
    """Why the run stops, to the run's log alone: whoever started it raises it. Args: text: of our own."""
    _NOTES.error("%s", text)


def _level(text: str) -> int:
    return logging.WARNING if text.startswith(_ATTENTION) else logging.INFO


LOGGER.setLevel(logging.INFO)
# Told once: neither the root logger nor a handler that Prefect adds writes the line a second time.
LOGGER.propagate = False
LOGGER.addHandler(TerminalHandler())


#: Nothing is said of what takes less than this.
QUIET_SECONDS = 2.0
_REWRITTEN_SECONDS, _LINE_SECONDS = 0.2, 10.0


class Progress:
    """One step's progress: a line that is rewritten on a terminal, elsewhere one for what is new.

    It is called with a few words and a fraction from 0 to 1, which `shown` is told, too.
    """

    def __init__(
        self,
        step: str,
        clock: Callable[[], float] = time.monotonic,
        shown: Callable[[float], None] | None = None,
    ) -> None:
        self._step, self._clock, self._shown = step, clock, shown
        self._started = self._said = clock()
        self._terminal = sys.stderr.isatty()
        self._open = False
        self._last: tuple[str, int] | None = None

    def __call__(self, what: str, fraction: float) -> None:
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
