"""Marginals on disk: for each counted set of columns, how many records hold each tuple of values.

A folder: ``marginals.json`` (schema, slots, number of records, what was counted), ``dictionary.parquet``
(column_id, code, value) and, for each length k, ``marginals_<k>.parquet`` (combination_id uint32,
code_1..code_k uint32, count int64), sorted by combination_id and codes, tuples without an absent value
only. A combination id is the place in `MarginalFacts.combinations`. Equal marginals give equal bytes: row
groups hold a fixed number of rows, whoever counted and in however many batches.
"""

import functools
import itertools
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tasks.core.arrays import AnyIntegers, Codes
from tasks.core.errors import ParameterError, ResourceLimit
from tasks.core.records.coded import read_dictionary, write_dictionary
from tasks.core.records.columns import Schema

ROWS_IN_A_GROUP = 1 << 20
_ROWS_OF_CELLS = 1 << 17
#: Of a file or a query so many are in memory at once.
ROWS_A_READ = 1 << 18
#: Sets of columns that can be listed and planned in a few gigabytes.
MOST_COMBINATIONS = 4_000_000


@dataclass(frozen=True)
class MarginalFacts:
    """What marginals are about; two partials add up if they agree in all but the number of records.

    Attributes:
        slot_columns: for each slot of the coded records the index of its column, ascending.
        values: for each column the text of codes 1, 2, ...
        number_of_records: n, empty records included.
        longest: all combinations of up to so many attributes are counted.
    """

    schema: Schema
    slot_columns: tuple[int, ...]
    values: tuple[tuple[str, ...], ...]
    number_of_records: int
    longest: int = 0

    def combinations(self, length: int) -> list[tuple[int, ...]]:
        """All sets of columns of this length, in canonical order.

        The same as `Schema.combinations` wherever every cap is set; an uncapped column has as many slots
        as the records needed.
        """
        return list(_combinations(self.slot_columns, length))

    @property
    def lengths(self) -> tuple[int, ...]:
        return tuple(range(1, self.longest + 1))

    def up_to(self, length: int) -> "MarginalFacts":
        """The same of all combinations up to a length (-1: all lengths); ParameterError if it is none."""
        if length == 0 or length < -1:
            raise ParameterError(f"A reporting length is -1 (all) or at least 1, not {length}.")
        longest = len(self.slot_columns) if length == -1 else min(length, len(self.slot_columns))
        self._require_countable(longest)
        return replace(self, longest=longest)

    def _require_countable(self, longest: int) -> None:
        # No count goes into the message.
        # The choices of 0..m items of each column, multiplied as polynomials, by length. Of sex and up to two
        # languages, (1 + x)(1 + x + x^2) = 1 + 2x + 2x^2 + x^3: two sets of length 1, two of 2, one of 3.
        choices = [1]
        for _, same in itertools.groupby(self.slot_columns):
            most = len(list(same))
            grown = [sum(choices[max(0, k - most) : k + 1]) for k in range(len(choices) + most)]
            choices = grown[: longest + 1]
        if sum(choices) > MOST_COMBINATIONS:
            raise ResourceLimit(
                f"The sets of columns to count must be at most {MOST_COMBINATIONS:,}; up to the asked length "
                "the records have more. Give a shorter reporting_length, fewer columns in use_columns, or "
                "max_items of the columns with several items."
            )

    def write(self, folder: Path) -> None:
        """Write all but the counts into an existing folder."""
        body = {
            "schema": json.loads(self.schema.to_json()),
            "slot_columns": self.slot_columns,
            "number_of_records": self.number_of_records,
            "longest": self.longest,
        }
        text = json.dumps(body, sort_keys=True, indent=1, ensure_ascii=False) + "\n"
        (folder / "marginals.json").write_text(text, encoding="utf-8")
        write_dictionary(self.values, folder)


@functools.lru_cache(maxsize=64)
def _combinations(slot_columns: tuple[int, ...], length: int) -> tuple[tuple[int, ...], ...]:
    return tuple(sorted(set(itertools.combinations(slot_columns, length))))


@dataclass(frozen=True)
class Marginals:
    folder: Path
    facts: MarginalFacts

    @property
    def lengths(self) -> tuple[int, ...]:
        return self.facts.lengths

    def path(self, length: int) -> Path:
        return self.folder / f"marginals_{length}.parquet"


