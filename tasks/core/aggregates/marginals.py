"""Exact counting: coded records in, marginals out (see `stored_marginals`), by DuckDB.

One partition of a table is counted by itself and gives a partial; partials of one table add up. One
partition is the ordinary case. What does not fit within the memory limit is spilled.
"""

import json
import math
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from tasks.core.aggregates.stored_marginals import (
    MarginalFacts,
    Marginals,
    MarginalsWriter,
    check_same_table,
    read_marginals,
    slot_choices,
    writing,
)
from tasks.core.queries import Resources, identifier, listed, render
from tasks.core.records.coded import read_dictionary
from tasks.core.records.columns import Schema

#: Called with the fraction done, 0..1.
Progress = Callable[[float], None]

#: A batch is one query: large enough to hide the cost of a query, small enough to sort in memory.
_QUERIES_IN_A_BATCH = 32
_CELLS_IN_A_BATCH = 1 << 22
_ROWS_A_READ = 1 << 18

#: A perfect hash table takes about this many bytes a cell and thread, outside DuckDB's memory limit.
_BYTES_A_CELL = 40
_MOST_BITS = 24


@dataclass(frozen=True)
class _Query:
    """One choice of slots: a GROUP BY whose cells belong to one combination."""

    combination_id: int
    slots: tuple[int, ...]
    repeated: tuple[int, ...]
    cells: int


def count_marginals(
    partitions: Path | Sequence[Path],
    destination: Path,
    workload: int | Sequence[tuple[int, ...]],
    resources: Resources = Resources(),
    progress: Progress | None = None,
) -> Marginals:
    """Count how many records hold each tuple of values (sds.md 2.1).

    Args:
        partitions: folders of coded records, partitions of one table; or the one folder.
        destination: an existing empty folder.
        workload: all combinations up to this length (-1: all lengths), or sets of column indexes.
        resources: memory, threads, scratch.
        progress: called with the fraction done.

    Returns:
        The stored marginals; the same bytes whatever the resources and the number of partitions.

    Raises:
        ParameterError: if the workload can't be formed of the columns.
        InternalError: if the partitions are not of one table.
    """
    folders = [partitions] if isinstance(partitions, Path) else list(partitions)
    report = progress or _silent
    if len(folders) == 1:
        return count_partition(folders[0], destination, workload, resources, report)
    with tempfile.TemporaryDirectory(dir=resources.scratch or destination.parent) as scratch:
        partials = []
        for index, folder in enumerate(folders):
            partial = Path(scratch) / f"partial_{index}"
            partial.mkdir()
            part = _share(report, index, len(folders) + 1)
            partials.append(count_partition(folder, partial, workload, resources, part))
        merged = merge_partials(partials, destination, resources)
    report(1.0)
    return merged


def count_partition(
    partition: Path,
    destination: Path,
    workload: int | Sequence[tuple[int, ...]],
    resources: Resources = Resources(),
    progress: Progress | None = None,
) -> Marginals:
    """Count one partition: a partial that `merge_partials` adds to others (see `count_marginals`)."""
    facts = facts_of(partition).with_workload(workload)
    report = progress or _silent
    facts.write(destination)
    with resources.connect() as connection:
        connection.execute(f"set perfect_ht_threshold = {_perfect_bits(resources)}")
        _load(connection, partition / "records.parquet", facts)
        for index, length in enumerate(facts.workload):
            share = _share(report, index, len(facts.workload))
            with writing(destination / f"marginals_{length}.parquet", length) as writer:
                _count_length(connection, facts, length, writer, share)
    report(1.0)
    return Marginals(destination, facts)


def merge_partials(
    partials: Sequence[Marginals], destination: Path, resources: Resources = Resources()
) -> Marginals:
    """Add up the marginals of the partitions of one table, into an existing empty folder.

    Raises:
        InternalError: if the partials are not of one table and workload.
    """
    facts = [partial.facts for partial in partials]
    check_same_table(facts)
    merged = replace(facts[0], number_of_records=sum(one.number_of_records for one in facts))
    merged.write(destination)
    with resources.connect() as connection:
        for length in merged.workload:
            text = render("aggregates/merge_partials", codes=listed(_codes(length)))
            paths = [str(partial.path(length)) for partial in partials]
            with writing(destination / f"marginals_{length}.parquet", length) as writer:
                _append(connection, text, writer, {"partials": paths})
    return read_marginals(destination)


