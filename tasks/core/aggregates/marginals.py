"""Exact counting: coded records in, marginals out (see `stored_marginals`), by DuckDB.

DuckDB groups the records by a few sets of slots; every other set is rolled up from a larger one, in memory
(`grouping`). A set that is too large for memory is grouped and sorted alone, and spilled. Few records are
counted in memory (`cubes`), without a query.

Sets are counted in any order and stored in one: what arrives before its turn waits in memory, and beyond a
budget in a scratch file. Several sets of slots stand for one combination where a column is multi-valued:
they are added up when the last has arrived.

Of a table in several parts workers count each where it is, and what they counted is added up, a combination
of columns at a time, so that nobody holds more than one of each part:

    partitions     0   1   2  ...  7   8  ...       each counted into a part of the store
                   └── added up ───┘   └── ... ┘    by workers, up to 8 at a time
                         └──── added up ────┘       by the caller, into its folder
"""

import itertools
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import BinaryIO, TypeVar

import duckdb
import numpy as np
import pyarrow as pa

from tasks.core.aggregates.cubes import Tabulator, cells_of_length, tabulator
from tasks.core.aggregates.grouping import (
    Append,
    FilledCells,
    RecordsQueries,
    Shape,
    add_up,
    append_rows,
    fits,
    most_cells,
    plan_roll_ups,
    stored_combinations,
)
from tasks.core.aggregates.stored_marginals import (
    MarginalFacts,
    Marginals,
    MarginalsWriter,
    code_names,
    length_writer,
    read_marginals,
    slot_choices,
    table_schema,
)
from tasks.core.arrays import ShareDone, SlotNumbers
from tasks.core.errors import ClusterLost, InternalError
from tasks.core.parts.store import PartStore, StoredPart
from tasks.core.queries import QueryResources, filled_query, identifiers
from tasks.core.records.coded import CodedRecords, read_coded_facts, read_coded_records
from tasks.core.records.table import RecordTable

#: Counts a combination of which no cells are added: id, columns, and what takes its rows.
CountAlone = Callable[[int, tuple[int, ...], Append], None]


class SpillBuffer:
    """Cells that wait: in memory up to a number of bytes, then in a file."""

    def __init__(self, path: Path | None, memory: int) -> None:
        """``path``: a file to make; None: memory alone."""
        self._path, self._memory = path, memory
        self._file: BinaryIO | None = None

    def put(self, cells: FilledCells) -> Callable[[], FilledCells]:
        """What gives the cells back, once: they no longer count then."""
        arrays = (*cells.codes, cells.counts)
        number, size = len(arrays), sum(array.nbytes for array in arrays)
        if self._path is None or size <= self._memory:
            self._memory -= size

            def take() -> FilledCells:
                self._memory += size
                return cells

            return take
        file = self._file = self._file or self._path.open("w+b")
        offset = file.seek(0, os.SEEK_END)
        for array in arrays:
            np.save(file, array)

        def read() -> FilledCells:
            file.seek(offset)
            *codes, counts = (np.load(file) for _ in range(number))
            return FilledCells(tuple(codes), counts)

        return read

    def close(self) -> None:
        if self._file is not None and self._path is not None:
            self._file.close()
            self._path.unlink()


