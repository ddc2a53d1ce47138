"""The raw table as it is compared: its records; or, of a table in partitions, counts and who is singled out.

Workers count each partition as all sides together number values and slots; the counts are added up in a
scratch folder, and are read a few sets of columns at a time. Who is singled out needs each record, but of the
other partitions the exact marginals alone.
"""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial, reduce
from operator import add
from pathlib import Path

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.aggregates.cubes import Tabulator
from tasks.core.aggregates.linkability import single_out_of_whole
from tasks.core.aggregates.marginals import write_counted
from tasks.core.aggregates.partitions import add_up_partitions, each_beside
from tasks.core.aggregates.rare import RecordAnalysis, analysis_of
from tasks.core.aggregates.sides import RecordSide
from tasks.core.aggregates.stored_marginals import MarginalFacts, Marginals
from tasks.core.arrays import ShareDone
from tasks.core.evaluation.compared_sides import CountedTable, SlotNumbering, codes_by_slot
from tasks.core.queries import QueryResources
from tasks.core.records.coded import CodedFacts, CodedRecords, read_coded_facts, read_coded_records
from tasks.core.records.partitioned import PartitionedRecords

#: A folder of coded records that holds all of them, or their partitions.
RawRecords = Path | PartitionedRecords


def facts_of_raw(records: RawRecords) -> CodedFacts:
    """What the raw records are about."""
    return read_coded_facts(records) if isinstance(records, Path) else records.facts


@contextmanager
def raw_side(
    records: RawRecords,
    others: Sequence[Aggregates | CodedRecords],
    longest: int,
    resources: QueryResources,
    progress: ShareDone,
) -> Iterator[CodedRecords | CountedTable]:
    """The raw records, for as long as they are compared.

    Args:
        records: the raw ones.
        others: what they are compared with.
        longest: of the sets of columns.
        resources: of each worker, and of what is added up here; scratch takes all counts of a table in
            partitions.
        progress: called with the fraction done, where there is something to do.
    """
    if isinstance(records, Path):
        yield read_coded_records(records)
        return
    count = partial(_count_cells, numbering=SlotNumbering((records.facts, *others)), longest=longest)
    with tempfile.TemporaryDirectory(dir=resources.scratch) as folder:
        cells = add_up_partitions(records, count, Path(folder), resources, progress)
        yield CountedTable(records.facts, cells)


def _count_cells(folder: Path, into: Path, _: QueryResources, numbering: SlotNumbering, longest: int) -> None:
    """Count all cells of a partition, in memory."""
    records = read_coded_records(folder)
    values = tuple(map(tuple, numbering.values))
    facts = MarginalFacts(records.schema, numbering.slot_columns, values, records.number_of_records, {})
    if longest:
        facts = facts.with_workload(longest)
    facts.write(into)
    side = RecordSide(codes_by_slot(records, numbering), numbering.slot_columns)
    counter = Tabulator([side], numbering.sizes(range(numbering.columns)))
    write_counted(facts, counter, into, absent=True)


def analysis_of_partitions(
    records: PartitionedRecords, marginals: Marginals, resolution: int
) -> RecordAnalysis:
    """How many records of a table in partitions are singled out at which length first (`analysis_of`).

    Args:
        records: the table.
        marginals: its own, all combinations of each length from 1 on.
        resolution: a count below it is rare.
    """
    work = partial(_analysed, resolution=resolution)
    return reduce(add, each_beside(records, marginals, "single out", work))


def _analysed(records: CodedRecords, marginals: Marginals, resolution: int) -> RecordAnalysis:
    found = single_out_of_whole(records, marginals, resolution)
    return analysis_of(found.unique_length, found.rare_length, found.lengths)
