"""Reportable aggregates and synthetic records, from what was handed over and public configuration alone."""

import shutil
from pathlib import Path

from tasks.configuration.synthesis import AnySynthesis
from tasks.core.aggregates.aggregates import read_aggregates
from tasks.core.errors import ParameterError
from tasks.core.records.columns import Schema
from tasks.core.synthesis.fitted_to_counts import HeldConstraints
from tasks.public.bundles.opening import open_counts
from tasks.public.modes import PublicFacts, public_seed, shard_place, write_from_counts
from tasks.step import Output, step
from tasks.storage import INTERMEDIATE, StoredTable


@step(INTERMEDIATE, makes="reportable aggregates", folder="aggregates")
def normalise_counts(into: Output, measurement: StoredTable) -> None:
    """The reportable aggregates: rounded counts as they are, noisy ones made to agree with each other."""
    open_counts(into.run, measurement).reportable().write(into.folder)


@step(INTERMEDIATE, makes="synthetic records", folder="synthetic_records", progress="generate")
def generate_records(
    into: Output,
    aggregates: StoredTable,
    measurement: StoredTable,
    synthesis: AnySynthesis,
    resolution: int,
    schema: Schema,
    parallel_jobs: int,
) -> None:
    """Draw synthetic records from the reportable aggregates; those of another mode were handed over.

    Args:
        schema: public, with the constraints that the records hold.
    """
    bundle = open_counts(into.run, measurement)
    held = HeldConstraints.of(schema, bundle.schema()) if schema.constraints else None
    if synthesis.reads_records:
        _take(bundle.synthetic_records, into.folder)
        return
    reported, report = read_aggregates(into.path(aggregates)), into.progress.of("records")
    public = PublicFacts(public_seed(bundle, synthesis), resolution, held)
    place = shard_place(into)
    write_from_counts(reported, synthesis, public, parallel_jobs, report, into.folder, place)


def _take(records: Path | None, folder: Path) -> None:
    if records is None:
        raise ParameterError(
            "This synthesis_mode reads raw records, so its synthetic records must be in the measurement, but "
            "it holds none. Make the measurement with marginalia run."
        )
    for path in records.iterdir():
        shutil.copyfile(path, folder / path.name)
