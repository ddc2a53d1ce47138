"""The files of a comparison of typed tables: distances in, tables and charts in a folder out."""

from collections.abc import Sequence
from pathlib import Path

from tasks.core.evaluation.charts import RankedBars, ranked_bars
from tasks.core.evaluation.tables import Row, write_rows
from tasks.core.evaluation.typed_tables import Distance, TableDistances

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
    return (" × ".join(distance.columns), distance.total_variation)


def _chart(what: str, distances: Sequence[Distance]) -> str:
    ranked = sorted(distances, key=lambda each: (-each.total_variation, each.columns))[:_SHOWN]
    chart = RankedBars(
        title=f"Total variation of {what}",
        description=f"The {what} that are farthest from the raw table, the farthest first.",
        axis="Total variation: 0 where equal, 1 where nothing is shared",
        bars=tuple((" × ".join(each.columns), each.total_variation) for each in ranked),
    )
    return ranked_bars(chart)