def facts_of(partition: Path) -> MarginalFacts:
    """What the coded records of a folder are about; nothing counted yet."""
    schema = Schema.from_json((partition / "schema.json").read_text(encoding="utf-8"))
    return MarginalFacts(
        schema=schema,
        slot_columns=tuple(json.loads((partition / "slots.json").read_text(encoding="utf-8"))),
        values=read_dictionary(partition / "dictionary.parquet", len(schema.columns)),
        number_of_records=pq.read_metadata(partition / "records.parquet").num_rows,
        workload={},
    )


def _load(connection: duckdb.DuckDBPyConnection, records: Path, facts: MarginalFacts) -> None:
    names = [f"slot_{slot}" for slot in range(len(facts.slot_columns))]
    text = render("aggregates/load_records", slots=listed(names) or "record")
    connection.execute(text, {"records": str(records)})


def _count_length(
    connection: duckdb.DuckDBPyConnection,
    facts: MarginalFacts,
    length: int,
    writer: MarginalsWriter,
    progress: Progress,
) -> None:
    combinations = facts.counted(length)
    done = 0
    for batch in _batches(facts, combinations):
        _append(connection, _batch_text(batch, length), writer)
        done += len({query.combination_id for query in batch})
        progress(done / len(combinations))


def _batches(facts: MarginalFacts, combinations: dict[int, tuple[int, ...]]) -> Iterator[list[_Query]]:
    """Queries in the order of combinations; all of one combination are in one batch."""
    batch: list[_Query] = []
    for combination_id, combination in combinations.items():
        sizes = (len(facts.values[column]) + 1 for column in combination)
        cells = min(facts.number_of_records, math.prod(sizes))
        queries = [
            _Query(combination_id, slots, _repeated(slots, facts.slot_columns), cells)
            for slots in slot_choices(combination, facts.slot_columns)
        ]
        full = len(batch) + len(queries) > _QUERIES_IN_A_BATCH
        if batch and (full or sum(query.cells for query in batch) + cells > _CELLS_IN_A_BATCH):
            yield batch
            batch = []
        batch += queries
    if batch:
        yield batch


def _repeated(slots: tuple[int, ...], slot_columns: Sequence[int]) -> tuple[int, ...]:
    """Slots that are not the first of their column: few records fill them, so it pays to ask first."""
    return tuple(slot for slot in slots if slot and slot_columns[slot - 1] == slot_columns[slot])


def _batch_text(batch: list[_Query], length: int) -> str:
    one_choice_each = len({query.combination_id for query in batch}) == len(batch)
    return render(
        "aggregates/select_cells" if one_choice_each else "aggregates/sum_cells",
        cells="(" + "\nunion all\n".join(_cells_text(query) for query in batch) + ")",
        codes=listed(_codes(length)),
        present=" and ".join(f"{identifier(code)} > 0" for code in _codes(length)),
    )


def _cells_text(query: _Query) -> str:
    named = zip(query.slots, _codes(len(query.slots)), strict=True)
    return render(
        "aggregates/count_cells",
        combination_id=str(query.combination_id),
        codes=", ".join(f"{identifier(f'slot_{slot}')} as {identifier(code)}" for slot, code in named),
        filled=" and ".join(f"{identifier(f'slot_{slot}')} > 0" for slot in query.repeated) or "true",
    )


def _append(
    connection: duckdb.DuckDBPyConnection,
    text: str,
    writer: MarginalsWriter,
    values: dict[str, object] | None = None,
) -> None:
    for rows in connection.sql(text, params=values).to_arrow_reader(_ROWS_A_READ):
        writer.append(pa.Table.from_batches([rows]))


def _codes(length: int) -> list[str]:
    return [f"code_{place}" for place in range(1, length + 1)]


def _perfect_bits(resources: Resources) -> int:
    """Widest key that is counted by direct addressing: a quarter of the memory limit, at most 2^24."""
    if not resources.memory_limit_mb:
        return _MOST_BITS
    cells = (resources.memory_limit_mb << 20) // (4 * _BYTES_A_CELL * max(1, resources.threads or 2))
    return min(_MOST_BITS, max(1, cells.bit_length() - 1))


def _share(progress: Progress, index: int, parts: int) -> Progress:
    return lambda fraction: progress((index + fraction) / parts)


def _silent(_: float) -> None:
    return None
