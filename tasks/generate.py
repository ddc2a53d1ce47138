"""Reportable aggregates and synthetic records, from the measurement and public configuration alone."""

import hashlib
from pathlib import Path

from prefect import task

from tasks.configuration import AggregateSeeded
from tasks.core.aggregates.aggregates import read_aggregates
from tasks.core.dp.measurement import measurement_sha256, read_measurement
from tasks.core.dp.normalization import normalise
from tasks.core.synthesis import aggregate_seeded
from tasks.progress import Progress
from tasks.storage import StoredTable, Workspace


@task
def normalise_counts(workspace: Workspace, measurement: StoredTable, work: str) -> StoredTable:
    """Turn noisy counts into reportable aggregates that agree with each other."""

    def write(folder: Path) -> None:
        normalise(read_measurement(workspace.path(measurement) / "measurement")).write(folder)

    return workspace.store(workspace.root / work / "aggregates", "reportable aggregates", write)


@task
def generate_records(
    workspace: Workspace,
    aggregates: StoredTable,
    measurement: StoredTable,
    synthesis: AggregateSeeded,
    parallel_jobs: int,
    work: str,
) -> StoredTable:
    """Draw synthetic records from the reportable aggregates."""
    progress = Progress("generate")
    parameters = aggregate_seeded.AggregateSeeded(
        use_synthetic_counts=synthesis.use_synthetic_counts,
        weight_selection_percentile=synthesis.weight_selection_percentile,
        aggregate_counts_scale_factor=synthesis.counts_scale_factor,
        target_number_of_records=synthesis.target_number_of_records,
    )
    seed = synthesis_seed(workspace.path(measurement) / "measurement", synthesis)

    def write(folder: Path) -> None:
        aggregate_seeded.synthesize(
            read_aggregates(workspace.path(aggregates)),
            parameters,
            seed,
            threads=parallel_jobs,
            progress=lambda done: progress("records", done),
        ).write(folder)

    try:
        return workspace.store(workspace.root / work / "synthetic_records", "synthetic records", write)
    finally:
        progress.close()


def synthesis_seed(measurement: Path, synthesis: AggregateSeeded) -> int:
    """The configured seed, else one that follows from the measurement, so that a rebuild has it again."""
    if synthesis.random_seed is not None:
        return synthesis.random_seed
    digest = hashlib.sha256(f"synthesis {measurement_sha256(measurement)}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1
