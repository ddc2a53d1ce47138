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
import math
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
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

_ROWS_AN_APPEND = 1 << 17

#: Counts a combination of which no cells are added: id, columns, and what takes its rows.
CountAlone = Callable[[int, tuple[int, ...], Append], None]


class SpillBuffer:
    """Cells that wait: in memory up to a number of bytes, then in a file."""

    def __init__(self, path: Path | None, memory: int) -> None:
        """``path``: a file to make; None: memory alone."""
        self._path, self._memory = path, memory
        self._file: BinaryIO | None = None

    def put(self, cells: FilledCells) -> "SpilledCells":
        if self._path is None or _bytes(cells) <= self._memory:
            self._memory -= _bytes(cells)
            return SpilledCells(cells, 0, ())
        if self._file is None:
            self._file = self._path.open("w+b")
        offset = self._file.seek(0, 2)
        arrays = (*cells.codes, cells.counts)
        for array in arrays:
            self._file.write(np.ascontiguousarray(array).data)
        return SpilledCells(None, offset, tuple((array.dtype, len(array)) for array in arrays))

    def take(self, waiting: "SpilledCells") -> FilledCells:
        """The cells again; they no longer count."""
        if waiting.cells is not None:
            self._memory += _bytes(waiting.cells)
            return waiting.cells
        assert self._file is not None
        self._file.seek(waiting.offset)
        arrays = [np.frombuffer(self._file.read(kind.itemsize * size), kind) for kind, size in waiting.kinds]
        return FilledCells(tuple(arrays[:-1]), arrays[-1])

    def close(self) -> None:
        if self._file is not None and self._path is not None:
            self._file.close()
            self._path.unlink()


@dataclass(frozen=True)
class SpilledCells:
    cells: FilledCells | None
    offset: int
    kinds: tuple[tuple["np.dtype[np.generic]", int], ...]


def _bytes(cells: FilledCells) -> int:
    return sum(array.nbytes for array in (*cells.codes, cells.counts))


class RowBuffer:
    """Cells of combinations, in the order of their ids, handed on as rows: many combinations at a time."""

    def __init__(self, writer: MarginalsWriter, length: int) -> None:
        self._writer, self._schema = writer, table_schema(length)
        self._cells: list[tuple[int, FilledCells]] = []
        self._rows = 0

    def append(self, combination_id: int, cells: FilledCells) -> None:
        # Ascending, no value absent.
        self._cells.append((combination_id, cells))
        self._rows += len(cells.counts)
        if self._rows >= _ROWS_AN_APPEND:
            self.flush()

    def append_rows(self, rows: pa.Table) -> None:
        self.flush()
        self._writer.append(rows)

    def flush(self) -> None:
        if not self._cells:
            return
        ids = np.array([combination_id for combination_id, _ in self._cells], np.uint32)
        columns = [pa.array(np.repeat(ids, [len(cells.counts) for _, cells in self._cells]))]
        for place in range(len(self._cells[0][1].codes)):
            codes = [cells.codes[place] for _, cells in self._cells]
            columns.append(pa.array(np.concatenate(codes, dtype=np.uint32)))
        counts = [cells.counts for _, cells in self._cells]
        columns.append(pa.array(np.concatenate(counts, dtype=np.int64)))
        self._cells, self._rows = [], 0
        self._writer.append(pa.Table.from_arrays(columns, schema=self._schema))


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
        buffer: RowBuffer,
        spool: SpillBuffer,
        count_alone: CountAlone,
        count_written: Callable[[], None],
    ) -> None:
        self._facts, self._buffer, self._spool = facts, buffer, spool
        self._count_alone, self._count_written = count_alone, count_written
        self._combinations = facts.counted(length)
        self._ids = {combination: index for index, combination in self._combinations.items()}
        self._order = iter(self._combinations)
        self._next = next(self._order, None)
        self._missing: dict[int, int] = {}
        self._waiting: dict[int, list[SpilledCells]] = {}

    def expect(self, combination: tuple[int, ...], choices: int) -> None:
        self._missing[self._ids[combination]] = choices

    def add(self, slots: tuple[int, ...], cells: FilledCells) -> None:
        combination = tuple(self._facts.slot_columns[slot] for slot in slots)
        index = self._ids[combination]
        self._missing[index] -= 1
        if index == self._next and not self._missing[index] and index not in self._waiting:
            self._buffer.append(index, cells)
            self._advance()
        else:
            self._waiting.setdefault(index, []).append(self._spool.put(cells))
        self._flush()

    def finish(self) -> None:
        self._flush()
        assert self._next is None
        self._buffer.flush()

    def _flush(self) -> None:
        while self._next is not None and not self._missing.get(self._next):
            combination = self._combinations[self._next]
            if self._next in self._missing:
                parts = [self._spool.take(cells) for cells in self._waiting.pop(self._next)]
                sizes = [len(self._facts.values[column]) + 1 for column in combination]
                self._buffer.append(self._next, add_up(parts, sizes))
            else:
                self._count_alone(self._next, combination, self._buffer.append_rows)
            self._advance()

    def _advance(self) -> None:
        self._count_written()
        self._next = next(self._order, None)


