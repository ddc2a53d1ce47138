"""Aggregate-seeded synthesis: (reportable) aggregates in, synthetic records out (S4.4).

Attributes join a record one by one, drawn by the reported count of what they make with it; no record
holds a combination up to the reporting length that the aggregates don't have. On request the raw records
are asked, too, so that none holds a longer one that fewer of them do than the resolution.

Records are drawn in shards, each from its own part of what is available. Their number is a matter of the
configuration alone, so the records are the same on every machine. Where records are held to the raw ones, or
what was synthesised is taken off every count, no shard on another machine can do that alone.
"""

import math
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

from tasks.core.aggregates.aggregates import Aggregates, read_aggregates
from tasks.core.arrays import Ids, Integers, ShareDone
from tasks.core.errors import InternalError, ParameterError
from tasks.core.parts.shards import ShardPlace, record_shards
from tasks.core.parts.store import PartStore, StoredPart
from tasks.core.parts.workers import Workers
from tasks.core.pool import Job, run_jobs
from tasks.core.random_kernels import stream
from tasks.core.synthesis.aggregate_seeded_kernels import (
    EXHAUSTED,
    RECORD_TOO_LONG,
    Holders,
    Law,
    RecordWorkspace,
    Supply,
    draw_records,
    fill_tree,
)
from tasks.core.synthesis.assembly import order_records
from tasks.core.synthesis.index import CombinationIndex, build_index
from tasks.core.synthesis.records import SyntheticRecords, join_shards
from tasks.core.synthesis.rows import BlockIndex, FrequentRows, block_cells, build_block_index, row_set
from tasks.core.synthesis.tree import DrawnRecords, join_drawn

#: Shards where the configuration leaves the number of threads to the machine (``parallel_jobs`` 0): a
#: constant, so that the records don't depend on how many cores there are.
SHARDS_FOR_ALL_CORES = 8
#: The largest sum that weights may reach.
LARGEST_TOTAL = 2**63 - 1
#: Records in a slice, a tenth of a second: so progress can be told and an interrupt is heard. How records are
#: sliced does not change them.
_RECORDS_A_SLICE = 1024
#: Room is made for records of this size first, and doubled when one outgrows it.
_FIRST_CAPACITY = 16

#: Counting all that so few rows hold takes as long as asking for some tens of attributes by bitsets: at most
#: this many, one row in so many, and some more.
_FEW, _ROWS_A_COUNT, _FEW_OF_ANY = 1024, 1024, 48

_NO_ROWS = BlockIndex(
    np.empty((0, 0), np.uint16),
    np.zeros(1, np.int64),
    np.full(1, -1, np.int32),
    np.zeros((0, 0), np.uint64),
    np.zeros(2, np.int64),
    np.empty(0, np.int32),
)


@dataclass(frozen=True)
class AggregateSeededParameters:
    """Parameters of the synthesis, all public.

    Attributes:
        weight_selection_percentile: whole percentage 0..100: of the counts of the combinations that a
            candidate makes beyond the reporting length, the percentile that is its weight.
        use_synthetic_counts: whether what was already synthesised is taken off every count.
        aggregate_counts_scale_factor: every count becomes ceil(count * factor) first; > 0.
        target_number_of_records: None: until no attribute is available.
    """

    weight_selection_percentile: int = 95
    use_synthetic_counts: bool = False
    aggregate_counts_scale_factor: float | None = None
    target_number_of_records: int | None = None


def number_of_shards(parameters: AggregateSeededParameters, threads: int) -> int:
    if parameters.use_synthetic_counts:
        return 1  # they are shared by all records
    return threads or SHARDS_FOR_ALL_CORES


