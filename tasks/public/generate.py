"""Reportable aggregates and synthetic records, from what was handed over and public configuration alone.

So is the evaluation that is released: records against reportable aggregates, or against what was drawn.
"""

import json
import shutil
import tempfile
from pathlib import Path
from typing import Final

import numpy as np

from tasks.configuration.parameters import aggregate_parameters
from tasks.configuration.synthesis import AggregateSeeded, AnySynthesis, Fitted
from tasks.core.aggregates.aggregates import Aggregates, read_aggregates, write_all_ranges
from tasks.core.arrays import Json
from tasks.core.dp.measurement import Measurement
from tasks.core.errors import ParameterError
from tasks.core.evaluation.fit import evaluate_fit
from tasks.core.evaluation.release import compare_release, count_in_parts, count_synthetic
from tasks.core.parts.shards import ShardPlace
from tasks.core.queries import QueryResources
from tasks.core.records.columns import Schema
from tasks.core.synthesis import fitted, fitted_to_counts
from tasks.core.synthesis.estimates import ranges, scale_to_records
from tasks.core.synthesis.records import CELLS, open_synthetic_records
from tasks.engine import current_engine
from tasks.public.bundles import open_bundle, open_counts, open_drawn, public_seed
from tasks.step import Output, step
from tasks.storage import INTERMEDIATE, StoredTable


@step(INTERMEDIATE, makes="reportable aggregates", folder="aggregates")
def normalise_counts(into: Output, measurement: StoredTable) -> None:
    """The reportable aggregates: rounded counts as they are, noisy ones made to agree with each other."""
    open_counts(into.run, measurement).reportable().write(into.folder)


@step(INTERMEDIATE, makes="synthetic records", folder="synthetic_records", progress="generate")
def generate_records(
    into: Output,
    aggregates: StoredTable,
    measurement: StoredTable,
    synthesis: AnySynthesis,
    resolution: int,
    schema: Schema,
    parallel_jobs: int,
) -> None:
    """Draw synthetic records from the reportable aggregates; those of another mode were handed over.

    Args:
        schema: public, with the constraints that the records hold.
    """
    bundle = open_counts(into.run, measurement)
    held = fitted_to_counts.HeldConstraints.of(schema, bundle.schema()) if schema.constraints else None
    if synthesis.reads_records:
        records = bundle.folder / "synthetic_records"
        if not records.is_dir():
            raise ParameterError(
                "This synthesis_mode reads raw records, so its synthetic records must be in the measurement, "
                "but it holds none. Make the measurement with marginalia run."
            )
        for path in records.iterdir():
            shutil.copyfile(path, into.folder / path.name)
        return
    seed, reported = public_seed(bundle, synthesis), read_aggregates(into.path(aggregates))
    place, progress = shard_place(into), into.progress.of("records")
    if isinstance(synthesis, AggregateSeeded):
        from tasks.core.synthesis.aggregate_seeded import write_aggregate_seeded

        parameters = aggregate_parameters(synthesis)
        write_aggregate_seeded(
            reported, parameters, seed, into.folder, place, threads=parallel_jobs, progress=progress
        )
    else:
        assert isinstance(synthesis, Fitted), "other modes do not draw from reported counts"
        number = synthesis.target_number_of_records
        fitted_to_counts.write_fitted_to_counts(
            reported,
            resolution,
            seed,
            into.folder,
            place,
            held=held,
            number=number,
            threads=parallel_jobs,
            progress=progress,
        )


@step(INTERMEDIATE, makes="synthetic records", folder="synthetic_records", progress="generate")
def fit_records(into: Output, measurement: StoredTable, synthesis: AnySynthesis, parallel_jobs: int) -> None:
    """Fit records to the noisy tables; the same measurement and seed give the same records."""
    assert isinstance(synthesis, Fitted), "only fitted synthesis reads a workload's tables"
    bundle = open_drawn(into.run, measurement)
    drawn, seed = bundle.workload(), public_seed(bundle, synthesis)
    number, report = synthesis.target_number_of_records, into.progress.of("records")
    fitted.write_fitted(
        drawn, seed, into.folder, shard_place(into), number=number, threads=parallel_jobs, progress=report
    )


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


#: Records are made in shards where there are more than these, each of at most as many. The number follows
#: from no engine, so that a rebuild has the same records on whatever machines.
_SHARD_RECORDS: Final = 1 << 21


def shard_place(into: Output) -> ShardPlace:
    """Where a step makes records; shards of them go at its end."""
    engine = current_engine()
    return ShardPlace(_SHARD_RECORDS, engine.public_store(into.run), into.key, engine.workers)


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
