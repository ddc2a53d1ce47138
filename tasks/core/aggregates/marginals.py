"""Exact counting: coded records in, marginals out (see `stored_marginals`), by DuckDB.

DuckDB groups the records by a few sets of slots (`roll_ups`); every other set is rolled up from a larger
one, in memory. A set that is too large for memory is grouped and sorted alone, and spilled. Few records are
counted in memory (`cubes`), without a query. Partitions of one table may be counted apart, each giving a
partial; partials add up.

Sets are counted in any order and stored in one: what arrives before its turn waits in memory, and beyond a
budget in a scratch file. Several sets of slots stand for one combination where a column is multi-valued:
they are added up when the last has arrived.
"""

import itertools
import math
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa

from tasks.core.aggregates.cubes import Tabulator, cells_of_length, tabulator
from tasks.core.aggregates.grouping import Append, FilledCells, RecordsQueries, add_up, fits, most_cells
from tasks.core.aggregates.roll_ups import Shape, plan_roll_ups
from tasks.core.aggregates.stored_marginals import (
    MarginalFacts,
    Marginals,
    MarginalsWriter,
    check_same_table,
    length_writer,
    slot_choices,
    table_schema,
)
from tasks.core.arrays import ShareDone, SlotNumbers
from tasks.core.queries import QueryResources
from tasks.core.records.coded import CodedRecords, read_coded_facts, read_coded_records

_ROWS_AN_APPEND = 1 << 17

#: Counts a combination by itself: id, columns, and what takes its rows.
CountAlone = Callable[[int, tuple[int, ...], Append], None]


class Spool:
    """Cells that wait: in memory up to a number of bytes, then in a file."""

    def __init__(self, path: Path | None, memory: int) -> None:
        """Args: path: a file to make, None: memory alone. memory: bytes."""
        self._path, self._memory = path, memory
        self._file: BinaryIO | None = None

    def put(self, cells: FilledCells) -> "Waiting":
        """Keep cells."""
        if self._path is None or _bytes(cells) <= self._memory:
            self._memory -= _bytes(cells)
            return Waiting(cells, 0, ())
        if self._file is None:
            self._file = self._path.open("w+b")
        offset = self._file.seek(0, 2)
        arrays = (*cells.codes, cells.counts)
        for array in arrays:
            self._file.write(np.ascontiguousarray(array).data)
        return Waiting(None, offset, tuple((array.dtype, len(array)) for array in arrays))

    def take(self, waiting: "Waiting") -> FilledCells:
        """The cells again; they no longer count."""
        if waiting.cells is not None:
            self._memory += _bytes(waiting.cells)
            return waiting.cells
        assert self._file is not None
        self._file.seek(waiting.offset)
        arrays = [np.frombuffer(self._file.read(kind.itemsize * size), kind) for kind, size in waiting.kinds]
        return FilledCells(tuple(arrays[:-1]), arrays[-1])

    def close(self) -> None:
        """Remove the file."""
        if self._file is not None and self._path is not None:
            self._file.close()
            self._path.unlink()


@dataclass(frozen=True)
class Waiting:
    """Cells in memory, or where they are in the file."""

    cells: FilledCells | None
    offset: int
    kinds: tuple[tuple["np.dtype[np.generic]", int], ...]


def _bytes(cells: FilledCells) -> int:
    return sum(array.nbytes for array in (*cells.codes, cells.counts))


class RowBuffer:
    """Cells of combinations, in the order of their ids, handed on as rows: many combinations at a time."""

    def __init__(self, writer: MarginalsWriter, length: int) -> None:
        """Args: writer: of the marginals of one length."""
        self._writer, self._schema = writer, table_schema(length)
        self._cells: list[tuple[int, FilledCells]] = []
        self._rows = 0

    def append(self, combination_id: int, cells: FilledCells) -> None:
        """Append the cells of one combination, ascending, no value absent."""
        self._cells.append((combination_id, cells))
        self._rows += len(cells.counts)
        if self._rows >= _ROWS_AN_APPEND:
            self.flush()

    def append_rows(self, rows: pa.Table) -> None:
        """Append rows as they are stored."""
        self.flush()
        self._writer.append(rows)

    def flush(self) -> None:
        """Hand on what has been gathered."""
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


@dataclass(frozen=True)
class Ways:
    """What the lengths of one count share.

    Attributes:
        spool: where cells wait.
        alone: counts a combination of which no cells are added, when it is its turn.
        written: called after each combination.
    """

    spool: Spool
    alone: CountAlone
    written: Callable[[], None]


