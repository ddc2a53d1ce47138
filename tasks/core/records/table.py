"""A table is a list of parts: coded records, where each part of them lies, and who works on it.

One part in this process is the ordinary case. Parts share the schema, the slots and the dictionary, so that a
code means the same in each.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from tasks.core.arrays import Integers
from tasks.core.errors import InternalError
from tasks.core.parts.store import PartStore, StoredPart
from tasks.core.parts.workers import InProcess, Workers
from tasks.core.records.coded import (
    CodedFacts,
    CodedRecords,
    read_coded_facts,
    read_coded_records,
)

R = TypeVar("R")
#: The file that a folder has in the place of coded records where these lie in a store.
_INDEX = "partitions.json"


@dataclass(frozen=True)
class RecordTable:
    """The records of one table.

    Attributes:
        parts: in a store, folders that `CodedRecords.write` wrote, each once; some may hold no record. Of a
            table in this process none.
        folder: of a table in this process, where it lies; None where it is in memory alone.
    """

    facts: CodedFacts = field(repr=False)
    parts: Sequence[StoredPart] = ()
    workers: Workers = InProcess()
    prefix: str = "made"
    folder: Path | None = None

    def __post_init__(self) -> None:
        """Raises InternalError where a part is in it twice: its records would count twice."""
        if len({(part.store.root, part.key) for part in self.parts}) < len(self.parts):
            raise InternalError("Each part must be in a table once.")

    @classmethod
    def in_memory(cls, records: CodedRecords) -> "RecordTable":
        """A table of one part. Raises InternalError where they have other slots than they say."""
        table = cls(records.facts)
        table.__dict__["only"] = records
        return table

    @classmethod
    def in_folder(cls, folder: Path, workers: Workers = InProcess(), prefix: str = "") -> "RecordTable":
        """The table that `CodedRecords.write` wrote, or of whose parts `RecordTable.write` wrote the index.

        ``prefix`` is needed where something is made of the parts in their store.
        """
        if not is_parted(folder):
            return cls(read_coded_facts(folder), folder=folder)
        body = _read_index(folder)
        facts = CodedFacts.read(folder, body["number_of_records"], has_tags=body["has_tags"])
        return cls(facts, _indexed_parts(body), workers, prefix)

    def write(self, folder: Path) -> None:
        """Write an index of the parts into an existing empty folder, in the place of coded records.

        ``partitions.json`` (for each part its store, key and hash; the number of records),
        ``dictionary.parquet``, ``schema.json`` and ``slots.json``, as `CodedRecords.write` writes them.
        """
        facts = self.facts
        body = {
            "number_of_records": facts.number_of_records,
            "has_tags": facts.has_tags,
            "parts": [[part.store.root, part.key, part.sha256] for part in self.parts],
        }
        facts.write(folder)
        (folder / _INDEX).write_text(json.dumps(body, indent=1), encoding="utf-8")

    @cached_property
    def only(self) -> CodedRecords | None:
        if self.parts:
            return None
        if self.folder is None:
            raise InternalError("A table must be somewhere.")
        return read_coded_records(self.folder)

    @property
    def store(self) -> PartStore:
        return self.parts[0].store

    @property
    def number_of_records(self) -> int:
        return self.facts.number_of_records

    def each(self, name: str, work: Callable[[CodedRecords], R]) -> Iterator[R]:
        """What the work gives for the records of each part, in order (see `Workers.each`)."""
        if self.only is not None:
            return iter([work(self.only)])
        return self.workers.each(name, partial(_work_on_part, work=work), self.parts)

    def whole(self) -> CodedRecords:
        return self.only or _join_parts(list(map(_read_part, self.parts)))

    def at(self, places: Integers) -> CodedRecords:
        """The records at some places of the whole table, ascending: few enough for one process."""
        if self.only is not None:
            return _select_rows(self.only, places)
        sizes = list(self.workers.each("sizes", _read_size, self.parts))
        ends = np.cumsum(sizes)
        cuts = np.split(places, np.searchsorted(places, ends[:-1]))
        own = [cut - (end - size) for cut, end, size in zip(cuts, ends, sizes, strict=True)]
        jobs = list(zip(self.parts, own, strict=True))
        return _join_parts(list(self.workers.each("rows", _read_rows, jobs)))


def is_parted(folder: Path) -> bool:
    return (folder / _INDEX).is_file()


def lacks_parts(folder: Path) -> bool:
    return is_parted(folder) and not all(
        part.store.holds(part.key) for part in _indexed_parts(_read_index(folder))
    )


def _read_index(folder: Path) -> dict[str, Any]:
    body: dict[str, Any] = json.loads((folder / _INDEX).read_text(encoding="utf-8"))
    return body


def _indexed_parts(body: dict[str, Any]) -> list[StoredPart]:
    return [StoredPart(PartStore(root), key, sha256) for root, key, sha256 in body["parts"]]


def _read_size(part: StoredPart) -> int:
    with part.folder() as folder:
        return read_coded_facts(folder).number_of_records


def _read_part(part: StoredPart) -> CodedRecords:
    with part.folder() as folder:
        return read_coded_records(folder)


def _work_on_part(part: StoredPart, work: Callable[[CodedRecords], R]) -> R:
    return work(_read_part(part))


def _read_rows(job: tuple[StoredPart, Integers]) -> CodedRecords:
    part, places = job
    return _select_rows(_read_part(part), places)


def _select_rows(records: CodedRecords, places: Integers) -> CodedRecords:
    tags = None if records.tags is None else records.tags[places]
    slots = tuple(codes[places] for codes in records.slots)
    return replace(records, slots=slots, number_of_records=len(places), tags=tags)


def _join_parts(parts: Sequence[CodedRecords]) -> CodedRecords:
    tags = [part.tags for part in parts if part.tags is not None]
    return replace(
        parts[0],
        slots=tuple(np.concatenate(slots) for slots in zip(*(part.slots for part in parts), strict=True)),
        number_of_records=sum(part.number_of_records for part in parts),
        tags=np.concatenate(tags) if tags else None,
    )
