"""The project's own errors, and how they leave a notebook's call: with a safe text, and without the table.

The classes are those of `tasks.core.errors`, loaded from that file by its path: a notebook's folder may hold
a ``tasks.py`` of its own, which Python would find first.
"""

import functools
import importlib.util
import inspect
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, ParamSpec, TypeVar

#: The checkout.
ROOT = Path(__file__).resolve().parents[1]


def _load_file(name: str) -> ModuleType:
    """A file of the core that imports nothing, as a module that no name on the path stands for."""
    path = ROOT / "tasks" / "core" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"marginalia.{name}", path)
    assert spec is not None and spec.loader is not None, "the checkout is whole"
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for value in vars(module).values():
        if isinstance(value, type) and value.__module__ == module.__name__:  # its own, not what it imports
            value.__module__ = "marginalia"
    return module


if TYPE_CHECKING:
    from tasks.core import errors as causes
else:
    causes = _load_file("errors")

BudgetExhausted = causes.BudgetExhausted
ContractViolation = causes.ContractViolation
InputError = causes.InputError
InternalError = causes.InternalError
LedgerError = causes.LedgerError
MarginaliaError = causes.MarginaliaError
MeasurementLost = causes.MeasurementLost
ParameterError = causes.ParameterError
ResourceLimit = causes.ResourceLimit
StorageError = causes.StorageError
StoredTableMismatch = causes.StoredTableMismatch


def error_of(kind: str, problems: list[str]) -> MarginaliaError:
    """An error that another process described by the name of its class and its sentences."""
    cause: type[MarginaliaError] = getattr(causes, kind)
    return cause(problems) if issubclass(cause, ParameterError) else cause("\n".join(problems))


def name_misspelt(given: Iterable[str], known: Iterable[str]) -> str:
    """What of a call's names may be a slip, each in a sentence behind a blank; empty where nothing is.

    >>> name_misspelt(["epsilom", "bins"], ["epsilon", "k"])
    ' epsilom is no argument: did you mean epsilon?'
    """
    did_you_mean, names = _load_file("hints").did_you_mean, list(known)
    hints = ((name, did_you_mean(name, names)) for name in given)
    return "".join(f" {name} is no argument: {hint}" for name, hint in hints if hint)


_P = ParamSpec("_P")
_R = TypeVar("_R")


def guard_call(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Let out of a function only errors whose text and frames hold nothing of its arguments.

    A traceback holds on to frames, and tools show what is in them (IPython's verbose mode, debuggers). So
    what leaves is raised here, where the table is no longer, after every inner frame is gone. In a notebook
    it is shown as its text alone. What the terminal would tell the person alone is in its `owner_notes`.
    """

    @functools.wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        safe: BaseException
        signature = inspect.signature(function)
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:  # names of arguments, and no value
            known = [name for name in signature.parameters if name not in kwargs]
            given = [name for name in kwargs if name not in signature.parameters]
            safe = ParameterError(f"{function.__name__}: {error}.{name_misspelt(given, known)}")
        else:
            try:
                return function(*args, **kwargs)
            except MarginaliaError as error:
                safe = error.with_traceback(None)
            except KeyboardInterrupt:
                safe = KeyboardInterrupt("Make the same call again: what was done is kept.")
            except Exception as error:
                safe = InternalError(_describe_unforeseen(error))
        del args, kwargs
        vars(safe).setdefault("owner_notes", ())
        safe.__cause__ = safe.__context__ = None
        text = f"{type(safe).__name__}: {safe}".removesuffix(": ")
        vars(safe)["_render_traceback_"] = text.splitlines  # IPython asks for it
        raise safe

    return call


def _describe_unforeseen(error: Exception) -> str:
    """What may be said of an error of another's: its kind and its place in the code."""
    if isinstance(error, MemoryError):
        return "The call needs more memory than there is: give fewer columns, or more memory."
    *_, (frame, line) = traceback.walk_tb(error.__traceback__)
    at = f" in {Path(frame.f_code.co_filename).name}, line {line}"
    return (
        f"The call failed ({type(error).__name__}{at}). What the error says may hold cells of the table, so "
        "it is not shown. Please report this line."
    )
