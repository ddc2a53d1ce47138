"""How many records one process makes at a time, and where shards of more lie until they are joined.

The number is fixed, and follows from no engine: a release that is built again from its measurement, on
whatever machines, has the same records.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, TypedDict

from tasks.core.parts.store import PartStore
from tasks.core.parts.workers import Workers
from tasks.engine import current_engine
from tasks.step import Output

#: Records are made in shards where there are more than these, each of at most as many.
_SHARD_RECORDS: Final = 1 << 21


def is_sharded(records: int) -> bool:
    return records > _SHARD_RECORDS


class ShardPlace(TypedDict):
    """What a function that makes shards is given of where they are made."""

    shard_records: int
    store: PartStore
    workers: Workers


@contextmanager
def shard_place(into: Output) -> Iterator[ShardPlace]:
    """Where shards of a step are made; they go at its end."""
    engine = current_engine()
    home = engine.public_store(into.run)
    try:
        yield {"shard_records": _SHARD_RECORDS, "store": home.below(into.key), "workers": engine.workers}
    finally:
        home.remove(into.key)
