"""Fitted records and the counts that a fitted release reports, from its measurement alone."""

from pathlib import Path

from prefect import task

from tasks.bundles import open_bundle
from tasks.configuration import AnySynthesis, Fitted
from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.aggregates.dense import count_in_memory
from tasks.core.aggregates.ranges import write_all_ranges
from tasks.core.dp.workload.measurement import WorkloadMeasurement
from tasks.core.errors import InternalError
from tasks.core.evaluation.synthetic import coded_synthetic
from tasks.core.synthesis import fitted
from tasks.core.synthesis.estimates import ranges, scaled
from tasks.core.synthesis.records import read_synthetic_records
from tasks.progress import Progress
from tasks.storage import StoredTable, Workspace
from tasks.synthesis import public_seed


@task
def fit_records(
    workspace: Workspace, measurement: StoredTable, synthesis: AnySynthesis, parallel_jobs: int, work: str
) -> StoredTable:
    """Fit records to the noisy tables; the same measurement and seed give the same records."""
    if not isinstance(synthesis, Fitted):
        raise InternalError("Only fitted synthesis reads a workload's tables.")
    bundle = open_bundle(workspace, measurement)
    seed = public_seed(bundle, synthesis)
    progress = Progress("generate")

    def write(folder: Path) -> None:
        made = fitted.synthesize(
            _workload(bundle.measurement()),
            seed or 0,
            number=synthesis.number_of_records,
            threads=parallel_jobs,
            progress=lambda done: progress("records", done),
        )
        made.records.write(folder)

    try:
        return workspace.store(workspace.root / work / "synthetic_records", "synthetic records", write)
    finally:
        progress.close()


@task
def estimate_counts(
    workspace: Workspace, measurement: StoredTable, records: StoredTable, reporting_length: int, work: str
) -> StoredTable:
    """The reportable aggregates: counts in the fitted records, with what was drawn and how far both may be off."""
    drawn = _workload(open_bundle(workspace, measurement).measurement())

    def write(folder: Path) -> None:
        made = read_synthetic_records(workspace.path(records))
        counted = count_in_memory(coded_synthetic(made, drawn.schema), reporting_length)
        counted = Aggregates(
            made.headers, counted.attributes, counted.number_of_records, counted.combinations, counted.counts
        )
        reported = scaled(counted, max(0, drawn.number_of_records))
        reported.write(folder)
        write_all_ranges(ranges(drawn, reported), folder)

    return workspace.store(workspace.root / work / "aggregates", "reportable aggregates", write)


def _workload(measurement: object) -> WorkloadMeasurement:
    if not isinstance(measurement, WorkloadMeasurement):
        raise InternalError("Records are fitted to a measurement of a workload; this is another one.")
    return measurement
