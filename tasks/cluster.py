"""Workers on a cluster of Dask, through Prefect's own task runner: each part of some work is a task run.

So the run's page shows a part that is slow or fails, and Dask does what a lost worker was doing elsewhere.
How many parts there are is declared. What is sent, and what comes back, is about people: it goes over the
cluster's own connections and never to Prefect.
"""

import atexit
import logging
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from functools import cache, partial
from types import TracebackType
from typing import Any, TypeVar
from warnings import catch_warnings, filterwarnings

import dask
from distributed.client import FutureCancelledError
from distributed.comm.core import CommClosedError
from distributed.scheduler import KilledWorker
from prefect import Task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State
from prefect_dask.task_runners import DaskTaskRunner

from tasks.core.errors import ClusterLost, InputError, InternalError, MarginaliaError, StorageError
from tasks.core.parts.workers import Workers
from tasks.messages import tell

P = TypeVar("P")
R = TypeVar("R")
#: How often a part is tried again whose storage refused.
_TRIES, _SECONDS = 3, 2
#: How long a part is waited for before it is looked whether anybody works, and how often in vain.
_SECONDS_A_LOOK, _LOOKS_UNTIL_TOLD, _LOOKS_UNTIL_LOST = 10, 3, 60
#: Answers about people must not lie in the system's temporary folder where memory is short.
_NO_SPILLING = {"distributed.worker.memory.target": False, "distributed.worker.memory.spill": False}
#: Pages of scheduler and workers, over plain HTTP: any user of the machine could read them.
_NO_PAGES: dict[str, list[str]] = {f"distributed.{who}.http.routes": [] for who in ("scheduler", "worker")}
#: Dask has its workers give memory back at once. Each array of counts is then paged in anew, and counting
#: takes two fifths more CPU time. These are glibc's own bounds, in bytes.
_KEEPING_MEMORY = {
    f"distributed.nanny.pre-spawn-environ.{name}": size
    for name, size in (("MALLOC_TRIM_THRESHOLD_", 1 << 28), ("MALLOC_MMAP_THRESHOLD_", 1 << 25))
}
#: So many parts are given out before their answers are taken.
_LEAST_AHEAD, _AHEAD_OF_A_WORKER = 8, 3
_LOST = (CommClosedError, FutureCancelledError, TimeoutError, OSError)


class _Sent:
    """Some work and a part: a plain class, so that Prefect does not look into it, and nothing shows it."""

    def __init__(self, work: Callable[[Any], Any], part: object, *, is_worker_ours: bool) -> None:
        self.work, self.part, self.is_worker_ours = work, part, is_worker_ours

    def __repr__(self) -> str:
        return "<a part of the table>"


class _Failed:
    """What a part failed with, in words that may be known; and what only the operator may."""

    def __init__(self, error: MarginaliaError) -> None:
        self._error = error
        self._detail = error.operator_detail if isinstance(error, InputError) else ""

    @property
    def error(self) -> MarginaliaError:
        if isinstance(self._error, InputError):  # on its way it lost the detail
            self._error.operator_detail = self._detail
        return self._error


def _done(sent: _Sent) -> Any:
    """Do the work of one part, on a worker.

    A failure is given back, and not raised, unless it may be gone the next time: Dask and Prefect write what
    is raised into their logs.
    """
    if sent.is_worker_ours:
        _end_in_silence()
    failure: MarginaliaError
    try:
        return sent.work(sent.part)
    except StorageError as error:
        failure = StorageError(str(error))
        is_raised = True
    except MarginaliaError as error:
        failure, is_raised = error.with_traceback(None), False
    except MemoryError:
        failure, is_raised = InternalError("A worker has too little memory for its part."), False
    except Exception as error:
        failure, is_raised = InternalError(f"A part of the work failed on a worker ({_place(error)})."), False
    failure.__cause__ = failure.__context__ = None
    if is_raised:
        raise failure
    return _Failed(failure)


@cache
def _end_in_silence() -> None:
    """Say nothing when this process ends: what DuckDB then says of its own objects looks like a crash."""
    atexit.register(lambda: os.dup2(os.open(os.devnull, os.O_WRONLY), 2))


def _place(error: Exception) -> str:
    """The kind of an error, and where in our code it arose: no text of it."""
    trace, place = error.__traceback__, ""
    while trace is not None:
        code = trace.tb_frame.f_code
        if "/tasks/" in code.co_filename:
            place = f" in {code.co_filename.rpartition('/tasks/')[2]}:{trace.tb_lineno}"
        trace = trace.tb_next
    return f"{type(error).__name__}{place}"


