"""Queries over the records of one table: coded records in; its shape, cubes and wide marginals out.

The filled cells of a set of slots: codes and counts in, cells of fewer slots out.

All in memory and in order. A cell is one integer in mixed radix (its *key*), so that sets of slots have at
most `roll_ups.LARGEST_KEY` cells, empty ones included.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from tasks.core.aggregates.kernels import add_at
from tasks.core.aggregates.roll_ups import LARGEST_KEY, Shape
from tasks.core.aggregates.stored_marginals import ROWS_A_READ, MarginalFacts, code_names, slot_choices
from tasks.core.arrays import AnyIntegers, Codes, ColumnNumbers, SlotNumbers
from tasks.core.queries import QueryResources, filled_query, identifier, identifiers
from tasks.core.records.coded import code_type

#: Adding into an array of all cells beats sorting while there are at most so many cells a row.
_DENSE_CELLS_A_ROW = 6
_DENSE_CELLS = 1 << 14
_LARGEST_SHORT = 1 << 32


#: Cells in memory: at most so many, or what fits in a quarter of the memory limit.
_MOST_CELLS = 1 << 24
_BYTES_A_CODE = 48


def most_cells(resources: QueryResources) -> int:
    """How many cells of one set of slots are held in memory."""
    if not resources.memory_limit_mb:
        return _MOST_CELLS
    return min(_MOST_CELLS, (resources.memory_limit_mb << 18) // _BYTES_A_CODE)


def fits(sizes: Sequence[int], records: int, most: int) -> bool:
    """Whether a set of slots has at most ``most`` filled cells, each of which one integer tells."""
    product = math.prod(sizes)
    return min(records, product) <= most and product <= LARGEST_KEY


@dataclass(frozen=True)
class FilledCells:
    """Filled cells, each once.

    Attributes:
        codes: for each slot one code a cell, 0 = absent.
        counts: records a cell, uint32 or int64.
    """

    codes: tuple[Codes, ...]
    counts: AnyIntegers

    def onto_each(self, sets: Iterable[Sequence[int]], sizes: Sequence[int]) -> Iterator["FilledCells"]:
        """The cells of each of some sets of slots, ascending.

        Args:
            sets: indexes into `codes`; neighbours that differ in the last alone are cheaper.
            sizes: for each of `codes` the number of its values, the absent one included.
        """
        start: tuple[int, ...] | None = None
        for places in sets:
            own = [sizes[place] for place in places]
            product = math.prod(own)
            if tuple(places[:-1]) != start or product > _LARGEST_SHORT:
                start = tuple(places[:-1])
                first = _packed([self.codes[place] for place in start], own[:-1], product, len(self.counts))
            keys = np.multiply(first, first.dtype.type(own[-1]))
            np.add(keys, self.codes[places[-1]], out=keys)
            yield _added(keys, self.counts, own)

    def present(self) -> "FilledCells":
        """The cells in which no value is absent."""
        if not self.codes:
            return self
        filled = self.codes[0] > 0
        for codes in self.codes[1:]:
            filled &= codes > 0
        if filled.all():
            return self
        return FilledCells(tuple(codes[filled] for codes in self.codes), self.counts[filled])


def add_up(parts: Sequence[FilledCells], sizes: Sequence[int]) -> FilledCells:
    """The sum of cells of the same values, ascending; of one part, the part."""
    if len(parts) == 1:
        return parts[0]
    codes = [np.concatenate([part.codes[place] for part in parts]) for place in range(len(sizes))]
    counts = np.concatenate([part.counts for part in parts])
    return _added(_packed(codes, sizes, math.prod(sizes), len(counts)), counts, sizes)


def _added(keys: AnyIntegers, counts: AnyIntegers, sizes: Sequence[int]) -> FilledCells:
    # An array of all cells where these are few; else by sorting, key and count as one word where they fit it.
    product = math.prod(sizes)
    if product <= max(_DENSE_CELLS, _DENSE_CELLS_A_ROW * len(keys)):
        keys, counts = _added_densely(keys, counts, product)
    elif product <= _LARGEST_SHORT and counts.dtype == np.uint32:
        keys, counts = _sorted_as_one(keys, counts)
    else:
        keys, counts = _sorted(keys, counts)
    return FilledCells(_unpacked(keys, sizes), counts)


def _packed(codes: Sequence[Codes], sizes: Sequence[int], product: int, rows: int) -> AnyIntegers:
    """One number a row, of a kind that holds ``product`` of them: 32 bits are half the memory to walk."""
    kind = np.uint32 if product <= _LARGEST_SHORT else np.uint64
    keys: AnyIntegers = np.zeros(rows, kind) if not codes else codes[0].astype(kind)
    for own, size in zip(codes[1:], sizes[1:], strict=True):
        np.multiply(keys, kind(size), out=keys)
        np.add(keys, own, out=keys)
    return keys


def _unpacked(keys: AnyIntegers, sizes: Sequence[int]) -> tuple[Codes, ...]:
    codes: list[Codes] = []
    for size in reversed(sizes[1:]):
        rest = keys // keys.dtype.type(size)
        codes.append((keys - rest * keys.dtype.type(size)).astype(code_type(size - 1)))
        keys = rest
    codes.append(keys.astype(code_type(sizes[0] - 1)))
    return tuple(reversed(codes))


def _added_densely(keys: AnyIntegers, counts: AnyIntegers, product: int) -> tuple[AnyIntegers, AnyIntegers]:
    cells = np.zeros(product, counts.dtype)
    # The kernel is compiled for keys of 32 bits, which an array of all cells never exceeds, and for counts
    # that can be written: those of a file are copied.
    add_at(keys.astype(np.uint32, copy=False), np.require(counts, requirements="W"), cells)
    filled = np.flatnonzero(cells != 0)
    return filled.astype(keys.dtype), cells[filled]


def _sorted_as_one(keys: AnyIntegers, counts: AnyIntegers) -> tuple[AnyIntegers, AnyIntegers]:
    """Key and count in one word: words sort several times faster than an order is found."""
    words = keys.astype(np.uint64)
    words <<= np.uint64(32)
    words |= counts
    words.sort()
    return _runs((words >> np.uint64(32)).astype(keys.dtype), words.astype(np.uint32))


def _sorted(keys: AnyIntegers, counts: AnyIntegers) -> tuple[AnyIntegers, AnyIntegers]:
    order = np.argsort(keys, kind="stable")
    return _runs(keys[order], counts[order])


def _runs(keys: AnyIntegers, counts: AnyIntegers) -> tuple[AnyIntegers, AnyIntegers]:
    """Sorted keys once each, with the sum of their counts."""
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])[: len(keys)])
    if not len(starts):
        return keys, counts
    return keys[starts], np.add.reduceat(counts, starts, dtype=counts.dtype)


#: What is done with rows of the result, in order.
Append = Callable[[pa.Table], None]

#: A perfect hash table takes about this many bytes a cell and thread, outside DuckDB's memory limit.
_BYTES_A_CELL = 40
#: Beyond, clearing the table costs more than hashing.
_MOST_BITS = 20


class RecordsQueries:
    """The records of one table in DuckDB; what does not fit within its memory limit is spilled."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        partitions: Sequence[Path],
        facts: MarginalFacts,
        resources: QueryResources,
    ) -> None:
        """Load the records of all partitions."""
        self._connection, self._facts = connection, facts
        connection.execute(f"set perfect_ht_threshold = {_perfect_bits(resources)}")
        connection.execute("set preserve_insertion_order = false")
        text = filled_query(
            "aggregates/load_records", slots=identifiers(_slots(range(len(facts.slot_columns)))) or "record"
        )
        connection.execute(text, {"records": [str(folder / "records.parquet") for folder in partitions]})

    def shape(self) -> Shape:
        """What planning the roll-ups needs to know, one pass a slot."""
        facts = self._facts
        sizes = tuple(len(facts.values[column]) + 1 for column in facts.slot_columns)
        if not sizes:
            return Shape(facts.number_of_records, (), (), ())
        texts = [
            filled_query("aggregates/surprisals", index=str(index), slot=identifier(slot))
            for index, slot in enumerate(_slots(range(len(sizes))))
        ]
        rows = sorted(self._connection.sql("\nunion all\n".join(f"({text})" for text in texts)).fetchall())
        variances = tuple(max(0.0, square - mean * mean) for _, mean, square in rows)
        return Shape(facts.number_of_records, sizes, tuple(mean for _, mean, _ in rows), variances)

    def cube(self, slots: SlotNumbers) -> FilledCells:
        """The filled cells of a set of slots, in any order."""
        text = filled_query("aggregates/count_cube", slots=identifiers(_slots(slots)))
        *codes, counts = (column.to_numpy() for column in self._connection.sql(text).to_arrow_table().columns)
        short = self._facts.number_of_records < 1 << 32
        return FilledCells(tuple(codes), counts.astype(np.uint32) if short else counts)

    def append_combination(self, combination_id: int, combination: tuple[int, ...], append: Append) -> None:
        """Count one combination of columns by sorting and spilling: rows in their final order."""
        append_rows(
            self._connection, cells_query(combination_id, combination, self._facts.slot_columns), append
        )


