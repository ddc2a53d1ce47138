"""One decorator makes a function a step of a run: a Prefect task that stores, is skipped and fails as all do.

The function says what the step is given and how it fills a folder, and nothing else. A flow calls the step
with the run's workspace in place of the folder, and gets a reference to what was stored. A step that makes
no folder, such as the draw, takes from the decorator what fits it.

The zone says what a step may read. The rest follows from it:

    sensitive       raw data: it stores in ``sensitive/``, its key is an HMAC, and only safe errors leave it
    intermediate    protected data alone: it stores in ``intermediate/``, and its key is a plain hash

A step is skipped where inputs, parameters and code are what they were. Prefect's database sees keys, and a
plain hash of a sensitive table would confirm a guess of its content: so the HMAC is under the workspace's
secret. What is made from a measurement is keyed by it, which is protected and may be hashed by anybody.
"""

import functools
import json
import logging
import os
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, Generic, Literal, ParamSpec, TypeVar, cast, overload
from uuid import UUID
from weakref import WeakKeyDictionary

from prefect import Task
from prefect.cache_policies import NO_CACHE, CacheKeyFnPolicy
from prefect.context import FlowRunContext, TaskRunContext
from prefect.logging.handlers import APILogHandler
from prefect.serializers import Serializer
from prefect.utilities.annotations import quote
from pydantic import BaseModel, Secret

from tasks.core.dp.digest import sha256_of
from tasks.core.errors import MarginaliaError
from tasks.core.records.columns import Schema
from tasks.core.records.table import lacks_parts
from tasks.failures import guard_step
from tasks.messages import LOGGER, QUIET_SECONDS, Progress, TerminalHandler, tell_log
from tasks.storage import SENSITIVE, HoldsResults, Reference, RunWorkspace, StoredTable, Workspace
from tasks.version import code_hash

_P = ParamSpec("_P")
_R = TypeVar("_R")

if TYPE_CHECKING:
    _Serializer = Serializer[Any]
else:  # Prefect registers every subclass, and a parametrised one has no name to be registered under
    _Serializer = Serializer


class StoredTableSerializer(_Serializer):
    """A cached reference; refuses to load when its folder is gone, so that the step runs again."""

    type: Literal["stored-table"] = "stored-table"
    root: str

    def dumps(self, obj: StoredTable | BaseException) -> bytes:
        """The reference as JSON. Prefect also hands over what a failed step raised, under a random key."""
        if isinstance(obj, BaseException):  # a text of our own is safe; a library's may carry a cell
            failed = str(obj) if isinstance(obj, MarginaliaError) else type(obj).__name__
            return json.dumps({"failed": failed}).encode()
        return json.dumps(obj.to_json(), sort_keys=True).encode()

    def loads(self, blob: bytes) -> StoredTable | str:
        """The reference, or the text of the failure; whether a table was changed is judged on reading."""
        body = json.loads(blob)
        if "failed" in body:
            return str(body["failed"])
        table = StoredTable(**body)
        folder = Path(self.root) / table.key
        if not folder.is_dir() or lacks_parts(folder):
            raise FileNotFoundError(table.key)
        os.utime(folder)  # when it was last of use
        return table


def content_key(run: RunWorkspace, zone: str, made_of: Sequence[Any]) -> str:
    """A name for what a step of a zone makes: the same inputs and code have the same.

    Where and with what a step runs says nothing of what it makes. The dataset belongs to it: what is made for
    one never lies in another's folder.
    """
    hash_of = run.keyed_hash if zone == SENSITIVE else sha256_of
    body = [as_plain(value) for value in made_of if not isinstance(value, Workspace)]
    return hash_of(json.dumps([code_hash(), run.dataset, body], sort_keys=True))[:40]


def as_plain(value: Any) -> Any:
    if isinstance(value, StoredTable):
        return value.sha256
    if isinstance(value, Schema):
        return value.to_json()
    if isinstance(value, BaseModel):
        return {name: as_plain(getattr(value, name)) for name in type(value).model_fields}
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: as_plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Secret):
        return value.get_secret_value()
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, tuple | list):
        return [as_plain(inner) for inner in value]
    if isinstance(value, dict):
        return {str(name): as_plain(inner) for name, inner in value.items()}
    return value


def skip_if_known(step: Task[_P, _R], zone: str, run: RunWorkspace, made_of: Sequence[Any]) -> Task[_P, _R]:
    """A step that is skipped where the key of what it is made of is known and its folder is as it was.

    Only a step of the zone ``sensitive`` needs access to that folder.
    """
    is_sensitive = zone == SENSITIVE
    results = run.results if is_sensitive else run.public_results
    if not is_sensitive:
        with suppress(OSError):
            results.mkdir(parents=True, exist_ok=True)
        if not os.access(results, os.W_OK | os.X_OK):  # another user's: the step runs, and nothing is kept
            return step
    key = f"{step.name}-{content_key(run, zone, made_of)}"
    return step.with_options(
        cache_policy=CacheKeyFnPolicy(cache_key_fn=lambda context, inputs: key),
        persist_result=True,
        result_storage=results,
        result_serializer=StoredTableSerializer(root=str(run.root)),
    )


