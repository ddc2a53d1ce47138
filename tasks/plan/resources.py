"""What a run needs and the machine has: memory, disk and, from public facts and the rows alone, a cluster.

The constants of a cluster are of `tests.benchmarks.cluster`; docs/cluster.md says what they come to for a
billion records. A worker reads, joins or counts one partition at a time: its memory grows with those rows.
"""

import math
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from tasks.configuration.model import RunConfiguration
from tasks.core.dp.budget import AnyParameters
from tasks.core.dp.workload.limits import worst_case_bytes
from tasks.core.dp.workload.parameters import WorkloadParameters
from tasks.core.errors import ParameterError, ResourceLimit
from tasks.core.queries import QueryResources
from tasks.core.records.columns import Schema
from tasks.storage import Workspace, process_mark

#: A value, and where its record begins.
_BYTES_A_RECORD = 16


def free_memory_mb() -> int:
    """Megabytes that a new process could take now, within the control group's limit if there is one."""
    if "SC_AVPHYS_PAGES" in os.sysconf_names:
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    else:  # macOS tells only how much there is in all
        free = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    meminfo = Path("/proc/meminfo")
    if meminfo.exists():
        for line in meminfo.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                free = int(line.split()[1]) * 1024
    limit = Path("/sys/fs/cgroup/memory.max")
    if limit.exists() and (text := limit.read_text().strip()) != "max":
        free = min(free, int(text) - int((limit.parent / "memory.current").read_text()))
    return max(free, 0) // 2**20


def free_disk_mb(folder: Path) -> int:
    """Megabytes free where a folder is or will be."""
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free // 2**20


def require_records_fit(configuration: RunConfiguration) -> None:
    """Refuse more synthetic records than memory can hold, were each of one value. Raises ResourceLimit."""
    synthesis = configuration.synthesis
    target = getattr(synthesis, "target_number_of_records", None)
    needed, free = (target or 0) * _BYTES_A_RECORD // 2**20, free_memory_mb()
    if needed > free:
        raise ResourceLimit(
            f"{synthesis.mode}_target_number_of_records must be a number of records that fit into memory, "
            f"but {target:,} need at least {needed:,} MB, and {free:,} MB are free. Ask for fewer."
        )


def tables_bytes(parameters: AnyParameters | None, schema: Schema) -> int:
    """The most that the tables of a fitted release may take; 0 for other releases."""
    # Of the two draws a workload alone is held as a whole; the other is written length by length.
    return worst_case_bytes(parameters, schema.measured) if isinstance(parameters, WorkloadParameters) else 0


def require_draw_fits(parameters: AnyParameters, schema: Schema) -> None:
    """Refuse a draw that memory might not hold: half-way it would be lost, and stay charged (W5)."""
    needed, free = tables_bytes(parameters, schema) // 2**20, free_memory_mb()
    if needed > free:
        raise ResourceLimit(
            f"The tables of a fitted release must fit into memory, but these may need {needed:,} MB, and "
            f"{free:,} MB are free. Lower max_values, declare domains, or name fewer sets in workload."
        )