class LengthGatherer:
    """Writes the combinations of one length in the order of their ids, as soon as it is their turn.

        arrives     2        0        1
        written     -        0        1 2 3
        waiting     2        2        -

    Here 3 is too large to be added: it is counted alone, when its turn comes.
    """

    def __init__(
        self,
        facts: MarginalFacts,
        length: int,
        writer: MarginalsWriter,
        spool: SpillBuffer,
        count_alone: CountAlone,
        count_written: Callable[[], None],
    ) -> None:
        self._facts, self._writer, self._spool = facts, writer, spool
        self._count_alone, self._count_written = count_alone, count_written
        self._combinations = facts.combinations(length)
        self._ids = {combination: index for index, combination in enumerate(self._combinations)}
        self._next = 0
        self._missing: dict[int, int] = {}
        self._waiting: dict[int, list[Callable[[], FilledCells]]] = {}

    def expect(self, combination: tuple[int, ...], choices: int) -> None:
        self._missing[self._ids[combination]] = choices

    def add(self, slots: tuple[int, ...], cells: FilledCells) -> None:
        combination = tuple(self._facts.slot_columns[slot] for slot in slots)
        index = self._ids[combination]
        self._missing[index] -= 1
        if index == self._next and not self._missing[index] and index not in self._waiting:
            self._writer.append_cells(index, cells.codes, cells.counts)
            self._advance()
        else:
            self._waiting.setdefault(index, []).append(self._spool.put(cells))
        self._flush()

    def finish(self) -> None:
        self._flush()
        assert self._next == len(self._combinations)

    def _flush(self) -> None:
        while self._next < len(self._combinations) and not self._missing.get(self._next):
            combination = self._combinations[self._next]
            if self._next in self._missing:
                parts = [take() for take in self._waiting.pop(self._next)]
                sizes = [len(self._facts.values[column]) + 1 for column in combination]
                cells = add_up(parts, sizes)
                self._writer.append_cells(self._next, cells.codes, cells.counts)
            else:
                self._count_alone(self._next, combination, self._writer.append)
            self._advance()

    def _advance(self) -> None:
        self._count_written()
        self._next += 1


#: Counting so few records in memory takes less time than planning which cube is rolled up from which.
_FEW_RECORDS = 1 << 16
#: What waits for its turn: bytes, or a quarter of the memory limit.
_WAITING_BYTES = 256 << 20


def count_marginals(
    folder: Path,
    destination: Path,
    longest: int,
    resources: QueryResources = QueryResources(),
    report: ShareDone = lambda fraction: None,
) -> Marginals:
    """Count how many records hold each tuple of values (S2.1); the same bytes whatever the resources.

    ``destination``: an existing empty folder.
    ``longest``: combinations up to this length (-1: of all lengths).
    """
    about = read_coded_facts(folder)
    records = about.number_of_records
    facts = MarginalFacts(about.schema, about.slot_columns, about.values, records).up_to(longest)
    facts.write(destination)
    if records <= _FEW_RECORDS:
        write_counted(facts, tabulator(read_coded_records(folder), absent=False), destination, report)
        return Marginals(destination, facts)
    with resources.connect() as connection:
        queries = RecordsQueries(connection, folder, facts, resources)
        with _gatherers(facts, destination, queries, resources, report) as gatherers:
            _count(facts, queries, gatherers, most_cells(resources))
    report(1.0)
    return Marginals(destination, facts)


def write_counted(
    facts: MarginalFacts,
    counter: Tabulator,
    destination: Path,
    report: ShareDone = lambda fraction: None,
    *,
    absent: bool = False,
) -> None:
    for done, length in enumerate(facts.lengths, start=1):
        names = table_schema(length).names
        with length_writer(destination / f"marginals_{length}.parquet", length) as writer:
            for cells in cells_of_length(facts, counter, length, absent=absent):
                columns = [cells.combination_ids, *cells.codes.T, cells.counts]
                writer.append(pa.table(dict(zip(names, map(np.ascontiguousarray, columns), strict=True))))
        report(done / len(facts.lengths))


@contextmanager
def _gatherers(
    facts: MarginalFacts,
    destination: Path,
    queries: RecordsQueries,
    resources: QueryResources,
    report: ShareDone,
) -> Iterator[dict[int, LengthGatherer]]:
    with ExitStack() as stack:
        spill = None
        if resources.scratch is not None:
            folder = stack.enter_context(tempfile.TemporaryDirectory(dir=resources.scratch))
            spill = Path(folder) / "waiting"
        spool = SpillBuffer(spill, (resources.memory_limit_mb << 18) or _WAITING_BYTES)
        stack.callback(spool.close)
        total, written = sum(len(facts.combinations(length)) for length in facts.lengths), itertools.count(1)
        gatherers = {}
        for length in facts.lengths:
            writer = stack.enter_context(length_writer(destination / f"marginals_{length}.parquet", length))
            gatherers[length] = LengthGatherer(
                facts,
                length,
                writer,
                spool,
                queries.append_combination,
                lambda: report(next(written) / total),
            )
        yield gatherers
        for gatherer in gatherers.values():
            gatherer.finish()


