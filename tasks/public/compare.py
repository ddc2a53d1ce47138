"""Evaluation that is released: synthetic records against reportable aggregates, or against what was drawn."""

import json
import tempfile
from pathlib import Path

import numpy as np

from tasks.core.aggregates.aggregates import read_aggregates
from tasks.core.arrays import Json
from tasks.core.dp.measurement import Measurement
from tasks.core.evaluation.fit import evaluate_fit
from tasks.core.evaluation.release import compare_release, count_synthetic
from tasks.core.queries import QueryResources
from tasks.core.synthesis.records import CELLS, open_synthetic_records
from tasks.public.bundles.opening import open_bundle, open_counts, open_drawn
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
    _write_evaluation(into, compared)


@step(INTERMEDIATE, makes="release evaluation", folder="evaluation")
def evaluate_fitted(into: Output, measurement: StoredTable, records: StoredTable) -> None:
    """Write ``evaluation.json``: how near the records are to what was drawn, and by it to the truth."""
    bundle = open_drawn(into.run, measurement)
    cells = np.load(into.path(records) / CELLS, mmap_mode="c", allow_pickle=False)
    fit = evaluate_fit(bundle.workload(), cells, int(bundle.sha256()[:15], 16))
    _write_evaluation(into, {"fit": fit})


def _write_evaluation(into: Output, evaluation: Json) -> None:
    text = json.dumps(evaluation, indent=1, sort_keys=True) + "\n"
    (into.folder / "evaluation.json").write_text(text, encoding="utf-8")
