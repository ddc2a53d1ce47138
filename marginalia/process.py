"""A call in a process of its own: a request and a table go in, an answer comes out.

That process is the command's: the same flows, ledger and salts, whatever a notebook has imported. So a
``tasks.py`` beside the notebook is never in its way, and no error of a library brings a cell back from it.
`flows.command.notebook.process` is the other end, and says what goes over the wire.
"""

import codecs
import contextlib
import json
import os
import re
import selectors
import signal
import struct
import subprocess
import sys
import time
from html import escape
from types import TracebackType
from typing import Any, Self

from marginalia.errors import ROOT, InternalError, MarginaliaError, ParameterError, ResourceLimit, error_of

_REWRITTEN_SECONDS = 0.2
#: A call that takes less than this shows no progress.
_QUIET_SECONDS = 1.0
#: How a terminal's line is begun anew (`tasks.messages`).
_REWRITE = "\r\033[K"
_SHARE = re.compile(r"\s*(?P<what>.*?)\s+(?P<percent>\d{1,3})%\s*")


class CallDisplay:
    """One call's output, for as long as the call lasts: ``with CallDisplay() as display``.

    Attributes:
        notes: lines that are for the person alone, such as where cells that were not counted are listed. An
            error that ends the call takes them along (`owner_notes`).
    """

    def __init__(self) -> None:
        self.notes: list[str] = []
        self._sentences: list[str] = []
        self._rest = self._now = ""
        self._started = time.monotonic()
        self._shown_at = 0.0
        self._display = _notebook_display()
        self._handle: Any = None
        self._is_over = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, MarginaliaError):
            error.owner_notes = tuple(self.notes)  # type: ignore[attr-defined]
        if not self._is_over:
            self.close()

    def tell(self, sentence: str) -> None:
        self._sentences.append(sentence)
        if self._display is None:
            self._write_line(sentence)
        self._show(at_once=True)

    def write(self, text: str) -> None:
        """Take what a terminal would get: lines, and one that is rewritten until another one comes."""
        *lines, rest = (self._rest + text).split("\n")
        for line in lines:
            self._take_note(line.rpartition(_REWRITE)[2])
        _, rewrites, now = rest.rpartition(_REWRITE)
        self._rest = rewrites + now
        if rewrites and now != self._now:
            self._now = now
            self._show(at_once=False)

    def tick(self) -> None:
        if self._display is not None:
            self._show(at_once=False)

    def close(self, last: str = "") -> None:
        self._now, self._is_over = "", True
        if last:
            self.tell(last)
        elif self._handle is not None or self._display is None:
            self._show(at_once=True)

    def _take_note(self, line: str) -> None:
        """A line for the person alone: it is in no notebook, as these are saved and sent around."""
        if line:
            self.notes.append(line)
            if self._display is None:
                self._write_line(line)

    def _write_line(self, text: str) -> None:
        clear = _REWRITE if sys.stderr.isatty() else ""
        sys.stderr.write(f"{clear}{text}\n")
        sys.stderr.flush()

    def _show(self, *, at_once: bool) -> None:
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
        sentences, bars = list(self._sentences), [f"<div>{escape(line)}</div>" for line in self._sentences]
        if not self._is_over:
            sentences.append(f"{self._now.strip() or 'At work'} ({seconds} s)")
            bars.append(_progress_bar(self._now, seconds))
        content = {"text/plain": "\n".join(sentences), "text/html": "".join(bars)}
        if self._handle is None:
            self._handle = self._display(content, raw=True, display_id=True)
        else:
            self._handle.update(content, raw=True)


def _progress_bar(now: str, seconds: int) -> str:
    label, value, percent = escape(now.strip() or "At work"), "", ""
    if share := _SHARE.fullmatch(now):
        label, percent = escape(share["what"]), f", {share['percent']} %"
        value = f' max="100" value="{min(int(share["percent"]), 100)}"'
    return f'<div><progress{value} aria-label="{label}"></progress> {label}{percent} ({seconds} s)</div>'


