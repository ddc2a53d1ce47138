"""Where a run works on the table: in its own process, or on a cluster of Dask, in partitions.

A flow opens its engine for as long as it lasts. A cluster is first used, and one on this machine first
started, when a step has work for it: a run that finds all made does without.
"""

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from tasks.core.errors import ClusterLost, InternalError, ParameterError, StorageError
from tasks.core.parts.store import PartStore
from tasks.core.parts.workers import InProcess, Workers
from tasks.messages import tell
from tasks.storage import INTERMEDIATE, RunWorkspace

if TYPE_CHECKING:  # slow
    from tasks.configuration.model import RunConfiguration

P = TypeVar("P")
R = TypeVar("R")
#: In ``sensitive/<dataset>/``, where partitions lie unless the run names other storage; what is in there
#: ages, and is purged, as a run's tables are.
_PARTS = "partitions"
_NOTE = "storage.json"


@dataclass(frozen=True)
class Engine:
    """An engine at work."""

    workers: Workers
    partitions: int = 0  # of the table; 0: it is not parted
    storage: str = ""  # where parts lie; "": in the workspace

    def public_store(self, run: RunWorkspace) -> PartStore:
        if self.storage:
            return PartStore(f"{self.storage}/{run.dataset}/{INTERMEDIATE}")
        return PartStore(str(run.intermediate / run.dataset / _PARTS))

    @property
    def steadfast(self) -> Workers:
        """The workers, for what must not stop halfway: without them it goes on in this process."""
        return Steadfast(self.workers) if self.is_elsewhere else self.workers

    @property
    def is_elsewhere(self) -> bool:
        return not isinstance(self.workers, InProcess)

    def store(self, run: RunWorkspace) -> PartStore:
        scratch = str(run.resources.scratch or "")
        if self.storage:
            return PartStore(f"{self.storage}/{run.dataset}", scratch)
        return PartStore(str(run.sensitive / run.dataset / _PARTS), scratch)


def note_parts(run: RunWorkspace, store: PartStore, prefix: str) -> None:
    """Note what lies in storage, where a purge of the workspace would not see it (see `forget_parts`)."""
    if store.is_remote:
        folder = run.sensitive / run.dataset / _PARTS / prefix
        folder.mkdir(parents=True, exist_ok=True)
        (folder / _NOTE).write_text(json.dumps([store.root, prefix]), encoding="utf-8")


@contextmanager
def temporary_parts(run: RunWorkspace, prefix: str) -> Iterator[PartStore]:
    """Where parts lie that nobody needs when a step ends; they go then.

    Where it fails, a worker that is still at one may leave it behind later. So the note of them stays, and a
    purge removes what came.
    """
    store = current_engine().store(run)
    note_parts(run, store, prefix)
    try:
        yield store.below(prefix)
    finally:
        store.remove(prefix)
    shutil.rmtree(run.sensitive / run.dataset / _PARTS / prefix, ignore_errors=True)


def forget_parts(folder: Path) -> None:
    """Remove from storage what a folder that is purged notes. StorageError: the storage refuses."""
    if (folder / _NOTE).is_file():
        root, prefix = json.loads((folder / _NOTE).read_text(encoding="utf-8"))
        PartStore(root).remove(prefix)


@dataclass(frozen=True)
class Steadfast(Workers):
    """Workers whose work goes on in this process where a part of theirs fails, one part at a time.

    A draw that stopped halfway would be lost, and stay charged. What fails here, too, is raised.
    """

    workers: Workers

    def each(self, name: str, work: Callable[[P], R], parts: Sequence[P]) -> Iterator[R]:
        done = 0
        try:
            for result in self.workers.each(name, work, parts):
                yield result
                done += 1
        except (ClusterLost, StorageError, InternalError):
            tell(
                "ATTENTION: the Dask cluster failed while noise was drawn. The draw goes on in the run's own "
                "process, which takes longer."
            )
        yield from map(work, parts[done:])


_OPEN: ContextVar[Engine | None] = ContextVar("engine", default=None)


def current_engine() -> Engine:
    """The engine of the run; outside of any, this process."""
    return _OPEN.get() or Engine(InProcess())


@contextmanager
def engine_of(configuration: "RunConfiguration") -> Iterator[None]:
    """Open a run's engine. Raises ParameterError where it needs a package that is not installed."""
    asked = configuration.resources
    if asked.engine != "dask":
        yield
        return
    try:
        from tasks.cluster import Cluster
    except ImportError:
        raise ParameterError(
            "engine: dask needs packages that are not installed, here and on the workers. After make setup: "
            ".tools/bin/uv sync --frozen --no-dev --extra dask. Elsewhere: pip install prefect-dask."
        ) from None
    with Cluster(asked.dask_address, asked.workers) as workers:
        token = _OPEN.set(Engine(workers, asked.partitions, asked.shared_storage or ""))
        try:
            yield
        finally:
            _OPEN.reset(token)
