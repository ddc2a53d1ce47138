"""k-anonymity's crossing: exact marginals and coded records in, rounded counts and synthetic records out.

What is handed over (see `tasks.public.bundles`) holds no true count, no number of records and no place of a
record.
"""

import json
import secrets

from tasks.configuration.model import RunConfiguration
from tasks.configuration.synthesis import AnySynthesis
from tasks.core.aggregates.aggregates import read_aggregates
from tasks.core.aggregates.protection import as_asked, protect_counts
from tasks.core.aggregates.stored_marginals import read_marginals
from tasks.core.hashes import folder_sha256
from tasks.core.records.partitioned import PartitionedRecords
from tasks.core.synthesis.rows import common_rows
from tasks.plan.describe import RunFacts
from tasks.public.modes import draw_from_rows
from tasks.sensitive.hand_over import hand_over_folders
from tasks.sensitive.table import open_records
from tasks.step import Output, step
from tasks.storage import SENSITIVE, StoredTable, Workspace


@step(SENSITIVE, makes="reportable aggregates", folder="aggregates")
def round_counts(into: Output, marginals: StoredTable, reporting_length: int, resolution: int) -> None:
    """Round every count down to the resolution and drop what is zero; beside them, a public seed.

    The seed follows from a secret and the rounded counts: drawn anew for equal ones, it would show that
    something changed which they hide.
    """
    rounded = protect_counts(read_marginals(into.path(marginals)), resolution, into.run.resources)
    as_asked(rounded, reporting_length).write(into.folder)
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
    found = open_records(into.run, records)
    raw = found.whole() if isinstance(found, PartitionedRecords) else found
    rows = common_rows(raw, resolution)
    reported = read_aggregates(into.path(aggregates))
    report = into.progress.of("records")
    draw_from_rows(rows, reported, synthesis, seed, parallel_jobs, report).write(into.folder)


@step(SENSITIVE)
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
