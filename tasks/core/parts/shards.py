"""Records that are made in shards: how many each makes, from which stream, and where they lie until joined.

How many shards there are follows from the number of records and from a set size alone, never from who makes
them. So the records are the same on one machine and on many. One shard in this process is the ordinary case.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from tasks.core.parts.store import PartStore
from tasks.core.parts.workers import Workers


@dataclass(frozen=True)
class RecordShard:
    place: int
    number_of_records: int
    share: float
    seed: int


@dataclass(frozen=True)
class ShardPlace:
    """Where records are made, and how many at a time.

    Attributes:
        most: records of a shard, at least 1; a setting, and no matter of the workers.
        home: where shards lie.
        key: below which nobody else writes there.
    """

    most: int
    home: PartStore
    key: str
    workers: Workers

    @contextmanager
    def store(self) -> Iterator[PartStore]:
        """The store of the shards; all that is in it goes at the end."""
        try:
            yield self.home.below(self.key)
        finally:
            self.home.remove(self.key)


def record_shards(number: int, most: int, seed: int) -> list[RecordShard]:
    """As few shards as hold so many records, of sizes that differ by one at most; the larger ones first.

    One alone has the seed of the whole.

    >>> [shard.number_of_records for shard in record_shards(10, most=4, seed=7)]
    [4, 3, 3]
    """
    number = max(0, number)
    shards = max(1, -(-number // most))
    if shards == 1:
        return [RecordShard(0, number, 1.0, seed)]
    sizes = [number // shards + (place < number % shards) for place in range(shards)]
    return [
        RecordShard(place, size, size / number, stream_seed(seed, place)) for place, size in enumerate(sizes)
    ]


def stream_seed(seed: int, place: int) -> int:
    return int(np.random.SeedSequence([seed % 2**64, place]).generate_state(1, np.uint64)[0])
