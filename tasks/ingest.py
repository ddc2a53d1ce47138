"""Ingest stage: the sensitive table in, coded records out, under the public schema."""

import hashlib
import json
from dataclasses import asdict
from pathlib import Path

from prefect import task

from tasks.configuration import RunConfiguration
from tasks.core.dp.mechanisms import AnyParameters
from tasks.core.dp.workload.parameters import WorkloadParameters
from tasks.core.errors import InputError
from tasks.core.queries import Resources
from tasks.core.records.columns import Schema
from tasks.core.records.dropped import DroppedCells, write_dropped
from tasks.core.records.encoding import EncodingOptions, encode
from tasks.core.records.reading import InputFile
from tasks.dropped import DROPPED
from tasks.failures import sanitised
from tasks.models import Model
from tasks.progress import Progress
from tasks.storage import StoredTable, Workspace


class SensitiveTable(StoredTable):
    """Reference to the operator's own file: like a stored table, but outside the workspace and not ours."""

    def __init__(self, source: InputFile) -> None:
        """Args: source: the file; it is read once, for its hash, to which its dialect belongs."""
        dialect = json.dumps(asdict(source) | {"path": source.opened.sha256()}, sort_keys=True)
        digest = hashlib.sha256(dialect.encode()).hexdigest()
        super().__init__(str(source.path), digest, "sensitive", "sensitive table")
        self.source = source


@task(task_run_name="locate-table")
@sanitised
def locate_table(workspace: Workspace, source: InputFile) -> SensitiveTable:
    """Hash the input, so that what was made from the same bytes need not be made again."""
    return SensitiveTable(source)


def require_unchanged(table: SensitiveTable) -> None:
    """Refuse a table that was changed since it was hashed: two steps would have read two tables.

    Raises:
        InputError: it was changed.
    """
    if SensitiveTable(table.source).sha256 != table.sha256:
        raise InputError(
            "The input must stay as it is while a run reads it, as what is made of it and its contract's "
            "verdicts are kept as of one table; it was changed meanwhile. Run again."
        )


class EncodingRules(Model):
    """What a regime asks of the encoding.

    Attributes:
        total: no record stops the run (privacy.md, rule 2); otherwise ids that conflict or lack do.
        tags: whether records are sampled or dropped by a tag of their own.
        record_limit: only the first so many rows; under differential privacy a sample instead.
        filled: columns in which the draw counts an empty cell as a value, as constraints then see it.
    """

    total: bool
    tags: bool = False
    record_limit: int | None = None
    filled: tuple[int, ...] = ()

    @classmethod
    def of(cls, configuration: RunConfiguration, parameters: AnyParameters | None) -> "EncodingRules":
        """Those of a run; ``parameters`` of the draw, if there is one."""
        if parameters is None:
            return cls(total=False, record_limit=configuration.input.record_limit)
        filled = parameters.filled if isinstance(parameters, WorkloadParameters) else ()
        return cls(total=True, tags=parameters.needs_tags, filled=filled)


@task
@sanitised
def encode_records(
    workspace: Workspace,
    table: SensitiveTable,
    schema: Schema,
    rules: EncodingRules,
    run: str,
    resources: Resources,
) -> StoredTable:
    """Read, normalise, join by subject and code the records.

    Args:
        workspace: where it is.
        table: the input.
        schema: the public schema.
        rules: what the regime asks for.
        run: the run's folder in ``sensitive/``.
        resources: what queries may use.

    Raises:
        InputError: see `encode`; or the table was changed meanwhile.
    """
    progress = Progress("ingest")
    dropped: list[DroppedCells] = []
    options = EncodingOptions(
        total=rules.total,
        key=workspace.secret(),
        tags=rules.tags,
        record_limit=rules.record_limit,
        resources=resources,
        progress=progress,
        dropping=dropped.append,
        filled=rules.filled,
    )

    def write(folder: Path) -> None:
        records = encode(table.source, schema, options)
        # Kept under the hash of the table, and perhaps used by a later run: so they must be of that table.
        require_unchanged(table)
        records.write(folder)
        write_dropped(dropped, folder / DROPPED)

    try:
        return workspace.store(workspace.sensitive / run / "coded_records", "coded records", write)
    finally:
        progress.close()
