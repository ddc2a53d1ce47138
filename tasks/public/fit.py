"""Fitted records and the counts that a fitted release reports, from its measurement alone."""

import json
from pathlib import Path

import numpy as np
from prefect import task

from tasks.configuration.synthesis import AnySynthesis, Fitted
from tasks.core.aggregates.aggregates import Aggregates, write_all_ranges
from tasks.core.aggregates.cubes import count_in_memory
from tasks.core.errors import InternalError
from tasks.core.evaluation.fit import evaluate_fit
from tasks.core.evaluation.synthetic import coded_synthetic
from tasks.core.synthesis import fitted
from tasks.core.synthesis.estimates import ranges, scaled_to_records
from tasks.core.synthesis.records import read_synthetic_records
from tasks.progress import Progress
from tasks.public.bundles.opening import open_drawn
from tasks.public.modes import public_seed
from tasks.storage import StoredTable, Workspace

#: Beside the records: the same as cells of columns, `other` included.
_CELLS = "cells.npy"


@task
def fit_records(
    workspace: Workspace, measurement: StoredTable, synthesis: AnySynthesis, parallel_jobs: int, work: str
) -> StoredTable:
    """Fit records to the noisy tables; the same measurement and seed give the same records."""
    if not isinstance(synthesis, Fitted):
        raise InternalError("Only fitted synthesis reads a workload's tables.")
    bundle = open_drawn(workspace, measurement)
    seed = public_seed(bundle, synthesis)
    progress = Progress("generate")

    def write(folder: Path) -> None:
        made = fitted.draw_fitted(
            bundle.workload(),
            seed or 0,
            number=synthesis.target_number_of_records,
            threads=parallel_jobs,
            progress=lambda done: progress("records", done),
        )
        made.records.write(folder)
        np.save(folder / _CELLS, made.cells)

    try:
        return workspace.store(workspace.root / work / "synthetic_records", "synthetic records", write)
    finally:
        progress.close()


@task
def evaluate_fitted(
    workspace: Workspace, measurement: StoredTable, records: StoredTable, work: str
) -> StoredTable:
    """Write ``evaluation.json``: how near the records are to what was drawn, and by it to the truth."""
    bundle = open_drawn(workspace, measurement)
    cells = np.load(workspace.path(records) / _CELLS, allow_pickle=False)
    found = evaluate_fit(bundle.workload(), cells, int(bundle.sha256()[:15], 16))

    def write(folder: Path) -> None:
        text = json.dumps(found.to_dict(), indent=1, sort_keys=True) + "\n"
        (folder / "evaluation.json").write_text(text, encoding="utf-8")

    return workspace.store(workspace.root / work / "evaluation", "release evaluation", write)


@task
def estimate_counts(
    workspace: Workspace, measurement: StoredTable, records: StoredTable, reporting_length: int, work: str
) -> StoredTable:
    """The reportable aggregates: counts in the fitted records, and ranges for the true ones."""
    drawn = open_drawn(workspace, measurement).workload()

    def write(folder: Path) -> None:
        made = read_synthetic_records(workspace.path(records))
        counted = count_in_memory(coded_synthetic(made, drawn.schema), reporting_length)
        counted = Aggregates(
            made.headers, counted.attributes, counted.number_of_records, counted.combinations, counted.counts
        )
        reported = scaled_to_records(counted, max(0, drawn.number_of_records))
        reported.write(folder)
        write_all_ranges(ranges(drawn, reported), folder)

    return workspace.store(workspace.root / work / "aggregates", "reportable aggregates", write)