def _count(
    facts: MarginalFacts, queries: RecordsQueries, gatherers: dict[int, LengthGatherer], most: int
) -> None:
    shape = queries.shape()
    targets: set[SlotNumbers] = set()
    for length, gatherer in gatherers.items():
        for combination in facts.combinations(length):
            choices = slot_choices(combination, facts.slot_columns)
            first = next(choices)
            if fits([shape.sizes[slot] for slot in first], shape.records, most):
                chosen = [first, *choices]
                gatherer.expect(combination, len(chosen))
                targets.update(chosen)
    for slots, cells in _rolled_up(plan_roll_ups(targets, shape, most), shape, queries):
        if slots in targets:
            gatherers[len(slots)].add(slots, cells.present())


def _rolled_up(
    parents: dict[SlotNumbers, SlotNumbers | None], shape: Shape, queries: RecordsQueries
) -> Iterator[tuple[SlotNumbers, FilledCells]]:
    """Every planned set with its cells, parents first; at any time only one line of descent is held."""
    children: dict[SlotNumbers | None, list[SlotNumbers]] = {}
    for slots in sorted(parents):
        children.setdefault(parents[slots], []).append(slots)

    def descend(slots: SlotNumbers, cells: FilledCells) -> Iterator[tuple[SlotNumbers, FilledCells]]:
        yield slots, cells
        below = children.get(slots, [])
        places = ([slots.index(slot) for slot in smaller] for smaller in below)
        rolled = cells.onto_each(places, [shape.sizes[slot] for slot in slots])
        for smaller, own in zip(below, rolled, strict=True):
            yield from descend(smaller, own)

    return itertools.chain.from_iterable(descend(root, queries.cube(root)) for root in children.get(None, ()))


def merge_partials(
    partials: Sequence[Marginals], destination: Path, resources: QueryResources = QueryResources()
) -> Marginals:
    """Add up the marginals of the partitions of one table, into an existing empty folder."""
    facts = [partial.facts for partial in partials]
    if any(replace(other, number_of_records=facts[0].number_of_records) != facts[0] for other in facts):
        raise InternalError("Partitions of one table must share schema, slots, dictionary and length.")
    merged = replace(facts[0], number_of_records=sum(partial.number_of_records for partial in facts))
    merged.write(destination)
    with resources.connect() as connection:
        for length in merged.lengths:
            paths = [partial.path(length) for partial in partials]
            with length_writer(destination / f"marginals_{length}.parquet", length) as writer:
                _merge_length(merged, length, paths, most_cells(resources), writer, connection)
    return read_marginals(destination)


def _merge_length(
    facts: MarginalFacts,
    length: int,
    paths: Sequence[Path],
    most: int,
    writer: MarginalsWriter,
    connection: duckdb.DuckDBPyConnection,
) -> None:
    """Add up the files of one length, in memory those combinations that have at most so many cells."""
    sizes_of = [
        [len(facts.values[column]) + 1 for column in combination]
        for combination in facts.combinations(length)
    ]

    def in_memory(index: int) -> bool:
        return fits(sizes_of[index], facts.number_of_records, most)

    readers = [stored_combinations(path, in_memory) for path in paths]
    heads = [next(reader, None) for reader in readers]
    text = filled_query("aggregates/merge_partials", codes=identifiers(code_names(length)))
    for index, sizes in enumerate(sizes_of):
        if not in_memory(index):
            values: dict[str, object] = {"partials": [str(path) for path in paths], "combination_id": index}
            append_rows(connection, text, writer.append, values)
            continue
        parts = []
        for place, head in enumerate(heads):
            if head is not None and head[0] == index:
                parts.append(head[1])
                heads[place] = next(readers[place], None)
        if parts:
            cells = add_up(parts, sizes)
            writer.append_cells(index, cells.codes, cells.counts)


R = TypeVar("R")
#: Counts a folder of coded records into an empty one, with ``resources``, as `count_marginals` leaves it.
CountFolder = Callable[..., object]
#: Makes one part of others, in an empty folder.
_Fill = Callable[[Sequence[StoredPart], Path, QueryResources], object]
#: So many parts are added up at a time: where parts are remote, each is copied to the machine's disk.
_MOST_ADDED = 8


