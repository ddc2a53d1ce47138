"""Evaluation against the raw data, for ``sensitive/`` alone: nothing of it may leave, nor is it charged.

Coded records, reportable aggregates and synthetic records go in; SDS's measures by their exact definitions
come out, with better ones beside them (S5.1). `sensitive_files` writes them.
"""

import io
import itertools
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property, partial, reduce
from operator import add
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import pyarrow as pa

from tasks.core.aggregates import kernels as counting
from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.aggregates.cubes import CubeTable, RecordSide, Tabulator
from tasks.core.aggregates.linkability import (
    LISTED,
    FirstLengths,
    RareByLength,
    RecordAnalysis,
    analysis_of,
    single_out_of_whole,
)
from tasks.core.aggregates.marginals import add_up_parts, each_beside, write_counted
from tasks.core.aggregates.selections import Selections
from tasks.core.aggregates.sensitive_text import write_counts_tsv
from tasks.core.aggregates.stored_marginals import MarginalFacts, Marginals
from tasks.core.aggregates.wide_form import attribute
from tasks.core.arrays import Ids, Integers, ShareDone
from tasks.core.evaluation.comparison import (
    CountedTable,
    SlotNumbering,
    code_synthetic,
    codes_by_slot,
    compare_sides,
)
from tasks.core.evaluation.measures import (
    Comparison,
    errors_by_length,
    leakage,
    leakage_by_length,
    mean_preservation,
    preservation_by_count,
    preservation_by_length,
    summary,
    weighted_mean_preservation,
)
from tasks.core.queries import QueryResources
from tasks.core.records.coded import CodedRecords, read_coded_records
from tasks.core.records.columns import Schema
from tasks.core.records.table import RecordTable
from tasks.core.synthesis.records import AnySynthetic
from tasks.core.tables.writing import as_lines


@contextmanager
def raw_side(
    table: RecordTable,
    others: Sequence[Aggregates | CodedRecords],
    longest: int,
    resources: QueryResources,
    progress: ShareDone,
) -> Iterator[CodedRecords | CountedTable]:
    """The raw records, for as long as they are compared; of a table in parts its counts.

    Workers count each part as all sides together number values and slots; the counts are added up in a
    scratch folder, and are read a few sets of columns at a time.
    """
    if table.only is not None:
        yield table.only
        return
    count = partial(_count_cells, numbering=SlotNumbering((table.facts, *others)), longest=longest)
    with tempfile.TemporaryDirectory(dir=resources.scratch) as folder:
        cells = add_up_parts(table, count, Path(folder), resources, progress)
        yield CountedTable(table.facts, cells)


def _count_cells(
    folder: Path, into: Path, resources: QueryResources, numbering: SlotNumbering, longest: int
) -> None:
    records = read_coded_records(folder)
    values = tuple(map(tuple, numbering.values))
    facts = MarginalFacts(records.schema, numbering.slot_columns, values, records.number_of_records)
    if longest:
        facts = facts.up_to(longest)
    facts.write(into)
    side = RecordSide(codes_by_slot(records, numbering), numbering.slot_columns)
    counter = Tabulator([side], numbering.sizes(range(numbering.columns)))
    write_counted(facts, counter, into, absent=True)


def _analyse_part(records: CodedRecords, marginals: Marginals, resolution: int) -> RecordAnalysis:
    found = single_out_of_whole(records, marginals, resolution)
    return analysis_of(found.unique_length, found.rare_length, found.lengths)


_HEADER = ("combo_length", "combo", "record_id", "syn_count", "sen_count")
_ROWS_AT_ONCE = 1 << 17


class Told(NamedTuple):
    """The synthetic records' combinations of a table's sets: ids, counts, and the rare ones' lines."""

    ids: Ids
    counts: Integers
    lines: Sequence[memoryview]


