"""Coded records: a table as small integers, and the dictionary that turns them back into text.

In memory: one unsigned array per slot (see `columns`), 0 = absent, code c of a column standing for
``values[column][c - 1]``.

    sex      languages             slots[0]  slots[1]  slots[2]     slot_columns = (0, 1, 1)
    female   French;Arabic    →       1         1         2         values = (("female", "male"),
    male     French                   2         2         0                   ("Arabic", "French"))

On disk: a folder with ``records.parquet`` (one column ``slot_<i>`` per slot,
and ``tag`` where there is one), ``dictionary.parquet`` (column_id, code, value), ``schema.json`` and
``slots.json``.
Coded records are sensitive, dictionary included.
"""

import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tasks.core.arrays import Codes, Flags, Words
from tasks.core.errors import InternalError
from tasks.core.records.columns import Schema
from tasks.core.stored_files import read_parquet

_DICTIONARY = "dictionary.parquet"


def code_type(size: int) -> type[np.unsignedinteger]:
    if size < 2**8:
        return np.uint8
    return np.uint16 if size < 2**16 else np.uint32


@dataclass(frozen=True)
class CodedRecords:
    """The records of one table (or of one partition of it).

    Attributes:
        slots: one array of n codes per slot. The items of a multi-valued column are distinct within
            a record, ascending over its slots, and fill the first slots.
        slot_columns: for each slot the index of its column; ascending.
        values: for each column the text of codes 1, 2, ...: the declared domain in declared order, or
            the values seen in code-point order.
        tags: n unsigned 64-bit tags, each a keyed function of its own record alone (R13), or None
            where the release takes no sample and drops nothing.
    """

    schema: Schema
    slots: tuple[Codes, ...]
    slot_columns: tuple[int, ...]
    values: tuple[tuple[str, ...], ...]
    number_of_records: int
    tags: Words | None = None

    @property
    def measured(self) -> "CodedRecords":
        """The same records without the columns that others decide, which stand last."""
        if self.schema.measured is self.schema:
            return self
        about = self.facts.measured
        return replace(
            self,
            schema=about.schema,
            slots=self.slots[: len(about.slot_columns)],
            slot_columns=about.slot_columns,
            values=about.values,
        )

    @property
    def facts(self) -> "CodedFacts":
        """What they are about. Raises InternalError where they have other slots than they say."""
        if len(self.slots) != len(self.slot_columns):
            raise InternalError("Coded records must have the slots that their columns need.")
        has_tags = self.tags is not None
        return CodedFacts(self.schema, self.slot_columns, self.values, self.number_of_records, has_tags)

    def write(self, folder: Path) -> None:
        """Write the four files into an existing empty folder; the same records give the same bytes."""
        columns = {f"slot_{index}": pa.array(codes) for index, codes in enumerate(self.slots)}
        if self.tags is not None:
            columns["tag"] = pa.array(self.tags)
        if not columns:
            columns["record"] = pa.nulls(self.number_of_records)
        pq.write_table(pa.table(columns), folder / "records.parquet", compression="zstd")
        self.facts.write(folder)


def flag_held(records: CodedRecords, column: int) -> Flags:
    """Which values of a column some record holds."""
    held = np.zeros(len(records.values[column]) + 1, dtype=np.bool_)
    for codes, of_slot in zip(records.slots, records.slot_columns, strict=True):
        if of_slot == column:
            held |= np.bincount(codes, minlength=len(held)) > 0
    return held[1:]


def keep_held_values(values: tuple[str, ...], held: Flags) -> tuple[tuple[str, ...], Codes | None]:
    """The values that some record holds, and the new code of each old one; None where all are held.

    What a cap, a conflict or a dropped row took away must not even be a candidate: an open domain is
    that of the records as they are counted (C7), or one subject could bring any number
    of values into it.

    >>> keep_held_values(("Lille", "Lyon", "Nice"), np.array([True, False, True]))
    (('Lille', 'Nice'), array([0, 1, 0, 2], dtype=uint8))
    """
    if held.all():
        return values, None
    number = int(held.sum())
    codes = np.zeros(len(values) + 1, code_type(number))
    codes[1:][held] = np.arange(1, number + 1)
    return tuple(itertools.compress(values, held)), codes


