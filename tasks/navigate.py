"""Navigate stage: everything that is released in, one self-contained page out."""

import json
import tempfile
from pathlib import Path

import numpy as np
from prefect import task

from tasks.configuration import RunConfiguration
from tasks.core.aggregates.aggregates import Aggregates, read_aggregates
from tasks.core.aggregates.dense import count_in_memory
from tasks.core.aggregates.wide_form import as_aggregates
from tasks.core.dp.measurement import read_measurement
from tasks.core.evaluation.synthetic import coded_synthetic
from tasks.core.navigation.fidelity import fidelity
from tasks.core.navigation.report import ReportInputs, render
from tasks.core.records.columns import Schema
from tasks.core.synthesis.records import SyntheticRecords, read_synthetic_records
from tasks.publish import Built
from tasks.storage import StoredTable, Workspace


@task
def write_page(
    workspace: Workspace, configuration: RunConfiguration, measurement: StoredTable, built: Built, work: str
) -> StoredTable:
    """Write ``report.html``."""
    assert built.records is not None and built.evaluation is not None, "the page comes after both"
    statement = workspace.path(built.statement) / "privacy.json"
    schema = read_measurement(workspace.path(measurement) / "measurement").schema
    aggregates = read_aggregates(workspace.path(built.aggregates))
    records = read_synthetic_records(workspace.path(built.records))
    inputs = ReportInputs(
        statement=json.loads(statement.read_text(encoding="utf-8")),
        measurement=read_measurement(workspace.path(measurement) / "measurement"),
        aggregates=read_aggregates(workspace.path(built.aggregates)),
        synthetic=read_synthetic_records(workspace.path(built.records)),
        fidelity=fidelity(aggregates, _recounted(records, aggregates, schema)),
        title=configuration.report.title,
        visuals=configuration.report.visuals,
        pages=configuration.report.pages,
    )

    def write(folder: Path) -> None:
        (folder / "report.html").write_text(render(inputs), encoding="utf-8")

    return workspace.store(workspace.root / work / "report", "report", write)


def _recounted(records: SyntheticRecords, aggregates: Aggregates, schema: Schema) -> Aggregates:
    """The synthetic records' counts over the released attributes."""
    with tempfile.TemporaryDirectory() as folder:
        length = max(aggregates.reporting_length, 1)
        counted = as_aggregates(count_in_memory(coded_synthetic(records, schema), Path(folder), length))
    place = {attribute.text: number for number, attribute in enumerate(aggregates.attributes)}
    # Both lists are in the same order, so the ids of a row stay ascending.
    ids = np.array([place[attribute.text] for attribute in counted.attributes], np.int32)
    return Aggregates(
        aggregates.headers,
        aggregates.attributes,
        counted.number_of_records,
        tuple(ids[rows] for rows in counted.combinations),
        counted.counts,
    )