def draw_aggregate_seeded(
    aggregates: Aggregates,
    parameters: AggregateSeededParameters,
    seed: int,
    *,
    threads: int = 1,
    progress: ShareDone = lambda share: None,
    held: FrequentRows | None = None,
) -> SyntheticRecords:
    """Draw synthetic records by S4.4, in the published order (S4.0); the same on any machine.

    With one shard the law is the sequential one exactly; with more each has its part of what is available.

    Args:
        aggregates: combinations without one of their parts are ignored.
        threads: SDS's ``parallel_jobs``: 1 is one shard, t is t shards, 0 is 8 shards on all cores.
        held: the raw records, which at least ``held.resolution`` times must hold all that a synthetic record
            holds; None: only what the aggregates tell is kept.

    Raises:
        ParameterError: counts too large to be summed in 63 bits.
    """
    index = build_index(aggregates, parameters.aggregate_counts_scale_factor)
    check_totals(index, aggregates)
    # What all attributes leave over is in the first shards: rare ones that belong together stay together.
    number = shards_with_something(index, number_of_shards(parameters, threads))
    holders = index_held_rows(held, aggregates)
    shards = [shard_of(index, parameters, seed, shard, number, holders) for shard in range(number)]
    run_jobs(
        [shard.draw for shard in shards],
        threads if len(shards) > 1 else 1,
        lambda: progress(sum(shard.done for shard in shards) / len(shards)),
    )
    progress(1.0)
    drawn = join_drawn([part for shard in shards for part in shard.slices])
    return order_records(aggregates.headers, aggregates.attributes, drawn.sizes, drawn.attribute_ids)


def check_totals(index: CombinationIndex, aggregates: Aggregates) -> None:
    largest = index.counts[: len(aggregates.attributes)].copy()
    start = len(largest)
    for ids in aggregates.combinations[1:]:
        counts = index.counts[start : start + len(ids)]
        for place in range(ids.shape[1]):
            np.maximum.at(largest, ids[:, place], counts)
        start += len(ids)
    if sum(int(count) for count in largest) > LARGEST_TOTAL:
        raise ParameterError(
            "The counts of all attributes add up to more than 2^63: choose a smaller scale factor."
        )


def shards_with_something(index: CombinationIndex, number: int) -> int:
    available = index.counts[: len(index.header_of)]
    return max(1, min(number, int(available.max(initial=0))))


def shard_of(
    index: CombinationIndex,
    parameters: AggregateSeededParameters,
    seed: int,
    shard: int,
    number: int,
    held: tuple[BlockIndex, int] = (_NO_ROWS, 0),
) -> "Shard":
    target = parameters.target_number_of_records
    return Shard(
        index=index,
        percentage=parameters.weight_selection_percentile,
        synthetic_counts=parameters.use_synthetic_counts,
        available=_deal_out(index.counts[: len(index.header_of)], shard, number),
        seed=seed,
        number=shard,
        held=hold_to_rows(*held),
        target=None if target is None else int(_deal_out(np.array([target]), shard, number)[0]),
    )


def _deal_out(amounts: Integers, shard: int, number: int) -> Integers:
    """A shard's part of amounts that are dealt out evenly from shard 0 on."""
    part: Integers = amounts // number + (shard < amounts % number)
    return part


def index_held_rows(rows: FrequentRows | None, aggregates: Aggregates) -> tuple[BlockIndex, int]:
    """The index of the raw records that records are held to, and the resolution; 0 where there are none."""
    if rows is None:
        return _NO_ROWS, 0
    if rows.attributes != aggregates.attributes:
        raise InternalError("Records are held to the resolution of their own aggregates only.")
    return build_block_index(block_cells(rows), np.append(rows.counts, 0), rows.resolution), rows.resolution