_PREFECT = ("prefect.flow_runs", "prefect.task_runs")


class RunLogHandler(APILogHandler):
    """Prefect's, silent outside a run."""

    def emit(self, record: logging.LogRecord) -> None:
        if FlowRunContext.get() is not None or TaskRunContext.get() is not None:
            super().emit(record)


#: How Prefect's own lines tell an exception: a library's text may carry a cell, and ours stands by itself.
_REPEATED = re.compile(r"^(Task run failed with exception|Encountered exception during execution): ")


class WithoutTraceback(logging.Filter):
    """Lets an exception's text into a run's log, and no traceback.

    Paths of this machine and a library's chained exceptions are nobody's business there, and only errors of
    our own, whose texts are safe, leave a step or a flow.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if isinstance(record.exc_info, tuple) else None
        record.exc_info = record.exc_text = record.stack_info = None
        # `fail`, and of a step the line on its final state, say the same.
        is_told = _REPEATED.match(str(record.msg)) or isinstance(error, MarginaliaError)
        if not is_told and error is not None:
            record.msg = f"{record.msg} ({type(error).__name__})"
        return not is_told


def carry_messages() -> None:
    """Carry what a run says into the log that Prefect keeps of it, in a worker's process as in the command's.

    Called again, it changes nothing.
    """
    for handler in list(LOGGER.handlers):  # those of PREFECT_LOGGING_EXTRA_LOGGERS would tell all twice
        if not isinstance(handler, TerminalHandler):
            LOGGER.removeHandler(handler)
    LOGGER.addHandler(RunLogHandler())
    for name in _PREFECT:
        logger = logging.getLogger(name)
        if not any(isinstance(existing, WithoutTraceback) for existing in logger.filters):
            logger.addFilter(WithoutTraceback())


_steps_begun: Counter[UUID | None] = Counter()
carry_messages()


#: Each update is a request to the server.
_UPDATED_SECONDS = 5.0


class ProgressArtifact:
    """Progress of a long step on the run's page; none where the step is short, or outside a run.

    For steps on protected data alone: how fast another one goes depends on the table (G23).
    """

    def __init__(self, step: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._step, self._clock, self._thread = step, clock, threading.get_ident()
        self._due = clock() + QUIET_SECONDS
        self._artifact: UUID | None = None

    def __call__(self, fraction: float) -> None:
        now = self._clock()
        if now < self._due or threading.get_ident() != self._thread or TaskRunContext.get() is None:
            return
        self._due = now + _UPDATED_SECONDS
        self._show(fraction)

    def close(self) -> None:
        if self._artifact is not None:
            self._show(1.0)

    def _show(self, fraction: float) -> None:
        from prefect.artifacts import create_progress_artifact, update_progress_artifact

        percent = 100 * min(max(fraction, 0.0), 1.0)
        with suppress(Exception):  # no server stops a step by not answering here
            if self._artifact is None:
                key = f"progress-{self._step.replace('_', '-')}"
                artifact = create_progress_artifact(percent, key, f"How far {self._step} is.")
                assert isinstance(artifact, UUID), "a step is no coroutine"
                self._artifact = artifact
            else:
                update_progress_artifact(self._artifact, percent)


_T = TypeVar("_T")
# The edges of a run's graph. Each result knows what it was made from, all the way back. A step that is given
# two results, one of which was made from the other, draws an edge from the later one alone: the longer way
# shows the other, and a person can read the graph. The lineage names all that each file was made from.

#: Of each result of a step, by the object itself: the results that it was made from.
_origins: "WeakKeyDictionary[Any, frozenset[Any]]" = WeakKeyDictionary()


def as_lookup(value: _T) -> _T:
    """Of what a step is given beside its data, such as a schema's place: no edge of the graph is drawn."""
    return cast(_T, quote(value))


def results_in(values: Iterable[Any]) -> list[Any]:
    """The results of steps in what a step is given, but for those that it only looks up."""
    return list(dict.fromkeys(result for value in values for result in _results(value)))


def edges_from(given: list[Any]) -> list[Any]:
    return [result for result in given if not any(result in _origins[other] for other in given)]


def without_edges(value: Any) -> Any:
    """What a step is given, so that Prefect draws none of its own to it."""
    return value if isinstance(value, quote) or not results_in([value]) else quote(value)


def record_origins(result: Any, given: list[Any]) -> None:
    if isinstance(result, Reference):
        _origins[result] = frozenset(given).union(*(_origins[other] for other in given))


