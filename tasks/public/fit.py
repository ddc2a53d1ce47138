"""Fitted records and the counts that a fitted release reports, from its measurement alone."""

import json

import numpy as np

from tasks.configuration.synthesis import AnySynthesis, Fitted
from tasks.core.aggregates.aggregates import Aggregates, write_all_ranges
from tasks.core.errors import InternalError
from tasks.core.evaluation.fit import evaluate_fit
from tasks.core.evaluation.release import count_in_parts
from tasks.core.synthesis import fitted
from tasks.core.synthesis.estimates import ranges, scale_to_records
from tasks.core.synthesis.records import CELLS, open_synthetic_records
from tasks.public.bundles.opening import open_drawn
from tasks.public.modes import public_seed, shard_place
from tasks.step import Output, step
from tasks.storage import INTERMEDIATE, StoredTable


@step(INTERMEDIATE, makes="synthetic records", folder="synthetic_records", progress="generate")
def fit_records(into: Output, measurement: StoredTable, synthesis: AnySynthesis, parallel_jobs: int) -> None:
    """Fit records to the noisy tables; the same measurement and seed give the same records."""
    if not isinstance(synthesis, Fitted):
        raise InternalError("Only fitted synthesis reads a workload's tables.")
    bundle = open_drawn(into.run, measurement)
    drawn, seed = bundle.workload(), public_seed(bundle, synthesis) or 0
    number, report = synthesis.target_number_of_records, into.progress.of("records")
    fitted.write_fitted(
        drawn, seed, into.folder, shard_place(into), number=number, threads=parallel_jobs, progress=report
    )


@step(INTERMEDIATE, makes="release evaluation", folder="evaluation")
def evaluate_fitted(into: Output, measurement: StoredTable, records: StoredTable) -> None:
    """Write ``evaluation.json``: how near the records are to what was drawn, and by it to the truth."""
    bundle = open_drawn(into.run, measurement)
    cells = np.load(into.path(records) / CELLS, mmap_mode="c", allow_pickle=False)
    found = evaluate_fit(bundle.workload(), cells, int(bundle.sha256()[:15], 16))
    text = json.dumps(found.to_dict(), indent=1, sort_keys=True) + "\n"
    (into.folder / "evaluation.json").write_text(text, encoding="utf-8")


@step(INTERMEDIATE, makes="reportable aggregates", folder="aggregates")
def estimate_counts(
    into: Output, measurement: StoredTable, records: StoredTable, reporting_length: int
) -> None:
    """The reportable aggregates: counts in the fitted records, and ranges for the true ones."""
    drawn = open_drawn(into.run, measurement).workload()
    made = open_synthetic_records(into.path(records))
    counted = count_in_parts(made.parts(), drawn.schema, reporting_length)
    counted = Aggregates(
        made.headers, counted.attributes, counted.number_of_records, counted.combinations, counted.counts
    )
    reported = scale_to_records(counted, max(0, drawn.number_of_records))
    reported.write(into.folder)
    write_all_ranges(ranges(drawn, reported), into.folder)
