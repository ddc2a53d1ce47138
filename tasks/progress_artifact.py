"""Progress of a long step on the run's page: an artifact whose percentage grows.

For steps on protected data alone: how fast another one goes depends on the sensitive table (privacy.md, G23).
"""

import contextlib
import threading
import time
from collections.abc import Callable
from uuid import UUID

from prefect.context import TaskRunContext

from tasks.progress import QUIET_SECONDS

#: Each update is a request to the server.
_UPDATED_SECONDS = 5.0


class ProgressArtifact:
    """One step's artifact; none where the step is short, or outside a run."""

    def __init__(self, step: str, clock: Callable[[], float] = time.monotonic) -> None:
        """Args: step: its name. clock: seconds."""
        self._step, self._clock, self._thread = step, clock, threading.get_ident()
        self._due = clock() + QUIET_SECONDS
        self._artifact: UUID | None = None

    def __call__(self, fraction: float) -> None:
        """Show how far the step is. Args: fraction: 0 to 1."""
        now = self._clock()
        if now < self._due or threading.get_ident() != self._thread or TaskRunContext.get() is None:
            return
        self._due = now + _UPDATED_SECONDS
        self._show(fraction)

    def close(self) -> None:
        """The step is done; one that failed stays where it was."""
        if self._artifact is not None:
            self._show(1.0)

    def _show(self, fraction: float) -> None:
        from prefect.artifacts import create_progress_artifact, update_progress_artifact

        percent = 100 * min(max(fraction, 0.0), 1.0)
        with contextlib.suppress(Exception):  # no server stops a step by not answering here
            if self._artifact is None:
                key = f"progress-{self._step.replace('_', '-')}"
                made = create_progress_artifact(percent, key, f"How far {self._step} is.")
                assert isinstance(made, UUID), "a step is no coroutine"
                self._artifact = made
            else:
                update_progress_artifact(self._artifact, percent)