def recoded(records: CodedRecords, facts: "CodedFacts", new_codes: Sequence[Codes | None]) -> CodedRecords:
    """The records with the values of facts and as many slots; of each column the new code of each old one."""
    slots: list[Codes] = []
    for column, (values, table) in enumerate(zip(facts.values, new_codes, strict=True)):
        own = [codes for codes, of in zip(records.slots, records.slot_columns, strict=True) if of == column]
        own = own if table is None else [table[codes] for codes in own]
        empty = np.zeros(records.number_of_records, code_type(len(values)))
        slots += [*own, *[empty] * (facts.slot_columns.count(column) - len(own))]
    return replace(records, slots=tuple(slots), slot_columns=facts.slot_columns, values=facts.values)


def with_held_values(records: CodedRecords) -> CodedRecords:
    """The records with only those values of open columns that one of them holds (see `keep_held_values`)."""
    found = [
        keep_held_values(values, flag_held(records, column)) if about.is_open else (values, None)
        for column, (about, values) in enumerate(zip(records.schema.columns, records.values, strict=True))
    ]
    facts = replace(records.facts, values=tuple(values for values, _ in found))
    return recoded(records, facts, [codes for _, codes in found])


def write_dictionary(values: tuple[tuple[str, ...], ...], folder: Path) -> None:
    sizes = [len(column) for column in values]
    table = pa.table(
        {
            "column_id": pa.array(np.repeat(np.arange(len(sizes)), sizes), pa.uint16()),
            "code": pa.array([code for size in sizes for code in range(1, size + 1)], pa.uint32()),
            "value": pa.array([value for column in values for value in column], pa.string()),
        }
    )
    pq.write_table(table, folder / _DICTIONARY, compression="zstd")


def read_dictionary(folder: Path, number_of_columns: int) -> tuple[tuple[str, ...], ...]:
    values: list[list[str]] = [[] for _ in range(number_of_columns)]
    dictionary = read_parquet(folder / _DICTIONARY)
    columns = dictionary["column_id"].to_pylist()
    for column, value in zip(columns, dictionary["value"].to_pylist(), strict=True):
        values[column].append(value)
    return tuple(tuple(column) for column in values)


@dataclass(frozen=True)
class CodedFacts:
    """What a folder of coded records is about, without the records.

    Attributes:
        values: see `CodedRecords`; partitions of one table share them.
    """

    schema: Schema
    slot_columns: tuple[int, ...]
    values: tuple[tuple[str, ...], ...]
    number_of_records: int
    has_tags: bool

    @classmethod
    def read(cls, folder: Path, number_of_records: int, *, has_tags: bool) -> "CodedFacts":
        schema = Schema.from_json((folder / "schema.json").read_text(encoding="utf-8"))
        slot_columns = tuple(json.loads((folder / "slots.json").read_text(encoding="utf-8")))
        values = read_dictionary(folder, len(schema.columns))
        return cls(schema, slot_columns, values, number_of_records, has_tags)

    def write(self, folder: Path) -> None:
        """Write dictionary, schema and slots, which `read` reads."""
        write_dictionary(self.values, folder)
        (folder / "schema.json").write_text(self.schema.to_json(), encoding="utf-8")
        (folder / "slots.json").write_text(json.dumps(self.slot_columns), encoding="utf-8")

    @property
    def measured(self) -> "CodedFacts":
        """See `CodedRecords.measured`."""
        schema = self.schema.measured
        number = len(schema.columns)
        slot_columns = tuple(column for column in self.slot_columns if column < number)
        return replace(self, schema=schema, slot_columns=slot_columns, values=self.values[:number])


def read_coded_facts(folder: Path) -> CodedFacts:
    """What the records are about that `CodedRecords.write` wrote; none of them is read."""
    metadata = pq.read_metadata(folder / "records.parquet")
    return CodedFacts.read(folder, metadata.num_rows, has_tags="tag" in metadata.schema.names)


def read_coded_records(folder: Path) -> CodedRecords:
    facts = read_coded_facts(folder)
    table = read_parquet(folder / "records.parquet")
    return CodedRecords(
        schema=facts.schema,
        slots=tuple(table[f"slot_{index}"].to_numpy() for index in range(len(facts.slot_columns))),
        slot_columns=facts.slot_columns,
        values=facts.values,
        number_of_records=table.num_rows,
        tags=table["tag"].to_numpy() if facts.has_tags else None,
    )
