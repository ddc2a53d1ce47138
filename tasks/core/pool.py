"""Work in parts on threads: jobs in, all of them done, and progress told about twice a second.

What runs on threads are kernels, which let go of the interpreter. An interrupt, or an error of a job, ends
the work at the next job.
"""

import itertools
import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

_SECONDS_BETWEEN_REPORTS = 0.5

#: Does a part of the work, and gives what is then to be done, by the same thread, one after the other.
Job = Callable[[], Iterable["Job"]]
_Unit = TypeVar("_Unit")
_Done = TypeVar("_Done")


def run_jobs(jobs: Iterable[Job], threads: int, tell: Callable[[], None]) -> None:
    """Do all jobs, and what they give.

        jobs ──▶ thread 1: job ──▶ its jobs ──▶ theirs ...
             └─▶ thread 2: job ──▶ ...

    Args:
        jobs: largest first; 1 thread does them as they come.
        threads: how many; 0 is all cores.
        tell: called about twice a second.
    """
    if threads == 1:
        last_report = time.monotonic()
        for _ in _steps(iter(jobs)):
            if time.monotonic() - last_report > _SECONDS_BETWEEN_REPORTS:
                tell()
                last_report = time.monotonic()
        return
    stopped = False

    def run(job: Job) -> None:
        for _ in _steps(iter([job])):
            if stopped:
                return

    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        running = {pool.submit(run, job) for job in jobs}
        try:
            while running:
                ended, running = wait(running, timeout=_SECONDS_BETWEEN_REPORTS)
                for future in ended:
                    future.result()
                tell()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            stopped = True


def _steps(jobs: Iterator[Job]) -> Iterator[None]:
    """Do a job, and what it gives, before the next; a step after each."""
    left = [jobs]
    while left:
        job = next(left[-1], None)
        if job is None:
            left.pop()
        else:
            left.append(iter(job()))
            yield


def map_on_threads(
    run: Callable[[_Unit], _Done], units: Iterable[_Unit], threads: int, *, ahead: int = 0
) -> Iterator[_Done]:
    """What each unit gives, in order, on so many threads (0: on all cores).

    >>> list(map_on_threads(len, ["three", "of", "us"], 2))
    [5, 2, 2]

    Args:
        ahead: so many units are taken before the first of them is done, where they are too large to be held
            together; 0: all.
    """
    if threads == 1:
        yield from map(run, units)
        return
    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        yield from _few_at_a_time(pool, run, iter(units), ahead) if ahead else pool.map(run, units)


def _few_at_a_time(
    pool: ThreadPoolExecutor, run: Callable[[_Unit], _Done], units: Iterator[_Unit], ahead: int
) -> Iterator[_Done]:
    running = deque(pool.submit(run, unit) for unit in itertools.islice(units, ahead))
    try:
        while running:
            done = running.popleft().result()
            running += [pool.submit(run, unit) for unit in itertools.islice(units, 1)]
            yield done
    finally:
        for future in running:
            future.cancel()
