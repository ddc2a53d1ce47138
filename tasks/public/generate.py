"""Reportable aggregates and synthetic records, from what was handed over and public configuration alone."""

import shutil
from pathlib import Path

from prefect import task

from tasks.configuration.synthesis import AnySynthesis
from tasks.core.aggregates.aggregates import read_aggregates
from tasks.core.errors import ParameterError
from tasks.core.records.columns import Schema
from tasks.core.synthesis.constrained_headers import HeldConstraints
from tasks.progress import Progress
from tasks.public.bundles.opening import open_counts
from tasks.public.modes import PublicFacts, draw_from_counts, public_seed
from tasks.storage import StoredTable, Workspace


@task
def normalise_counts(workspace: Workspace, measurement: StoredTable, work: str) -> StoredTable:
    """The reportable aggregates: rounded counts as they are, noisy ones made to agree with each other."""
    bundle = open_counts(workspace, measurement)

    def write(folder: Path) -> None:
        bundle.reportable().write(folder)

    return workspace.store(workspace.root / work / "aggregates", "reportable aggregates", write)


@task
def generate_records(
    workspace: Workspace,
    aggregates: StoredTable,
    measurement: StoredTable,
    synthesis: AnySynthesis,
    public: tuple[int, Schema],
    parallel_jobs: int,
    work: str,
) -> StoredTable:
    """Draw synthetic records from the reportable aggregates; those of another mode were handed over.

    Args:
        workspace: where it is.
        aggregates: reportable.
        measurement: what was handed over.
        synthesis: the mode.
        public: the resolution, and the schema with the constraints that the records hold.
        parallel_jobs: threads.
        work: where intermediate tables go.
    """
    resolution, schema = public
    bundle = open_counts(workspace, measurement)
    held = HeldConstraints.of(schema, bundle.schema()) if schema.constraints else None
    progress = Progress("generate")

    def write(folder: Path) -> None:
        if synthesis.reads_records:
            _take(bundle.synthetic_records, folder)
            return
        draw_from_counts(
            read_aggregates(workspace.path(aggregates)),
            synthesis,
            PublicFacts(public_seed(bundle, synthesis), resolution, held),
            parallel_jobs,
            lambda done: progress("records", done),
        ).write(folder)

    try:
        return workspace.store(workspace.root / work / "synthetic_records", "synthetic records", write)
    finally:
        progress.close()


def _take(records: Path | None, folder: Path) -> None:
    if records is None:
        raise ParameterError(
            "This mode of synthesis reads the raw records, so they must have been drawn when measuring; the "
            "measurement holds none. Make it with marginalia run."
        )
    for path in records.iterdir():
        shutil.copyfile(path, folder / path.name)
