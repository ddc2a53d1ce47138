"""Evaluation that is released: synthetic records against the reportable aggregates."""

import json
import tempfile
from pathlib import Path

from tasks.core.aggregates.aggregates import read_aggregates
from tasks.core.dp.measurement import Measurement
from tasks.core.evaluation.release import compare_release, count_synthetic
from tasks.core.queries import QueryResources
from tasks.core.synthesis.records import open_synthetic_records
from tasks.public.bundles.opening import open_bundle, open_counts
from tasks.step import Output, step
from tasks.storage import INTERMEDIATE, StoredTable


@step(INTERMEDIATE, makes="synthetic aggregates", folder="recounted")
def recount_records(
    into: Output, measurement: StoredTable, aggregates: StoredTable, records: StoredTable
) -> None:
    schema = open_bundle(into.run, measurement).schema()
    made, reported = open_synthetic_records(into.path(records)), read_aggregates(into.path(aggregates))
    count_synthetic(made.parts(), reported, schema).write(into.folder)


@step(INTERMEDIATE, makes="release evaluation", folder="evaluation")
def compare_with_reportable(
    into: Output, measurement: StoredTable, aggregates: StoredTable, counted: StoredTable
) -> None:
    drawn = open_counts(into.run, measurement).drawn()
    with tempfile.TemporaryDirectory() as scratch:
        compared = compare_release(
            read_aggregates(into.path(aggregates)),
            read_aggregates(into.path(counted)),
            drawn if isinstance(drawn, Measurement) else None,
            QueryResources(scratch=Path(scratch)),
        )
    text = json.dumps(compared.to_dict(), indent=1, sort_keys=True) + "\n"
    (into.folder / "evaluation.json").write_text(text, encoding="utf-8")
