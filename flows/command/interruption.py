"""A signal goes in, its exception comes out, at a place where it can be handled.

While numba makes a compiled function's result it calls Python code (`_numba_unpickle`, named tuples), and a
signal that came meanwhile is handled right there. An exception at that place takes the process down: it is
put off until that code has returned.
"""

import sys
from types import FrameType
from typing import Any


def raise_from(frame: FrameType | None, error: BaseException) -> None:
    """Raise an exception, or let it be raised as soon as may be.

    Args:
        frame: where the signal was handled.
        error: what is to be raised.
    """
    caller = _caller_of_numba(frame)
    if caller is None:
        raise error

    def trace(at: FrameType, event: str, argument: object) -> Any:
        if _caller_of_numba(at) is not None:
            return trace
        sys.settrace(None)
        raise error

    caller.f_trace = trace
    sys.settrace(trace)


def _caller_of_numba(frame: FrameType | None) -> FrameType | None:
    """The frame in which a compiled function was called whose result is being made; None where none is."""
    caller = None
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module.startswith("namedtuple_") or frame.f_code.co_name == "_numba_unpickle":
            caller = frame.f_back
        frame = frame.f_back
    return caller