class SyntheticCombinations:
    """Lists the synthetic records' combinations while they are compared: SDS's two files (S5.1).

    Counts of synthetic and raw records go in, a set of columns at a time, shortest first. What is listed
    waits in scratch files, so that memory does not grow with the number of lines.
    """

    def __init__(
        self, numbering: SlotNumbering, schema: Schema, resolution: int, scratch: Path | None
    ) -> None:
        """Args: numbering: of all sides. resolution: below it a combination is rare. scratch: or memory."""
        self._numbering, self._resolution, self._scratch = numbering, resolution, scratch
        named = [(column, value) for column, own in enumerate(numbering.values) for value in own]
        found = [attribute(schema.columns[column], column, value) for column, value in named]
        order = sorted(range(len(found)), key=lambda place: found[place].text)
        self._attributes = [found[place] for place in order]
        self._ids = np.argsort(order).astype(np.int32)
        self._before = np.cumsum([0, *map(len, numbering.values)])[:-1] - 1
        self._lines, self._rows = _open_scratch(scratch), _open_scratch(scratch)
        self._parts: list[tuple[int, int]] = []
        self._pending: list[Told] = []
        self._waiting = 0

    def tell(self, table: CubeTable, synthetic: int, sensitive: int) -> Told:
        """The combinations of a table's sets, of the sides at these places; uses up the synthetic cube."""
        codes, cells = table.cells(synthetic)
        counts = table.cubes[synthetic][cells].astype(np.int64)
        before = self._before[np.array(table.sets)]
        ids = np.sort(self._ids[before[table.sets_of(cells)] + codes], axis=1)
        rare = np.flatnonzero(counts < self._resolution)
        if not len(rare):
            return Told(ids, counts, [])
        true = table.cubes[sensitive][cells[rare]].astype(np.int64)
        starts = np.concatenate([[0], np.cumsum(counts[rare])])
        holders = _holders(table, synthetic, cells[rare], starts)
        held = np.repeat(rare, counts[rare])
        numbers = holders, counts[held], np.repeat(true - true % self._resolution, counts[rare])
        lines: list[memoryview] = []
        for part, texts in self._selections.in_parts(ids[held]):
            others = (pa.array(own[part]).cast(pa.string()) for own in numbers)
            lines += as_lines([str(table.length), self._selections.quoted(texts), *others])
        return Told(ids, counts, lines)

    def take(self, told: Told | None) -> None:
        """Keep what was told, one set of columns after the other; None: nothing was."""
        if told is None:
            return
        self._lines.writelines(told.lines)
        if self._pending and told.ids.shape[1] != self._pending[0].ids.shape[1]:
            self._flush()
        self._pending.append(told)
        self._waiting += len(told.counts)
        if self._waiting >= _ROWS_AT_ONCE:
            self._flush()

    def write_aggregates(
        self, number_of_records: int, path: Path, resources: QueryResources = QueryResources()
    ) -> None:
        """Write the counts of all combinations (see `interchange.write_reportable_tsv`)."""
        self._flush()
        self._rows.seek(0)
        levels = {
            length: self._read(list(parts))
            for length, parts in itertools.groupby(self._parts, key=lambda part: part[0])
        }
        write_counts_tsv(self._attributes, number_of_records, levels, path, resources)

    def write_rare(self, path: Path) -> None:
        """Write each combination with a count below the resolution, once per record that holds it.

        Columns ``combo_length, combo, record_id, syn_count, sen_count``; the record's number is its place
        among the synthetic records, the sensitive count is rounded down to the resolution. By length, then
        by columns in file order, then by their values, then by record.
        """
        self._lines.seek(0)
        with path.open("wb") as file:
            file.write("\t".join(_HEADER).encode() + b"\n")
            shutil.copyfileobj(self._lines, file, 1 << 20)

    def _flush(self) -> None:
        if self._pending:
            ids, counts = (
                np.concatenate(each)
                for each in zip(*((one.ids, one.counts) for one in self._pending), strict=True)
            )
            self._rows.write(np.ascontiguousarray(ids).data)
            self._rows.write(counts.data)
            self._parts.append((ids.shape[1], len(ids)))
            self._pending, self._waiting = [], 0

    def _read(self, parts: list[tuple[int, int]]) -> Iterator[tuple[Ids, Integers]]:
        for length, number in parts:
            ids = np.frombuffer(self._rows.read(4 * length * number), np.int32).reshape(-1, length)
            yield ids, np.frombuffer(self._rows.read(8 * number), np.int64)

    @cached_property
    def _selections(self) -> Selections:
        return Selections([each.text for each in self._attributes], between=" AND ")


def _holders(table: CubeTable, side: int, cells: Integers, starts: Integers) -> Integers:
    """The records of each cell, ascending, one cell's behind the other's."""
    cube, holders = table.cubes[side], np.empty(starts[-1], np.int64)
    cube[:] = 0
    cube[cells] = np.arange(1, len(cells) + 1)
    following = starts[:-1].copy()
    for part in table.rows[side]:
        counting.group_rows((part.numbers, part.last, table.size), cube, following, holders)
    blocks = sum(len(part.slots) for part in table.rows[side])
    if blocks > 1:
        holders %= sum(len(part.numbers) for part in table.rows[side]) // blocks
    if blocks > len(table.sets):
        cell_of = np.repeat(np.arange(len(cells)), np.diff(starts))
        holders = holders[np.lexsort((holders, cell_of))]
    return holders


def _open_scratch(scratch: Path | None) -> IO[bytes]:
    return io.BytesIO() if scratch is None else tempfile.TemporaryFile(dir=scratch)


#: Places of the sides, and which are compared: both others with sensitive, synthetic with reportable.
_SENSITIVE, _REPORTABLE, _SYNTHETIC = range(3)
PAIRS = ((_SENSITIVE, _SYNTHETIC), (_SENSITIVE, _REPORTABLE), (_REPORTABLE, _SYNTHETIC))


