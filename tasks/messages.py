"""What a run says: a sentence in, a line at the terminal and one in the log that Prefect keeps of the run.

    tell        both: what may be known to whoever sees the run's page
    tell_log    the log alone: what the terminal has otherwise, or need not have; `fail` the same of a failure
    say         the terminal alone (`tasks.progress`): what depends on the table before it is protected

All goes through a logger of the standard library, so nothing here knows Prefect; `tasks.step` carries its
records there. A sentence that begins with ATTENTION is a warning.
"""

import logging
from collections.abc import Callable
from typing import Final

from tasks.progress import say

LOGGER: Final = logging.getLogger("marginalia")
_NOTES: Final = logging.getLogger("marginalia.notes")
_ATTENTION: Final = "ATTENTION: "


class TerminalHandler(logging.Handler):
    """Writes what is told, bare, as the command's other lines are; notes are not for it."""

    def __init__(self, write: Callable[[str], None] = say) -> None:
        """Args: write: is given each line."""
        super().__init__()
        self._write = write

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line. Args: record: of this logger."""
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
