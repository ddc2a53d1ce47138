"""Navigate stage: everything that is released in, one self-contained page out."""

import json
from pathlib import Path

from prefect import task

from tasks.configuration import RunConfiguration
from tasks.core.aggregates.aggregates import read_aggregates
from tasks.core.dp.measurement import read_measurement
from tasks.core.navigation.fidelity import fidelity
from tasks.core.navigation.report import ReportInputs, render
from tasks.core.synthesis.records import read_synthetic_records
from tasks.publish import Built
from tasks.storage import StoredTable, Workspace


@task
def write_page(
    workspace: Workspace, configuration: RunConfiguration, measurement: StoredTable, built: Built, work: str
) -> StoredTable:
    """Write ``report.html``."""
    assert built.records is not None and built.recounted is not None, "the page comes after both"
    statement = workspace.path(built.statement) / "privacy.json"
    aggregates = read_aggregates(workspace.path(built.aggregates))
    inputs = ReportInputs(
        statement=json.loads(statement.read_text(encoding="utf-8")),
        measurement=read_measurement(workspace.path(measurement) / "measurement"),
        aggregates=aggregates,
        synthetic=read_synthetic_records(workspace.path(built.records)),
        fidelity=fidelity(aggregates, read_aggregates(workspace.path(built.recounted))),
        title=configuration.report.title,
        visuals=configuration.report.visuals,
        pages=configuration.report.pages,
    )

    def write(folder: Path) -> None:
        (folder / "report.html").write_text(render(inputs), encoding="utf-8")

    return workspace.store(workspace.root / work / "report", "report", write)
