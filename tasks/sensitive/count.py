"""Aggregate stage, sensitive side: exact marginals, and what SDS's users read off them. None of it leaves.

What only a step's work needs is imported there: a run that skips the step does without.
"""

from pathlib import Path

from tasks.core.aggregates.stored_marginals import read_marginals
from tasks.sensitive.export import Sources
from tasks.sensitive.table import done_or_kept, open_kept, open_table
from tasks.step import Output, step
from tasks.storage import SENSITIVE, StoredTable


@step(SENSITIVE, makes="exact marginals", folder="marginals", progress="count")
def count_records(into: Output, records: StoredTable, length: int) -> None:
    """Count every combination up to a length exactly; stays in ``sensitive/``."""
    from tasks.core.aggregates.marginals import count_marginals, count_partitions

    report, resources = into.progress.of("combinations"), into.run.resources
    table = open_kept(into, records)
    if isinstance(table, Path):
        count_marginals(table, into.folder, length, resources, report)
    else:
        with done_or_kept(table):
            count_partitions(table, into.folder, length, resources, report)


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
    Sources.of(prefix, resolution, records, marginals).write(into.folder)
