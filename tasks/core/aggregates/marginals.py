"""Exact counting: coded records in, marginals out (see `stored_marginals`), by DuckDB.

DuckDB groups the records by a few sets of slots (`covering`); every other set is rolled up from a larger
one, in memory. A set that is too large for memory is grouped and sorted alone, and spilled. Partitions of
one table may be counted apart, each giving a partial; partials add up.
"""

import itertools
import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq

from tasks.core.aggregates.cells import Cells
from tasks.core.aggregates.covering import LARGEST_KEY, Shape, Slots, plan
from tasks.core.aggregates.gathering import LengthGatherer, Spool, choices_of
from tasks.core.aggregates.grouping import RecordsQueries, append_rows
from tasks.core.aggregates.stored_marginals import (
    MarginalFacts,
    Marginals,
    check_same_table,
    read_marginals,
    slot_choices,
    writing,
)
from tasks.core.queries import Resources, listed, render
from tasks.core.records.coded import read_dictionary
from tasks.core.records.columns import Schema

#: Called with the fraction done, 0..1.
Progress = Callable[[float], None]

#: Cells in memory: at most so many, or what fits in a quarter of the memory limit.
_MOST_CELLS = 1 << 24
_BYTES_A_CELL = 64
#: What waits for its turn: bytes, or another quarter of the memory limit.
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
    with resources.connect() as connection:
        queries = RecordsQueries(connection, folders, facts, resources)
        with _gatherers(facts, destination, queries, resources) as gatherers:
            _count(facts, queries, gatherers, _most_cells(resources), report)
    report(1.0)
    return Marginals(destination, facts)


def count_partition(
    partition: Path,
    destination: Path,
    workload: int | Sequence[tuple[int, ...]],
    resources: Resources = Resources(),
    progress: Progress | None = None,
) -> Marginals:
    """Count one partition: a partial that `merge_partials` adds to others (see `count_marginals`)."""
    return count_marginals(partition, destination, workload, resources, progress)


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
            codes = listed([f"code_{place}" for place in range(1, length + 1)])
            text = render("aggregates/merge_partials", codes=codes)
            paths = [str(partial.path(length)) for partial in partials]
            with writing(destination / f"marginals_{length}.parquet", length) as writer:
                append_rows(connection, text, writer.append, {"partials": paths})
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


@contextmanager
def _gatherers(
    facts: MarginalFacts, destination: Path, queries: RecordsQueries, resources: Resources
) -> Iterator[dict[int, LengthGatherer]]:
    """One gatherer a length, writing its file."""
    with ExitStack() as stack:
        spill = None
        if resources.scratch is not None:
            folder = stack.enter_context(tempfile.TemporaryDirectory(dir=resources.scratch))
            spill = Path(folder) / "waiting"
        spool = Spool(spill, (resources.memory_limit_mb << 18) or _WAITING_BYTES)
        stack.callback(spool.close)
        gatherers = {}
        for length in facts.workload:
            writer = stack.enter_context(writing(destination / f"marginals_{length}.parquet", length))
            gatherers[length] = LengthGatherer(facts, length, writer, spool, queries.append_combination)
        yield gatherers
        for gatherer in gatherers.values():
            gatherer.finish()


def _count(
    facts: MarginalFacts,
    queries: RecordsQueries,
    gatherers: dict[int, LengthGatherer],
    most_cells: int,
    report: Progress,
) -> None:
    """Count all that fits in memory, from the records down."""
    shape = queries.shape()
    targets: set[Slots] = set()
    for length, gatherer in gatherers.items():
        for combination in facts.counted(length).values():
            first = next(slot_choices(combination, facts.slot_columns))
            if shape.bound(first) <= most_cells and shape.product(first) <= LARGEST_KEY:
                gatherer.expect(combination, choices_of(facts, combination))
                targets.update(slot_choices(combination, facts.slot_columns))
    done = 0
    for slots, cells in _rolled_up(plan(targets, shape, most_cells), shape, queries):
        if slots in targets:
            gatherers[len(slots)].add(slots, cells.present())
            done += 1
            report(done / len(targets))


def _rolled_up(
    parents: dict[Slots, Slots | None], shape: Shape, queries: RecordsQueries
) -> Iterator[tuple[Slots, Cells]]:
    """Every planned set with its cells, parents first; at any time only one line of descent is held."""
    children: dict[Slots | None, list[Slots]] = {}
    for slots in sorted(parents):
        children.setdefault(parents[slots], []).append(slots)

    def descend(slots: Slots, cells: Cells) -> Iterator[tuple[Slots, Cells]]:
        yield slots, cells
        for smaller in children.get(slots, ()):
            places = [slots.index(slot) for slot in smaller]
            yield from descend(smaller, cells.onto(places, [shape.sizes[slot] for slot in smaller]))

    return itertools.chain.from_iterable(descend(root, queries.cube(root)) for root in children.get(None, ()))


def _most_cells(resources: Resources) -> int:
    if not resources.memory_limit_mb:
        return _MOST_CELLS
    return min(_MOST_CELLS, (resources.memory_limit_mb << 18) // _BYTES_A_CELL)


def _silent(_: float) -> None:
    return None
