"""How far a synthetic table is from the raw one, by single columns and by pairs: for ``sensitive/`` alone.

Two typed tables go in, their total variation distances come out: half the sum of the differences of shares,
0 where two distributions are equal and 1 where they share nothing. Numbers and moments are compared in bins
(`tasks.core.syndiffix.bins`); a missing cell is a value like any other.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tasks.core.evaluation.utility.total_variation import total_variation
from tasks.core.syndiffix.bins import bins_of

Codes = npt.NDArray[np.int64]
Edges = Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class Distance:
    """Of one set of columns.

    Attributes:
        columns: their headers.
        total_variation: 0 to 1.
    """

    columns: tuple[str, ...]
    total_variation: float


@dataclass(frozen=True)
class TableDistances:
    """Of all columns and pairs of two tables.

    Attributes:
        records: rows of the synthetic and of the raw table.
        single: in the columns' order.
        pairs: in their order.
    """

    records: tuple[int, int]
    single: tuple[Distance, ...]
    pairs: tuple[Distance, ...]

    def to_dict(self, by_question: Sequence["TableDistances"] = ()) -> dict[str, object]:
        """As ``evaluation.json`` has it, which `marginalia compare` reads.

        Args:
            by_question: of tables that were made beside this one.
        """
        synthetic, raw = self.records
        by_length = [(length, found) for length, found in ((1, self.single), (2, self.pairs)) if found]
        return {
            "synthetic": {"summary": {"record_expansion_pct": 100.0 * (synthetic / raw - 1) if raw else 0.0}},
            "total_variation": [
                {"length": length, "mean": fmean(each.total_variation for each in found)}
                for length, found in by_length
            ],
            "by_columns": [
                {"columns": list(each.columns), "total_variation": each.total_variation}
                for each in (*self.single, *self.pairs)
            ],
            "by_question": [
                {
                    "columns": [each for distance in table.single for each in distance.columns],
                    "total_variation": fmean(d.total_variation for d in table.pairs or table.single),
                }
                for table in by_question
            ],
        }


def distances(
    raw: pa.Table, synthetic: pa.Table, edges: Edges, progress: Callable[[float], None] = lambda done: None
) -> TableDistances:
    """Compare every column and every pair of the synthetic table's columns.

    Args:
        raw: has all of them.
        synthetic: n rows.
        edges: public ones, by numeric column.
        progress: is told what share is done.
    """
    names = synthetic.column_names
    codes = {name: _codes(name, raw, synthetic, edges.get(name)) for name in names}
    single = [Distance((name,), total_variation(*codes[name])) for name in names]
    found, pairs = [], list(combinations(names, 2))
    for done, (one, other) in enumerate(pairs, start=1):
        base = 1 + max(int(side.max(initial=0)) for side in codes[other])
        joined = (a * base + b for a, b in zip(codes[one], codes[other], strict=True))
        found.append(Distance((one, other), total_variation(*joined)))
        progress(done / len(pairs))
    return TableDistances((synthetic.num_rows, raw.num_rows), tuple(single), tuple(found))


def _codes(
    name: str, raw: pa.Table, synthetic: pa.Table, edges: Sequence[float] | None
) -> tuple[Codes, Codes]:
    """Codes from 0 of both tables' cells: 0 is a missing one."""
    bins = bins_of(name, synthetic[name], edges)
    return bins.codes(raw[name]) + 1, bins.codes(synthetic[name]) + 1
