"""A table in partitions: coded records that no process has whole, and who works on them where they are.

Partitions share the schema, the slots and the dictionary, so that a code means the same in each. What is
counted in each is then added up.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from tasks.core.arrays import Integers
from tasks.core.errors import InternalError
from tasks.core.parts.store import PartStore, StoredPart
from tasks.core.parts.workers import Workers
from tasks.core.records.coded import (
    CodedFacts,
    CodedRecords,
    read_coded_facts,
    read_coded_records,
    read_dictionary,
    write_dictionary,
)
from tasks.core.records.columns import Schema

R = TypeVar("R")


@dataclass(frozen=True)
class PartitionedRecords:
    """The records of one table in partitions.

    Attributes:
        partitions: folders that `CodedRecords.write` wrote, each once; some may hold no record.
        facts: of the whole table.
        workers: work on partitions.
        prefix: in their store, of the keys of what is made of them for as long as it is needed.
    """

    partitions: Sequence[StoredPart]
    facts: CodedFacts = field(repr=False)
    workers: Workers
    prefix: str = "made"

    def __post_init__(self) -> None:
        """Raises InternalError where there is no partition, or one twice: its records would count twice."""
        places = {(part.store.root, part.key) for part in self.partitions}
        if not places or len(places) < len(self.partitions):
            raise InternalError("A table must be in at least one partition, and each partition in it once.")

    @classmethod
    def opened(cls, partitions: Sequence[StoredPart], workers: Workers) -> "PartitionedRecords":
        """The table in these partitions, whose facts are read and compared, but no record.

        Raises:
            InternalError: there is no partition, one is named twice, or they are not of one table.
        """
        told = list(workers.each("facts", _told, partitions))
        if len({(shared, has_tags) for shared, _, has_tags in told}) > 1:
            raise InternalError("Partitions of one table must share its schema, its values and its tags.")
        if not told:
            raise InternalError("A table must be in at least one partition.")
        with partitions[0].folder() as folder:
            facts = read_coded_facts(folder)
        number = sum(number for _, number, _ in told)
        return cls(partitions, replace(facts, number_of_records=number), workers)

    @property
    def store(self) -> PartStore:
        """Where they lie, and what is made of them."""
        return self.partitions[0].store

    @property
    def number_of_records(self) -> int:
        """All of them."""
        return self.facts.number_of_records

    def each(self, name: str, work: Callable[[CodedRecords], R]) -> Iterator[R]:
        """What the work gives for the records of each partition, in order (see `Workers.each`)."""
        return self.workers.each(name, partial(_of_records, work=work), self.partitions)

    def whole(self) -> CodedRecords:
        """All records in this process, for what can't be done in parts."""
        return _joined(list(map(_records_of, self.partitions)))

    def at(self, places: Integers) -> CodedRecords:
        """The records at some places of the whole table, ascending: few enough for one process."""
        sizes = list(self.workers.each("sizes", _size_of, self.partitions))
        ends = np.cumsum(sizes)
        cuts = np.split(places, np.searchsorted(places, ends[:-1]))
        own = [cut - (end - size) for cut, end, size in zip(cuts, ends, sizes, strict=True)]
        jobs = list(zip(self.partitions, own, strict=True))
        return _joined(list(self.workers.each("rows", _rows_of, jobs)))


#: A table as it is worked on: whole, or in partitions.
AnyRecords = CodedRecords | PartitionedRecords


def _told(partition: StoredPart) -> tuple[str, int, bool]:
    """Of a partition a hash of what all share, its number of records, and whether they have tags."""
    with partition.folder() as folder:
        facts = read_coded_facts(folder)
    shared = json.dumps([facts.schema.to_json(), facts.slot_columns, facts.values])
    return hashlib.sha256(shared.encode()).hexdigest(), facts.number_of_records, facts.has_tags


def _size_of(partition: StoredPart) -> int:
    with partition.folder() as folder:
        return read_coded_facts(folder).number_of_records


def _records_of(partition: StoredPart) -> CodedRecords:
    with partition.folder() as folder:
        return read_coded_records(folder)


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


_INDEX = "partitions.json"


def write_partitions(records: PartitionedRecords, folder: Path) -> None:
    """Write the index into an existing empty folder, in the place of coded records; no record is in it.

    ``partitions.json`` (for each part its store, key and hash; the number of records),
    ``dictionary.parquet``, ``schema.json`` and ``slots.json``, as `CodedRecords.write` writes them.
    """
    facts = records.facts
    body = {
        "number_of_records": facts.number_of_records,
        "has_tags": facts.has_tags,
        "parts": [[part.store.root, part.key, part.sha256] for part in records.partitions],
    }
    write_dictionary(facts.values, folder / "dictionary.parquet")
    (folder / "schema.json").write_text(facts.schema.to_json(), encoding="utf-8")
    (folder / "slots.json").write_text(json.dumps(facts.slot_columns), encoding="utf-8")
    (folder / _INDEX).write_text(json.dumps(body, indent=1), encoding="utf-8")


def is_parted(folder: Path) -> bool:
    """Whether a folder of coded records is an index of partitions."""
    return (folder / _INDEX).is_file()


def lacks_partitions(folder: Path) -> bool:
    """Whether a folder is an index, and a partition that it names is gone."""
    return is_parted(folder) and not all(part.store.holds(part.key) for part in _parts(_body(folder)))


def read_partitions(folder: Path, workers: Workers, prefix: str = "") -> PartitionedRecords:
    """The table that `write_partitions` wrote the index of.

    Args:
        folder: the index.
        workers: work on the partitions.
        prefix: see `PartitionedRecords`; needed where something is made of them in their store.
    """
    body = _body(folder)
    schema = Schema.from_json((folder / "schema.json").read_text(encoding="utf-8"))
    facts = CodedFacts(
        schema=schema,
        slot_columns=tuple(json.loads((folder / "slots.json").read_text(encoding="utf-8"))),
        values=read_dictionary(folder / "dictionary.parquet", len(schema.columns)),
        number_of_records=body["number_of_records"],
        has_tags=body["has_tags"],
    )
    return PartitionedRecords(_parts(body), facts, workers, prefix)


def _body(folder: Path) -> dict[str, Any]:
    body: dict[str, Any] = json.loads((folder / _INDEX).read_text(encoding="utf-8"))
    return body


def _parts(body: dict[str, Any]) -> list[StoredPart]:
    return [StoredPart(PartStore(root), key, sha256) for root, key, sha256 in body["parts"]]