class Cluster(Workers):
    """A cluster that is used, or on this machine started, when there is work for it.

    Without an address it is of so many processes on this machine, and ends when it is left.
    """

    def __init__(self, address: str, processes: int) -> None:
        self._address, self._processes = address, processes
        self._stack = ExitStack()
        self._runner: DaskTaskRunner | None = None

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._runner = None
        self._stack.close()

    def each(self, name: str, work: Callable[[P], R], parts: Sequence[P]) -> Iterator[R]:
        self._opened()
        waiting: deque[tuple[Task[Any, Any], _Sent, Any]] = deque()
        try:
            for place, part in enumerate(parts, start=1):
                # Answers that nobody has taken yet lie in the workers' memory: so few parts are ahead.
                most = max(_LEAST_AHEAD, _AHEAD_OF_A_WORKER * self._safely(self._number_of_workers))
                if len(waiting) >= most:
                    yield self._result(*waiting.popleft())
                task, sent = _task(name, place), _Sent(work, part, is_worker_ours=not self._address)
                waiting.append((task, sent, self._safely(partial(self._submit, task, sent))))
            while waiting:
                yield self._result(*waiting.popleft())
        finally:
            for _, _, future in waiting:  # nobody asks for them any more
                with suppress(Exception):
                    future.cancel()

    def _submit(self, task: Task[Any, Any], sent: _Sent) -> Any:
        """What Dask has of a part that is given out."""
        return self._opened().submit(task, {"sent": sent}).wrapped_future

    def _result(self, task: Task[Any, Any], sent: _Sent, future: Any) -> Any:
        result = self._safely(partial(self._take, task, sent, future))
        if isinstance(result, _Failed):
            raise result.error
        return result

    def _take(self, task: Task[Any, Any], sent: _Sent, future: Any) -> Any:
        try:
            state = self._awaited(future)
        except KilledWorker:
            # Dask gives a part up with the fourth worker that is lost on it. Workers may be lost for reasons
            # of their own, many at a time, so it is given out once more.
            state = self._awaited(self._submit(task, sent))
        return state.result(raise_on_failure=True) if isinstance(state, State) else state

    def _safely(self, work: Callable[[], R]) -> R:
        """What some work on the cluster returns; what it fails with becomes an error in our words."""
        failure: MarginaliaError
        try:
            return work()
        except MarginaliaError as error:
            failure = error.with_traceback(None)
        except KilledWorker:
            failure = ClusterLost(
                "A part of the table must fit into a worker's memory, but workers that took one were lost "
                "again and again. Give more partitions, or workers with more memory. Then run again: "
                "finished parts are kept."
            )
        except _LOST:
            failure = self._lost()
        except Exception as error:
            failure = ClusterLost(
                f"A worker of the Dask cluster could not do its part ({type(error).__name__}). See that the "
                "workers have this version of the project and reach the Prefect server; their logs say more. "
                "Then run again: finished parts are kept."
            )
        failure.__cause__ = failure.__context__ = None
        raise failure

    def _awaited(self, future: Any) -> Any:
        """What Dask has of a part. Raises ClusterLost where there has been no worker for long."""
        alone = 0
        while True:
            try:
                return future.result(timeout=_SECONDS_A_LOOK)
            except TimeoutError:
                alone = 0 if self._number_of_workers() else alone + 1
            if alone == _LOOKS_UNTIL_TOLD:
                tell("ATTENTION: the Dask cluster has no worker. The run waits for one.")
            if alone == _LOOKS_UNTIL_LOST:
                raise ClusterLost(
                    "The Dask cluster must have a worker, but it has had none for ten minutes. Start one, in "
                    "the version of this project that the run has. Then run again: finished parts are kept."
                )

    def _number_of_workers(self) -> int:
        assert self._runner is not None, "whoever waits for a part has opened it"
        return len(self._runner.client.scheduler_info(n_workers=-1)["workers"])

    def _opened(self) -> DaskTaskRunner:
        if self._runner is None:
            self._runner = self._safely(self._connected)
            where = self._address or f"of {self._processes} processes on this machine"
            tell(f"A Dask cluster works on the table: {where}.")
        return self._runner

    def _connected(self) -> DaskTaskRunner:
        if self._address:
            where: dict[str, Any] = {"address": self._address, "client_kwargs": {"timeout": 30}}
        else:
            own = {
                "n_workers": self._processes,
                "threads_per_worker": 1,
                # What is sent is about people, and any user of the machine can reach a port.
                "security": True,
                "protocol": "tls://",
                "dashboard_address": None,
                "silence_logs": logging.CRITICAL,
            }
            where = {"cluster_kwargs": own}
        runner = DaskTaskRunner(**where)
        try:
            self._stack.enter_context(runner)
            with dask.config.set(_NO_SPILLING | _KEEPING_MEMORY | _NO_PAGES), catch_warnings():
                # The port of the pages, of which there are none.
                filterwarnings("ignore", "Port .* is already in use")
                assert runner.client, "asked for, it connects"
        except (*_LOST, RuntimeError):  # the last where a worker on this machine does not start
            self._stack.close()
            raise CommClosedError from None
        return runner

    def _lost(self) -> ClusterLost:
        if not self._address:
            return ClusterLost(
                "The Dask cluster that a run starts on its own machine must be up, but did not start or is "
                "gone. It may lack memory: give fewer workers. Then run again: finished parts are kept."
            )
        return ClusterLost(
            f"The scheduler of the Dask cluster at {self._address} must answer, but does not. See that "
            "the address is right, and that it is up and can be reached from here. Then run again: finished "
            "parts are kept."
        )


def _task(name: str, place: int) -> Task[Any, Any]:
    return Task(
        _done,
        name=f"{name} a part",
        task_run_name=f"{name} part {place}",
        cache_policy=NO_CACHE,
        persist_result=False,
        retries=_TRIES,
        retry_delay_seconds=_SECONDS,
        log_prints=False,
    )
