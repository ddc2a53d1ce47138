"""Fitted synthesis in shards: a fitted measurement in, shards of synthetic records out.

The same as `draw_fitted` where records are too many for one process: they are fitted in shards
(see `fit_in_shards`), and each shard is published for itself, for what becomes of a record is a matter of
that record alone. How many shards there are follows from the number of records and a set size.
"""

from dataclasses import dataclass
from functools import partial

from tasks.core.arrays import ShareDone
from tasks.core.dp.workload.measurement import WorkloadMeasurement, read_workload_measurement
from tasks.core.dp.workload.observations import noisy_tables
from tasks.core.fitting.fit import Fit
from tasks.core.fitting.sharded_fit import fit_in_shards
from tasks.core.fitting.sharded_search import read_shard_cells
from tasks.core.parts.shards import RecordShard, record_shards
from tasks.core.parts.store import PartStore, StoredPart
from tasks.core.parts.workers import Workers
from tasks.core.synthesis.fitted import (
    FittedRecords,
    domain_to_fit,
    draw_fitted,
    published,
    wanted_number,
)
from tasks.core.synthesis.sharded_records import ShardedRecords, keep_record_shard

#: The share of the work that is the fit.
_FIT = 0.9


def draw_fitted_in_shards(
    measurement: WorkloadMeasurement,
    seed: int,
    *,
    number: int | None = None,
    shard_records: int,
    store: PartStore,
    workers: Workers,
    threads: int = 1,
    progress: ShareDone | None = None,
) -> ShardedRecords:
    """Records fitted to a measurement, in shards; the same whoever works, and in whatever order.

    Where all records are one shard, it holds what `draw_fitted` gives.

    Args:
        measurement: as drawn.
        seed: any integer; public.
        number: how many records; None: the noisy count, or 0 where that is negative.
        shard_records: the most records of a shard, at least 1; a setting, and no matter of the workers.
        store: of the shards; nobody else writes there.
        workers: who fits.
        threads: of each worker; 0 for all cores.
        progress: told the share that is done, 0 to 1.

    Raises:
        ParameterError: a shard may hold no record.
    """
    report = progress or (lambda share: None)
    shards = record_shards(wanted_number(measurement, number), shard_records, seed)
    own = _Publisher(store, store.put("measurement", measurement.write), threads)
    if len(shards) == 1:
        parts = list(workers.each("fit records", partial(_drawn, own), shards))
    else:
        fitted = fit_in_shards(
            domain_to_fit(measurement),
            noisy_tables(measurement),
            shards,
            store=store.below("fit"),
            workers=workers,
            threads=threads,
            progress=lambda share: report(_FIT * share),
        )
        held = list(zip(shards, fitted.parts, strict=True))
        parts = list(workers.each("publish records", partial(_published, own), held))
        for part in fitted.parts:
            part.store.remove(part.key)
    store.remove(own.measurement.key)
    report(1.0)
    return ShardedRecords(tuple(shards), tuple(parts))


@dataclass(frozen=True)
class _Publisher:
    """What a worker needs to publish a shard."""

    store: PartStore
    measurement: StoredPart
    threads: int

    def read(self) -> WorkloadMeasurement:
        with self.measurement.folder() as folder:
            return read_workload_measurement(folder)

    def keep(self, shard: RecordShard, made: FittedRecords) -> StoredPart:
        return keep_record_shard(self.store, shard, made.records, made.cells)


def _drawn(own: _Publisher, shard: RecordShard) -> StoredPart:
    """The only shard: it holds all records."""
    made = draw_fitted(own.read(), shard.seed, number=shard.number_of_records, threads=own.threads)
    return own.keep(shard, made)


def _published(own: _Publisher, held: tuple[RecordShard, StoredPart]) -> StoredPart:
    shard, part = held
    return own.keep(shard, published(own.read(), Fit(read_shard_cells(part), ())))
