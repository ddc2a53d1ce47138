"""k-anonymity's crossing: exact marginals and coded records in, rounded counts and synthetic records out.

What is handed over (see `tasks.public.bundles`) holds no true count, no number of records and no place of a
record.
"""

import json
import secrets
from pathlib import Path

from prefect import task
from prefect.cache_policies import NO_CACHE

from tasks.configuration.model import RunConfiguration
from tasks.configuration.synthesis import AnySynthesis
from tasks.core.aggregates.aggregates import read_aggregates
from tasks.core.aggregates.protection import as_asked, protect_counts
from tasks.core.aggregates.stored_marginals import read_marginals
from tasks.core.queries import QueryResources
from tasks.core.records.coded import read_coded_records
from tasks.core.synthesis.rows import common_rows
from tasks.failures import sanitised
from tasks.plan.describe import RunFacts
from tasks.progress import Progress
from tasks.public.modes import draw_from_rows
from tasks.sensitive.hand_over import hand_over_folders
from tasks.storage import StoredTable, Workspace, folder_sha256


@task
@sanitised
def round_counts(
    workspace: Workspace,
    marginals: StoredTable,
    reporting_length: int,
    resolution: int,
    run: str,
    resources: QueryResources,
) -> StoredTable:
    """Round every count down to the resolution and drop what is zero; beside them, a public seed.

    The seed follows from a secret and the rounded counts: drawn anew for equal ones, it would show that
    something changed which they hide.
    """

    def write(folder: Path) -> None:
        rounded = protect_counts(read_marginals(workspace.path(marginals)), resolution, resources)
        as_asked(rounded, reporting_length).write(folder)
        seed = int(workspace.keyed_hash(f"synthesis {folder_sha256(folder)}"), 16) % 2**63
        (folder / "seed.json").write_text(json.dumps({"synthesis": seed}) + "\n", encoding="utf-8")

    return workspace.store(workspace.sensitive / run / "aggregates", "reportable aggregates", write)


@task
@sanitised
def generate_from_records(
    workspace: Workspace,
    records: StoredTable,
    aggregates: StoredTable,
    synthesis: AnySynthesis,
    resolution: int,
    parallel_jobs: int,
    run: str,
) -> StoredTable:
    """Draw synthetic records by a mode that reads the raw ones. Its seed stays where the raw records are."""
    given = synthesis.random_seed
    seed = given.get_secret_value() if given is not None else secrets.randbits(63)
    progress = Progress("generate")

    def write(folder: Path) -> None:
        rows = common_rows(read_coded_records(workspace.path(records)), resolution)
        reported = read_aggregates(workspace.path(aggregates))
        drawn = draw_from_rows(
            rows, reported, synthesis, seed, parallel_jobs, lambda done: progress("records", done)
        )
        drawn.write(folder)

    try:
        return workspace.store(workspace.sensitive / run / "synthetic_records", "synthetic records", write)
    finally:
        progress.close()


@task(cache_policy=NO_CACHE, persist_result=False)
@sanitised
def hand_over_counts(
    workspace: Workspace,
    configuration: RunConfiguration,
    described: RunFacts,
    aggregates: StoredTable,
    records: StoredTable | None,
) -> StoredTable:
    """Put counts, public schema and, where they were made, synthetic records where they are published."""
    folders = {"aggregates": aggregates, "synthetic_records": records}
    return hand_over_folders(workspace, configuration, described, folders)
