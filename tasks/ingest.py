"""Ingest stage: the sensitive table in, coded records out, under the public schema."""

from pathlib import Path

from prefect import task

from tasks.core.queries import Resources
from tasks.core.records.columns import Schema
from tasks.core.records.encoding import EncodingOptions, encode
from tasks.core.records.reading import InputFile
from tasks.failures import sanitised
from tasks.progress import Progress
from tasks.storage import StoredTable, Workspace, file_sha256


class SensitiveTable(StoredTable):
    """Reference to the operator's own file: like a stored table, but outside the workspace and not ours."""

    def __init__(self, source: InputFile) -> None:
        """Args: source: the file; it is read once, for its hash."""
        super().__init__(str(source.path), file_sha256(source.path), "sensitive", "sensitive table")
        self.source = source


@task(task_run_name="locate-table")
@sanitised
def locate_table(workspace: Workspace, source: InputFile) -> SensitiveTable:
    """Hash the input, so that what was made from the same bytes need not be made again."""
    return SensitiveTable(source)


@task
@sanitised
def encode_records(
    workspace: Workspace,
    table: SensitiveTable,
    schema: Schema,
    needs_tags: bool,
    run: str,
    resources: Resources,
) -> StoredTable:
    """Read, normalise, join by subject and code the records; total: no record stops the run (rule 2)."""
    progress = Progress("ingest")
    options = EncodingOptions(
        total=True, key=workspace.secret(), tags=needs_tags, resources=resources, progress=progress
    )

    def write(folder: Path) -> None:
        encode(table.source, schema, options).write(folder)

    try:
        return workspace.store(workspace.sensitive / run / "coded_records", "coded records", write)
    finally:
        progress.close()
