"""Evaluation that is released: synthetic records against the reportable aggregates."""

import json
import tempfile
from pathlib import Path

from prefect import task

from tasks.core.aggregates.aggregates import read_aggregates
from tasks.core.dp.measurement import Measurement
from tasks.core.evaluation.release import compare_release
from tasks.core.evaluation.synthetic import recounted
from tasks.core.queries import QueryResources
from tasks.core.synthesis.records import read_synthetic_records
from tasks.public.bundles.opening import open_bundle, open_counts
from tasks.storage import StoredTable, Workspace


@task
def recount_records(
    workspace: Workspace, measurement: StoredTable, aggregates: StoredTable, records: StoredTable, work: str
) -> StoredTable:
    """Count the synthetic records' combinations over the released attributes."""
    schema = open_bundle(workspace, measurement).schema()
    counted = recounted(
        read_synthetic_records(workspace.path(records)), read_aggregates(workspace.path(aggregates)), schema
    )
    return workspace.store(workspace.root / work / "recounted", "synthetic aggregates", counted.write)


@task
def compare_with_reportable(
    workspace: Workspace, measurement: StoredTable, aggregates: StoredTable, counted: StoredTable, work: str
) -> StoredTable:
    """Write ``evaluation.json``."""
    drawn = open_counts(workspace, measurement).drawn()
    with tempfile.TemporaryDirectory() as scratch:
        compared = compare_release(
            read_aggregates(workspace.path(aggregates)),
            read_aggregates(workspace.path(counted)),
            drawn if isinstance(drawn, Measurement) else None,
            QueryResources(scratch=Path(scratch)),
        )
    text = json.dumps(compared.to_dict(), indent=1, sort_keys=True) + "\n"

    def write(folder: Path) -> None:
        (folder / "evaluation.json").write_text(text, encoding="utf-8")

    return workspace.store(workspace.root / work / "evaluation", "release evaluation", write)
