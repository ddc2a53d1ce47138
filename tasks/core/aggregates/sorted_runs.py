"""Sorting what does not fit in memory: integers in any order in, the same in ascending order out."""

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]

#: Integers that are sorted at once, and how far apart those are that runs may be cut at.
AT_ONCE = 1 << 23
_APART = 1 << 12


def in_ascending_order(
    parts: Iterable[Integers], scratch: Path, at_once: int = AT_ONCE
) -> Iterator[Integers]:
    """Sort integers, in memory where they are few, otherwise by sorted runs in a file.

    Args:
        parts: arrays of integers that are, all together, distinct.
        scratch: an existing folder for runs.
        at_once: how many integers are sorted at once; about twice as many are in memory.

    Yields:
        Ascending arrays, each above the one before.
    """
    with tempfile.TemporaryFile(dir=scratch) as file:
        sizes, last = [], np.empty(0, np.int64)
        for run in _runs(parts, at_once):
            if len(last):
                file.write(last.data)
                sizes.append(len(last))
            last = run
        if not sizes:
            yield last
            return
        file.write(last.data)
        file.flush()
        stored = np.memmap(file, np.int64, "r")
        runs = np.split(stored, np.cumsum(sizes))
        yield from _merged(runs, at_once)


def _runs(parts: Iterable[Integers], at_once: int) -> Iterator[Integers]:
    """Sorted arrays of at least ``at_once`` integers, but the last one."""
    pending: list[Integers] = []
    waiting = 0
    for part in parts:
        pending.append(part)
        waiting += len(part)
        if waiting >= at_once:
            yield _sorted(pending)
            pending, waiting = [], 0
    if pending:
        yield _sorted(pending)


def _sorted(parts: list[Integers]) -> Integers:
    """All together, in order; made here, so sorted where they are."""
    together = np.concatenate(parts)
    together.sort()
    return together


def _merged(runs: list[Integers], at_once: int) -> Iterator[Integers]:
    """Cut all runs at the same integers, and sort what lies between two cuts."""
    apart = max(1, min(_APART, at_once // (2 * len(runs))))
    samples = np.sort(np.concatenate([run[::apart] for run in runs]))
    cuts = samples[:: max(1, at_once // apart)][1:]
    bounds = [np.searchsorted(run, cuts) for run in runs]
    starts = [0] * len(runs)
    for place in range(len(cuts) + 1):
        ends = [
            int(of[place]) if place < len(cuts) else len(run) for of, run in zip(bounds, runs, strict=True)
        ]
        slices = [run[start:end] for run, start, end in zip(runs, starts, ends, strict=True)]
        yield _sorted(slices)
        starts = ends
