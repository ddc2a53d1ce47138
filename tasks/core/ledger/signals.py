"""Interrupts while noise is being drawn: ctrl-C and SIGTERM go in, a short wait comes out.

Between the first noise word and the commit, a run that stops loses its measurement and keeps its charge.
So the first interrupt there waits until the measurement is committed; the second one stops at once.
"""

import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from types import FrameType, TracebackType
from typing import Any

_DEFERRED = (signal.SIGINT, signal.SIGTERM)

WAITING_FOR_THE_DRAW = (
    "The noise is being drawn: the run stops as soon as it has kept the measurement. "
    "Interrupt it again to stop it now; the charge is then lost."
)


class DeferredInterrupts:
    """A context in which interrupts can be held back; leaving it delivers what was held.

    Only the main thread receives signals, so elsewhere it does nothing.
    """

    def __init__(self, notice: Callable[[str], None]) -> None:
        """Args: notice: called with a sentence when an interrupt is held back."""
        self._notice = notice
        self._held: int | None = None
        self._before: dict[int, Callable[[int, FrameType | None], Any] | int] = {}

    def __enter__(self) -> "DeferredInterrupts":
        """Nothing is held back until `hold`."""
        return self

    def hold(self) -> None:
        """From now on the first interrupt waits."""
        if threading.current_thread() is not threading.main_thread() or self._before:
            return
        for number in _DEFERRED:
            handler = signal.getsignal(number)
            if handler is not None and handler is not signal.SIG_IGN:
                self._before[number] = handler
                signal.signal(number, self._receive)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        if self._held is None:
            self._held = number
            # A notice that is cut into another (print is not reentrant) must not cost the measurement.
            with suppress(Exception):
                self._notice(WAITING_FOR_THE_DRAW)
            return
        raise KeyboardInterrupt

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give the handlers back, then deliver what was held, unless an error is under way already."""
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}
        if self._held is not None and error is None:
            signal.raise_signal(self._held)
