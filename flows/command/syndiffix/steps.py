"""Which step of ``marginalia syndiffix`` is at work, for the person at the terminal.

In: the step's name and how far it is. Out: lines on standard error.
"""

import threading
import time
from types import TracebackType
from typing import Self

from tasks.progress import Progress, say


class Steps:
    """Which step is at work, told to the person at the terminal for as long as it lasts."""

    def __init__(self, *, verbose: bool) -> None:
        """Args: verbose: each step is a line of its own."""
        self._verbose = verbose
        self._bar = Progress("syndiffix")
        self._now = ("read", 0.0)
        self._started = time.monotonic()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._tell, daemon=True)

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return time.monotonic() - self._started

    def __call__(self, step: str, done: int, of: int) -> None:
        """Say where the work is. Args: step: a word. done, of: in the step's own units."""
        if self._verbose and step != self._now[0]:
            say(f"[{self.seconds:7.1f} s] {step}")
        self._now = (step, done / of)

    def __enter__(self) -> Self:
        """Begin to tell."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End, and clear the line."""
        self._ended.set()
        self._thread.join()
        self._bar.close()

    def _tell(self) -> None:
        while not self._ended.wait(0.2):
            self._bar(*self._now)