def query_resources(configuration: RunConfiguration, workspace: Workspace) -> QueryResources:
    """What DuckDB may use: four fifths of what is free unless configured, spilling into ``sensitive/``."""
    asked = configuration.resources
    # DuckDB's names are unique in a process only.
    scratch = workspace.sensitive / ".scratch" / f".{process_mark()}"
    scratch.mkdir(mode=0o700, parents=True, exist_ok=True)
    limit = asked.memory_limit_mb or max(free_memory_mb() * 4 // 5, 256)
    return QueryResources(scratch=scratch, threads=asked.parallel_jobs, memory_limit_mb=limit)


#: Of a worker before it has any part: Python, and what it has loaded.
_WORKER_MB = 330
_BYTES = {"cell, in a worker": 16, "id, in a worker": 90, "cell, stored": 1.1, "id, stored": 20}
_NANOSECONDS = {"cell, read and joined": 60.0, "id, read and joined": 700.0, "tuple of a record": 1.7}
#: Of a row in a tree of SynDiffix and its buckets, where columns have very many values.
_BYTES_IN_A_TREE = 220
#: Seconds for each part of each kind of work, whatever it holds: Prefect and Dask.
_SECONDS_A_PART = 0.1
_KINDS_OF_WORK = 5
#: Of a worker's memory that a partition should take at most, where nothing else is said.
_COMFORTABLE_MB = 2048


@dataclass(frozen=True)
class ClusterNeeds:
    """What a run needs of a cluster."""

    advised: int  # partitions of at most 2 GB in a worker each
    worker_mb: int  # the most memory of a worker
    cpu_hours: float  # of all workers together, to read, join and count; what is fitted comes on top
    stored_mb: int
    moved_mb: int


def cluster_needs(
    rows: int, width: int, length: int, partitions: int, *, has_ids: bool = False
) -> ClusterNeeds:
    """What a run needs of a cluster. Args: width: the most values of a record. has_ids: of subjects."""
    cells, ids = rows * width, rows * has_ids
    held = cells * _BYTES["cell, in a worker"] + ids * _BYTES["id, in a worker"]
    tuples = rows * sum(math.comb(width, k) for k in range(1, length + 1))
    seconds = (
        cells * _NANOSECONDS["cell, read and joined"]
        + ids * _NANOSECONDS["id, read and joined"]
        + tuples * _NANOSECONDS["tuple of a record"]
    ) / 1e9 + partitions * _KINDS_OF_WORK * _SECONDS_A_PART
    stored = cells * _BYTES["cell, stored"] + ids * _BYTES["id, stored"]
    return ClusterNeeds(
        advised=max(1, math.ceil(held / 2**20 / _COMFORTABLE_MB)),
        worker_mb=_WORKER_MB + math.ceil(held / partitions / 2**20),
        cpu_hours=seconds / 3600,
        stored_mb=math.ceil(2 * stored / 2**20),  # pieces, and the partitions that are made of them
        moved_mb=math.ceil(6 * stored / 2**20),  # written once, and read twice: the first time for its hash
    )


def tree_worker_mb(rows: int, columns: int) -> int:
    """The memory of a worker that grows the trees of so many columns: one for each set of some of them."""
    trees = (1 << columns) - 1
    return _WORKER_MB + math.ceil(rows * trees * _BYTES_IN_A_TREE / 2**20)


def works_in_partitions(configuration: RunConfiguration) -> bool:
    """Whether the table is worked on in partitions; SynDiffix's workers have some columns of all rows."""
    return configuration.resources.engine == "dask" and not configuration.protection.is_salted


def require_engine(configuration: RunConfiguration) -> None:
    """Refuse a mode that reads raw records: it can't be worked on in partitions. Raises ParameterError.

    A record of such a mode holds nothing that fewer than k rows of the whole table hold together, and that is
    asked anew for every value that joins it. A part of the table could answer for its own rows alone: records
    would be shorter than the mode's, and shard after shard would tell in which part of the table people are.
    """
    synthesis = configuration.synthesis
    if works_in_partitions(configuration) and synthesis.reads_records:
        raise ParameterError(
            f"A table on a cluster must be synthesised from its counts, but {synthesis.mode} asks the whole "
            "table at once whether k rows hold a combination. Choose fitted or aggregate_seeded, or leave "
            "engine out."
        )


def cluster_notes(configuration: RunConfiguration) -> tuple[str, ...]:
    """What whoever runs it on a cluster should know."""
    asked = configuration.resources
    if asked.engine != "dask" or not asked.dask_address.startswith("tcp://"):
        return ()
    return (
        "ATTENTION: dask_address is not encrypted. The table goes to the cluster's workers over its "
        "connections, and whoever can listen to them reads it. Give the cluster certificates, and an address "
        "that begins with tls://.",
    )
