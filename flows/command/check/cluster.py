"""What `marginalia check` says of a run on a cluster: what workers, and the partitions' place, must have."""

from tasks.configuration.model import RunConfiguration
from tasks.plan.describe import RunFacts
from tasks.plan.estimate import width_of
from tasks.plan.resources import cluster_needs, tree_worker_mb, works_in_partitions


def print_cluster(configuration: RunConfiguration, described: RunFacts, records: int) -> None:
    """Print it. Args: records: of the table, as far as that is known."""
    asked, schema = configuration.resources, described.schema
    where = asked.dask_address or f"a cluster of {asked.workers} workers on this machine"
    if not works_in_partitions(configuration):
        print(
            f"On {where}: workers grow the trees, and the run's own process does the rest. A worker needs, "
            f"very roughly, {tree_worker_mb(records, 3):,} MB for a cluster of 3 columns, "
            f"{tree_worker_mb(records, 5):,} MB for one of 5, and twice as much for each column more."
        )
        return
    width, length = width_of(schema), described.reporting_length or 1
    found = cluster_needs(
        records,
        width,
        width if length == -1 else min(length, width),
        asked.partitions,
        has_ids=schema.subject_id is not None,
    )
    print(
        f"On {where}: {found.partitions:,} partitions. A worker needs about {found.worker_mb:,} MB. "
        f"All workers together need, very roughly, {_hours(found.cpu_hours)} to read, join and count. The "
        f"fit of the records comes on top. Where the partitions lie, {found.stored_mb:,} MB are needed, and "
        f"{found.moved_mb:,} MB go to and from there."
    )
    if found.advised > asked.partitions:
        print(
            f"ATTENTION: a partition should fit well into a worker. With {found.advised:,} partitions each "
            "would take 2 GB at most."
        )


def _hours(hours: float) -> str:
    """CPU time.

    >>> _hours(0.01), _hours(2.5)
    ('1 CPU minute', '2.5 CPU hours')
    """
    if hours >= 1:
        return f"{hours:,.1f} CPU hours"
    minutes = max(1, round(60 * hours))
    return f"{minutes} CPU minute{'' if minutes == 1 else 's'}"
