"""The aggregate stage's files for ``sensitive/``: coded records and exact marginals in, SDS's files out.

True counts of short combinations and of the rarest ones, rare combinations by length, who is singled out, and
what makes them so (S2.3 to S2.5). All true counts are the marginals themselves; as SDS's files they are
written on request (`sensitive_text`). Nothing of it may leave.
"""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tasks.core.aggregates.linkability import (
    LISTED,
    Linkability,
    LinkedAttributes,
    RareByLength,
    SingledOut,
    linkability_of,
    rare_by_length,
    single_out,
    single_out_of_whole,
)
from tasks.core.aggregates.marginals import each_beside
from tasks.core.aggregates.sensitive_text import write_rarest, write_true_counts
from tasks.core.aggregates.stored_marginals import Marginals
from tasks.core.arrays import ShareDone
from tasks.core.charts import theme
from tasks.core.charts.bars import PERCENTAGES, Bar, Series, bars
from tasks.core.charts.plot import Axes, line_over_bars
from tasks.core.queries import QueryResources
from tasks.core.records.table import RecordTable
from tasks.core.tables.writing import write_rows

#: How many of a ranking are drawn.
_MOST_BARS = 25


#: Gives a file of a name its path, and notes that it is written.
_Named = Callable[[str], Path]


def write_sensitive_aggregates(
    table: RecordTable,
    marginals: Marginals,
    resolution: int,
    folder: Path,
    prefix: str,
    resources: QueryResources = QueryResources(),
    progress: ShareDone = lambda fraction: None,
) -> list[Path]:
    """Write the files of the aggregate stage that hold true counts, and return their paths.

    Args:
        marginals: all combinations of each length from 1 on.
        resolution: at least 1; a count below it is rare.
        folder: an existing folder of the sensitive zone.
        resources: memory (beside the coded records themselves), threads, scratch.
    """
    written: list[Path] = []

    def named(name: str) -> Path:
        written.append(folder / f"{prefix}_sensitive_{name}")
        return written[-1]

    write_true_counts(marginals, named(f"aggregates_to_length_{LISTED}.tsv"), resources, longest=LISTED)
    write_rarest(marginals, named("rarest_combinations.tsv"))
    progress(0.3)
    _write_rare(rare_by_length(marginals, resolution), named)
    linked = _write_analysis(table, marginals, resolution, named)
    progress(0.9)
    _write_linkable(linkability_of(linked, table.facts), named)
    progress(1.0)
    return written


def _write_rare(rows: Sequence[RareByLength], named: _Named) -> None:
    header = ("sen_combo_length", "combo_count", "rare_count", "rare_proportion")
    cells = [(row.length, row.combinations, row.rare, row.proportion) for row in rows]
    write_rows(named("rare_by_length.tsv"), (header, *cells))
    axes = Axes(
        "Rare combinations of the sensitive table, by length",
        x="Length of the combinations",
        y="",
        description="Distinct combinations of each length, and the proportion of them that is rare.",
        places=[str(row.length) for row in rows],
    )
    chart = line_over_bars(
        axes,
        ("Proportion that is rare", [row.proportion for row in rows]),
        ("Distinct combinations", [row.combinations for row in rows]),
        theme.RARE,
    )
    named("rare_by_length.svg").write_text(chart.as_file(), encoding="utf-8")


def _write_analysis(
    table: RecordTable, marginals: Marginals, resolution: int, named: _Named
) -> LinkedAttributes:
    if table.only is not None:
        found = single_out(table.only, marginals, resolution)
        _write_lengths(found, 0, named("analysis_by_record.parquet"))
        return found.linked
    work = partial(single_out_of_whole, resolution=resolution)
    first = 0
    linked: LinkedAttributes | None = None
    for place, found in enumerate(each_beside(table, marginals, "single out", work)):
        _write_lengths(found, first, named(f"analysis_by_record_{place:05}.parquet"))
        first += len(found.unique_length)
        linked = found.linked if linked is None else linked + found.linked
    assert linked is not None  # as there is a partition
    return linked


def _write_lengths(found: SingledOut, first: int, path: Path) -> None:
    """A row a record, in their order, numbered from the first on: 0 stands for no such length."""
    size = len(found.unique_length)
    table = pa.table(
        {
            "record": pa.array(np.arange(first, first + size, dtype=np.int64)),
            "unique_length": pa.array(found.unique_length),
            "rare_length": pa.array(found.rare_length),
        }
    )
    pq.write_table(table, path, compression="zstd")


def _write_linkable(found: Linkability, named: _Named) -> None:
    columns = [(each.name, each.attributes, each.rare_pct, each.unique_pct) for each in found.columns]
    write_rows(named("linkable_columns.tsv"), (("column", "attributes", "rare_pct", "unique_pct"), *columns))
    attributes = [
        (each.attribute.text, each.records, each.rare, each.rare_pct, each.unique, each.unique_pct)
        for each in found.attributes
    ]
    header = ("attribute", "count", "rare_count", "rare_pct", "unique_count", "unique_pct")
    write_rows(named("linkable_attributes.tsv"), (header, *attributes))
    for name, ranked in (
        ("columns", [(each.name, each.rare_pct) for each in found.columns]),
        ("attributes", [(each.attribute.text, each.rare_pct) for each in found.attributes]),
    ):
        chart = bars(
            f"Most linkable {name} of the sensitive table",
            f"The {name} with the largest share of records in rare combinations.",
            [Bar(label, (share,)) for label, share in ranked[:_MOST_BARS]],
            [Series("", theme.RARE)],
            PERCENTAGES,
            axis="Records of a value that are in a rare combination with it, %"
            + (" (mean over the values)" if name == "columns" else ""),
            width=theme.FILE_WIDTH,
        )
        named(f"linkable_{name}.svg").write_text(chart.as_file(), encoding="utf-8")
