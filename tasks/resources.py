"""What the machine has to give: free memory and disk, for limits and for refusing what can't fit."""

import os
import shutil
from pathlib import Path

from tasks.configuration import AggregateSeeded, RunConfiguration
from tasks.core.errors import ResourceLimit
from tasks.core.queries import Resources
from tasks.leftovers import mark
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
    target = synthesis.target_number_of_records if isinstance(synthesis, AggregateSeeded) else None
    needed, free = (target or 0) * _BYTES_A_RECORD // 2**20, free_memory_mb()
    if needed > free:
        raise ResourceLimit(
            f"aggregate_seeded_target_number_of_records must be of records that fit into memory; {target:,} "
            f"need at least {needed:,} MB, and {free:,} MB are free. Ask for fewer."
        )


def query_resources(configuration: RunConfiguration, workspace: Workspace) -> Resources:
    """What DuckDB may use: four fifths of what is free unless configured, spilling into ``sensitive/``."""
    scratch = workspace.sensitive / ".scratch" / f".{mark()}"  # DuckDB's names are unique in a process only
    scratch.mkdir(mode=0o700, parents=True, exist_ok=True)
    limit = configuration.resources.memory_limit_mb or max(free_memory_mb() * 4 // 5, 256)
    return Resources(scratch=scratch, threads=configuration.resources.parallel_jobs, memory_limit_mb=limit)