def hold_to_rows(index: BlockIndex, resolution: int) -> Holders:
    rows = len(index.cells)
    few = min(_FEW, rows // _ROWS_A_COUNT + _FEW_OF_ANY)
    # What was accepted is never taken back: a set may be narrowed to any number of rows.
    found = row_set(index, least=0, short=few, rows_a_list=_ROWS_A_COUNT)
    return Holders(found, np.zeros(len(index.held), np.int64), resolution)


def percentile_places(number: int, percentage: int) -> tuple[int, int, int]:
    """Which two of ``number`` ascending values the type-8 percentile lies between, and 300ths of the way.

    h = (n + 1/3) p + 1/3 of Hyndman and Fan, exact for a whole percentage (S3.4, S10.9).

    >>> percentile_places(4, 95)  # the largest of four
    (3, 3, 0)
    >>> percentile_places(4, 50)  # half way (150 of 300) between the second and the third
    (1, 2, 150)
    """
    whole, share = divmod((3 * number + 1) * percentage + 100, 300)
    if percentage == 0 or whole <= 0:
        return 0, 0, 0
    if percentage == 100 or whole >= number:
        return number - 1, number - 1, 0
    return whole - 1, whole, share


def combinations_beside(size: int, reporting_length: int) -> int:
    """How many combinations up to R hold one given attribute that joins a record of ``size``.

    >>> combinations_beside(3, reporting_length=3)  # alone, with one of the three, with two of them
    7
    """
    return sum(math.comb(size, others) for others in range(min(size, reporting_length - 1) + 1))


def longest_record(index: CombinationIndex) -> int:
    """The largest size a record can have: its combinations up to R are all different ones of the index."""
    size = 0
    while size < index.number_of_headers:
        parts = sum(math.comb(size + 1, k) for k in range(1, min(size + 1, index.reporting_length) + 1))
        if parts > len(index.counts):
            break
        size += 1
    return size


def law_of(index: CombinationIndex, percentage: int, synthetic_counts: bool, capacity: int) -> Law:
    lower, upper, share = [0], [0], [0]
    depth = 1
    largest_kept = percentage >= 50
    for size in range(1, capacity + 1):
        number = combinations_beside(size, index.reporting_length)
        low, high, between = percentile_places(number, percentage)
        if largest_kept:
            low, high = number - 1 - low, number - 1 - high
        if size >= index.reporting_length:
            depth = max(depth, low + 1, high + 1)
        else:
            low = high = 0
        lower.append(low)
        upper.append(high)
        share.append(between)
    return Law(
        rows=index.rows,
        header_of=index.header_of,
        longest=max(index.number_of_headers, 1),
        reporting_length=index.reporting_length,
        synthetic_counts=synthetic_counts,
        sign=1 if largest_kept else -1,
        depth=depth,
        lower=np.array(lower, np.int64),
        upper=np.array(upper, np.int64),
        share=np.array(share, np.int64),
    )


def workspace_of(index: CombinationIndex, law: Law) -> RecordWorkspace:
    attributes, capacity = len(index.header_of), len(law.lower) - 1
    listed = law.reporting_length if law.synthetic_counts else max(law.reporting_length - 1, 1)
    subsets = sum(math.comb(capacity, k) for k in range(1, min(listed, capacity) + 1))
    words = (attributes + 63) // 64
    return RecordWorkspace(
        word=np.empty(words, np.int32),
        bits=np.empty(words, np.uint64),
        kept=np.empty(attributes * law.depth, np.int64),
        whole=np.empty(attributes, np.int64),
        spent=np.empty(attributes, np.bool_),
        subset=np.empty(min(subsets, len(index.counts)), np.int32),
        subset_length=np.empty(min(subsets, len(index.counts)), np.int32),
        drawn=np.empty(attributes, np.int32),
        cumulative=np.empty(attributes, np.int64),
    )


@dataclass
class Shard:
    """A part of a synthesis that shares nothing that changes with the others.

    Attributes:
        available: int64, by attribute: how often this shard uses each, between two resets.
        target: how many records to draw; None: until nothing is available.
        held: the raw records that must hold what it makes beyond the reporting length, with room of its own.
        done: the share of its work that is done, 0 to 1.
    """

    index: CombinationIndex
    percentage: int
    synthetic_counts: bool
    available: Integers
    seed: int
    number: int
    target: int | None = None
    held: Holders = field(default_factory=lambda: hold_to_rows(_NO_ROWS, 0))
    done: float = 0.0
    slices: list[DrawnRecords] = field(default_factory=list)
    _records: int = 0

    def __post_init__(self) -> None:
        counts = self.index.counts
        self._longest = longest_record(self.index)
        self._supply = Supply(
            available=self.available.copy(),
            remaining=counts.copy() if self.synthetic_counts else counts,
            beside=np.empty(0, np.int64) if self.synthetic_counts else self.index.counts_beside,
            tree=np.empty(len(self.available) + 1, np.int64),
            random=stream("synthesis", self.seed, self.number),
            now=np.zeros(4, np.int64),
        )
        fill_tree(self._supply)
        self._make_room(min(_FIRST_CAPACITY, self._longest))

    def _make_room(self, capacity: int) -> None:
        self._law = law_of(self.index, self.percentage, self.synthetic_counts, capacity)
        self._work = workspace_of(self.index, self._law)

    def draw(self) -> tuple[Job, ...]:
        return (self.draw,) if self.advance() else ()

    def advance(self) -> bool:
        """Draw one slice of records; returns whether there is more to do."""
        wanted = _RECORDS_A_SLICE
        if self.target is not None:
            wanted = min(wanted, self.target - self._records)
        if wanted and self.target is not None and not self.available.any():
            self._keep(np.zeros(wanted, np.int32), np.empty(0, np.int32))
            return self._records < self.target
        sizes = np.empty(wanted, np.int32)
        ids = np.empty(wanted * _FIRST_CAPACITY + self._law.longest, np.int32)
        ended, records, used = draw_records(self._law, self._supply, self._work, self.held, sizes, ids)
        self._keep(sizes[:records].copy(), ids[:used].copy())
        if ended == RECORD_TOO_LONG:
            capacity = len(self._law.lower) - 1
            if capacity >= self._longest:
                raise InternalError("A synthetic record holds more combinations than the aggregates have.")
            self._make_room(min(2 * capacity, self._longest))
            return True
        if self.target is None:
            return bool(ended != EXHAUSTED)
        if ended == EXHAUSTED:
            self._reset()
        return self._records < self.target

    def _reset(self) -> None:
        """Make everything available again and forget what was synthesised (S4.4)."""
        self._supply.available[:] = self.available
        if self.synthetic_counts:
            self._supply.remaining[:] = self.index.counts
        fill_tree(self._supply)

    def _keep(self, sizes: Ids, ids: Ids) -> None:
        self.slices.append(DrawnRecords(sizes, ids))
        self._records += len(sizes)
        if self.target is None:
            total = int(self.available.sum())
            self.done = 1.0 - int(self._supply.available.sum()) / total if total else 1.0
        else:
            self.done = self._records / self.target if self.target else 1.0


def write_aggregate_seeded(
    aggregates: Aggregates,
    parameters: AggregateSeededParameters,
    seed: int,
    folder: Path,
    place: ShardPlace,
    *,
    threads: int = 1,
    progress: ShareDone = lambda share: None,
) -> None:
    """Write synthetic records drawn by S4.4; the same whoever works, in whatever order.

    Without a target, records are taken to be as many as reported. With synthetic counts all are made in one
    place, however many: what was synthesised is taken off every count.
    """
    target = parameters.target_number_of_records
    expected = aggregates.number_of_records if target is None else target
    if parameters.use_synthetic_counts or expected <= place.most:
        drawn = draw_aggregate_seeded(aggregates, parameters, seed, threads=threads, progress=progress)
        drawn.write(folder)
        return
    number = len(record_shards(expected, place.most, seed))
    with place.store() as store:
        parts = draw_aggregate_seeded_shards(
            aggregates, parameters, seed, number, store=store, workers=place.workers, progress=progress
        )
        join_shards(parts, folder)


def draw_aggregate_seeded_shards(
    aggregates: Aggregates,
    parameters: AggregateSeededParameters,
    seed: int,
    number: int,
    *,
    store: PartStore,
    workers: Workers,
    progress: ShareDone = lambda share: None,
) -> list[StoredPart]:
    """Draw up to so many shards: they hold what `draw_aggregate_seeded` draws with as many threads."""
    index = build_index(aggregates, parameters.aggregate_counts_scale_factor)
    check_totals(index, aggregates)
    number = shards_with_something(index, number)
    del index
    known = store.put("aggregates", aggregates.write)
    work = partial(_draw_shard, store, known, parameters, (seed, number))
    parts = []
    for part in workers.each("draw records", work, range(number)):
        parts.append(part)
        progress(len(parts) / number)
    store.remove(known.key)
    return parts


def _draw_shard(
    store: PartStore,
    known: StoredPart,
    parameters: AggregateSeededParameters,
    seed_and_number: tuple[int, int],
    place: int,
) -> StoredPart:
    with known.folder() as folder:
        aggregates = read_aggregates(folder)
    index = build_index(aggregates, parameters.aggregate_counts_scale_factor)
    seed, number = seed_and_number
    shard = shard_of(index, parameters, seed, place, number)
    run_jobs([shard.draw], 1, lambda: None)
    drawn = join_drawn(shard.slices)
    records = order_records(aggregates.headers, aggregates.attributes, drawn.sizes, drawn.attribute_ids)
    return store.put(f"shards/{place}", records.write)
