"""Evaluate stage against the raw table: what was lost, exactly, and so for ``sensitive/`` alone."""

import tempfile
from pathlib import Path

from prefect import task
from prefect.cache_policies import NO_CACHE

from tasks.configuration import RunConfiguration
from tasks.core.aggregates.aggregates import read_aggregates
from tasks.core.aggregates.stored_marginals import read_marginals
from tasks.core.evaluation.raw import RawInputs, evaluate_raw
from tasks.core.evaluation.sensitive_files import write_sensitive_files
from tasks.core.queries import Resources
from tasks.core.synthesis.records import read_synthetic_records
from tasks.failures import sanitised
from tasks.progress import Progress
from tasks.storage import StoredTable, Workspace


@task(cache_policy=NO_CACHE, persist_result=False)
@sanitised
def evaluate_against_raw(
    workspace: Workspace,
    configuration: RunConfiguration,
    sensitive: tuple[StoredTable, StoredTable],
    released: tuple[StoredTable, StoredTable],
    run: str,
    resources: Resources,
) -> StoredTable:
    """Write SDS's evaluation files and ``evaluation.json``.

    Args:
        workspace: where it is.
        configuration: the run's.
        sensitive: coded records and exact marginals.
        released: reportable aggregates and synthetic records.
        run: the run's folder in ``sensitive/``.
        resources: what queries may use.
    """
    progress = Progress("evaluate")
    inputs = RawInputs(
        records=workspace.path(sensitive[0]),
        sensitive=read_marginals(workspace.path(sensitive[1])),
        reportable=read_aggregates(workspace.path(released[0])),
        synthetic=read_synthetic_records(workspace.path(released[1])),
        resolution=configuration.reporting_resolution,
    )

    def write(folder: Path) -> None:
        with tempfile.TemporaryDirectory(dir=resources.scratch) as scratch:
            found = evaluate_raw(inputs, Path(scratch), resources, lambda done: progress("measures", done))
            write_sensitive_files(inputs, found, folder, configuration.prefix, resources)

    try:
        return workspace.store(
            workspace.sensitive / run / "evaluation", "evaluation against the raw table", write
        )
    finally:
        progress.close()
