"""Aggregates: how many records hold each combination of attributes, as SDS's users know them.

Here an *attribute* is (header, value), and a multi-valued column ``A`` is one header ``A_x`` with the
single value ``1`` for each item ``x``, as in SDS's wide form (S1.4). A combination is a strictly
ascending row of attribute ids; ids follow the code-point order of ``header:value`` (S2.1), so a
row is already in the order in which its text is written.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tasks.core.arrays import Flags, Ids, Integers
from tasks.core.stored_files import read_parquet


@dataclass(frozen=True)
class Attribute:
    """One attribute of the wide form; ``column`` is the index of its source in the public schema."""

    header: str
    value: str
    column: int
    item: str | None = None

    @property
    def text(self) -> str:
        return f"{self.header}:{self.value}"


@dataclass(frozen=True)
class Aggregates:
    """Counts of combinations by length, over one list of attributes.

        attributes       0 sex:female   1 sex:male   2 town:Lyon
        combinations[0]  [0] [1] [2]          counts[0]  60 40 70
        combinations[1]  [0, 2] [1, 2]        counts[1]  45 25       45 women live in Lyon

    Attributes:
        headers: all headers of the wide form in output order: file order, items of a multi-valued
            column in place, by code point (S1.2, S1.4).
        attributes: ascending by ``text``; a combination's id i stands for ``attributes[i]``.
        number_of_records: the (protected) one.
        combinations: for each length 1..R an int32 array (N_k, k), rows ascending within and
            lexicographic among each other; of each the count is in ``counts``, int64 (N_k,).
    """

    headers: tuple[str, ...]
    attributes: tuple[Attribute, ...]
    number_of_records: int
    combinations: tuple[Ids, ...]
    counts: tuple[Integers, ...]

    @property
    def reporting_length(self) -> int:
        return len(self.combinations)

    def up_to(self, length: int) -> "Aggregates":
        """The same counts to another R; lengths beyond the own R are without a combination."""
        more = range(self.reporting_length + 1, length + 1)
        return replace(
            self,
            combinations=(*self.combinations[:length], *(np.empty((0, k), np.int32) for k in more)),
            counts=(*self.counts[:length], *(np.empty(0, np.int64) for _ in more)),
        )

    def write(self, folder: Path) -> None:
        """Write ``attributes.parquet`` and ``aggregates_<k>.parquet`` into an existing empty folder."""
        about = {
            b"headers": json.dumps(self.headers).encode(),
            b"number_of_records": str(self.number_of_records).encode(),
            b"reporting_length": str(self.reporting_length).encode(),
        }
        attributes = attribute_table(self.attributes).replace_schema_metadata(about)
        pq.write_table(attributes, folder / "attributes.parquet")
        for length, (ids, counts) in enumerate(zip(self.combinations, self.counts, strict=True), start=1):
            columns = {f"attribute_{i + 1}": pa.array(ids[:, i]) for i in range(length)}
            pq.write_table(
                pa.table({**columns, "count": pa.array(counts)}),
                folder / f"aggregates_{length}.parquet",
                compression="zstd",
            )


def attribute_table(attributes: Sequence[Attribute]) -> pa.Table:
    return pa.table(
        {
            "header": pa.array([a.header for a in attributes], pa.string()),
            "value": pa.array([a.value for a in attributes], pa.string()),
            "column_id": pa.array([a.column for a in attributes], pa.int32()),
            "item": pa.array([a.item for a in attributes], pa.string()),
        }
    )


def attributes_of_table(table: pa.Table) -> tuple[Attribute, ...]:
    return tuple(
        Attribute(row["header"], row["value"], row["column_id"], row["item"]) for row in table.to_pylist()
    )


def read_number_of_records(folder: Path) -> int:
    return int(pq.read_schema(folder / "attributes.parquet").metadata[b"number_of_records"])


def read_aggregates(folder: Path) -> Aggregates:
    table = read_parquet(folder / "attributes.parquet")
    about = table.schema.metadata
    combinations, counts = [], []
    for length in range(1, int(about[b"reporting_length"]) + 1):
        stored = read_parquet(folder / f"aggregates_{length}.parquet")
        ids = [stored[f"attribute_{i + 1}"].to_numpy() for i in range(length)]
        combinations.append(np.stack(ids, axis=1))
        counts.append(stored["count"].to_numpy())
    return Aggregates(
        headers=tuple(json.loads(about[b"headers"])),
        attributes=attributes_of_table(table),
        number_of_records=int(about[b"number_of_records"]),
        combinations=tuple(combinations),
        counts=tuple(counts),
    )


#: In place of a noisy count where a combination was not measured.
NOT_MEASURED = np.iinfo(np.int64).min


class Ranges(NamedTuple):
    """Where the true counts of the combinations of one length may lie, by the noise alone.

    Attributes:
        noisy: int64, the count as drawn (several draws: their mean by variance); see ``measured``.
        least_squares: int64, what all noisy tables together say, at least 0; `NOT_MEASURED` where none holds
            the columns together.
        at_least, at_most: int64, where the true count lies by the noise of 95 of 100 draws.
    """

    noisy: Integers
    least_squares: Integers
    at_least: Integers
    at_most: Integers

    @property
    def measured(self) -> Flags:
        measured: Flags = self.noisy != NOT_MEASURED
        return measured


def measured_numbers(numbers: Integers) -> pa.Array:
    return pa.array(numbers, mask=numbers == NOT_MEASURED)


def as_drawn(aggregates: Aggregates, ranges: Sequence[Ranges]) -> Aggregates:
    """The combinations that were measured, with their noisy counts, at least 0; all others left out.

    The number of records and the list of attributes stay.
    """
    kept = [found.measured for found in ranges]
    return replace(
        aggregates,
        combinations=tuple(ids[rows] for ids, rows in zip(aggregates.combinations, kept, strict=True)),
        counts=tuple(np.maximum(found.noisy[rows], 0) for found, rows in zip(ranges, kept, strict=True)),
    )


def read_all_ranges(folder: Path, longest: int) -> list[Ranges]:
    """Those of all lengths, that `write_all_ranges` wrote; none where it wrote none."""
    paths = [folder / f"ranges_{length}.parquet" for length in range(1, longest + 1)]
    tables = [read_parquet(path) for path in paths if path.is_file()]
    names = Ranges._fields
    return [Ranges(*(table[name].fill_null(NOT_MEASURED).to_numpy() for name in names)) for table in tables]


def write_all_ranges(ranges: Sequence[Ranges], folder: Path) -> None:
    """A Parquet file a length; null where nothing was measured."""
    for length, found in enumerate(ranges, start=1):
        table = {name: measured_numbers(numbers) for name, numbers in found._asdict().items()}
        pq.write_table(pa.table(table), folder / f"ranges_{length}.parquet", compression="zstd")
