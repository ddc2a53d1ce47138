"""A call in a process of its own: a request and a table go in, an answer comes out.

That process is the command's: the same flows, ledger and salts, whatever a notebook has imported. So a
``tasks.py`` beside the notebook is never in its way, and no error of a library brings a cell back from it.
`flows.command.notebook.process` is the other end, and says what goes over the wire.
"""

import codecs
import contextlib
import json
import os
import selectors
import signal
import struct
import subprocess
import sys
from typing import Any

from marginalia.errors import ROOT, InternalError, ParameterError, ResourceLimit, error_of
from marginalia.shown import Shown

#: Puts the checkout before everything else on the path; -P keeps the notebook's folder off it.
_START = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from flows.command.notebook import process; process.answer_request()"
)
#: The most that is read of what is shown at once.
_BYTES = 2**16
#: In place of a table where none is handed over.
NO_TABLE = memoryview(b"")
#: How long one that has answered, or was interrupted, may take to end.
_ENDING_SECONDS = 10
#: How often a call that says nothing shows that it is at work.
_TICK_SECONDS = 1.0


def ask(request: dict[str, Any], table: memoryview, shown: Shown) -> dict[str, Any]:
    """Ask, and wait for the answer.

    Args:
        request: ``do`` and what goes with it.
        table: a Parquet file, or `NO_TABLE`.
        shown: is given what there is to show.

    Raises:
        MarginaliaError: what stopped it.
        KeyboardInterrupt: the person did, by the notebook's button or ctrl-C; or somebody ended it.
    """
    text = json.dumps(request, default=_plain).encode()
    child = subprocess.Popen(
        [_interpreter(), "-P", "-c", _START, str(ROOT)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,  # the notebook's button interrupts this process, which interrupts that one
    )
    wire = _Wire(child, shown)
    try:
        wire.send(text, table)
        last = wire.wait()
    finally:
        wire.close()
    return _meant(last, child.returncode)


def _interpreter() -> str:
    """The checkout's own, so that a notebook may run in any; this one where there is none."""
    own = ROOT / ".venv" / "bin" / "python"
    return str(own) if own.exists() else sys.executable


def _plain(value: object) -> object:
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
    """What goes to and fro between this process and the one that answers."""

    def __init__(self, child: "subprocess.Popen[bytes]", shown: Shown) -> None:
        self._child, self._shown = child, shown
        self._last: dict[str, Any] = {}
        self._rest = b""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._selector = selectors.DefaultSelector()
        for stream, take in ((child.stdout, self._messages), (child.stderr, self._screen)):
            assert stream is not None, "they are pipes"
            self._selector.register(stream, selectors.EVENT_READ, take)

    def send(self, *parts: bytes | memoryview) -> None:
        """Send the request; one whose reader is gone says so by having no answer."""
        stdin = self._child.stdin
        assert stdin is not None, "it is a pipe"
        try:
            for part in parts:
                stdin.write(struct.pack(">Q", len(part)))
                stdin.write(part)
            stdin.flush()
        except BrokenPipeError:
            return

    def wait(self) -> dict[str, Any]:
        """The last message; an interrupt is passed on, and what was interrupted ends by itself."""
        interrupted = False
        while True:
            try:
                while self._step():
                    pass
            except KeyboardInterrupt:
                if interrupted:  # pressed again: nobody waits for it
                    raise
                interrupted = True
                self._child.send_signal(signal.SIGINT)
            else:
                return self._last

    def _step(self) -> bool:
        """Take what is there; False when there are no more messages."""
        ready = self._selector.select(_TICK_SECONDS)
        if not ready:
            self._shown.tick()
        for key, _ in ready:
            data = os.read(key.fd, _BYTES)
            if not data:
                self._selector.unregister(key.fileobj)
            key.data(data)
            if not data and key.fileobj is self._child.stdout:
                return False
        return True

    def _messages(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            message = json.loads(line)
            if "tell" in message:
                self._shown.tell(message["tell"])
            else:
                self._last = message

    def _screen(self, data: bytes) -> None:
        self._shown.write(self._decoder.decode(data))

    def close(self) -> None:
        """End it, if it has not ended."""
        child = self._child
        with contextlib.suppress(BrokenPipeError):
            child.stdin.close()  # type: ignore[union-attr]
        try:
            child.wait(_ENDING_SECONDS)
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            child.kill()
            child.wait()
        for stream in (child.stdout, child.stderr):
            stream.close()  # type: ignore[union-attr]
        self._selector.close()


def _meant(last: dict[str, Any], code: int) -> dict[str, Any]:
    """The answer in the last message. Raises what it says."""
    if "done" in last:
        found: dict[str, Any] = last["done"]
        return found
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
