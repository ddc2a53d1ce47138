"""Two typed tables in, a `TablePair` of their bins out (SynDiffix, `tasks.core.syndiffix.bins`)."""

from collections.abc import Mapping, Sequence

import pyarrow as pa

from tasks.core.evaluation.utility.table_pair import TablePair, drawn_rows, table_pair
from tasks.core.syndiffix.bins import bins_of


def typed_pair(
    raw: pa.Table, synthetic: pa.Table, edges: Mapping[str, Sequence[float]], most_rows: int
) -> TablePair:
    """The two tables by values, bins of numbers and periods of moments; a missing cell is absence.

    Args:
        raw: has the synthetic table's columns, and perhaps more.
        synthetic: at least one column.
        edges: public ones, by numeric column.
        most_rows: of either table; of more so many are drawn.
    """
    names = synthetic.column_names
    bins = [bins_of(name, synthetic[name], edges.get(name)) for name in names]
    sides = [table.take(drawn_rows(table.num_rows, most_rows)) for table in (raw, synthetic)]
    codes = [[own.codes(side[own.name]) + 1 for own in bins] for side in sides]
    return table_pair(names, *codes)