@dataclass(frozen=True)
class RawInputs:
    """What is evaluated against what. Attributes: sensitive: all combinations of each length from 1 on."""

    table: RecordTable
    sensitive: Marginals
    reportable: Aggregates
    synthetic: AnySynthetic
    resolution: int


@dataclass(frozen=True)
class RawEvaluation:
    """Everything that was found; sensitive. Synthetic and reported counts are held against the true ones.

    Attributes: combinations: those of the synthetic records, of up to `LISTED` attributes.
    """

    synthetic: Comparison
    reportable: Comparison
    released: Comparison
    records: RecordAnalysis
    combinations: SyntheticCombinations

    def to_dict(self) -> dict[str, Any]:
        columns = (self.synthetic.by_length(name).astype(int) for name in ("reference", "rare", "unique"))
        rare = [RareByLength(*map(int, row)) for row in zip(self.synthetic.lengths, *columns, strict=True)]
        return {
            "resolution": self.synthetic.resolution,
            "synthetic": measures(self.synthetic),
            "reportable": measures(self.reportable),
            "synthetic_against_reportable": measures(self.released),
            "total_variation": [asdict(distance) for distance in self.synthetic.distances],
            "rare_by_length": [{**asdict(row), "proportion": row.proportion} for row in rare],
            "records": {**asdict(self.records), "risky": self.records.risky},
        }


def evaluate_raw(
    inputs: RawInputs,
    resources: QueryResources = QueryResources(),
    progress: ShareDone = lambda fraction: None,
) -> RawEvaluation:
    """Evaluate synthetic records and reported counts against the raw data.

    Args:
        resources: number of threads; the coded records are held in memory, one set of columns' counts beside.
            Of a table in parts counts alone: memory of each worker, and scratch for all counts.
    """
    synthetic = code_synthetic(inputs.synthetic, inputs.sensitive.facts.schema)
    others = (inputs.reportable, synthetic)
    longest = max(inputs.sensitive.lengths, default=0)
    with raw_side(inputs.table, others, longest, resources, _part_of_progress(progress, 0.0, 0.4)) as raw:
        sides = (raw, *others)
        # Of a table in parts another pass looks who is singled out.
        lengths = None if inputs.table.parts else FirstLengths(raw.number_of_records, inputs.resolution)
        found = SyntheticCombinations(
            SlotNumbering(sides), synthetic.schema, inputs.resolution, resources.scratch
        )

        def visit(table: CubeTable) -> Told | None:
            if lengths is not None:
                lengths.look_at(table)
            return found.tell(table, _SYNTHETIC, _SENSITIVE) if table.length <= LISTED else None

        share = _compared_share(progress, inputs.table)
        compared = compare_sides(
            sides, PAIRS, inputs.resolution, longest, resources, share, visit, found.take
        )
    if lengths is not None:
        analysis = analysis_of(lengths.unique, lengths.rare, longest)
    else:
        work = partial(_analyse_part, resolution=inputs.resolution)
        analysis = reduce(add, each_beside(inputs.table, inputs.sensitive, "single out", work))
    progress(1.0)
    against_synthetic, against_reportable, released = compared
    return RawEvaluation(against_synthetic, against_reportable, released, analysis, found)


def _part_of_progress(report: ShareDone, start: float, end: float) -> ShareDone:
    return lambda fraction: report(start + (end - start) * fraction)


def _compared_share(report: ShareDone, table: RecordTable) -> ShareDone:
    """Comparing is all there is to do, but for what workers do before and after it."""
    return _part_of_progress(report, 0.4, 0.8) if table.parts else report


def list_combinations(
    table: RecordTable,
    synthetic: AnySynthetic,
    longest: int,
    resolution: int,
    resources: QueryResources = QueryResources(),
    progress: ShareDone = lambda fraction: None,
) -> SyntheticCombinations:
    """All combinations of the synthetic records; an evaluation lists the short ones.

    Args:
        resolution: what is rarer is listed with its records.
        resources: number of threads; scratch for what is listed, and for all counts of a table in parts.
    """
    schema = table.facts.schema
    other = code_synthetic(synthetic, schema)
    with raw_side(table, (other,), longest, resources, _part_of_progress(progress, 0.0, 0.4)) as raw:
        sides = (raw, other)
        found = SyntheticCombinations(SlotNumbering(sides), schema, resolution, resources.scratch)
        share = _compared_share(progress, table)
        visit = partial(found.tell, synthetic=1, sensitive=0)
        compare_sides(sides, ((0, 1),), resolution, longest, resources, share, visit, found.take)
    return found


def measures(comparison: Comparison) -> dict[str, Any]:
    return {
        "summary": summary(comparison)
        | {
            "mean_preservation": mean_preservation(comparison),
            "weighted_mean_preservation": weighted_mean_preservation(comparison),
        },
        "leakage": leakage(comparison),
        "by_length": errors_by_length(comparison),
        "leakage_by_length": leakage_by_length(comparison),
        "preservation_by_length": preservation_by_length(comparison),
        "preservation_by_count": preservation_by_count(comparison),
    }