def read_marginals(folder: Path) -> Marginals:
    body = json.loads((folder / "marginals.json").read_text(encoding="utf-8"))
    schema = Schema.from_json(json.dumps(body["schema"]))
    facts = MarginalFacts(
        schema=schema,
        slot_columns=tuple(body["slot_columns"]),
        values=read_dictionary(folder, len(schema.columns)),
        number_of_records=body["number_of_records"],
        longest=body["longest"],
    )
    return Marginals(folder, facts)


def slot_choices(combination: tuple[int, ...], slot_columns: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Every choice of slots that a combination of columns stands for, each ascending.

    One for single-valued columns; for m of a multi-valued column's slots, all C(slots, m) choices.

    >>> list(slot_choices((0, 1, 1), slot_columns=(0, 1, 1, 1)))  # sex, and two of up to three languages
    [(0, 1, 2), (0, 1, 3), (0, 2, 3)]
    """
    places = slots_by_column(tuple(slot_columns))
    alone = [own[0] for column in combination if len(own := places.get(column, ())) == 1]
    if len(alone) == len(combination) == len(set(combination)):
        yield tuple(alone)
        return
    wanted = [(column, len(list(same))) for column, same in itertools.groupby(combination)]
    pools = [itertools.combinations(places.get(column, ()), size) for column, size in wanted]
    for choice in itertools.product(*pools):
        yield tuple(itertools.chain.from_iterable(choice))


@functools.lru_cache(maxsize=8)
def slots_by_column(slot_columns: tuple[int, ...]) -> dict[int, tuple[int, ...]]:
    found: dict[int, list[int]] = {}
    for slot, column in enumerate(slot_columns):
        found.setdefault(column, []).append(slot)
    return {column: tuple(slots) for column, slots in found.items()}


def table_schema(length: int) -> pa.Schema:
    codes = [(name, pa.uint32()) for name in code_names(length)]
    return pa.schema([("combination_id", pa.uint32()), *codes, ("count", pa.int64())])


def code_names(length: int) -> list[str]:
    return [f"code_{place}" for place in range(1, length + 1)]


class MarginalsWriter:
    """Takes rows in their final order, no value absent, and cuts them into row groups of one size."""

    def __init__(self, writer: pq.ParquetWriter, schema: pa.Schema) -> None:
        self._writer, self._schema = writer, schema
        self._pending: list[pa.Table] = []
        self._rows = 0
        self._cells: list[tuple[int, Sequence[Codes], AnyIntegers]] = []
        self._rows_of_cells = 0

    def append_cells(self, combination_id: int, codes: Sequence[Codes], counts: AnyIntegers) -> None:
        """Append the cells of a combination, ascending; those of many become one table."""
        self._cells.append((combination_id, codes, counts))
        self._rows_of_cells += len(counts)
        if self._rows_of_cells >= _ROWS_OF_CELLS:
            self._append_cells()

    def _append_cells(self) -> None:
        if not self._cells:
            return
        ids, codes, counts = zip(*self._cells, strict=True)
        self._cells, self._rows_of_cells = [], 0
        columns = [
            np.repeat(np.array(ids, np.uint32), [len(own) for own in counts]),
            *(np.concatenate(own, dtype=np.uint32) for own in zip(*codes, strict=True)),
            np.concatenate(counts, dtype=np.int64),
        ]
        self.append(pa.Table.from_arrays(list(map(pa.array, columns)), schema=self._schema))

    def append(self, rows: pa.Table) -> None:
        self._append_cells()
        self._pending.append(rows.cast(self._schema))
        self._rows += rows.num_rows
        while self._rows >= ROWS_IN_A_GROUP:
            self._write(ROWS_IN_A_GROUP)

    def finish(self) -> None:
        self._append_cells()
        if self._rows:
            self._write(self._rows)

    def _write(self, rows: int) -> None:
        # One chunk a group: page boundaries must not depend on how the rows arrived.
        everything = pa.concat_tables(self._pending)
        self._writer.write_table(everything.slice(0, rows).combine_chunks(), row_group_size=rows)
        self._pending = [everything.slice(rows)]
        self._rows -= rows


@contextmanager
def length_writer(path: Path, length: int) -> Iterator[MarginalsWriter]:
    schema = table_schema(length)
    with pq.ParquetWriter(path, schema, compression="zstd") as file:
        writer = MarginalsWriter(file, schema)
        yield writer
        writer.finish()
