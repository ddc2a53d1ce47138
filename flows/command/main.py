"""The command ``marginalia``: arguments in, an exit code out; after a signal 128 and its number."""

import gc
import os
import signal
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.abc import MetaPathFinder
from types import FrameType
from typing import NoReturn

from flows import hide_what_follows_exit
from flows.command.arguments import parse_command_line
from tasks.core.errors import InputError, MarginaliaError


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP came: the command unwinds as it does after ctrl-C."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def run() -> NoReturn:
    hide_what_follows_exit()
    gc.set_threshold(10_000)  # with 700, loading the flows takes 2.65 CPU s and not 2.40
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:  # nohup ignores SIGHUP
            signal.signal(number, lambda number, frame: raise_from(frame, Terminated(number)))
    sys.exit(main())


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse_command_line(_as_init(sys.argv[1:] if arguments is None else arguments))
    module, _, function = options.action.partition(":")
    try:
        _take_interrupts(is_flow=options.flow)
        action: Callable[[object], int] = getattr(import_module(module), function)
        return action(options)
    except MarginaliaError as error:
        for line in str(error).splitlines():
            print(f"marginalia: {line}", file=sys.stderr)
        if isinstance(error, InputError) and error.operator_detail:
            print(f"marginalia: for the operator alone: {error.operator_detail}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt as stop:
        kept = ": what was done is kept" if options.flow else ""
        print(f"marginalia: interrupted. Run the same command again{kept}.", file=sys.stderr)
        return 128 + (stop.number if isinstance(stop, Terminated) else signal.SIGINT)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # which is flushed once more at exit
        return 1


def _as_init(arguments: Sequence[str]) -> list[str]:
    words = list(arguments)
    if words[:1] == ["check"] and "--propose" in words:
        return ["init", *(word for word in words[1:] if word != "--propose")]
    return words


def _take_interrupts(*, is_flow: bool) -> None:
    """From here on ctrl-C is answered; while the command was loaded it ended the process by itself.

    Flows keep the handler that Prefect expects: a process that dies of it is found whole by the next run.
    """

    def interrupt(_: int, frame: FrameType | None) -> None:
        raise_from(frame, KeyboardInterrupt())

    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler if is_flow else interrupt)


def raise_from(frame: FrameType | None, error: BaseException) -> None:
    """Raise an exception in a signal's handler, or a millisecond later where numba can't bear it.

    While numba makes a compiled function's result it calls Python code (`_numba_unpickle`, named tuples). An
    exception there is a segmentation fault: four of four processes that were struck 300 times died of it.
    """
    if not _is_called_by_numba(frame):
        raise error
    signal.signal(signal.SIGALRM, lambda number, frame: raise_from(frame, error))
    signal.setitimer(signal.ITIMER_REAL, 0.001)


def _is_called_by_numba(frame: FrameType | None) -> bool:
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module.startswith("namedtuple_") or frame.f_code.co_name == "_numba_unpickle":
            return True
        frame = frame.f_back
    return False


class _NoPandas(MetaPathFinder):
    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        if fullname == "pandas":
            raise ImportError("pandas is hidden while pyarrow looks for it")


def hide_pandas_from_pyarrow() -> None:
    """Let pyarrow find no pandas at its first conversion: it would load it, .26 CPU s and 35 MB."""
    import pyarrow as pa

    hidden = _NoPandas()
    sys.meta_path.insert(0, hidden)
    try:
        pa.scalar(None)  # a conversion
    finally:
        sys.meta_path.remove(hidden)
