"""All partitions get the same values and slots: those that a record of any of them needs.

An open column's values are those of the records as they are counted (see `held_values`), and a column without
a cap has as many slots as the fullest record of all fills.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from tasks.core.arrays import Codes, Flags
from tasks.core.parts.store import StoredPart
from tasks.core.parts.workers import Workers
from tasks.core.records.coded import CodedFacts, code_type, read_coded_records
from tasks.core.records.columns import Schema
from tasks.core.records.partitioned import PartitionedRecords
from tasks.core.records.partitions.joining import JoinedPartition
from tasks.core.records.partitions.pieces import Values
from tasks.core.records.partitions.plan import PartitionPlace


@dataclass(frozen=True)
class _Settling:
    """What is the same in all partitions.

    Attributes:
        values: of each column, those that a record holds.
        codes: for each column the code of each earlier one; None where none changes.
        widths: of each column, its slots.
        place: where parts go.
    """

    values: Values
    codes: tuple[Codes | None, ...]
    widths: tuple[int, ...]
    place: PartitionPlace

    @property
    def slot_columns(self) -> tuple[int, ...]:
        """For each slot its column."""
        return tuple(column for column, width in enumerate(self.widths) for _ in range(width))


def settled_partitions(
    joined: Sequence[JoinedPartition], place: PartitionPlace, workers: Workers
) -> PartitionedRecords:
    """Take values that no record of any partition holds out of all, and give all as many slots."""
    first = joined[0].facts
    codes: list[Codes | None] = []
    values = []
    for column, own in enumerate(first.values):
        flags = [each.held[column] for each in joined]
        kept, of_column = _held_anywhere([each for each in flags if each is not None], own)
        codes.append(of_column)
        values.append(kept)
    number = len(first.schema.columns)
    widths = [max(each.facts.slot_columns.count(column) for each in joined) for column in range(number)]
    settling = _Settling(tuple(values), tuple(codes), tuple(widths), place)
    whole = CodedFacts.of_whole([each.facts for each in joined])
    whole = replace(whole, values=settling.values, slot_columns=settling.slot_columns)
    is_settled = all(each is None for each in codes) and all(
        each.facts.slot_columns == whole.slot_columns for each in joined
    )
    if not _may_need_settling(whole.schema):
        return PartitionedRecords([each.part for each in joined], whole, workers)
    # A single person decides whether there is anything to do, and the run's page shows each part of the work:
    # so it is given out whether or not there is.
    parts = list(workers.each("settle", partial(_settle, None if is_settled else settling), list(joined)))
    if not is_settled:
        place.store.remove(place.key("records"))
    return PartitionedRecords(parts, whole, workers)


def _may_need_settling(schema: Schema) -> bool:
    """Whether values may go, or slots come: a public fact."""
    return any(
        column.is_open or (column.is_multi_valued and not column.max_items) for column in schema.columns
    )


def _held_anywhere(flags: Sequence[Flags], values: tuple[str, ...]) -> tuple[tuple[str, ...], Codes | None]:
    """The values that are held, and the new code of each old one; None where all are."""
    if not flags:
        return values, None
    held = np.logical_or.reduce(flags)
    if held.all():
        return values, None
    codes = np.zeros(len(values) + 1, code_type(int(held.sum())))
    codes[1:][held] = np.arange(1, int(held.sum()) + 1)
    return tuple(itertools.compress(values, held)), codes


def _settle(how: _Settling | None, joined: JoinedPartition) -> StoredPart:
    if how is None:
        return joined.part
    with joined.part.folder() as folder:
        records = read_coded_records(folder)
    slots: list[Codes] = []
    for column, width in enumerate(how.widths):
        own = [codes for codes, of in zip(records.slots, records.slot_columns, strict=True) if of == column]
        table = how.codes[column]
        own = own if table is None else [table[codes] for codes in own]
        kind = code_type(len(how.values[column]))
        empty = [np.zeros(records.number_of_records, kind) for _ in range(width - len(own))]
        slots.extend([*own, *empty])
    settled = replace(records, slots=tuple(slots), slot_columns=how.slot_columns, values=how.values)
    return how.place.store.put(how.place.key("settled", joined.number), settled.write)
