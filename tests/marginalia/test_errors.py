"""What leaves a call: the project's own errors, with nothing of the call's arguments in text or frames."""

import inspect
import pickle
import traceback
from collections.abc import Callable
from types import TracebackType
from typing import Any

import pytest

import marginalia
from marginalia.errors import causes, error_of, guard_call
from tasks.core import errors
from tests.marginalia.notebooks import TOKEN


class Table:
    """Stands for a table: its text is the token."""

    def __repr__(self) -> str:
        return TOKEN


def _library(table: Table) -> None:
    raise ValueError(f"could not convert {table!r}")


def _failing(error: BaseException) -> Callable[..., None]:
    @guard_call
    def call(table: Table, *, name: str = "") -> None:
        inner = [table]
        try:
            _library(table)
        except ValueError:
            raise error  # noqa: B904
        finally:
            del inner

    return call


def _frames(error: BaseException) -> list[dict[str, Any]]:
    """The variables of every frame below the test's own."""
    found, trace = [], error.__traceback__
    while trace is not None:
        found.append(dict(trace.tb_frame.f_locals))
        trace = trace.tb_next
    return found[1:]


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (causes.ParameterError("say which"), marginalia.ParameterError),
        (causes.BudgetExhausted("used up"), marginalia.BudgetExhausted),
        (ValueError(TOKEN), marginalia.InternalError),
        (KeyError(TOKEN), marginalia.InternalError),
        (MemoryError(TOKEN), marginalia.InternalError),
        (KeyboardInterrupt(TOKEN), KeyboardInterrupt),
    ],
    ids=lambda value: type(value).__name__,
)
def test_no_frame_text_or_cause_holds_an_argument(error, kind):
    table = Table()
    with pytest.raises(kind) as caught:
        _failing(error)(table, name=TOKEN)
    left = caught.value
    assert left.__cause__ is None and left.__context__ is None
    assert TOKEN not in str(left) and TOKEN not in repr(left)
    frames = _frames(left)
    assert len(frames) == 1 and TOKEN not in repr(frames)
    below: TracebackType | None = left.__traceback__.tb_next if left.__traceback__ else None
    shown = traceback.TracebackException(type(left), left, below, capture_locals=True)
    assert TOKEN not in "".join(shown.format())


def test_an_error_that_nobody_explains_names_its_kind_and_place():
    with pytest.raises(marginalia.InternalError, match=r"ValueError in test_errors.py, line \d+"):
        guard_call(_library)(Table())


def test_a_wrong_argument_is_told_by_its_name():
    with pytest.raises(marginalia.ParameterError, match="missing a required argument: 'table'"):
        guard_call(_library)()  # type: ignore[call-arg]
    with pytest.raises(marginalia.ParameterError, match=r"protect: missing a required.* 'dataset'"):
        marginalia.protect(Table(), vintage="v")  # type: ignore[call-arg]
    assert str(inspect.signature(marginalia.protect)).startswith("(df: 'AnyTable', *, dataset: str, vintage")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: marginalia.protect([], dataset="a", vintage="b", epsilom=1),
            "epsilom is no argument: did you mean epsilon?",
        ),
        (lambda: marginalia.synthesize([], dataset="a", vintage="b", epsilom=1), "did you mean epsilon?"),
        (
            lambda: marginalia.protect([], datset="a", vintage="b", epsilon=1),
            "datset is no argument: did you mean dataset?",
        ),
        (lambda: marginalia.evaluate([], [], tarket="a"), "tarket is no argument: did you mean target?"),
        (lambda: marginalia.open_release("a", withdrawm=True), "did you mean withdrawn?"),
    ],
)
def test_a_mistyped_argument_is_told_with_the_right_name(call, words):
    with pytest.raises(marginalia.ParameterError) as caught:
        call()
    assert words in str(caught.value) and "?." not in str(caught.value)


def test_ipython_is_given_the_text_alone():
    with pytest.raises(marginalia.ParameterError) as caught:
        _failing(causes.ParameterError(["one", "two"]))(Table())
    assert vars(caught.value)["_render_traceback_"]() == ["ParameterError: one", "two"]


def test_classes_are_the_project_s_own_by_name_and_know_no_module_tasks():
    for name in ("ParameterError", "BudgetExhausted", "LedgerError", "StoredTableMismatch"):
        kind = getattr(marginalia, name)
        assert kind is not getattr(errors, name)  # no name on the path leads to it
        assert kind.__doc__ == getattr(errors, name).__doc__
        assert kind.__module__ == "marginalia"
        again = pickle.loads(pickle.dumps(kind("said")))
        assert type(again) is kind and str(again) == "said"


@pytest.mark.parametrize("kind", [k for k in vars(errors).values() if isinstance(k, type)])
def test_every_error_of_the_core_comes_over_from_the_other_process(kind):
    found = error_of(kind.__name__, ["one", "two"])
    assert type(found).__name__ == kind.__name__ and str(found) == "one\ntwo"


def test_importing_it_renames_no_class_of_others():
    from collections.abc import Callable, Iterable

    assert {Callable.__module__, Iterable.__module__} == {"collections.abc"}
