"""What a run needs and the machine has: memory, disk, time, noise and, where there is one, a cluster.

All from public facts and the number of records: no value is read. That number comes from a Parquet file's
footer or, for text, from the file's size; it is for the operator's terminal only.

The constants of a cluster are of `tests.benchmarks.cluster`; docs/cluster.md says what they come to for a
billion records. A worker reads, joins or counts one partition at a time: its memory grows with those rows.
"""

import math
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tasks.configuration.model import RunConfiguration
from tasks.core.dp import thresholds
from tasks.core.dp.accounting import plan_release
from tasks.core.dp.budget import AnyParameters
from tasks.core.dp.measurement import LengthOne
from tasks.core.dp.parameters import DpParameters
from tasks.core.dp.workload.expected import planned_first_length
from tasks.core.dp.workload.limits import worst_case_bytes
from tasks.core.dp.workload.parameters import WorkloadParameters
from tasks.core.errors import ParameterError, ResourceLimit
from tasks.core.queries import QueryResources
from tasks.core.records.columns import Schema
from tasks.core.tables.batches import RowSource, number_of_rows
from tasks.storage import Workspace, process_mark

if TYPE_CHECKING:
    from tasks.plan.describe import RunFacts

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
_CLUSTER_BYTES = {"cell, in a worker": 16, "id, in a worker": 90, "cell, stored": 1.1, "id, stored": 20}
_CLUSTER_NANOSECONDS = {"cell, read and joined": 60.0, "id, read and joined": 700.0, "tuple of a record": 1.7}
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
    held = cells * _CLUSTER_BYTES["cell, in a worker"] + ids * _CLUSTER_BYTES["id, in a worker"]
    tuples = rows * sum(math.comb(width, k) for k in range(1, length + 1))
    seconds = (
        cells * _CLUSTER_NANOSECONDS["cell, read and joined"]
        + ids * _CLUSTER_NANOSECONDS["id, read and joined"]
        + tuples * _CLUSTER_NANOSECONDS["tuple of a record"]
    ) / 1e9 + partitions * _KINDS_OF_WORK * _SECONDS_A_PART
    stored = cells * _CLUSTER_BYTES["cell, stored"] + ids * _CLUSTER_BYTES["id, stored"]
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


#: A guess for an open column, whose number of values is not public.
OPEN_VALUES = 50
#: A guess of the same kind for the items of a multi-valued column without a cap.
_OPEN_ITEMS = 3
#: Cells of a length that are visited one by one; beyond, the sparse law takes over.
_MOST_CELLS = 2**26
#: So many combinations fit nowhere; more can't even be written as floating point.
_BEYOND = 10**15
_START_MB = 400
_RUN_BYTES = {"slot of a record": 16, "cell": 16, "combination of columns": 200}
_RUN_NANOSECONDS = {
    "cell of input": 60.0,
    "tuple of a record": 1.5,
    "candidate": 60.0,
    "combination, counted and listed": 400.0,
    "synthetic record": 40_000.0,
}


@dataclass(frozen=True)
class LevelEstimate:
    """One length of a draw."""

    length: int
    sigma: float
    sensitivity: int  # the most tuples of one subject
    scale: float
    half_width_95: float
    threshold: int | None  # least noisy count of a survivor, if every candidate of the length before survives
    candidates: int  # upper bound, with `OPEN_VALUES` for an open column


@dataclass(frozen=True)
class Estimate:
    """The whole run; memory and disk in megabytes, time in CPU seconds; no levels where nothing is drawn."""

    records: int
    levels: tuple[LevelEstimate, ...]
    memory_mb: int
    disk_mb: int
    seconds: float
    source: RowSource = "size"
    tables_mb: int = 0  # of the memory, that the tables of a fitted release take; 0 for other releases
    shorter_mb: tuple[int, ...] = ()  # the memory at each smaller reporting length, from 1 on


def estimate(described: "RunFacts", *, look: bool = False, partitions: int = 1) -> Estimate:
    """Estimate a run; rough in time, careful in memory and disk.

    Args:
        look: whether the lengths of some lines of a text may be looked at.
        partitions: of the table: no process holds more than one.
    """
    schema = described.schema
    width = width_of(schema)
    length = width if described.reporting_length == -1 else min(described.reporting_length, width)
    parameters = described.parameters
    # Only a draw by lengths has an estimate a length.
    levels = _levels(schema, parameters) if isinstance(parameters, DpParameters) else ()
    tables = tables_bytes(parameters, schema)
    records, source = number_of_rows(described.source, look=look)
    combinations = min(sum(math.comb(width, k) for k in range(1, length + 1)), _BEYOND)
    candidates_by_length = [level.candidates for level in levels] or _reported(schema, length, records)
    cells = sum(min(candidates, _MOST_CELLS) for candidates in candidates_by_length)
    cost = _RUN_NANOSECONDS
    nanoseconds = (
        records * width * cost["cell of input"]
        + records * combinations * cost["tuple of a record"]
        + cells * cost["candidate" if levels else "combination, counted and listed"]
        + records * cost["synthetic record"]
    )
    fixed = math.ceil(records / partitions) * width * _RUN_BYTES["slot of a record"] + tables
    memory, shorter = _memory_mb(fixed, width, candidates_by_length)
    disk = records * width * 12 / 2**20 + cells * 12 / 2**20 + 20
    return Estimate(
        records,
        levels,
        memory,
        math.ceil(disk),
        nanoseconds / 1e9,
        source,
        math.ceil(tables / 2**20),
        shorter,
    )


