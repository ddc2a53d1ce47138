"""Counting of records that are in memory: coded records in, aggregates or cells out.

For synthetic records, and wherever records are counted a set of columns at a time: no query and no file.
"""

import itertools
from collections.abc import Iterator

import numpy as np

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.aggregates.cubes import Tabulator
from tasks.core.aggregates.sides import RecordSide
from tasks.core.aggregates.stored_marginals import MarginalFacts
from tasks.core.aggregates.wide_form import Cells, aggregates_of_cells
from tasks.core.records.coded import CodedRecords


def count_in_memory(records: CodedRecords, longest: int) -> Aggregates:
    """The counts of all combinations of up to so many attributes (-1: all lengths).

    Raises:
        ParameterError: if the length is 0 or below -1.
    """
    facts, levels = counted_cells(records, longest)
    return aggregates_of_cells(facts, records.number_of_records, levels.values())


def counted_cells(records: CodedRecords, longest: int) -> tuple[MarginalFacts, dict[int, Iterator[Cells]]]:
    """What `count_in_memory` is made of: by length the cells of each set of columns, counted when read."""
    size = records.number_of_records
    facts = MarginalFacts(records.schema, records.slot_columns, records.values, size, {}).with_workload(
        longest
    )
    counter = tabulator(records, absent=False)
    return facts, {length: cells_of_length(facts, counter, length) for length in facts.workload}


def tabulator(records: CodedRecords, *, absent: bool = True) -> Tabulator:
    """Counts the records; ``absent``: see `Tabulator`."""
    sides = [RecordSide(records.slots, records.slot_columns)]
    return Tabulator(sides, [len(values) + 1 for values in records.values], absent=absent)


def cells_of_length(facts: MarginalFacts, counter: Tabulator, length: int) -> Iterator[Cells]:
    """The cells of each set of columns that is counted at a length, in the order of stored marginals."""
    counted = facts.counted(length)
    ids = iter(counted)
    for table in counter.tables(counted.values()):
        own = np.array(list(itertools.islice(ids, len(table.sets))), np.uint32)
        codes, cells = table.cells()
        yield Cells(own[table.sets_of(cells)], codes, table.cubes[0][cells].astype(np.int64))
