"""Aggregate stage, sensitive side: exact marginals, and what SDS's users read off them. None of it leaves."""

from pathlib import Path

from prefect import task

from tasks.core.aggregates.marginals import count_marginals
from tasks.core.aggregates.stored_marginals import read_marginals
from tasks.core.evaluation.sensitive_aggregates import write_sensitive_aggregates
from tasks.core.queries import QueryResources
from tasks.failures import sanitised
from tasks.progress import Progress
from tasks.sensitive.export import Sources
from tasks.storage import StoredTable, Workspace


@task
@sanitised
def count_records(
    workspace: Workspace, records: StoredTable, length: int, run: str, resources: QueryResources
) -> StoredTable:
    """Count every combination up to a length exactly; stays in ``sensitive/``."""
    progress = Progress("count")

    def write(folder: Path) -> None:
        count_marginals(
            workspace.path(records), folder, length, resources, lambda done: progress("combinations", done)
        )

    try:
        return workspace.store(workspace.sensitive / run / "marginals", "exact marginals", write)
    finally:
        progress.close()


@task
@sanitised
def describe_records(
    workspace: Workspace,
    records: StoredTable,
    marginals: StoredTable,
    resolution: int,
    prefix: str,
    run: str,
    resources: QueryResources,
) -> StoredTable:
    """Write true counts, rare combinations and who they single out, under SDS's names, in ``sensitive/``."""
    progress = Progress("describe")

    def write(folder: Path) -> None:
        write_sensitive_aggregates(
            workspace.path(records),
            read_marginals(workspace.path(marginals)),
            resolution,
            folder,
            prefix,
            resources,
            lambda done: progress("combinations", done),
        )
        Sources.of(prefix, resolution, records, marginals).write(folder)

    try:
        return workspace.store(workspace.sensitive / run / "aggregate", "sensitive aggregates", write)
    finally:
        progress.close()
