"""The project's own errors, and how they leave a notebook's call: with a safe text, and without the table.

The classes are those of `tasks.core.errors`, loaded from that file by its path: a notebook's folder may hold
a ``tasks.py`` of its own, which Python would find first.
"""

import functools
import importlib.util
import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, ParamSpec, TypeVar

#: The checkout.
ROOT = Path(__file__).resolve().parents[1]


def _loaded(path: Path) -> ModuleType:
    """A file of the checkout that imports nothing, as a module that no name on the path stands for."""
    spec = importlib.util.spec_from_file_location(f"marginalia.{path.stem}", path)
    assert spec is not None and spec.loader is not None, "the checkout is whole"
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for each in vars(module).values():
        if isinstance(each, type) and each.__module__ == module.__name__:  # its own, not what it imports
            each.__module__ = "marginalia"
    return module


if TYPE_CHECKING:
    from tasks.core import errors as causes
    from tasks.core.errors import (
        BudgetExhausted,
        ContractViolation,
        InputError,
        InternalError,
        LedgerError,
        MarginaliaError,
        MeasurementLost,
        ParameterError,
        ResourceLimit,
        StorageError,
        StoredTableMismatch,
    )
else:
    causes = _loaded(ROOT / "tasks" / "core" / "errors.py")
    BudgetExhausted, ContractViolation = causes.BudgetExhausted, causes.ContractViolation
    InputError, InternalError, LedgerError = causes.InputError, causes.InternalError, causes.LedgerError
    MarginaliaError, MeasurementLost = causes.MarginaliaError, causes.MeasurementLost
    ParameterError, ResourceLimit = causes.ParameterError, causes.ResourceLimit
    StorageError, StoredTableMismatch = causes.StorageError, causes.StoredTableMismatch

#: The project's own, which imports nothing either.
_did_you_mean: Callable[[str, Iterable[str]], str] = _loaded(ROOT / "tasks/core/hints.py").did_you_mean

__all__ = [
    "BudgetExhausted",
    "ContractViolation",
    "InputError",
    "InternalError",
    "LedgerError",
    "MarginaliaError",
    "MeasurementLost",
    "ParameterError",
    "ResourceLimit",
    "StorageError",
    "StoredTableMismatch",
]


def error_of(kind: str, problems: list[str]) -> MarginaliaError:
    """An error that another process described. Args: kind: its class. problems: its sentences."""
    found: type[MarginaliaError] = getattr(causes, kind)
    return found(problems) if issubclass(found, ParameterError) else found("\n".join(problems))


def name_misspelt(given: Iterable[str], known: Iterable[str]) -> str:
    """What of a call's names may be a slip, each in a sentence behind a blank; empty where nothing is.

    >>> misspelt(["epsilom", "bins"], ["epsilon", "k"])
    ' epsilom is no argument: did you mean epsilon?'
    """
    names = list(known)
    found = [(name, _did_you_mean(name, names)) for name in given]
    return "".join(f" {name} is no argument: {meant}" for name, meant in found if meant)


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
                safe = InternalError(_unforeseen(error))
        del args, kwargs
        vars(safe).setdefault("owner_notes", ())
        safe.__cause__ = safe.__context__ = None
        text = f"{type(safe).__name__}: {safe}".removesuffix(": ")
        vars(safe)["_render_traceback_"] = text.splitlines  # IPython asks for it
        raise safe

    return call


def _unforeseen(error: Exception) -> str:
    """What may be said of an error of another's: its kind and its place in the code."""
    if isinstance(error, MemoryError):
        return "The call needs more memory than there is: give fewer columns, or more memory."
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    at = (
        "" if trace is None else f" in {Path(trace.tb_frame.f_code.co_filename).name}, line {trace.tb_lineno}"
    )
    return (
        f"The call failed ({type(error).__name__}{at}). What the error says may hold cells of the table, so "
        "it is not shown. Please report this line."
    )
