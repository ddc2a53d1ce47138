"""What a call shows while it is at work: sentences that stay, and progress that does not.

In a notebook both are one output that is rewritten in place, with a bar as notebooks have them. A saved
notebook holds the sentences that anybody may read, and no progress: how fast a step goes depends on the
table. What is for the person alone is kept and not shown there. Elsewhere all of it goes to standard error,
as the command's does.
"""

import re
import sys
import time
from html import escape
from types import TracebackType
from typing import Any, Self

from marginalia.errors import MarginaliaError

_REWRITTEN_SECONDS = 0.2
#: A call that takes less than this shows no progress.
_QUIET_SECONDS = 1.0
#: How a terminal's line is begun anew (`tasks.progress`).
_REWRITE = "\r\033[K"
_PIECES = re.compile(f"(\n|{re.escape(_REWRITE)})")
_SHARE = re.compile(r"\s*(?P<what>.*?)\s+(?P<percent>\d{1,3})%\s*")


class Shown:
    """One call's output, for as long as the call lasts: ``with Shown() as shown``.

    Attributes:
        notes: lines that are for the person alone, such as where cells that were not counted are listed. An
            error that ends the call takes them along (`owner_notes`).
    """

    def __init__(self) -> None:
        self.notes: list[str] = []
        self._told: list[str] = []
        self._rest, self._rewrites = "", False
        self._now = ""
        self._started = time.monotonic()
        self._shown_at = 0.0
        self._display = _notebook_display()
        self._handle: Any = None
        self._is_over = False

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End, however the call ended: no progress is left."""
        if isinstance(error, MarginaliaError):
            error.owner_notes = tuple(self.notes)  # type: ignore[attr-defined]
        if not self._is_over:
            self.close()

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
        if self._rewrites and self._rest != self._now:
            self._now = self._rest
            self._show(at_once=False)

    def tick(self) -> None:
        """Show that the call is still at work, where nothing else does."""
        if self._display is not None:
            self._show(at_once=False)

    def close(self, last: str = "") -> None:
        """End: progress goes, and a last sentence may stay. Args: last: that, or nothing."""
        self._now, self._is_over = "", True
        if last:
            self.tell(last)
        elif self._handle is not None or self._display is None:
            self._show(at_once=True)

    def _take(self, line: str) -> None:
        """A line for the person alone: it is in no notebook, as these are saved and sent around."""
        if not line:
            return
        self.notes.append(line)
        if self._display is None:
            self._line(line)

    def _line(self, text: str) -> None:
        clear = _REWRITE if sys.stderr.isatty() else ""
        sys.stderr.write(f"{clear}{text}\n")
        sys.stderr.flush()

    def _show(self, *, at_once: bool) -> None:
        """Bring the notebook's output, or a terminal's last line, up to date."""
        now = time.monotonic()
        if not at_once and now - self._shown_at < _REWRITTEN_SECONDS:
            return
        if self._display is None:
            self._shown_at = now
            if sys.stderr.isatty():
                sys.stderr.write(f"{_REWRITE}{self._now}")
                sys.stderr.flush()
            return
        seconds = 0 if self._is_over else int(now - self._started)
        if self._handle is None and not at_once and seconds < _QUIET_SECONDS:
            return
        self._shown_at = now
        content = {"text/plain": self._as_text(seconds), "text/html": self._as_html(seconds)}
        if self._handle is None:
            self._handle = self._display(content, raw=True, display_id=True)
        else:
            self._handle.update(content, raw=True)

    def _as_text(self, seconds: int) -> str:
        now = f"{self._now.strip() or 'At work'} ({seconds} s)"
        return "\n".join([*self._told, *([] if self._is_over else [now])])

    def _as_html(self, seconds: int) -> str:
        told = "".join(f"<div>{escape(sentence)}</div>" for sentence in self._told)
        return told if self._is_over else told + _bar(self._now, seconds)


def _bar(now: str, seconds: int) -> str:
    """Progress as a bar. Args: now: a terminal's line, which may end in a percentage. seconds: until now."""
    share = _SHARE.fullmatch(now)
    what = share["what"] if share else now.strip() or "At work"
    value = f' max="100" value="{min(int(share["percent"]), 100)}"' if share else ""
    percent = f", {share['percent']} %" if share else ""
    label = escape(what)
    return f'<div><progress{value} aria-label="{label}"></progress> {label}{percent} ({seconds} s)</div>'


def _notebook_display() -> Any:
    """IPython's display where a notebook's kernel runs this, else None; it is imported by nobody else."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        return None
    from IPython.display import display

    return display
