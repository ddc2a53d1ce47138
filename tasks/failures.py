"""What a step that reads sensitive tables, or a flow, may say when it fails.

Prefect keeps an exception's text in the run's state and its log, where more people look than may see the
data, and a library's exception can carry a cell. So such a step raises only errors of our own, whose texts
are safe; whatever else happens is written to a log in ``sensitive/`` and named by that log.
"""

import functools
import os
import secrets
import time
import traceback
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from tasks.configuration.model import LOGS
from tasks.core.errors import InputError, InternalError, MarginaliaError
from tasks.events import collect_events
from tasks.messages import fail
from tasks.storage import FULL, Workspace

_P = ParamSpec("_P")
_C = TypeVar("_C")
R = TypeVar("R")
#: Packages of exceptions between a run and its server.
_OF_PREFECT = ("prefect", "httpx", "httpcore", "anyio")


def guard_step(step: Callable[Concatenate[Workspace, _P], R]) -> Callable[Concatenate[Workspace, _P], R]:
    """Let only safe errors out of a step whose first argument is the workspace."""

    @functools.wraps(step)
    def guarded(workspace: Workspace, /, *args: _P.args, **kwargs: _P.kwargs) -> R:
        safe: MarginaliaError
        try:
            return step(workspace, *args, **kwargs)
        except MarginaliaError as error:
            if isinstance(error, InputError) and error.operator_detail:
                _log(workspace, step.__name__, error.operator_detail)
            safe = error.with_traceback(None)
        except Exception as error:
            safe = log_unexpected(workspace, error, step.__name__)
        # Outside the handlers, and without its own: no library's exception is chained to what leaves.
        safe.__cause__ = safe.__context__ = None
        raise safe

    return guarded


def guard_flow(flow: Callable[Concatenate[_C, _P], R]) -> Callable[Concatenate[_C, _P], R]:
    """Let only safe errors out of a flow, whose first argument is a configuration or a path; send its events.

    What Prefect itself raises passes: it holds nothing of a table.
    """

    @functools.wraps(flow)
    def guarded(configuration: _C, /, *args: _P.args, **kwargs: _P.kwargs) -> R:
        safe: MarginaliaError
        dataset = getattr(configuration, "dataset", None)
        with nullcontext() if dataset is None else collect_events(dataset):
            try:
                return flow(configuration, *args, **kwargs)
            except MarginaliaError as error:
                safe = error.with_traceback(None)
            except Exception as error:
                if type(error).__module__.partition(".")[0] in _OF_PREFECT:
                    raise
                place = getattr(configuration, "output_dir", None)
                if place is None:
                    safe = InternalError(describe_unforeseen(error))
                else:
                    safe = log_unexpected(Workspace(Path(place).absolute()), error)
            fail(f"The run stops: {safe}")
            safe.__cause__ = safe.__context__ = None
            raise safe

    return guarded


def log_unexpected(workspace: Workspace, error: Exception, step: str = "") -> MarginaliaError:
    """What to say of an error that nobody explains: that the disk is full, or where its traceback is."""
    if isinstance(error, OSError) and error.errno in FULL:
        return workspace.is_full()
    where = _log(workspace, step or "run", "".join(traceback.format_exception(error)))
    what, kind = (f"step {step}", "") if step else ("run", f" ({type(error).__name__})")
    return InternalError(f"The {what} failed unexpectedly{kind}; {where}.")


def describe_unforeseen(error: Exception) -> str:
    """What a command without a workspace says of an error: its kind and its place in the code, no more."""
    if isinstance(error, MemoryError):
        return "The command needs more memory than there is: select fewer columns, or give it more memory."
    if isinstance(error, OSError):
        return f"The command could not read or write ({os.strerror(error.errno or 0)}): check the disk."
    at = traceback.extract_tb(error.__traceback__)[-1]
    return (
        f"The command failed ({type(error).__name__} in {Path(at.filename).name}, line {at.lineno}). What "
        "the error says may hold cells of the table, so it is not shown. Please report this line."
    )


def _log(workspace: Workspace, step: str, text: str) -> str:
    """Write a log that only the owner can read; say where it is, or why there is none."""
    folder = workspace.sensitive / LOGS
    path = folder / f"{time.strftime('%Y%m%dT%H%M%S')}-{step}-{secrets.token_hex(2)}.log"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600), "w") as file:
            file.write(text)
    except OSError as error:  # must not carry what it was to log, which is chained to it
        home = folder.relative_to(workspace.root)
        return f"no log could be written to {home} in output_dir ({error.strerror})"
    return f"what happened is in {path.relative_to(workspace.root)} in output_dir, for you alone"