def choices_of(facts: MarginalFacts, combination: tuple[int, ...]) -> int:
    return math.prod(
        math.comb(facts.slot_columns.count(column), combination.count(column)) for column in set(combination)
    )


#: Counting so few records in memory takes less time than planning which cube is rolled up from which.
_FEW_RECORDS = 1 << 16
#: What waits for its turn: bytes, or a quarter of the memory limit.
_WAITING_BYTES = 256 << 20


def count_marginals(
    folder: Path,
    destination: Path,
    workload: int | Sequence[tuple[int, ...]],
    resources: QueryResources = QueryResources(),
    report: ShareDone = lambda fraction: None,
) -> Marginals:
    """Count how many records hold each tuple of values (S2.1); the same bytes whatever the resources.

    ``destination``: an existing empty folder.
    ``workload``: all combinations up to this length (-1: all lengths), or sets of column indexes; a
    ParameterError if it can't be formed of the columns.
    """
    about = read_coded_facts(folder)
    records = about.number_of_records
    facts = MarginalFacts(about.schema, about.slot_columns, about.values, records, {}).with_workload(workload)
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
    for done, length in enumerate(facts.workload, start=1):
        names = table_schema(length).names
        with length_writer(destination / f"marginals_{length}.parquet", length) as writer:
            for cells in cells_of_length(facts, counter, length, absent=absent):
                columns = [cells.combination_ids, *cells.codes.T, cells.counts]
                writer.append(pa.table(dict(zip(names, map(np.ascontiguousarray, columns), strict=True))))
        report(done / len(facts.workload))


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
        total, written = sum(len(facts.counted(length)) for length in facts.workload), itertools.count(1)
        gatherers = {}
        for length in facts.workload:
            writer = stack.enter_context(length_writer(destination / f"marginals_{length}.parquet", length))
            gatherers[length] = LengthGatherer(
                facts,
                length,
                RowBuffer(writer, length),
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
        for combination in facts.counted(length).values():
            choices = slot_choices(combination, facts.slot_columns)
            first = next(choices)
            if fits([shape.sizes[slot] for slot in first], shape.records, most):
                gatherer.expect(combination, choices_of(facts, combination))
                targets.add(first)
                targets.update(choices)
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
    """Add up the marginals of the partitions of one table and workload, into an existing empty folder."""
    facts = [partial.facts for partial in partials]
    if any(replace(other, number_of_records=facts[0].number_of_records) != facts[0] for other in facts):
        raise InternalError("Partitions of one table must share schema, slots, dictionary and workload.")
    merged = replace(facts[0], number_of_records=sum(partial.number_of_records for partial in facts))
    merged.write(destination)
    with resources.connect() as connection:
        for length in merged.workload:
            paths = [partial.path(length) for partial in partials]
            with length_writer(destination / f"marginals_{length}.parquet", length) as writer:
                buffer = RowBuffer(writer, length)
                _merge_length(merged, length, paths, most_cells(resources), buffer, connection)
                buffer.flush()
    return read_marginals(destination)


def _merge_length(
    facts: MarginalFacts,
    length: int,
    paths: Sequence[Path],
    most: int,
    buffer: RowBuffer,
    connection: duckdb.DuckDBPyConnection,
) -> None:
    """Add up the files of one length, in memory those combinations that have at most so many cells."""
    sizes_of = {
        index: [len(facts.values[column]) + 1 for column in combination]
        for index, combination in facts.counted(length).items()
    }

    def in_memory(index: int) -> bool:
        return fits(sizes_of[index], facts.number_of_records, most)

    readers = [stored_combinations(path, in_memory) for path in paths]
    heads = [next(reader, None) for reader in readers]
    text = filled_query("aggregates/merge_partials", codes=identifiers(code_names(length)))
    for index, sizes in sizes_of.items():
        if not in_memory(index):
            values: dict[str, object] = {"partials": [str(path) for path in paths], "combination_id": index}
            append_rows(connection, text, buffer.append_rows, values)
            continue
        parts = []
        for place, head in enumerate(heads):
            if head is not None and head[0] == index:
                parts.append(head[1])
                heads[place] = next(readers[place], None)
        if parts:
            buffer.append(index, add_up(parts, sizes))


R = TypeVar("R")
#: Counts a folder of coded records into an empty one, as `count_marginals` leaves it.
CountFolder = Callable[[Path, Path, QueryResources], object]
#: Makes one part of others, in an empty folder.
_Fill = Callable[[Sequence[StoredPart], Path, QueryResources], object]
#: So many parts are added up at a time: where parts are remote, each is copied to the machine's disk.
_MOST_ADDED = 8


def count_table(
    table: RecordTable,
    destination: Path,
    workload: int | Sequence[tuple[int, ...]],
    resources: QueryResources = QueryResources(),
    report: ShareDone = lambda fraction: None,
) -> Marginals:
    """Count how many records of a table hold each tuple of values (see `count_marginals`).

    The stored marginals are the same bytes as of the whole table, however it is parted.
    """
    if table.folder is not None:
        return count_marginals(table.folder, destination, workload, resources, report)
    return add_up_parts(table, partial(_count_folder, workload=workload), destination, resources, report)


def _count_folder(
    folder: Path, into: Path, resources: QueryResources, workload: int | Sequence[tuple[int, ...]]
) -> None:
    count_marginals(folder, into, workload, resources)


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
    home, progress = f"{table.prefix}/counts", _Steps(len(table.parts), report)

    def make_parts(
        name: str, fill: _Fill, level: int, groups: Sequence[Sequence[StoredPart]]
    ) -> list[StoredPart]:
        jobs = [(f"{home}/{level}/{place}", group) for place, group in enumerate(groups)]
        work = partial(_put, store=table.store, resources=resources, fill=fill)
        return list(progress.each(table.workers.each(name, work, jobs)))

    try:
        parts = make_parts("count", partial(_count_part, count), 0, [[part] for part in table.parts])
        for level in range(1, progress.levels + 1):
            sums = make_parts(f"add up {level}", _add_up_parts, level, _groups(parts))
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


def _groups(parts: Sequence[StoredPart]) -> list[Sequence[StoredPart]]:
    return [parts[start : start + _MOST_ADDED] for start in range(0, len(parts), _MOST_ADDED)]


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
        count(folder, into, resources)


def _add_up_parts(parts: Sequence[StoredPart], into: Path, resources: QueryResources) -> Marginals:
    with ExitStack() as stack:
        partials = [read_marginals(stack.enter_context(part.folder())) for part in parts]
        return merge_partials(partials, into, resources)


class _Steps:
    """How far the work is: a step for each part that is made, and one for what the caller makes."""

    def __init__(self, partitions: int, report: ShareDone) -> None:
        self._report = report
        self.levels, self._all, self._done = 0, partitions + 1, 0
        while partitions > _MOST_ADDED:
            partitions = -(-partitions // _MOST_ADDED)
            self._all += partitions
            self.levels += 1

    def each(self, parts: Iterator[StoredPart]) -> Iterator[StoredPart]:
        for part in parts:
            self._done += 1
            self._report(self._done / self._all)
            yield part
