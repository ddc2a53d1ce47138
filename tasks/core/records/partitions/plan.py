"""What every worker knows of a table that is read in partitions."""

from dataclasses import dataclass, field

from tasks.core.arrays import Integers
from tasks.core.parts.store import PartStore
from tasks.core.records.columns import Schema
from tasks.core.records.joining import Joining
from tasks.core.records.keyed_choices import KeyedChoices
from tasks.core.tables.batches import row_number
from tasks.core.tables.header import InputFile


@dataclass(frozen=True)
class PartitionPlace:
    """Where partitions go, and how many there are.

    Attributes:
        number: of partitions, and of blocks; declared.
        store: where.
        prefix: of their keys.
    """

    number: int
    store: PartStore
    prefix: str

    def key(self, *names: object) -> str:
        """Of a part of theirs."""
        return "/".join([self.prefix, *map(str, names)])


@dataclass(frozen=True)
class PartitionPlan:
    """What every worker knows.

    Attributes:
        source: unopened.
        schema: the whole one.
        positions: of its measured columns in the input.
        subject: position of the subject id.
        key: the workspace's secret.
        total, tags, filled: see `EncodingOptions`.
        place: where parts go.
    """

    source: InputFile
    schema: Schema
    positions: tuple[int, ...]
    subject: int | None
    key: bytes = field(repr=False)
    total: bool
    tags: bool
    filled: tuple[int, ...]
    place: PartitionPlace

    @property
    def wanted(self) -> list[int]:
        """Positions of all columns that are read."""
        return [*self.positions, *([] if self.subject is None else [self.subject])]

    def joining(self, places: Integers | None = None) -> Joining:
        """How rows are joined. Args: places: of the rows in the input."""
        return Joining(
            schema=self.schema.measured,
            choices=KeyedChoices(self.key),
            total=self.total,
            tags=self.tags,
            positions=self.positions,
            row_number=lambda row: row_number(self.source, row if places is None else int(places[row])),
        )
