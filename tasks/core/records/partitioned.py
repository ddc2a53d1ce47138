"""A table of coded records that no process has whole: where its partitions are, and who works on them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Self, TypeVar

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

    @classmethod
    def of(cls, partitions: Sequence[StoredPart], workers: Workers, store: PartStore, prefix: str) -> Self:
        """Partitions whose facts are read by the workers first."""
        facts = CodedFacts.of_whole(list(workers.each("facts", _facts_of, partitions)))
        return cls(partitions, facts, workers, store, prefix)

    @property
    def number_of_records(self) -> int:
        """All of them."""
        return self.facts.number_of_records

    def each(self, name: str, work: Callable[[CodedRecords], R]) -> Iterator[R]:
        """What the work gives for the records of each partition, in order (see `Workers.each`)."""
        return self.workers.each(name, partial(_of_records, work=work), self.partitions)


def _facts_of(partition: StoredPart) -> CodedFacts:
    with partition.folder() as folder:
        return read_coded_facts(folder)


def _of_records(partition: StoredPart, work: Callable[[CodedRecords], R]) -> R:
    with partition.folder() as folder:
        return work(read_coded_records(folder))
