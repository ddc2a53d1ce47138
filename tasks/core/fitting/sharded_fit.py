"""Fitting in shards: noisy tables in, parts of records out whose counts together come close to them.

The same as `fit` where records are too many for one process. Targets are made once, of all tables; records
and what is counted in them stay in their shards. The expected counts of longer tables follow from the sums
of the pairs, as they do from the pairs of all records.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tasks.core.arrays import ColumnNumbers, Floats, ShareDone
from tasks.core.fitting.fit import annealing_of, longer_tables, longer_targets
from tasks.core.fitting.implied import implied_counts, implying_tables
from tasks.core.fitting.noisy_tables import Domain, NoisyTable
from tasks.core.fitting.sharded_search import ShardedSearch
from tasks.core.fitting.targets import Target, targets_of
from tasks.core.parts.shards import RecordShard
from tasks.core.parts.store import PartStore, StoredPart
from tasks.core.parts.workers import Workers


@dataclass(frozen=True)
class ShardedFit:
    """What was fitted.

    Attributes:
        parts: of each shard its records; see `read_shard_cells`.
        targets: all targets that the shards together came close to.
    """

    parts: tuple[StoredPart, ...]
    targets: tuple[Target, ...]


def fit_in_shards(
    domain: Domain,
    tables: Sequence[NoisyTable],
    shards: Sequence[RecordShard],
    *,
    store: PartStore,
    workers: Workers,
    threads: int = 1,
    progress: ShareDone | None = None,
) -> ShardedFit:
    """Records fitted to noisy tables; a function of tables and shards, whoever works on them.

    Args:
        domain: the columns.
        tables: with the number of records as the table of no columns.
        shards: each with a record at least.
        store: of the parts; nobody else writes there.
        workers: who fits.
        threads: of each worker; 0 for all cores.
        progress: told the share that is done.
    """
    report = progress or (lambda share: None)
    targets = targets_of(domain, tables)
    number = sum(shard.number_of_records for shard in shards)
    ratio = number / targets.records
    scaled = [target.scaled(ratio) for target in targets.all]
    longer = longer_tables(tables)
    first = 0.6 if longer else 1.0
    # As many passes as one process would take over all records, however short they are in a shard.
    before, warm = annealing_of(domain, number, longer=bool(longer))
    search = ShardedSearch(domain, shards, targets.variance, store=store, workers=workers, threads=threads)
    search.run(scaled, before, lambda share: report(first * share))
    if longer:
        asked = [asked for table in longer for asked in implying_tables(domain, table.columns)]
        counts = search.counts(asked)

        def implied(columns: ColumnNumbers) -> Floats:
            return implied_counts(domain, columns, counts, number)

        found = longer_targets(domain, targets, longer, implied, number)
        scaled += [target.scaled(ratio) for target in found]
        search.run(scaled, warm, lambda share: report(first + (1 - first) * share))
    return ShardedFit(tuple(part for part in search.parts if part is not None), tuple(scaled))
