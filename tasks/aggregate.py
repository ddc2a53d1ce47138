"""Aggregate stage: exact marginals for ``sensitive/``, reportable aggregates from the measurement."""

from pathlib import Path

from prefect import task

from tasks.core.aggregates.marginals import count_marginals
from tasks.core.queries import Resources
from tasks.failures import sanitised
from tasks.progress import Progress
from tasks.storage import StoredTable, Workspace


@task
@sanitised
def count_records(
    workspace: Workspace, records: StoredTable, length: int, run: str, resources: Resources
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
