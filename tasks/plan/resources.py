"""What the machine has to give: free memory and disk, for limits and for refusing what can't fit."""

import os
import shutil
from pathlib import Path

from tasks.configuration.model import RunConfiguration
from tasks.configuration.synthesis import AggregateSeeded, Fitted
from tasks.core.dp.workload.limits import worst_case_bytes
from tasks.core.dp.workload.parameters import WorkloadParameters
from tasks.core.errors import ResourceLimit
from tasks.core.ledger.mechanisms import AnyParameters
from tasks.core.queries import QueryResources
from tasks.core.records.columns import Schema
from tasks.leftovers import process_mark
from tasks.storage import Workspace

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
    for root, used in (("memory.max", "memory.current"),):
        limit = Path("/sys/fs/cgroup") / root
        if limit.exists() and (text := limit.read_text().strip()) != "max":
            free = min(free, int(text) - int((limit.parent / used).read_text()))
    return max(free, 0) // 2**20


def free_disk_mb(folder: Path) -> int:
    """Megabytes free where a folder is or will be."""
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free // 2**20


def require_records_fit(configuration: RunConfiguration) -> None:
    """Refuse more synthetic records than memory can hold, were each of a single value.

    Raises:
        ResourceLimit: so many are asked for.
    """
    synthesis = configuration.synthesis
    target = None
    if isinstance(synthesis, AggregateSeeded | Fitted):
        target = synthesis.target_number_of_records
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
    """Refuse a draw that memory might not hold: half-way it would be lost, and stay charged (W5).

    Raises:
        ResourceLimit: its largest possible size, by public facts alone, is more than what is free.
    """
    needed, free = tables_bytes(parameters, schema) // 2**20, free_memory_mb()
    if needed > free:
        raise ResourceLimit(
            f"The tables of a fitted release must fit into memory, but these may need {needed:,} MB, and "
            f"{free:,} MB are free. Lower max_values, declare domains, or name fewer sets in workload."
        )


def query_resources(configuration: RunConfiguration, workspace: Workspace) -> QueryResources:
    """What DuckDB may use: four fifths of what is free unless configured, spilling into ``sensitive/``."""
    scratch = (
        workspace.sensitive / ".scratch" / f".{process_mark()}"
    )  # DuckDB's names are unique in a process only
    scratch.mkdir(mode=0o700, parents=True, exist_ok=True)
    limit = configuration.resources.memory_limit_mb or max(free_memory_mb() * 4 // 5, 256)
    return QueryResources(
        scratch=scratch, threads=configuration.resources.parallel_jobs, memory_limit_mb=limit
    )