def cells_query(combination_id: int, combination: ColumnNumbers, slot_columns: tuple[int, ...]) -> str:
    """The query that counts one combination of columns in a table ``records``, which has a column a slot.

    A warehouse that knows PostgreSQL's SQL understands it too.

    Args:
        combination_id: what the rows say of themselves.
        combination: its columns.
        slot_columns: for each slot the index of its column.
    """
    choices = list(slot_choices(combination, slot_columns))
    texts = [_choice_query(combination_id, slots, slot_columns) for slots in choices]
    codes = code_names(len(combination))
    return filled_query(
        "aggregates/select_cells" if len(choices) == 1 else "aggregates/sum_cells",
        cells="(" + "\nunion all\n".join(texts) + ")",
        codes=identifiers(codes),
        present=" and ".join(f"{identifier(code)} > 0" for code in codes),
    )


def _choice_query(combination_id: int, slots: SlotNumbers, slot_columns: tuple[int, ...]) -> str:
    # Few records fill a slot that is not the first of its column, so it pays to ask first.
    repeated = [slot for slot in slots if slot and slot_columns[slot - 1] == slot_columns[slot]]
    codes = [identifier(code) for code in code_names(len(slots))]
    named = zip(_slots(slots), codes, strict=True)
    return filled_query(
        "aggregates/count_cells",
        combination_id=str(combination_id),
        codes=", ".join(f"{identifier(slot)} as {code}" for slot, code in named),
        filled=" and ".join(f"{identifier(slot)} > 0" for slot in _slots(repeated)) or "true",
        names=", ".join(codes),
    )


def append_rows(
    connection: duckdb.DuckDBPyConnection, text: str, append: Append, values: dict[str, object] | None = None
) -> None:
    """Read a result piece by piece."""
    for rows in connection.sql(text, params=values).to_arrow_reader(ROWS_A_READ):
        append(pa.Table.from_batches([rows]))


def _slots(slots: Sequence[int]) -> list[str]:
    return [f"slot_{slot}" for slot in slots]


def _perfect_bits(resources: QueryResources) -> int:
    """Widest key that is counted by direct addressing: a quarter of the memory limit, at most 2^20."""
    if not resources.memory_limit_mb:
        return _MOST_BITS
    cells = (resources.memory_limit_mb << 20) // (4 * _BYTES_A_CELL * max(1, resources.threads or 2))
    return min(_MOST_BITS, max(1, int(math.log2(max(2, cells)))))