def _memory_mb(fixed: int, width: int, candidates_by_length: list[int]) -> tuple[int, tuple[int, ...]]:
    """The memory of a run, and what it would be at each smaller reporting length.

    Args:
        fixed: bytes that are needed whatever the length.
        width: the most values of a record.
    """
    needed, combinations, most = [fixed], 0, 0
    for length, number in enumerate(candidates_by_length, start=1):
        combinations = min(combinations + math.comb(width, length), _BEYOND)
        most = max(most, min(number, _MOST_CELLS))
        needed.append(fixed + most * _RUN_BYTES["cell"] + combinations * _RUN_BYTES["combination of columns"])
    megabytes = [_START_MB - (-size // 2**20) for size in needed]
    return megabytes[-1], tuple(megabytes[1:-1])


def width_of(schema: Schema) -> int:
    """The most values of a record; a multi-valued column without a cap is taken to have `_OPEN_ITEMS`."""
    return sum(column.max_items or _OPEN_ITEMS for column in schema.columns)


def _sizes(schema: Schema) -> list[int]:
    return [
        OPEN_VALUES if column.domain is None else len(column.domain)
        for column in schema.columns
        for _ in range(column.max_items or _OPEN_ITEMS)
    ]


def _reported(schema: Schema, length: int, records: int) -> list[int]:
    width, possible = width_of(schema), _candidates(_sizes(schema), length)[1:]
    return [min(cells, records * math.comb(width, k)) for k, cells in enumerate(possible, start=1)]


def _levels(schema: Schema, parameters: DpParameters) -> tuple[LevelEstimate, ...]:
    planned = plan_release(parameters, all_declared=schema.all_declared, levels=parameters.reporting_length)
    candidates_by_length = _candidates(_sizes(schema), parameters.reporting_length)
    levels = []
    before = 0
    for length in range(1, parameters.reporting_length + 1):
        candidates = candidates_by_length[length]
        sensitivity = min(math.comb(schema.width, length), candidates)
        sigma = planned.sigmas[length - 1]
        scale = thresholds.scale(sigma, sensitivity)
        if length == 1:
            opened = min(sensitivity, schema.open_items)
            least = thresholds.first_threshold(scale, opened, planned.threshold_delta) if opened else None
        else:
            least = thresholds.level_threshold(parameters.thresholds, length, scale, before, candidates)
        bar = float(thresholds.error_bar(scale, 0.95))
        levels.append(LevelEstimate(length, sigma, sensitivity, float(scale), bar, least, candidates))
        before = candidates
    return tuple(levels)


def first_length(described: "RunFacts", records: int) -> LengthOne:
    """What the guarantee for several rows depends on: the draw of single values of about so many records."""
    schema, parameters = described.schema, described.drawn
    if isinstance(parameters, WorkloadParameters):  # which draws single values without a level of their own
        return planned_first_length(parameters, schema.measured, records)
    level = _levels(schema, parameters)[0]
    opened = min(level.sensitivity, schema.open_items)
    return LengthOne(level.threshold, level.scale, level.sensitivity, opened)


def _candidates(sizes: list[int], length: int) -> list[int]:
    products = [1, *[0] * length]
    for size in sizes:
        for k in range(length, 0, -1):
            products[k] += products[k - 1] * size
    return products


def require_room(needs: Estimate, workspace: Path) -> None:
    """Refuse a run that can't fit. Raises ResourceLimit, which names what would help."""
    problems = []
    memory, disk = free_memory_mb(), free_disk_mb(workspace)
    if needs.memory_mb > memory:
        problems.append(
            f"The run needs about {needs.memory_mb} MB of memory, but {memory} MB are free. What helps: "
            f"{'; '.join(_remedies(needs, memory))}."
        )
    if needs.disk_mb > disk:
        problems.append(
            f"The run needs about {needs.disk_mb} MB of disk, but {disk} MB are free in {workspace}. Free "
            "some space, or give another output_dir."
        )
    if problems:
        raise ResourceLimit(problems)


def _remedies(needs: Estimate, memory: int) -> list[str]:
    fewer, coarser = "fewer columns (use_columns)", "bins or domains of fewer values"
    fitting = [length for length, needed in enumerate(needs.shorter_mb, start=1) if needed <= memory]
    if not needs.tables_mb:
        shorter = f"reporting_length {fitting[-1]}" if fitting else "a smaller reporting_length"
        return [*([shorter] if needs.shorter_mb else []), fewer, coarser]
    if fitting:
        words = "so that counts of longer combinations are not listed; nothing that is measured changes"
        return [f"reporting_length {fitting[-1]}, {words}", fewer]
    sets, values = "a workload that lists the sets of columns that matter", "a smaller max_values"
    return [sets, coarser, f"{values} for open columns", fewer]
