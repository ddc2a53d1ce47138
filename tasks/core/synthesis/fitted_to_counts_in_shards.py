"""Fitted synthesis from reported counts, in shards: aggregates in, shards of synthetic records out.

The same as `draw_fitted_to_counts` where records are too many for one process. What is reported is in one
process, and in every worker's; records and what is counted in them stay in their shards. Nothing else of the
table is read, so records promise what they promise in one process.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from tasks.core.aggregates.aggregates import Aggregates, Attribute, read_aggregates
from tasks.core.arrays import ColumnNumbers, Integers, ShareDone
from tasks.core.fitting.search import LONG_ANNEALING
from tasks.core.fitting.sharded_search import ShardedSearch, read_shard_cells
from tasks.core.parts.shards import RecordShard, record_shards
from tasks.core.parts.store import PartStore, StoredPart
from tasks.core.parts.workers import Workers
from tasks.core.synthesis.constrained_headers import HeldConstraints
from tasks.core.synthesis.fitted_to_counts import WARM, Missing, ReportedTables, draw_fitted_to_counts
from tasks.core.synthesis.sharded_records import ShardedRecords, keep_record_shard

#: The share of the work that is the fit.
_FIT = 0.9
#: Cells that are counted at once of sets of headers.
_CELLS_AT_ONCE = 1 << 22


def draw_fitted_to_counts_in_shards(
    aggregates: Aggregates,
    missing: Missing,
    seed: int,
    *,
    held: HeldConstraints | None = None,
    number: int | None = None,
    shard_records: int,
    store: PartStore,
    workers: Workers,
    threads: int = 1,
    progress: ShareDone | None = None,
) -> ShardedRecords:
    """Records fitted to reported counts, in shards; the same whoever works, and in whatever order.

    Where all records are one shard, it holds what `draw_fitted_to_counts` gives.

    Args:
        aggregates: reported; length 1 at least.
        missing: what they leave open.
        seed: any integer; public.
        held: the constraints that every record holds; None: there are none.
        number: how many records; None: the reported number, or 0 where that is below 0.
        shard_records: the most records of a shard, at least 1; a setting, and no matter of the workers.
        store: of the shards; nobody else writes there.
        workers: who fits.
        threads: of each worker; 0 for all cores.
        progress: told the share that is done, 0 to 1.

    Raises:
        ParameterError: a shard may hold no record, or the constraints leave none.
    """
    report = progress or (lambda share: None)
    wanted = aggregates.number_of_records if number is None else number
    shards = record_shards(wanted, shard_records, seed)
    own = _Reported(store, store.put("aggregates", aggregates.write), missing, held, threads)
    if len(shards) == 1:
        parts = list(workers.each("fit records", partial(_drawn, own), shards))
    else:
        parts = _in_shards(own, shards, workers, report)
    store.remove(own.aggregates.key)
    report(1.0)
    return ShardedRecords(tuple(shards), tuple(parts))


@dataclass(frozen=True)
class _Reported:
    """What a worker needs to fit and publish a shard."""

    store: PartStore
    aggregates: StoredPart
    missing: Missing
    held: HeldConstraints | None
    threads: int

    def read(self) -> Aggregates:
        with self.aggregates.folder() as folder:
            return read_aggregates(folder)

    def tables(self) -> ReportedTables:
        return ReportedTables(self.read(), self.missing, self.held)


def _drawn(own: _Reported, shard: RecordShard) -> StoredPart:
    """The only shard: it holds all records."""
    made = draw_fitted_to_counts(
        own.read(),
        own.missing,
        shard.seed,
        held=own.held,
        number=shard.number_of_records,
        threads=own.threads,
    )
    return keep_record_shard(own.store, shard, made)


def _in_shards(
    own: _Reported, shards: Sequence[RecordShard], workers: Workers, report: ShareDone
) -> list[StoredPart]:
    tables = own.tables()
    number = sum(shard.number_of_records for shard in shards)
    scale = number / tables.records
    search = ShardedSearch(
        tables.domain,
        shards,
        own.missing.deviation**2,
        store=own.store.below("fit"),
        workers=workers,
        threads=own.threads,
    )
    targets = [*tables.column_targets(scale), *tables.pair_targets(scale)]
    search.run(targets, LONG_ANNEALING, lambda share: report(0.6 * _FIT * share))
    longer = tables.longer_targets(partial(_counted, search, tables), scale)
    if longer:
        search.run([*targets, *longer], WARM, lambda share: report((0.6 + 0.4 * share) * _FIT))
    fitted = [part for part in search.parts if part is not None]
    asked = workers.each("find values", partial(_unreported, own), fitted)
    # Attributes are those of all shards, so that all have the same.
    used = {each for found in asked for each in found}
    unreported = [each for each in tables.unreported() if each in used]
    work = partial(_published, own, unreported)
    parts = list(workers.each("publish records", work, list(zip(shards, fitted, strict=True))))
    for part in fitted:
        part.store.remove(part.key)
    return parts


def _counted(
    search: ShardedSearch, tables: ReportedTables, sets: Sequence[ColumnNumbers]
) -> Iterator[Integers]:
    """The counts of sets of headers, in order, some sets at a time."""
    start, cells = 0, 0
    for place, columns in enumerate(sets):
        cells += math.prod(tables.domain.shape(columns))
        if cells >= _CELLS_AT_ONCE or place + 1 == len(sets):
            found = search.counts(sets[start : place + 1])
            yield from (found[each] for each in sets[start : place + 1])
            start, cells = place + 1, 0


def _unreported(own: _Reported, part: StoredPart) -> list[Attribute]:
    return [] if own.held is None else own.tables().unreported(read_shard_cells(part))


def _published(
    own: _Reported, unreported: Sequence[Attribute], held: tuple[RecordShard, StoredPart]
) -> StoredPart:
    shard, part = held
    made = own.tables().published(read_shard_cells(part), unreported)
    return keep_record_shard(own.store, shard, made)
