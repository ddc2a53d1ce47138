"""Queries over the records of one table: coded records in; its shape, cubes and wide marginals out."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from tasks.core.aggregates.cells import Cells
from tasks.core.aggregates.covering import Shape, Slots
from tasks.core.aggregates.stored_marginals import MarginalFacts, slot_choices
from tasks.core.queries import Resources, identifier, listed, render

#: What is done with rows of the result, in order.
Append = Callable[[pa.Table], None]

_ROWS_A_READ = 1 << 18
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
        resources: Resources,
    ) -> None:
        """Load the records of all partitions."""
        self._connection, self._facts = connection, facts
        connection.execute(f"set perfect_ht_threshold = {_perfect_bits(resources)}")
        connection.execute("set preserve_insertion_order = false")
        text = render(
            "aggregates/load_records", slots=listed(_slots(range(len(facts.slot_columns)))) or "record"
        )
        connection.execute(text, {"records": [str(folder / "records.parquet") for folder in partitions]})

    def shape(self) -> Shape:
        """What covering needs to know, one pass a slot."""
        facts = self._facts
        sizes = tuple(len(facts.values[column]) + 1 for column in facts.slot_columns)
        if not sizes:
            return Shape(facts.number_of_records, (), (), ())
        texts = [
            render("aggregates/surprisals", index=str(index), slot=identifier(slot))
            for index, slot in enumerate(_slots(range(len(sizes))))
        ]
        rows = sorted(self._connection.sql("\nunion all\n".join(f"({text})" for text in texts)).fetchall())
        variances = tuple(max(0.0, square - mean * mean) for _, mean, square in rows)
        return Shape(facts.number_of_records, sizes, tuple(mean for _, mean, _ in rows), variances)

    def cube(self, slots: Slots) -> Cells:
        """The filled cells of a set of slots, in any order."""
        text = render("aggregates/count_cube", slots=listed(_slots(slots)))
        *codes, counts = (column.to_numpy() for column in self._connection.sql(text).to_arrow_table().columns)
        short = self._facts.number_of_records < 1 << 32
        return Cells(tuple(codes), counts.astype(np.uint32) if short else counts)

    def append_combination(self, combination_id: int, combination: tuple[int, ...], append: Append) -> None:
        """Count one combination of columns by sorting and spilling: rows in their final order."""
        choices = list(slot_choices(combination, self._facts.slot_columns))
        texts = [self._cells_text(combination_id, slots) for slots in choices]
        codes = [f"code_{place}" for place in range(1, len(combination) + 1)]
        text = render(
            "aggregates/select_cells" if len(choices) == 1 else "aggregates/sum_cells",
            cells="(" + "\nunion all\n".join(texts) + ")",
            codes=listed(codes),
            present=" and ".join(f"{identifier(code)} > 0" for code in codes),
        )
        append_rows(self._connection, text, append)

    def _cells_text(self, combination_id: int, slots: Slots) -> str:
        columns = self._facts.slot_columns
        # Few records fill a slot that is not the first of its column, so it pays to ask first.
        repeated = [slot for slot in slots if slot and columns[slot - 1] == columns[slot]]
        named = zip(_slots(slots), range(1, len(slots) + 1), strict=True)
        return render(
            "aggregates/count_cells",
            combination_id=str(combination_id),
            codes=", ".join(f"{identifier(slot)} as {identifier(f'code_{place}')}" for slot, place in named),
            filled=" and ".join(f"{identifier(slot)} > 0" for slot in _slots(repeated)) or "true",
        )


def append_rows(
    connection: duckdb.DuckDBPyConnection, text: str, append: Append, values: dict[str, object] | None = None
) -> None:
    """Read a result piece by piece."""
    for rows in connection.sql(text, params=values).to_arrow_reader(_ROWS_A_READ):
        append(pa.Table.from_batches([rows]))


def _slots(slots: Sequence[int]) -> list[str]:
    return [f"slot_{slot}" for slot in slots]


def _perfect_bits(resources: Resources) -> int:
    """Widest key that is counted by direct addressing: a quarter of the memory limit, at most 2^20."""
    if not resources.memory_limit_mb:
        return _MOST_BITS
    cells = (resources.memory_limit_mb << 20) // (4 * _BYTES_A_CELL * max(1, resources.threads or 2))
    return min(_MOST_BITS, max(1, int(math.log2(max(2, cells)))))
