"""Records that are made in shards: how many each makes, and from which stream.

How many shards there are follows from the number of records and from a set size alone, never from who makes
them. So the records are the same on one machine and on many.
"""

from dataclasses import dataclass

import numpy as np

from tasks.core.errors import ParameterError


@dataclass(frozen=True)
class RecordShard:
    """One shard.

    Attributes:
        place: among all shards, from 0 on.
        number_of_records: that it makes.
        share: of all records.
        seed: of its own stream; public, if that of the whole is.
    """

    place: int
    number_of_records: int
    share: float
    seed: int


def record_shards(number: int, most: int, seed: int) -> list[RecordShard]:
    """As few shards as hold so many records, of sizes that differ by one at most; the larger ones first.

    One alone has the seed of the whole.

    >>> [shard.number_of_records for shard in record_shards(10, most=4, seed=7)]
    [4, 3, 3]
    >>> record_shards(3, most=4, seed=7)
    [RecordShard(place=0, number_of_records=3, share=1.0, seed=7)]

    Args:
        number: of all records; below 0 is 0.
        most: records in one shard.
        seed: any integer.

    Raises:
        ParameterError: a shard may hold no record.
    """
    if most < 1:
        raise ParameterError(f"A shard must hold at least one record, not {most}.")
    number = max(0, number)
    shards = max(1, -(-number // most))
    if shards == 1:
        return [RecordShard(0, number, 1.0, seed)]
    sizes = [number // shards + (place < number % shards) for place in range(shards)]
    return [
        RecordShard(place, size, size / number, stream_seed(seed, place)) for place, size in enumerate(sizes)
    ]


def stream_seed(seed: int, place: int) -> int:
    """The seed of one of many streams that one seed names."""
    return int(np.random.SeedSequence([seed % 2**64, place]).generate_state(1, np.uint64)[0])
