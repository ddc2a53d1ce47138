"""Counting a table in partitions: workers count each where they are, and what they counted is added up.

    partitions     0   1   2  ...  7   8  ...       each counted into a part of the store
                   └── added up ───┘   └── ... ┘    by workers, up to 8 at a time
                         └──── added up ────┘       by the caller, into its folder

Added up is a combination of columns at a time, so that nobody holds more than one of each part.
"""

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from tasks.core.aggregates.marginals import count_marginals
from tasks.core.aggregates.merging import merge_partials
from tasks.core.aggregates.stored_marginals import Marginals, read_marginals
from tasks.core.arrays import ShareDone
from tasks.core.errors import ClusterLost
from tasks.core.parts.store import PartStore, StoredPart
from tasks.core.queries import QueryResources
from tasks.core.records.coded import CodedRecords, read_coded_records
from tasks.core.records.partitioned import PartitionedRecords

R = TypeVar("R")
#: Counts a folder of coded records into an empty one, as `count_marginals` leaves it.
CountFolder = Callable[[Path, Path, QueryResources], object]
#: Makes one part of others, in an empty folder.
_Fill = Callable[[Sequence[StoredPart], Path, QueryResources], object]
#: So many parts are added up at a time: where parts are remote, each is copied to the machine's disk.
_MOST_ADDED = 8


def count_partitions(
    records: PartitionedRecords,
    destination: Path,
    workload: int | Sequence[tuple[int, ...]],
    resources: QueryResources = QueryResources(),
    progress: ShareDone | None = None,
) -> Marginals:
    """Count how many records of a table in partitions hold each tuple of values (see `count_marginals`).

    Args:
        records: the table.
        destination: an existing empty folder.
        workload: all combinations up to this length (-1: all lengths), or sets of column indexes.
        resources: memory and threads of each worker and of this process; and the scratch of this one, as a
            worker's is where its store says.
        progress: called with the fraction done.

    Returns:
        The stored marginals: the same bytes as of the whole table, however it is parted.

    Raises:
        ParameterError: if the workload can't be formed of the columns.
        InternalError: if the partitions are not of one table.
    """
    return add_up_partitions(
        records, partial(_count_folder, workload=workload), destination, resources, progress
    )


def _count_folder(
    folder: Path, into: Path, resources: QueryResources, workload: int | Sequence[tuple[int, ...]]
) -> None:
    count_marginals(folder, into, workload, resources)


def add_up_partitions(
    records: PartitionedRecords,
    count: CountFolder,
    destination: Path,
    resources: QueryResources = QueryResources(),
    progress: ShareDone | None = None,
) -> Marginals:
    """The sum of what is counted in each partition; nothing stays in the store.

    Args:
        records: the table.
        count: can be sent.
        destination: an existing empty folder.
        resources: see `count_partitions`.
        progress: called with the fraction done.
    """
    home, done = f"{records.prefix}/counts", _Steps(len(records.partitions), progress)

    def made(name: str, fill: _Fill, level: int, groups: Sequence[Sequence[StoredPart]]) -> list[StoredPart]:
        jobs = [(f"{home}/{level}/{place}", group) for place, group in enumerate(groups)]
        work = partial(_put, store=records.store, resources=resources, fill=fill)
        return list(done.each(records.workers.each(name, work, jobs)))

    try:
        parts = made("count", partial(_counted, count), 0, [[part] for part in records.partitions])
        for level in range(1, done.levels + 1):
            sums = made(f"add up {level}", _added, level, _groups(parts))
            for part in parts:
                records.store.remove(part.key)
            parts = sums
        whole = _added(parts, destination, resources)
    except ClusterLost:
        raise  # what is counted stays, for a run that goes on with it
    except BaseException:
        records.store.remove(home)
        raise
    records.store.remove(home)
    done.finish()
    return whole


def each_beside(
    records: PartitionedRecords, marginals: Marginals, name: str, work: Callable[[CodedRecords, Marginals], R]
) -> Iterator[R]:
    """What the work gives for each partition beside the counts of the whole table, in order.

    Args:
        records: the table.
        marginals: its counts; they are in the store while the work is done.
        name: of the work, for who watches.
        work: can be sent.
    """
    key = f"{records.prefix}/marginals"
    counts = records.store.put(key, partial(_copy, marginals.folder))
    try:
        yield from records.workers.each(name, partial(_beside, counts=counts, work=work), records.partitions)
    finally:
        records.store.remove(key)


def _beside(partition: StoredPart, counts: StoredPart, work: Callable[[CodedRecords, Marginals], R]) -> R:
    with partition.folder() as folder, counts.folder() as counted:
        return work(read_coded_records(folder), read_marginals(counted))


def _copy(folder: Path, into: Path) -> None:
    shutil.copytree(folder, into, dirs_exist_ok=True)


def _groups(parts: Sequence[StoredPart]) -> list[Sequence[StoredPart]]:
    return [parts[start : start + _MOST_ADDED] for start in range(0, len(parts), _MOST_ADDED)]


def _put(
    job: tuple[str, Sequence[StoredPart]],
    store: PartStore,
    resources: QueryResources,
    fill: _Fill,
) -> StoredPart:
    """Make a part of others, on whatever machine this is."""
    key, parts = job
    with tempfile.TemporaryDirectory(dir=store.own_scratch) as scratch:
        own = replace(resources, scratch=Path(scratch))
        return store.put(key, lambda into: fill(parts, into, own))


def _counted(count: CountFolder, parts: Sequence[StoredPart], into: Path, resources: QueryResources) -> None:
    (part,) = parts
    with part.folder() as folder:
        count(folder, into, resources)


def _added(parts: Sequence[StoredPart], into: Path, resources: QueryResources) -> Marginals:
    with ExitStack() as stack:
        partials = [read_marginals(stack.enter_context(part.folder())) for part in parts]
        return merge_partials(partials, into, resources)


class _Steps:
    """How far the work is: a step for each part that is made, and one for what the caller makes."""

    def __init__(self, partitions: int, progress: ShareDone | None) -> None:
        self._report = progress or (lambda fraction: None)
        self.levels, self._all, self._done = 0, partitions + 1, 0
        while partitions > _MOST_ADDED:
            partitions = -(-partitions // _MOST_ADDED)
            self._all += partitions
            self.levels += 1

    def each(self, parts: Iterator[StoredPart]) -> Iterator[StoredPart]:
        """The parts as they come."""
        for part in parts:
            self._done += 1
            self._report(self._done / self._all)
            yield part

    def finish(self) -> None:
        """All is done."""
        self._report(1.0)