class LengthGatherer:
    """Writes the combinations of one length in the order of their ids, as soon as it is their turn.

        arrives     2        0        1
        written     -        0        1 2 3
        waiting     2        2        -

    Here 3 is too large to be added: it is counted alone, when its turn comes.
    """

    def __init__(self, facts: MarginalFacts, length: int, buffer: RowBuffer, ways: Ways) -> None:
        """Args: facts, length: what is counted. buffer: takes the rows."""
        self._facts, self._buffer, self._ways = facts, buffer, ways
        self._combinations = facts.counted(length)
        self._ids = {combination: index for index, combination in self._combinations.items()}
        self._order = iter(self._combinations)
        self._next = next(self._order, None)
        self._missing: dict[int, int] = {}
        self._waiting: dict[int, list[Waiting]] = {}

    def expect(self, combination: tuple[int, ...], choices: int) -> None:
        """Say that a combination will be added, from so many sets of slots."""
        self._missing[self._ids[combination]] = choices

    def add(self, slots: tuple[int, ...], cells: FilledCells) -> None:
        """Add the present cells of one choice of slots."""
        combination = tuple(self._facts.slot_columns[slot] for slot in slots)
        index = self._ids[combination]
        self._missing[index] -= 1
        if index == self._next and not self._missing[index] and index not in self._waiting:
            self._buffer.append(index, cells)
            self._advance()
        else:
            self._waiting.setdefault(index, []).append(self._ways.spool.put(cells))
        self._flush()

    def finish(self) -> None:
        """Write what is left; all that was expected has been added."""
        self._flush()
        assert self._next is None
        self._buffer.flush()

    def _flush(self) -> None:
        while self._next is not None and not self._missing.get(self._next):
            combination = self._combinations[self._next]
            if self._next in self._missing:
                parts = [self._ways.spool.take(one) for one in self._waiting.pop(self._next)]
                sizes = [len(self._facts.values[column]) + 1 for column in combination]
                self._buffer.append(self._next, add_up(parts, sizes))
            else:
                self._ways.alone(self._next, combination, self._buffer.append_rows)
            self._advance()

    def _advance(self) -> None:
        self._ways.written()
        self._next = next(self._order, None)


def choices_of(facts: MarginalFacts, combination: tuple[int, ...]) -> int:
    """How many choices of slots a combination of columns stands for."""
    return math.prod(
        math.comb(facts.slot_columns.count(column), combination.count(column)) for column in set(combination)
    )


#: Counting so few records in memory takes less time than planning which cube is rolled up from which.
_FEW_RECORDS = 1 << 16
#: What waits for its turn: bytes, or a quarter of the memory limit.
_WAITING_BYTES = 256 << 20


def count_marginals(
    partitions: Path | Sequence[Path],
    destination: Path,
    workload: int | Sequence[tuple[int, ...]],
    resources: QueryResources = QueryResources(),
    progress: ShareDone | None = None,
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


def _count_few(folders: Sequence[Path], facts: MarginalFacts, destination: Path, report: ShareDone) -> None:
    partitions = [read_coded_records(folder) for folder in folders]
    slots = zip(*(partition.slots for partition in partitions), strict=True)
    records = CodedRecords(
        schema=facts.schema,
        slots=tuple(np.concatenate(parts) for parts in slots),
        slot_columns=facts.slot_columns,
        values=facts.values,
        number_of_records=facts.number_of_records,
    )
    write_counted(facts, tabulator(records, absent=False), destination, report)


def write_counted(
    facts: MarginalFacts,
    counter: Tabulator,
    destination: Path,
    report: ShareDone = lambda fraction: None,
    *,
    absent: bool = False,
) -> None:
    """Write what is counted in memory, beside the facts.

    Args:
        facts: what is counted, at which lengths.
        counter: of what is counted.
        destination: an existing folder.
        report: called with the fraction done.
        absent: see `cells_of_length`.
    """
    for done, length in enumerate(facts.workload, start=1):
        names = table_schema(length).names
        with length_writer(destination / f"marginals_{length}.parquet", length) as writer:
            for cells in cells_of_length(facts, counter, length, absent=absent):
                columns = [cells.combination_ids, *cells.codes.T, cells.counts]
                writer.append(pa.table(dict(zip(names, map(np.ascontiguousarray, columns), strict=True))))
        report(done / len(facts.workload))


def facts_of(partition: Path) -> MarginalFacts:
    """What the coded records of a folder are about; nothing counted yet."""
    facts = read_coded_facts(partition)
    return MarginalFacts(facts.schema, facts.slot_columns, facts.values, facts.number_of_records, {})


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
        spool = Spool(spill, (resources.memory_limit_mb << 18) or _WAITING_BYTES)
        stack.callback(spool.close)
        ways = Ways(spool, queries.append_combination, _counter(facts, report))
        gatherers = {}
        for length in facts.workload:
            writer = stack.enter_context(length_writer(destination / f"marginals_{length}.parquet", length))
            gatherers[length] = LengthGatherer(facts, length, RowBuffer(writer, length), ways)
        yield gatherers
        for gatherer in gatherers.values():
            gatherer.finish()


def _counter(facts: MarginalFacts, report: ShareDone) -> Callable[[], None]:
    total = sum(len(facts.counted(length)) for length in facts.workload)
    written = itertools.count(1)
    return lambda: report(next(written) / total)


def _count(
    facts: MarginalFacts, queries: RecordsQueries, gatherers: dict[int, LengthGatherer], most: int
) -> None:
    """Count all that fits in memory, from the records down."""
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


def _silent(_: float) -> None:
    return None