def count_table(
    table: RecordTable,
    destination: Path,
    longest: int,
    resources: QueryResources = QueryResources(),
    report: ShareDone = lambda fraction: None,
) -> Marginals:
    """Count how many records of a table hold each tuple of values (see `count_marginals`).

    The stored marginals are the same bytes as of the whole table, however it is parted.
    """
    if table.folder is not None:
        return count_marginals(table.folder, destination, longest, resources, report)
    return add_up_parts(table, partial(count_marginals, longest=longest), destination, resources, report)


def add_up_parts(
    table: RecordTable,
    count: CountFolder,
    destination: Path,
    resources: QueryResources = QueryResources(),
    report: ShareDone = lambda fraction: None,
) -> Marginals:
    """The sum of what is counted in each part; nothing stays in the store.

    ``count`` can be sent; the scratch of a worker is where its store says.
    """
    home, sizes, made = f"{table.prefix}/counts", [len(table.parts)], itertools.count(1)
    while sizes[-1] > _MOST_ADDED:
        sizes.append(-(-sizes[-1] // _MOST_ADDED))

    def make_parts(
        name: str, fill: _Fill, level: int, groups: Sequence[Sequence[StoredPart]]
    ) -> list[StoredPart]:
        jobs = [(f"{home}/{level}/{place}", group) for place, group in enumerate(groups)]
        work = partial(_put, store=table.store, resources=resources, fill=fill)
        parts = []
        for part in table.workers.each(name, work, jobs):
            report(next(made) / (sum(sizes) + 1))  # the last step is what the caller adds up
            parts.append(part)
        return parts

    try:
        parts = make_parts("count", partial(_count_part, count), 0, [[part] for part in table.parts])
        for level in range(1, len(sizes)):
            groups = [parts[start : start + _MOST_ADDED] for start in range(0, len(parts), _MOST_ADDED)]
            sums = make_parts(f"add up {level}", _add_up_parts, level, groups)
            for part in parts:
                table.store.remove(part.key)
            parts = sums
        whole = _add_up_parts(parts, destination, resources)
    except ClusterLost:
        raise  # what is counted stays, for a run that goes on with it
    except BaseException:
        table.store.remove(home)
        raise
    table.store.remove(home)
    report(1.0)
    return whole


def each_beside(
    table: RecordTable, marginals: Marginals, name: str, work: Callable[[CodedRecords, Marginals], R]
) -> Iterator[R]:
    """What the work gives for each part beside the counts of the whole table, in order.

    They are in the store while the work is done, which can be sent.
    """
    key = f"{table.prefix}/marginals"
    counts = table.store.put(key, partial(shutil.copytree, marginals.folder, dirs_exist_ok=True))
    try:
        yield from table.workers.each(name, partial(_beside, counts=counts, work=work), table.parts)
    finally:
        table.store.remove(key)


def _beside(partition: StoredPart, counts: StoredPart, work: Callable[[CodedRecords, Marginals], R]) -> R:
    with partition.folder() as folder, counts.folder() as counted:
        return work(read_coded_records(folder), read_marginals(counted))


def _put(
    job: tuple[str, Sequence[StoredPart]],
    store: PartStore,
    resources: QueryResources,
    fill: _Fill,
) -> StoredPart:
    key, parts = job
    with tempfile.TemporaryDirectory(dir=store.own_scratch) as scratch:
        own = replace(resources, scratch=Path(scratch))
        return store.put(key, lambda into: fill(parts, into, own))


def _count_part(
    count: CountFolder, parts: Sequence[StoredPart], into: Path, resources: QueryResources
) -> None:
    (part,) = parts
    with part.folder() as folder:
        count(folder, into, resources=resources)


def _add_up_parts(parts: Sequence[StoredPart], into: Path, resources: QueryResources) -> Marginals:
    with ExitStack() as stack:
        partials = [read_marginals(stack.enter_context(part.folder())) for part in parts]
        return merge_partials(partials, into, resources)
