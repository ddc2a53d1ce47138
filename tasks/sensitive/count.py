"""Aggregate stage, sensitive side: exact marginals, what SDS's users read off them, and rounded counts.

What only a step's work needs is imported there: a run that skips the step does without.
"""

import json
import secrets
from dataclasses import replace

from tasks.configuration.model import RunConfiguration
from tasks.configuration.parameters import aggregate_parameters
from tasks.configuration.synthesis import AnySynthesis, ByTrees, Fitted, RowSeeded, Unseeded, ValueSeeded
from tasks.core.aggregates.aggregates import Aggregates, read_aggregates
from tasks.core.aggregates.protection import extend_to_length, protect_counts
from tasks.core.aggregates.stored_marginals import read_marginals
from tasks.core.arrays import ShareDone
from tasks.core.errors import ClusterLost, InternalError
from tasks.core.parts.workers import KeptWork
from tasks.core.stored_files import folder_sha256
from tasks.core.synthesis.records import SyntheticRecords
from tasks.core.synthesis.rows import FrequentRows, common_rows
from tasks.plan.describe import RunFacts
from tasks.sensitive.export import write_sources
from tasks.sensitive.hand_over import hand_over_folders
from tasks.sensitive.read import open_records, open_table
from tasks.step import Output, step
from tasks.storage import SENSITIVE, StoredTable, Workspace


@step(SENSITIVE, makes="reportable aggregates", folder="aggregates")
def round_counts(into: Output, marginals: StoredTable, reporting_length: int, resolution: int) -> None:
    """Round every count down to the resolution and drop what is zero; beside them, a public seed.

    The seed follows from a secret and the rounded counts: drawn anew for equal ones, it would show that
    something changed which they hide.
    """
    rounded = protect_counts(read_marginals(into.path(marginals)), resolution, into.run.resources)
    extend_to_length(rounded, reporting_length).write(into.folder)
    seed = int(into.run.keyed_hash(f"synthesis {folder_sha256(into.folder)}"), 16) % 2**63
    (into.folder / "seed.json").write_text(json.dumps({"synthesis": seed}) + "\n", encoding="utf-8")


@step(SENSITIVE, makes="synthetic records", folder="synthetic_records", progress="generate")
def generate_from_records(
    into: Output,
    records: StoredTable,
    aggregates: StoredTable,
    synthesis: AnySynthesis,
    resolution: int,
    parallel_jobs: int,
) -> None:
    """Draw synthetic records by a mode that reads the raw ones. Its seed stays where the raw records are."""
    given = synthesis.random_seed
    seed = given.get_secret_value() if given is not None else secrets.randbits(63)
    rows = common_rows(open_records(into.run, records).whole(), resolution)
    reported = read_aggregates(into.path(aggregates))
    report = into.progress.of("records")
    draw_from_rows(rows, reported, synthesis, seed, parallel_jobs, report).write(into.folder)


def draw_from_rows(
    rows: FrequentRows,
    reported: Aggregates,
    synthesis: AnySynthesis,
    seed: int,
    threads: int,
    progress: ShareDone,
) -> SyntheticRecords:
    from tasks.core.synthesis import aggregate_seeded, row_seeded, unseeded, value_seeded

    if isinstance(synthesis, RowSeeded):
        return row_seeded.draw_row_seeded(rows, seed, threads=threads, progress=progress)
    if isinstance(synthesis, Unseeded):
        return unseeded.draw_unseeded(rows, seed, threads=threads, progress=progress)
    if isinstance(synthesis, ValueSeeded):
        ratio = synthesis.oversampling_ratio
        limit = None if ratio is None else value_seeded.Oversampling(ratio, synthesis.oversampling_tries)
        return value_seeded.draw_value_seeded(
            rows, seed, oversampling=limit, reported=reported, threads=threads, progress=progress
        )
    if isinstance(synthesis, ByTrees | Fitted):
        raise InternalError(f"{synthesis.mode} does not draw from rows of attributes.")
    return aggregate_seeded.draw_aggregate_seeded(
        reported, aggregate_parameters(synthesis), seed, threads=threads, progress=progress, held=rows
    )


@step(SENSITIVE)
def hand_over_counts(
    workspace: Workspace,
    configuration: RunConfiguration,
    described: RunFacts,
    aggregates: StoredTable,
    records: StoredTable | None,
) -> StoredTable:
    """Put counts, public schema and, where they were made, synthetic records where they are published.

    k-anonymity's crossing: what is handed over holds no true count, no number of records and no place of a
    record.
    """
    folders = {"aggregates": aggregates, "synthetic_records": records}
    return hand_over_folders(workspace, configuration, described, folders)


@step(SENSITIVE, makes="exact marginals", folder="marginals", progress="count")
def count_records(into: Output, records: StoredTable, length: int) -> None:
    """Count every combination up to a length exactly; stays in ``sensitive/``."""
    from tasks.core.aggregates.marginals import count_table

    report, resources = into.progress.of("combinations"), into.run.resources
    table, workers = open_table(into, records), None
    if table.parts:  # what is done is kept, for another run to go on with where the cluster is lost
        workers = KeptWork(table.workers, table.store, f"{into.key}/done", into.run.secret())
        table = replace(table, workers=workers)
    is_lost = False
    try:
        count_table(table, into.folder, length, resources, report)
    except ClusterLost:
        is_lost = True
        raise
    finally:
        if workers is not None and not is_lost:
            workers.forget()


@step(SENSITIVE, makes="sensitive aggregates", folder="aggregate", progress="describe")
def describe_records(
    into: Output, records: StoredTable, marginals: StoredTable, resolution: int, prefix: str
) -> None:
    """Write true counts, rare combinations and who they single out, under SDS's names, in ``sensitive/``."""
    from tasks.core.evaluation.sensitive_aggregates import write_sensitive_aggregates

    write_sensitive_aggregates(
        open_table(into, records),
        read_marginals(into.path(marginals)),
        resolution,
        into.folder,
        prefix,
        into.run.resources,
        into.progress.of("combinations"),
    )
    write_sources(into.folder, prefix, resolution, records, marginals)
