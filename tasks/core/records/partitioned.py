"""A table in partitions: coded records that nobody holds all of, and who works on them where they are.

Partitions share the schema, the slots and the dictionary, so that a code means the same in each. What is
counted in each is then added up.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tasks.core.errors import InternalError
from tasks.core.parts.store import StoredPart
from tasks.core.parts.workers import Workers
from tasks.core.records.coded import CodedFacts, CodedRecords, read_coded_facts


@dataclass(frozen=True)
class PartitionedRecords:
    """Coded records in partitions.

    Attributes:
        partitions: folders that `CodedRecords.write` wrote, each once.
        facts: of the whole table.
        workers: read the partitions.
    """

    partitions: Sequence[StoredPart]
    facts: CodedFacts = field(repr=False)
    workers: Workers

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


#: A table as a draw takes it: whole, or in partitions.
AnyRecords = CodedRecords | PartitionedRecords


def _told(partition: StoredPart) -> tuple[str, int, bool]:
    """Of a partition a hash of what all share, its number of records, and whether they have tags."""
    with partition.folder() as folder:
        facts = read_coded_facts(folder)
    shared = json.dumps([facts.schema.to_json(), facts.slot_columns, facts.values])
    return hashlib.sha256(shared.encode()).hexdigest(), facts.number_of_records, facts.has_tags
