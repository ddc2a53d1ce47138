"""Evaluation that is released: synthetic records against the reportable aggregates."""

import json
import tempfile
from pathlib import Path

from prefect import task

from tasks.core.aggregates.aggregates import read_aggregates
from tasks.core.dp.measurement import read_measurement
from tasks.core.evaluation.release import compare_release
from tasks.core.queries import Resources
from tasks.core.synthesis.records import read_synthetic_records
from tasks.publish import Built
from tasks.storage import StoredTable, Workspace


@task
def compare_with_reportable(
    workspace: Workspace, measurement: StoredTable, built: Built, work: str
) -> StoredTable:
    """Write ``evaluation.json``."""
    assert built.records is not None, "what is compared was generated"
    measured = read_measurement(workspace.path(measurement) / "measurement")
    with tempfile.TemporaryDirectory() as scratch:
        compared = compare_release(
            read_aggregates(workspace.path(built.aggregates)),
            read_synthetic_records(workspace.path(built.records)),
            measured.schema,
            measured,
            Resources(scratch=Path(scratch)),
        )
    text = json.dumps(compared.to_dict(), indent=1, sort_keys=True) + "\n"

    def write(folder: Path) -> None:
        (folder / "evaluation.json").write_text(text, encoding="utf-8")

    return workspace.store(workspace.root / work / "evaluation", "release evaluation", write)
