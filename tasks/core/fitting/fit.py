"""Fitting: noisy tables in, records out whose counts come close to them.

First to columns and pairs. Where longer tables were measured, the pairs of those records say what is
expected in them, the longer tables are shrunk round it, and the search goes on with them.
"""

from collections.abc import Callable, Sequence

import numpy as np

from tasks.core.arrays import ColumnNumbers, Floats, Ids, ShareDone
from tasks.core.fitting.noisy_tables import Domain, NoisyTable
from tasks.core.fitting.search import LONG_ANNEALING, SHORT_ANNEALING, HeldRecords
from tasks.core.fitting.sharded_search import ShardedSearch
from tasks.core.fitting.targets import Target, Targets, levels_of, shrunk_by_levels, targets_of
from tasks.core.parts.shards import RecordShard
from tasks.core.parts.store import PartStore, StoredPart
from tasks.core.parts.workers import Workers

#: Temperatures of the passes before and after longer tables join.
_BEFORE = (1000.0, 200.0, 50.0, 10.0, 0.0)
_WARM = (100.0, 50.0, 20.0, 10.0, 0.0)
#: The same where a pass is long.
_FEW_BEFORE = (100.0, 20.0, 0.0)
_FEW_WARM = (20.0, 0.0)
#: Numbers that one pass adds up, from which on few passes must do: about a CPU second a pass.
_MOST_WORK = 1_000_000_000
_LEAST_EXPECTED = 0.01


def fit(
    domain: Domain,
    tables: Sequence[NoisyTable],
    number: int,
    seed: int,
    *,
    threads: int = 0,
    progress: ShareDone | None = None,
) -> tuple[Ids, tuple[Target, ...]]:
    """Records fitted to noisy tables, and the targets; a function of the arguments, whatever the threads.

    >>> from tasks.core.fitting.noisy_tables import table_counts
    >>> smoking_by_sex = np.array([[41.0, 9.0], [11.0, 39.0]])
    >>> tables = [NoisyTable((), np.array(100.0), 1.0), NoisyTable((0, 1), smoking_by_sex, 4.0)]
    >>> records, targets = fit(Domain((2, 2)), tables, number=100, seed=7)
    >>> table_counts(Domain((2, 2)), (0, 1), records).tolist()
    [[41, 9], [11, 39]]

    Args:
        tables: with the number of records as the table of no columns.
        number: how many records, from 0 on.
        threads: 0 for all cores.

    Returns:
        Records as int32 (n, slots), in each slot a cell of its column (see `Domain`).
    """
    targets = targets_of(domain, tables)
    search = HeldRecords(domain, targets.margins, number, seed, targets.variance, threads)
    found = _approach(search, domain, targets, tables, number, progress)
    return search.records, found


def fit_in_shards(
    domain: Domain,
    tables: Sequence[NoisyTable],
    shards: Sequence[RecordShard],
    *,
    store: PartStore,
    workers: Workers,
    threads: int = 1,
    progress: ShareDone | None = None,
) -> tuple[tuple[StoredPart, ...], tuple[Target, ...]]:
    """The same where records are too many for one process; a function of tables and shards alone.

    Of each shard its records are a part, as `read_shard_cells` reads them.

    Args:
        shards: each with a record at least.
        store: of the parts; nobody else writes there.
        threads: of each worker; 0 for all cores.
    """
    targets = targets_of(domain, tables)
    number = sum(shard.number_of_records for shard in shards)
    search = ShardedSearch(domain, shards, targets.variance, store=store, workers=workers, threads=threads)
    found = _approach(search, domain, targets, tables, number, progress)
    return search.held, found


def _approach(
    search: HeldRecords | ShardedSearch,
    domain: Domain,
    targets: Targets,
    tables: Sequence[NoisyTable],
    number: int,
    progress: ShareDone | None,
) -> tuple[Target, ...]:
    """Bring records near to all tables; the targets, for as many records as there are."""
    report = progress or (lambda share: None)
    ratio = number / targets.records
    scaled = [target.scaled(ratio) for target in targets.all]
    longer = [table for table in tables if len(table.columns) > 2]
    first = 0.6 if longer else 1.0
    # As many passes over all records, however short they are in a shard.
    before, warm = annealing_of(domain, number, longer=bool(longer))
    search.run(scaled, before, lambda share: report(first * share))
    if longer and number:
        implied = search.implied([table.columns for table in longer])
        found = longer_targets(domain, targets, longer, implied, number)
        scaled += [target.scaled(ratio) for target in found]
        search.run(scaled, warm, lambda share: report(first + (1 - first) * share))
    return tuple(scaled)


def annealing_of(domain: Domain, number: int, *, longer: bool) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The temperatures of both searches; a function of public sizes and of the number of records."""
    is_long = number * sum(domain.sizes) * (len(domain.sizes) - 1) > _MOST_WORK
    if not longer:
        return (SHORT_ANNEALING if is_long else LONG_ANNEALING), ()
    return (_FEW_BEFORE, _FEW_WARM) if is_long else (_BEFORE, _WARM)


def longer_targets(
    domain: Domain,
    targets: Targets,
    tables: Sequence[NoisyTable],
    implied: Callable[[ColumnNumbers], Floats],
    number: int,
) -> list[Target]:
    """Longer tables, shrunk round what the pairs of so many fitted records, above 0, imply for them."""
    found = []
    for table in tables:
        centre = implied(table.columns) * (targets.records / number)
        centre = np.maximum(centre, _LEAST_EXPECTED)
        levels = [
            None if column in domain.multi_valued else levels_of(targets.margins[column])
            for column in table.columns
        ]
        counts = centre + shrunk_by_levels(table.counts - centre, centre, table.variance, levels)
        found.append(Target(table.columns, counts, 1 / table.variance))
    return found
