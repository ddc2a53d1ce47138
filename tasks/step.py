"""One decorator makes a function a step of a run: a Prefect task that stores, is skipped and fails as all do.

The function says what the step is given and how it fills a folder, and nothing else. A flow calls the step
with the run's workspace in place of the folder, and gets a reference to what was stored. A step that makes
no folder, such as the draw, takes from the decorator what fits it.

The zone says what a step may read. The rest follows from it:

    sensitive       raw data: it stores in ``sensitive/``, its key is an HMAC, and only safe errors leave it
    intermediate    protected data alone: it stores in ``intermediate/``, and its key is a plain hash
"""

import functools
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Concatenate, Generic, Literal, ParamSpec, TypeVar, overload

from prefect import Task
from prefect.cache_policies import NO_CACHE

from tasks.caching import cached as skipped_if_known
from tasks.failures import sanitised
from tasks.progress import Progress
from tasks.storage import SENSITIVE, RunWorkspace, StoredTable, Workspace

_P = ParamSpec("_P")
_R = TypeVar("_R")
_W = TypeVar("_W", bound=Workspace)
Zone = Literal["sensitive", "intermediate"]


@dataclass(frozen=True)
class Output:
    """What a step fills, and what it has for that.

    Attributes:
        folder: empty; it appears in the run's own, whole, when the step is done.
        run: the workspace, where all that is stored is read.
        progress: for the person at the terminal; closed by the decorator.
    """

    folder: Path
    run: RunWorkspace
    progress: Progress

    def path(self, table: StoredTable) -> Path:
        """Of a stored table that is still what its reference says (see `Workspace.path`)."""
        return self.run.path(table)


@dataclass(frozen=True)
class _Traits:
    """Arguments of `step`, and the name of the task run where it has one of its own."""

    zone: Zone
    makes: str
    folder: str
    progress: str
    cached: bool
    run_name: str | None


class RunStep(Generic[_W, _P, _R]):
    """A step, called by flows. What every step does around its work is here.

    Attributes:
        zone: what it may read.
        fn: its work, as Prefect calls it.
    """

    def __init__(self, function: Callable[..., Any], traits: _Traits) -> None:
        """Args: function: fills an `Output`, or does something else. traits: as of `step`."""
        self._function, self._traits = function, traits
        functools.update_wrapper(self, function)
        self.zone = traits.zone
        work = _storing(function, traits) if traits.makes else function
        self.fn: Callable[Concatenate[_W, _P], _R] = sanitised(work) if traits.zone == SENSITIVE else work
        # A retry of a step that is not cached could draw again (privacy.md, rule 4).
        self._task: Task[..., _R] = Task(
            self.fn,
            task_run_name=traits.run_name,
            cache_policy=NO_CACHE,
            persist_result=False,
            retries=None if traits.cached else 0,
        )

    def __call__(self, run: _W, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Let Prefect run the step, or skip it where its result is known."""
        task = self._task
        if self._traits.cached:
            assert isinstance(run, RunWorkspace), "what is cached lies in a run's folder"
            task = skipped_if_known(task, self.zone, run)
        return task(run, *args, **kwargs)

    def named(self, name: str) -> "RunStep[_W, _P, _R]":
        """The same step under another name, in Prefect and of its folder: a run has several of it."""
        return RunStep(self._function, replace(self._traits, folder=name, run_name=name))


def _storing(fill: Callable[..., Any], traits: _Traits) -> Callable[..., Any]:
    """The function, as one that stores what it fills a folder with."""

    @functools.wraps(fill)
    def store(run: RunWorkspace, /, *args: object, **kwargs: object) -> StoredTable:
        with closing(Progress(traits.progress or traits.makes)) as progress:
            return run.store(
                run.folder(traits.zone) / traits.folder,
                traits.makes,
                lambda folder: fill(Output(folder, run, progress), *args, **kwargs),
            )

    return store


@overload
def step(
    zone: Zone, *, makes: str, folder: str, progress: str = "", cached: bool = True
) -> Callable[[Callable[Concatenate[Output, _P], None]], RunStep[RunWorkspace, _P, StoredTable]]: ...


@overload
def step(
    zone: Zone, *, cached: bool = False, run_name: str | None = None
) -> Callable[[Callable[Concatenate[_W, _P], _R]], RunStep[_W, _P, _R]]: ...


def step(
    zone: Zone,
    *,
    makes: str = "",
    folder: str = "",
    progress: str = "",
    cached: bool | None = None,
    run_name: str | None = None,
) -> Callable[[Callable[..., Any]], RunStep[Any, ..., Any]]:
    """Make a function a step of a run.

    >>> @step("sensitive", makes="a greeting", folder="greeting")
    ... def greet(into: Output, town: str) -> None:
    ...     (into.folder / "greeting.txt").write_text(f"Dear {town}")
    >>> greet.zone, greet.__name__
    ('sensitive', 'greet')

    Args:
        zone: what it may read (see above).
        makes: what it stores, in a word or two, for people; then the function is given an `Output` to fill.
            Without it the function is given the run's workspace, and returns what the step returns.
        folder: the name of what it stores, in the run's own folder.
        progress: its name at the terminal; without it what it makes.
        cached: whether it is skipped where its inputs and the code are what they were. What makes a folder
            is, unless told otherwise. The draw never is: the ledger alone decides on it (rule 1).
        run_name: of the task run; without it Prefect's, from the function's.
    """
    is_cached = bool(makes) if cached is None else cached
    traits = _Traits(zone, makes, folder, progress, is_cached, run_name)
    return lambda function: RunStep(function, traits)
