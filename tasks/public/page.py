"""Navigate stage: everything that is released in, one self-contained page out."""

import json
from pathlib import Path

from prefect import task

from tasks.configuration.model import Report
from tasks.core.aggregates.aggregates import as_drawn, read_aggregates, read_all_ranges
from tasks.core.navigation.fidelity import fidelity
from tasks.core.navigation.inputs import ReportInputs
from tasks.core.navigation.report import render_page
from tasks.core.synthesis.records import read_synthetic_records
from tasks.public.bundles.opening import open_counts
from tasks.storage import StoredTable, Workspace


@task
def write_page(
    workspace: Workspace,
    measurement: StoredTable,
    statement: StoredTable,
    counts: tuple[StoredTable, StoredTable | None],
    evaluated: tuple[StoredTable, StoredTable],
    report: Report,
    work: str,
) -> StoredTable:
    """Write ``report.html``.

    Args:
        workspace: where everything is.
        measurement: what was drawn or counted.
        statement: of its privacy.
        counts: reportable aggregates, and the synthetic records' own; None where they are the same.
        evaluated: the synthetic records, and their evaluation.
        report: the configured layout.
        work: where it goes.
    """
    bundle = open_counts(workspace, measurement)
    stated = workspace.path(statement)
    text, contract = (stated / "privacy.json").read_text(encoding="utf-8"), stated / "contract.json"
    records, evaluation = map(workspace.path, evaluated)
    reported = read_aggregates(workspace.path(counts[0]))
    ranges = read_all_ranges(workspace.path(counts[0]), reported.reporting_length)
    shown, held = (as_drawn(reported, ranges), reported) if ranges else (reported, None)
    if counts[1] is not None:
        held = read_aggregates(workspace.path(counts[1]))
    inputs = ReportInputs(
        statement=json.loads(text),
        contract=json.loads(contract.read_text(encoding="utf-8")) if contract.is_file() else None,
        schema=bundle.schema(),
        measurement=bundle.drawn(),
        aggregates=shown,
        synthetic=read_synthetic_records(records),
        fidelity=None if held is None else fidelity(shown, held),
        published=sum(len(found) for found in reported.counts),
        fit=json.loads((evaluation / "evaluation.json").read_text(encoding="utf-8")).get("fit"),
        title=report.title,
        visuals=report.visuals,
        pages=report.pages,
    )

    def write(folder: Path) -> None:
        (folder / "report.html").write_text(render_page(inputs), encoding="utf-8")

    return workspace.store(workspace.root / work / "report", "report", write)
