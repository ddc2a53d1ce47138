"""Navigate stage: everything that is released in, one self-contained page out."""

import json
from pathlib import Path

from prefect import task

from tasks.bundles import open_bundle
from tasks.configuration import Report
from tasks.core.aggregates.aggregates import read_aggregates
from tasks.core.navigation.fidelity import fidelity
from tasks.core.navigation.report import ReportInputs, render
from tasks.core.synthesis.records import read_synthetic_records
from tasks.storage import StoredTable, Workspace


@task
def write_page(
    workspace: Workspace,
    measurement: StoredTable,
    statement: StoredTable,
    counts: tuple[StoredTable, StoredTable],
    records: StoredTable,
    report: Report,
    work: str,
) -> StoredTable:
    """Write ``report.html``. Args: counts: reportable aggregates, and the synthetic records' own."""
    bundle = open_bundle(workspace, measurement)
    stated = workspace.path(statement)
    text, contract = (stated / "privacy.json").read_text(encoding="utf-8"), stated / "contract.json"
    aggregates, recounted = (read_aggregates(workspace.path(table)) for table in counts)
    inputs = ReportInputs(
        statement=json.loads(text),
        contract=json.loads(contract.read_text(encoding="utf-8")) if contract.is_file() else None,
        schema=bundle.schema(),
        measurement=bundle.measurement() if bundle.is_private else None,
        aggregates=aggregates,
        synthetic=read_synthetic_records(workspace.path(records)),
        fidelity=fidelity(aggregates, recounted),
        title=report.title,
        visuals=report.visuals,
        pages=report.pages,
    )

    def write(folder: Path) -> None:
        (folder / "report.html").write_text(render(inputs), encoding="utf-8")

    return workspace.store(workspace.root / work / "report", "report", write)
