"""Aggregate-seeded synthesis, each shard by whoever is free: aggregates in, shards of synthetic records out.

The shards are those of `draw_aggregate_seeded`: each has its part of what is available and of the target, and
a stream of its own. No record asks for more than the aggregates, so records promise what they promise in one
process. Where records are held to the raw ones, all rows of the table are asked; where what was synthesised
is taken off every count, all records are. No shard can do that alone.
"""

from dataclasses import dataclass
from functools import partial

from tasks.core.aggregates.aggregates import Aggregates, read_aggregates
from tasks.core.arrays import ShareDone
from tasks.core.errors import ParameterError
from tasks.core.parts.shards import RecordShard, record_shards
from tasks.core.parts.store import PartStore, StoredPart
from tasks.core.parts.workers import Workers
from tasks.core.pool import run_jobs
from tasks.core.synthesis.aggregate_seeded import (
    AggregateSeededParameters,
    check_totals,
    shard_of,
    shards_with_something,
)
from tasks.core.synthesis.assembly import ordered
from tasks.core.synthesis.drafts import joined
from tasks.core.synthesis.index import build_index
from tasks.core.synthesis.sharded_records import ShardedRecords, keep_record_shard


def draw_aggregate_seeded_in_shards(
    aggregates: Aggregates,
    parameters: AggregateSeededParameters,
    seed: int,
    *,
    shard_records: int,
    store: PartStore,
    workers: Workers,
    progress: ShareDone | None = None,
) -> ShardedRecords:
    """Draw synthetic records by sds.md 4.4, in shards; the same whoever works, and in whatever order.

    S shards hold the records that `draw_aggregate_seeded` draws with S threads.

    Args:
        aggregates: what may appear, and how often.
        parameters: without synthetic counts, unless one shard is enough.
        seed: any integer; the stream of a shard follows from it and from the shard's place.
        shard_records: about the most records of a shard, at least 1; a setting, and no matter of the workers.
            Without a target, records are taken to be as many as reported.
        store: of the shards; nobody else writes there.
        workers: who draws.
        progress: told the share that is done, 0 to 1.

    Raises:
        ParameterError: a shard may hold no record, synthetic counts in several shards, or counts too large to
            be summed in 63 bits.
    """
    report = progress or (lambda share: None)
    target = parameters.target_number_of_records
    expected = aggregates.number_of_records if target is None else target
    index = build_index(aggregates, parameters.aggregate_counts_scale_factor)
    check_totals(index, aggregates)
    number = shards_with_something(index, len(record_shards(expected, shard_records, seed)))
    if number > 1 and parameters.use_synthetic_counts:
        raise ParameterError(
            f"With use_synthetic_counts all records must be made in one place, but these are {number} "
            "shards: leave it out, or make the table in one process."
        )
    del index
    own = _Drawing(store, store.put("aggregates", aggregates.write), parameters, seed, number)
    parts, sizes = [], []
    for part, size in workers.each("draw records", partial(_drawn, own), range(number)):
        parts.append(part)
        sizes.append(size)
        report(len(parts) / number)
    store.remove(own.aggregates.key)
    total = sum(sizes)
    shards = tuple(
        RecordShard(place, size, size / total if total else 1 / number, seed)
        for place, size in enumerate(sizes)
    )
    return ShardedRecords(shards, tuple(parts))


@dataclass(frozen=True)
class _Drawing:
    """What a worker needs to draw a shard."""

    store: PartStore
    aggregates: StoredPart
    parameters: AggregateSeededParameters
    seed: int
    number: int


def _drawn(own: _Drawing, place: int) -> tuple[StoredPart, int]:
    with own.aggregates.folder() as folder:
        aggregates = read_aggregates(folder)
    index = build_index(aggregates, own.parameters.aggregate_counts_scale_factor)
    shard = shard_of(index, own.parameters, own.seed, place, own.number)
    run_jobs([shard.draw], 1, lambda: None)
    drawn = joined(shard.slices)
    made = ordered(aggregates.headers, aggregates.attributes, drawn.sizes, drawn.attribute_ids)
    size = made.number_of_records
    return keep_record_shard(own.store, RecordShard(place, size, 1.0, own.seed), made), size
