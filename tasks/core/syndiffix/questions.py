"""A table per question: sets of columns go in, one accurate table of each comes out.

Of few columns that are together in one cluster, the counts are far better than those of the same columns in
a table of many. All of a run share one forest, so that a tree is grown once however many tables need it.
"""

from collections.abc import Iterator, Sequence

import pyarrow as pa

from tasks.core.syndiffix.clusters import Clusters
from tasks.core.syndiffix.forest import column_numbers
from tasks.core.syndiffix.synthesizer import Synthesizer


def tables_per_question(synthesizer: Synthesizer, column_sets: Sequence[Sequence[int]]) -> Iterator[pa.Table]:
    """One table for each set of columns, all of them in one cluster, in the sets' order.

    Args:
        synthesizer: of the table; its trees are kept, its clusters don't matter.
        column_sets: numbers of its columns, each once, at least one a set.
    """
    basis = synthesizer.basis()
    for columns in column_sets:
        combination = column_numbers(columns)
        yield synthesizer.stitched(Clusters(combination), [synthesizer.draw(combination, basis)], basis)
