"""A table of coded records that no process has whole: where its partitions are, and who works on them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np

from tasks.core.arrays import Integers
from tasks.core.parts.store import PartStore, StoredPart
from tasks.core.parts.workers import Workers
from tasks.core.records.coded import CodedFacts, CodedRecords, read_coded_facts, read_coded_records

R = TypeVar("R")


@dataclass(frozen=True)
class PartitionedRecords:
    """The records of one table in partitions of coded records under one dictionary.

    Attributes:
        partitions: at least one, in the order of the table's rows; some may be empty.
        facts: of the whole table.
        workers: work on partitions.
        store: takes what is made of partitions for as long as it is needed.
        prefix: of the keys there; nobody else has keys that begin so.
    """

    partitions: Sequence[StoredPart]
    facts: CodedFacts
    workers: Workers
    store: PartStore
    prefix: str

    @property
    def number_of_records(self) -> int:
        """All of them."""
        return self.facts.number_of_records

    def each(self, name: str, work: Callable[[CodedRecords], R]) -> Iterator[R]:
        """What the work gives for the records of each partition, in order (see `Workers.each`)."""
        return self.workers.each(name, partial(_of_records, work=work), self.partitions)

    def at(self, places: Integers) -> CodedRecords:
        """The records at some places of the whole table, ascending: few enough for one process."""
        sizes = list(self.workers.each("sizes", _size_of, self.partitions))
        ends = np.cumsum(sizes)
        cuts = np.split(places, np.searchsorted(places, ends[:-1]))
        own = [cut - (end - size) for cut, end, size in zip(cuts, ends, sizes, strict=True)]
        jobs = list(zip(self.partitions, own, strict=True))
        return _joined(list(self.workers.each("rows", _rows_of, jobs)))


def _size_of(partition: StoredPart) -> int:
    with partition.folder() as folder:
        return read_coded_facts(folder).number_of_records


def _of_records(partition: StoredPart, work: Callable[[CodedRecords], R]) -> R:
    with partition.folder() as folder:
        return work(read_coded_records(folder))


def _rows_of(job: tuple[StoredPart, Integers]) -> CodedRecords:
    partition, places = job
    with partition.folder() as folder:
        records = read_coded_records(folder)
        tags = None if records.tags is None else records.tags[places]
        slots = tuple(codes[places] for codes in records.slots)
    return replace(records, slots=slots, number_of_records=len(places), tags=tags)


def _joined(parts: Sequence[CodedRecords]) -> CodedRecords:
    """Records of one table, one part behind the other."""
    tags = [part.tags for part in parts if part.tags is not None]
    return replace(
        parts[0],
        slots=tuple(np.concatenate(slots) for slots in zip(*(part.slots for part in parts), strict=True)),
        number_of_records=sum(part.number_of_records for part in parts),
        tags=np.concatenate(tags) if tags else None,
    )
