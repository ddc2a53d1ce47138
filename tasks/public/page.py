"""Navigate stage: everything that is released in, one self-contained page out."""

import json

from tasks.configuration.model import Report
from tasks.core.aggregates.aggregates import as_drawn, read_aggregates, read_all_ranges
from tasks.core.synthesis.records import read_synthetic_records
from tasks.public.bundles.opening import open_counts
from tasks.step import Output, step
from tasks.storage import INTERMEDIATE, StoredTable


@step(INTERMEDIATE, makes="report", folder="report")
def write_page(
    into: Output,
    measurement: StoredTable,
    statement: StoredTable,
    counts: tuple[StoredTable, StoredTable | None],
    evaluated: tuple[StoredTable, StoredTable],
    report: Report,
) -> None:
    """Write ``report.html``.

    Args:
        into: what is filled.
        measurement: what was drawn or counted.
        statement: of its privacy.
        counts: reportable aggregates, and the synthetic records' own; None where they are the same.
        evaluated: the synthetic records, and their evaluation.
        report: the configured layout.
    """
    from tasks.core.navigation.fidelity import fidelity
    from tasks.core.navigation.inputs import ReportInputs
    from tasks.core.navigation.report import render_page

    bundle = open_counts(into.run, measurement)
    stated = into.path(statement)
    text, contract = (stated / "privacy.json").read_text(encoding="utf-8"), stated / "contract.json"
    records, evaluation = map(into.path, evaluated)
    reported = read_aggregates(into.path(counts[0]))
    ranges = read_all_ranges(into.path(counts[0]), reported.reporting_length)
    shown, held = (as_drawn(reported, ranges), reported) if ranges else (reported, None)
    if counts[1] is not None:
        held = read_aggregates(into.path(counts[1]))
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
    (into.folder / "report.html").write_text(render_page(inputs), encoding="utf-8")