def _notebook_display() -> Any:
    """IPython's display where a notebook's kernel runs this, else None; it is imported by nobody else."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        return None
    from IPython.display import display

    return display


#: Puts the checkout before everything else on the path; -P keeps the notebook's folder off it.
_START = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from flows.command.notebook import process; process.answer_request()"
)
#: The most that is read of what is shown at once.
_BYTES = 2**16
#: How long one that has answered, or was interrupted, may take to end.
_ENDING_SECONDS = 10
#: How often a call that says nothing shows that it is at work.
_TICK_SECONDS = 1.0


def ask(request: dict[str, Any], display: CallDisplay, *files: memoryview) -> dict[str, Any]:
    """Ask, and wait for the answer.

    Args:
        request: ``do`` and what goes with it.
        files: in Parquet, of the tables that the request is about; sent as one.

    Raises:
        MarginaliaError: what stopped it.
        KeyboardInterrupt: the person did, by the notebook's button or ctrl-C; or somebody ended it.
    """
    text = json.dumps(request, default=_plain_setting).encode()
    child = subprocess.Popen(
        [_interpreter(), "-P", "-c", _START, str(ROOT)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,  # the notebook's button interrupts this process, which interrupts that one
    )
    wire = _Wire(child, display)
    try:
        wire.send(text, *files)
        last = wire.wait()
    finally:
        wire.close()
    return _answer_in(last, child.returncode)


def _interpreter() -> str:
    """The checkout's own, so that a notebook may run in any; this one where there is none."""
    own = ROOT / ".venv" / "bin" / "python"
    return str(own) if own.exists() else sys.executable


def _plain_setting(value: object) -> object:
    """What JSON has for a setting: a NumPy number, an array, a path, a set. Raises ParameterError.

    A column of a table is none: a message about a setting names it.
    """
    if type(value).__module__.partition(".")[0] == "numpy" and hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, set | frozenset):
        return sorted(value)
    raise ParameterError(
        f"A setting must be a text, a number, a list or a dict, not {type(value).__name__}: name a column "
        "instead of giving it, and write lists out."
    )


class _Wire:
    def __init__(self, child: "subprocess.Popen[bytes]", display: CallDisplay) -> None:
        assert child.stdin and child.stdout and child.stderr, "they are pipes"
        self._child, self._display = child, display
        self._stdin, self._streams = child.stdin, (child.stdout, child.stderr)
        self._last: dict[str, Any] = {}
        self._rest = b""
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._selector = selectors.DefaultSelector()
        self._selector.register(child.stdout, selectors.EVENT_READ, self._take_messages)
        self._selector.register(child.stderr, selectors.EVENT_READ, lambda data: display.write(decode(data)))

    def send(self, text: bytes, *files: memoryview) -> None:
        """Send the request; one whose reader is gone says so by having no answer."""
        with contextlib.suppress(BrokenPipeError):
            self._stdin.write(struct.pack(">Q", len(text)) + text)
            self._stdin.write(struct.pack(">Q", sum(map(len, files))))
            for file in files:
                self._stdin.write(file)
            self._stdin.flush()

    def wait(self) -> dict[str, Any]:
        interrupted = False
        while True:
            try:
                while self._take_ready():
                    pass
            except KeyboardInterrupt:
                if interrupted:  # pressed again: nobody waits for it
                    raise
                interrupted = True
                self._child.send_signal(signal.SIGINT)
            else:
                return self._last

    def _take_ready(self) -> bool:
        """Take what is there; False when there are no more messages."""
        ready = self._selector.select(_TICK_SECONDS)
        if not ready:
            self._display.tick()
        for key, _ in ready:
            data = os.read(key.fd, _BYTES)
            if not data:
                self._selector.unregister(key.fileobj)
            key.data(data)
            if not data and key.fileobj is self._streams[0]:
                return False
        return True

    def _take_messages(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            message = json.loads(line)
            if "tell" in message:
                self._display.tell(message["tell"])
            else:
                self._last = message

    def close(self) -> None:
        with contextlib.suppress(BrokenPipeError):
            self._stdin.close()
        try:
            self._child.wait(_ENDING_SECONDS)
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            self._child.kill()
            self._child.wait()
        for stream in self._streams:
            stream.close()
        self._selector.close()


def _answer_in(last: dict[str, Any], code: int) -> dict[str, Any]:
    if "done" in last:
        answer: dict[str, Any] = last["done"]
        return answer
    if "failed" in last:
        failed = last["failed"]
        if failed["kind"] == "KeyboardInterrupt":
            raise KeyboardInterrupt
        raise error_of(failed["kind"], failed["problems"])
    if "ready" not in last:
        raise InternalError(
            f"{_interpreter()} must be able to run this checkout, and can't: type make setup in {ROOT}."
        )
    if code == -signal.SIGKILL:
        raise ResourceLimit(
            "The run was killed, most likely because memory ran out: give fewer columns, or set "
            "memory_limit_mb. Finished steps are kept: make the same call again."
        )
    raise InternalError(f"The run ended without an answer (exit code {code}): make the same call again.")
