"""What a run on a cluster needs, from public facts and the number of rows alone: a model, measured once.

    a worker      reads, joins or counts one partition at a time: its memory grows with the rows of one
    in all        CPU time, what lies in the partitions' place, and what is read from there

The constants are of `tests.benchmarks.cluster`; ARCHITECTURE.md says what they come to for a billion records.
"""

import math
from dataclasses import dataclass

from tasks.configuration.model import RunConfiguration
from tasks.core.errors import ParameterError

#: Of a worker before it has any part: Python, and what it has loaded.
_WORKER_MB = 330
_BYTES = {"cell, in a worker": 16, "id, in a worker": 90, "cell, stored": 1.1, "id, stored": 20}
_NANOSECONDS = {"cell, read and joined": 60.0, "id, read and joined": 700.0, "tuple of a record": 1.7}
#: Of a row in a tree of SynDiffix and its buckets, where columns have very many values.
_BYTES_IN_A_TREE = 220
#: Seconds for each part of each kind of work, whatever it holds: Prefect and Dask.
_SECONDS_A_PART = 0.1
_KINDS_OF_WORK = 5
#: Of a worker's memory that a partition should take at most, where nothing else is said.
_COMFORTABLE_MB = 2048


@dataclass(frozen=True)
class ClusterNeeds:
    """What a run needs of a cluster.

    Attributes:
        partitions: as configured.
        advised: how many would be comfortable, of at most 2 GB in a worker each.
        worker_mb: the most memory of a worker.
        cpu_hours: of all workers together, to read, join and count; what is fitted comes on top.
        stored_mb: what lies in the partitions' place while the run is at work.
        moved_mb: what workers read from there, and write.
    """

    partitions: int
    advised: int
    worker_mb: int
    cpu_hours: float
    stored_mb: int
    moved_mb: int


def cluster_needs(
    rows: int, width: int, length: int, partitions: int, *, has_ids: bool = False
) -> ClusterNeeds:
    """What a run needs.

    Args:
        rows: of the table.
        width: the most values of a record.
        length: the reporting length.
        partitions: of the table.
        has_ids: whether rows have a subject id.
    """
    cells, ids = rows * width, rows * has_ids
    held = cells * _BYTES["cell, in a worker"] + ids * _BYTES["id, in a worker"]
    tuples = rows * sum(math.comb(width, k) for k in range(1, length + 1))
    seconds = (
        cells * _NANOSECONDS["cell, read and joined"]
        + ids * _NANOSECONDS["id, read and joined"]
        + tuples * _NANOSECONDS["tuple of a record"]
    ) / 1e9 + partitions * _KINDS_OF_WORK * _SECONDS_A_PART
    stored = cells * _BYTES["cell, stored"] + ids * _BYTES["id, stored"]
    return ClusterNeeds(
        partitions=partitions,
        advised=max(1, math.ceil(held / 2**20 / _COMFORTABLE_MB)),
        worker_mb=_WORKER_MB + math.ceil(held / partitions / 2**20),
        cpu_hours=seconds / 3600,
        stored_mb=math.ceil(2 * stored / 2**20),  # pieces, and the partitions that are made of them
        moved_mb=math.ceil(6 * stored / 2**20),  # written once, and read twice: the first time for its hash
    )


def tree_worker_mb(rows: int, columns: int) -> int:
    """The memory of a worker that grows the trees of so many columns: one for each set of some of them."""
    trees = (1 << columns) - 1
    return _WORKER_MB + math.ceil(rows * trees * _BYTES_IN_A_TREE / 2**20)


def works_in_partitions(configuration: RunConfiguration) -> bool:
    """Whether the table is worked on in partitions; SynDiffix's workers have some columns of all rows."""
    return configuration.resources.engine == "dask" and configuration.protection.is_parted


def require_engine(configuration: RunConfiguration) -> None:
    """Refuse a mode that can't be worked on in partitions: each that reads raw records.

    Such a record holds nothing that fewer than k rows of the whole table hold together, and that is asked
    anew for every value that joins it. A part of the table could answer for its own rows alone: records would
    be shorter than the mode's, and shard after shard would tell in which part of the table people are.

    Raises:
        ParameterError: the mode reads raw records.
    """
    synthesis = configuration.synthesis
    if works_in_partitions(configuration) and synthesis.reads_records:
        raise ParameterError(
            f"A table on a cluster must be synthesised from its counts, but {synthesis.mode} asks the whole "
            "table at once whether k rows hold a combination. Choose fitted or aggregate_seeded, or leave "
            "engine out."
        )


def cluster_notes(configuration: RunConfiguration) -> tuple[str, ...]:
    """What whoever runs it on a cluster should know."""
    asked = configuration.resources
    if asked.engine != "dask" or not asked.dask_address.startswith("tcp://"):
        return ()
    return (
        "ATTENTION: dask_address is not encrypted. The table goes to the cluster's workers over its "
        "connections, and whoever can listen to them reads it. Give the cluster certificates, and an address "
        "that begins with tls://.",
    )
