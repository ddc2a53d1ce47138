"""How far a synthetic table is from the raw one, by single columns and by pairs: for ``sensitive/`` alone.

Two typed tables go in; their total variation distances come out, and files with tables and charts of them:
half the sum of the differences of shares, 0 where two distributions are equal and 1 where they share
nothing. Numbers and moments are compared in bins (`tasks.core.syndiffix.bins`); a missing cell is a value
like any other.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from statistics import fmean

import pyarrow as pa

from tasks.core.arrays import Integers
from tasks.core.charts import theme
from tasks.core.charts.bars import PROPORTIONS, Bar, Series, bars
from tasks.core.evaluation.measures import total_variation
from tasks.core.syndiffix.bins import bins_of
from tasks.core.tables.writing import Row, write_rows

Edges = Mapping[str, Sequence[float]]


#: The total variation, 0 to 1, of a set of columns.
Distance = tuple[tuple[str, ...], float]


@dataclass(frozen=True)
class TableDistances:
    """Of all columns and pairs, in their order. Attributes: records: synthetic ones, and raw ones."""

    records: tuple[int, int]
    single: tuple[Distance, ...]
    pairs: tuple[Distance, ...]

    @property
    def means(self) -> dict[int, float]:
        """The mean distance of columns and of pairs, by the number of columns, where there are any."""
        by_length = ((1, self.single), (2, self.pairs))
        return {length: fmean(apart for _, apart in found) for length, found in by_length if found}

    def to_dict(self, by_question: Sequence["TableDistances"] = ()) -> dict[str, object]:
        """As ``evaluation.json`` has it, which `marginalia compare` reads."""
        synthetic, raw = self.records
        return {
            "synthetic": {"summary": {"record_expansion_pct": 100.0 * (synthetic / raw - 1) if raw else 0.0}},
            "total_variation": [{"length": length, "mean": mean} for length, mean in self.means.items()],
            "by_columns": [
                {"columns": list(columns), "total_variation": apart}
                for columns, apart in (*self.single, *self.pairs)
            ],
            "by_question": [
                {
                    "columns": [name for columns, _ in table.single for name in columns],
                    "total_variation": table.means.get(2, table.means.get(1)),
                }
                for table in by_question
            ],
        }


def distances(
    raw: pa.Table, synthetic: pa.Table, edges: Edges, progress: Callable[[float], None] = lambda done: None
) -> TableDistances:
    """Compare every column and pair of the synthetic table; ``edges`` are public, by numeric column.

    >>> raw, synthetic = pa.table({"town": ["Lyon", "Lyon", "Lille"]}), pa.table({"town": ["Lyon"] * 3})
    >>> round(distances(raw, synthetic, edges={}).single[0][1], 3)
    0.333
    """
    names = synthetic.column_names
    codes = {name: _codes(name, raw, synthetic, edges.get(name)) for name in names}
    single: list[Distance] = [((name,), total_variation(*codes[name])) for name in names]
    found: list[Distance] = []
    pairs = list(combinations(names, 2))
    for done, (one, other) in enumerate(pairs, start=1):
        base = 1 + max(int(side.max(initial=0)) for side in codes[other])
        joined = (a * base + b for a, b in zip(codes[one], codes[other], strict=True))
        found.append(((one, other), total_variation(*joined)))
        progress(done / len(pairs))
    return TableDistances((synthetic.num_rows, raw.num_rows), tuple(single), tuple(found))


def _codes(
    name: str, raw: pa.Table, synthetic: pa.Table, edges: Sequence[float] | None
) -> tuple[Integers, Integers]:
    """Codes from 0 of both tables' cells: 0 is a missing one."""
    bins = bins_of(name, synthetic[name], edges)
    return bins.codes(raw[name]) + 1, bins.codes(synthetic[name]) + 1


_SHOWN = 30


def write_distances(
    found: TableDistances, by_question: Sequence[TableDistances], folder: Path, prefix: str
) -> None:
    """Write a line for each column and pair, the worst as charts, and those of single questions."""
    rows: list[Row] = [("columns", "total_variation")]
    rows += [_row(each) for each in (*found.single, *found.pairs)]
    write_rows(folder / f"{prefix}_total_variation.tsv", rows)
    charts = {"columns": found.single, "pairs_of_columns": found.pairs}
    for name, distances in charts.items():
        if distances:
            text = _chart(name.replace("_", " "), distances)
            (folder / f"{prefix}_total_variation_of_{name}.svg").write_text(text, encoding="utf-8")
    if by_question:
        rows = [("table", "columns", "total_variation")]
        for number, table in enumerate(by_question, start=1):
            rows += [(number, *_row(each)) for each in (*table.single, *table.pairs)]
        write_rows(folder / f"{prefix}_total_variation_by_table.tsv", rows)


def _row(distance: Distance) -> Row:
    return (" × ".join(distance[0]), distance[1])


def farthest(distances: Sequence[Distance], most: int) -> list[Distance]:
    return sorted(distances, key=lambda distance: (-distance[1], distance[0]))[:most]


def _chart(what: str, distances: Sequence[Distance]) -> str:
    chart = bars(
        f"Total variation of {what}",
        f"The {what} that are farthest from the raw table, the farthest first.",
        [Bar(" × ".join(columns), (apart,)) for columns, apart in farthest(distances, _SHOWN)],
        [Series("", theme.RARE)],
        PROPORTIONS,
        axis="Total variation: 0 where equal, 1 where nothing is shared",
        width=theme.FILE_WIDTH,
    )
    return chart.as_file()
