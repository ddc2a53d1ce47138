"""What a call shows while it is at work: sentences that stay, and progress that does not.

In a notebook both are one output that is rewritten in place, so that a saved notebook holds the sentences
that anybody may read, and no progress: how fast a step goes depends on the table. Elsewhere they go to
standard error, as the command's do.
"""

import re
import sys
import time
from typing import Any

_REWRITTEN_SECONDS = 0.2
#: How a terminal's line is begun anew (`tasks.progress`).
_REWRITE = "\r\033[K"
_PIECES = re.compile(f"(\n|{re.escape(_REWRITE)})")


class Shown:
    """One call's output.

    Attributes:
        notes: lines that are for the person alone, such as where cells that were not counted are listed.
    """

    def __init__(self) -> None:
        self.notes: list[str] = []
        self._told: list[str] = []
        self._rest, self._rewrites = "", False
        self._now, self._shown_at = "", 0.0
        self._display = _notebook_display()
        self._handle: Any = None

    def tell(self, sentence: str) -> None:
        """Show what anybody may read, and keep it shown."""
        self._told.append(sentence)
        if self._display is None:
            self._line(sentence)
        self._show(at_once=True)

    def write(self, text: str) -> None:
        """Take what a terminal would get: lines, and one that is rewritten until another one comes."""
        for piece in _PIECES.split(self._rest + text):
            if piece == "\n":
                self._take(self._rest)
            elif piece != _REWRITE:
                self._rest = piece
            if piece in ("\n", _REWRITE):
                self._rewrites, self._rest = piece == _REWRITE, ""
        if self._rewrites and self._rest:
            self._now = self._rest
            self._show(at_once=False)

    def close(self, last: str = "") -> None:
        """End: progress goes, and a last sentence may stay. Args: last: that, or nothing."""
        self._now = ""
        if last:
            self.tell(last)
        elif self._handle is not None or self._display is None:
            self._show(at_once=True)

    def _take(self, line: str) -> None:
        if not line:
            return
        self.notes.append(line)
        if self._display is None:
            self._line(line)
        else:
            self._now = line
            self._show(at_once=True)

    def _line(self, text: str) -> None:
        clear = "\r\033[K" if sys.stderr.isatty() else ""
        sys.stderr.write(f"{clear}{text}\n")
        sys.stderr.flush()

    def _show(self, *, at_once: bool) -> None:
        """Bring the notebook's output, or a terminal's last line, up to date."""
        now = time.monotonic()
        if not at_once and now - self._shown_at < _REWRITTEN_SECONDS:
            return
        self._shown_at = now
        if self._display is None:
            if sys.stderr.isatty():
                sys.stderr.write(f"\r\033[K{self._now}")
                sys.stderr.flush()
            return
        content = {"text/plain": "\n".join([*self._told, *([self._now] if self._now else [])])}
        if self._handle is None:
            self._handle = self._display(content, raw=True, display_id=True)
        else:
            self._handle.update(content, raw=True)


def _notebook_display() -> Any:
    """IPython's display where a notebook's kernel runs this, else None; it is imported by nobody else."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        return None
    from IPython.display import display

    return display