def _results(value: Any) -> Iterator[Any]:
    if isinstance(value, quote):
        return
    if isinstance(value, list | tuple):
        for item in value:
            yield from _results(item)
    elif isinstance(value, dict):
        yield from _results(list(value.values()))
    elif isinstance(value, HoldsResults):
        yield from _results(list(vars(value).values()))
    elif isinstance(value, Reference) and value in _origins:
        yield value


_W = TypeVar("_W", bound=Workspace)
Zone = Literal["sensitive", "intermediate"]


@dataclass(frozen=True)
class Output:
    """What a step fills, and what it has for that."""

    folder: Path  # empty; it appears in the run's own, whole, when the step is done
    run: RunWorkspace
    progress: Progress  # for the person at the terminal; closed by the decorator
    made_of: tuple[Any, ...] = ()
    zone: Zone = "sensitive"

    @property
    def key(self) -> str:
        """A name for what is made: another run has it too, that makes it of the same inputs by this code."""
        return content_key(self.run, self.zone, self.made_of)

    def path(self, table: StoredTable) -> Path:
        return self.run.path(table)


@dataclass(frozen=True)
class _Traits:
    """Arguments of `step`, and the name of the task run where it is not the function's."""

    zone: Zone
    makes: str
    folder: str
    progress: str
    cached: bool
    run_name: str | None = None


class RunStep(Generic[_W, _P, _R]):
    """A step, called by flows. What every step does around its work is here."""

    def __init__(self, function: Callable[..., Any], traits: _Traits) -> None:
        self._function, self._traits = function, traits
        self.name = traits.run_name or function.__name__
        functools.update_wrapper(self, function)
        self.zone = traits.zone
        work = _storing(function, traits) if traits.makes else function
        self.fn: Callable[Concatenate[_W, _P], _R] = guard_step(work) if traits.zone == SENSITIVE else work
        # A retry of a step that is not cached could draw again (R4).
        self._task: Task[..., _R] = Task(
            self.fn,
            task_run_name=self.name,
            cache_policy=NO_CACHE,
            persist_result=False,
            retries=None if traits.cached else 0,
        )

    def __call__(self, run: _W, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        context = FlowRunContext.get()
        flow_run = context.flow_run.id if context is not None and context.flow_run is not None else None
        _steps_begun[flow_run] += 1
        tell_log(f"Step {_steps_begun[flow_run]} begins: {self.name}.")
        task = self._task
        if self._traits.cached:
            assert isinstance(run, RunWorkspace), "what is cached lies in a run's folder"
            task = skip_if_known(task, self.zone, run, _made_of(self._function, args, kwargs))
        given = results_in([*args, *kwargs.values()])
        named: dict[str, Any] = {name: without_edges(value) for name, value in kwargs.items()}
        result: _R = task(run, *map(without_edges, args), wait_for=edges_from(given), **named)
        record_origins(result, given)
        return result

    def named(self, name: str) -> "RunStep[_W, _P, _R]":
        """The same step under another name, in Prefect and of its folder: a run has several of it."""
        return RunStep(self._function, replace(self._traits, folder=name, run_name=name))


def _made_of(function: Callable[..., Any], args: Sequence[Any], named: Mapping[str, Any]) -> tuple[Any, ...]:
    return (function.__name__, *args, named)


def _storing(fill: Callable[..., Any], traits: _Traits) -> Callable[..., Any]:
    @functools.wraps(fill)
    def store(run: RunWorkspace, /, *args: object, **kwargs: object) -> StoredTable:
        artifact = None if traits.zone == SENSITIVE else ProgressArtifact(traits.folder)
        with closing(Progress(traits.progress or traits.makes, shown=artifact)) as progress:
            stored = run.store(
                run.folder(traits.zone) / traits.folder,
                traits.makes,
                lambda folder: fill(
                    Output(folder, run, progress, _made_of(fill, args, kwargs), traits.zone), *args, **kwargs
                ),
            )
        if artifact is not None:
            artifact.close()
        return stored

    return store


@overload
def step(
    zone: Zone, *, makes: str, folder: str, progress: str = "", cached: bool = True
) -> Callable[[Callable[Concatenate[Output, _P], None]], RunStep[RunWorkspace, _P, StoredTable]]: ...


@overload
def step(
    zone: Zone, *, cached: bool = False
) -> Callable[[Callable[Concatenate[_W, _P], _R]], RunStep[_W, _P, _R]]: ...


def step(
    zone: Zone,
    *,
    makes: str = "",
    folder: str = "",
    progress: str = "",
    cached: bool | None = None,
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
        progress: its name at the terminal; without it what it makes.
        cached: whether it is skipped where its inputs and the code are what they were. What makes a folder
            is, unless told otherwise. The draw never is: the ledger alone decides on it (R1).
    """
    is_cached = bool(makes) if cached is None else cached
    traits = _Traits(zone, makes, folder, progress, is_cached)
    return lambda function: RunStep(function, traits)
