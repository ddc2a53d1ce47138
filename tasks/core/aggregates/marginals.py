"""Exact counting: coded records in, marginals out (see `stored_marginals`), by DuckDB.

DuckDB groups the records by a few sets of slots (`covering`); every other set is rolled up from a larger
one, in memory. A set that is too large for memory is grouped and sorted alone, and spilled. Few records are
counted in memory (`dense`), without a query. Partitions of one table may be counted apart, each giving a
partial; partials add up.
"""

import itertools
import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tasks.core.aggregates.cells import Cells, fits, most_cells
from tasks.core.aggregates.covering import Shape, Slots, plan
from tasks.core.aggregates.dense import cells_of_length, tabulator
from tasks.core.aggregates.gathering import LengthGatherer, RowBuffer, Spool, Ways, choices_of
from tasks.core.aggregates.grouping import RecordsQueries
from tasks.core.aggregates.stored_marginals import (
    MarginalFacts,
    Marginals,
    check_same_table,
    slot_choices,
    table_schema,
    writing,
)
from tasks.core.queries import Resources
from tasks.core.records.coded import CodedRecords, read_coded_records, read_dictionary
from tasks.core.records.columns import Schema

#: Called with the fraction done, 0..1.
Progress = Callable[[float], None]

#: Counting so few records in memory takes less time than planning which cube is rolled up from which.
_FEW_RECORDS = 1 << 16
#: What waits for its turn: bytes, or a quarter of the memory limit.
_WAITING_BYTES = 256 << 20


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
    every = [facts_of(folder) for folder in folders]
    check_same_table(every)
    records = sum(facts.number_of_records for facts in every)
    facts = replace(every[0].with_workload(workload), number_of_records=records)
    facts.write(destination)
    if records <= _FEW_RECORDS:
        _count_few(folders, facts, destination, report)
        return Marginals(destination, facts)
    with resources.connect() as connection:
        queries = RecordsQueries(connection, folders, facts, resources)
        with _gatherers(facts, destination, queries, resources, report) as gatherers:
            _count(facts, queries, gatherers, most_cells(resources))
    report(1.0)
    return Marginals(destination, facts)


def _count_few(folders: Sequence[Path], facts: MarginalFacts, destination: Path, report: Progress) -> None:
    """Count few records in memory."""
    partitions = [read_coded_records(folder) for folder in folders]
    slots = zip(*(partition.slots for partition in partitions), strict=True)
    records = CodedRecords(
        schema=facts.schema,
        slots=tuple(np.concatenate(parts) for parts in slots),
        slot_columns=facts.slot_columns,
        values=facts.values,
        number_of_records=facts.number_of_records,
    )
    counter = tabulator(records, absent=False)
    for done, length in enumerate(facts.workload, start=1):
        names = table_schema(length).names
        with writing(destination / f"marginals_{length}.parquet", length) as writer:
            for cells in cells_of_length(facts, counter, length):
                columns = [cells.combination_ids, *cells.codes.T, cells.counts]
                writer.append(pa.table(dict(zip(names, map(np.ascontiguousarray, columns), strict=True))))
        report(done / len(facts.workload))


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


@contextmanager
def _gatherers(
    facts: MarginalFacts, destination: Path, queries: RecordsQueries, resources: Resources, report: Progress
) -> Iterator[dict[int, LengthGatherer]]:
    """One gatherer a length, writing its file."""
    with ExitStack() as stack:
        spill = None
        if resources.scratch is not None:
            folder = stack.enter_context(tempfile.TemporaryDirectory(dir=resources.scratch))
            spill = Path(folder) / "waiting"
        spool = Spool(spill, (resources.memory_limit_mb << 18) or _WAITING_BYTES)
        stack.callback(spool.close)
        ways = Ways(spool, queries.append_combination, _counter(facts, report))
        gatherers = {}
        for length in facts.workload:
            writer = stack.enter_context(writing(destination / f"marginals_{length}.parquet", length))
            gatherers[length] = LengthGatherer(facts, length, RowBuffer(writer, length), ways)
        yield gatherers
        for gatherer in gatherers.values():
            gatherer.finish()


def _counter(facts: MarginalFacts, report: Progress) -> Callable[[], None]:
    """Reports the combinations written, as a fraction of all."""
    total = sum(len(facts.counted(length)) for length in facts.workload)
    written = itertools.count(1)
    return lambda: report(next(written) / total)


def _count(
    facts: MarginalFacts, queries: RecordsQueries, gatherers: dict[int, LengthGatherer], most: int
) -> None:
    """Count all that fits in memory, from the records down."""
    shape = queries.shape()
    targets: set[Slots] = set()
    for length, gatherer in gatherers.items():
        for combination in facts.counted(length).values():
            choices = slot_choices(combination, facts.slot_columns)
            first = next(choices)
            if fits([shape.sizes[slot] for slot in first], shape.records, most):
                gatherer.expect(combination, choices_of(facts, combination))
                targets.add(first)
                targets.update(choices)
    for slots, cells in _rolled_up(plan(targets, shape, most), shape, queries):
        if slots in targets:
            gatherers[len(slots)].add(slots, cells.present())


def _rolled_up(
    parents: dict[Slots, Slots | None], shape: Shape, queries: RecordsQueries
) -> Iterator[tuple[Slots, Cells]]:
    """Every planned set with its cells, parents first; at any time only one line of descent is held."""
    children: dict[Slots | None, list[Slots]] = {}
    for slots in sorted(parents):
        children.setdefault(parents[slots], []).append(slots)

    def descend(slots: Slots, cells: Cells) -> Iterator[tuple[Slots, Cells]]:
        yield slots, cells
        below = children.get(slots, [])
        places = ([slots.index(slot) for slot in smaller] for smaller in below)
        rolled = cells.onto_each(places, [shape.sizes[slot] for slot in slots])
        for smaller, own in zip(below, rolled, strict=True):
            yield from descend(smaller, own)

    return itertools.chain.from_iterable(descend(root, queries.cube(root)) for root in children.get(None, ()))


def _silent(_: float) -> None:
    return None
