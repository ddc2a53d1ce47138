"""What a run would cost, from public facts alone: budget, noise, combinations, memory, disk, time.

No value is read. The number of records comes from a Parquet file's footer or, for text, from the file's
size; it is for the operator's terminal only.
"""

import math
from dataclasses import dataclass
from pathlib import Path

from tasks.core.dp import thresholds
from tasks.core.dp.accounting import plan_release
from tasks.core.dp.measurement import LengthOne
from tasks.core.dp.parameters import DpParameters
from tasks.core.dp.workload.expected import planned_first_length
from tasks.core.dp.workload.parameters import WorkloadParameters
from tasks.core.errors import ResourceLimit
from tasks.core.records.columns import Schema
from tasks.core.tables.batches import RowSource, number_of_rows
from tasks.plan.describe import RunFacts
from tasks.plan.resources import free_disk_mb, free_memory_mb, tables_bytes

#: A guess for an open column, whose number of values is not public.
OPEN_VALUES = 50
#: A guess of the same kind for the items of a multi-valued column without a cap.
_OPEN_ITEMS = 3
#: Cells of a length that are visited one by one; beyond, the sparse law takes over.
_MOST_CELLS = 2**26
#: So many combinations fit nowhere; more can't even be written as floating point.
_BEYOND = 10**15
_START_MB = 400
_BYTES = {"slot of a record": 16, "cell": 16, "combination of columns": 200}
_NANOSECONDS = {
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


def estimate(described: RunFacts, *, look: bool = False, partitions: int = 1) -> Estimate:
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
    cost = _NANOSECONDS
    nanoseconds = (
        records * width * cost["cell of input"]
        + records * combinations * cost["tuple of a record"]
        + cells * cost["candidate" if levels else "combination, counted and listed"]
        + records * cost["synthetic record"]
    )
    fixed = math.ceil(records / partitions) * width * _BYTES["slot of a record"] + tables
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
        needed.append(fixed + most * _BYTES["cell"] + combinations * _BYTES["combination of columns"])
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


def first_length(described: RunFacts, records: int) -> LengthOne:
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
