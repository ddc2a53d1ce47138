"""The page of a SynDiffix release: the synthetic table and its statement go in, one HTML document comes out.

It is made from what is released alone: equal inputs give equal bytes. Numbers and moments are drawn in bins
with round edges, or with public ones where the configuration has them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from math import ceil
from urllib.parse import quote

import pyarrow as pa

from tasks.core.arrays import Json
from tasks.core.charts import theme
from tasks.core.charts.bars import SHARES, Bar, Bars, Series, bars
from tasks.core.charts.chart import Chart
from tasks.core.charts.matrix import Half, Matrix, matrix, matrix_width
from tasks.core.errors import InternalError
from tasks.core.figures import whole
from tasks.core.navigation.binned_columns import BinnedColumn, BinRow
from tasks.core.navigation.distributions import SHOWN
from tasks.core.navigation.page import headed, html, in_groups
from tasks.core.navigation.table_associations import Read, TableAssociations, table_associations
from tasks.core.statement.syndiffix.statement import LABEL, SynDiffixWords
from tasks.core.syndiffix.bins import bins_of
from tasks.core.syndiffix.settings import count_sd

_MATRIX_COLUMNS = 20
_STRONGEST = 16
_ROWS = Series("", theme.SYNTHETIC, theme.SYNTHETIC_INK)
#: More of the strongest pairs are drawn in two charts, side by side.
_ONE_CHART = 8
_TABLES = 200
_KINDS = {
    "boolean": "true or false",
    "integer": "whole numbers",
    "real": "numbers",
    "timestamp": "dates or times",
    "string": "texts",
}


def _no_table(file: str, columns: Sequence[str]) -> pa.Table:
    raise InternalError(f"a page without tables of questions was asked for {len(columns)} columns of one")


@dataclass(frozen=True)
class TablePage:
    """Everything a page is made of.

    Attributes:
        statement: the content of ``privacy.json``.
        table: the synthetic one.
        bins: public edges by numeric column.
        title: of the page; empty for the dataset's name.
        visuals: name to attributes ``header:value``.
        pages: page to the visuals and columns on it, in order.
        contract: the content of ``contract.json``; None where there was no data contract.
        files: of the table of all columns, relative to the page.
        tables: likewise of each table of a single question its file, and its columns.
        read: some columns of one of these tables, by its file.
    """

    statement: Json
    table: pa.Table
    bins: Mapping[str, Sequence[float]] = field(default_factory=dict)
    title: str = ""
    visuals: Mapping[str, Sequence[str]] = field(default_factory=dict)
    pages: Mapping[str, Sequence[str]] = field(default_factory=dict)
    contract: Json | None = None
    files: Sequence[str] = ()
    tables: Mapping[str, Sequence[str]] = field(default_factory=dict)
    read: Read = _no_table


def render_table(page: TablePage) -> str:
    """The page, without a time or anything else that is not in ``page``."""
    names = page.table.column_names
    columns = {name: _column(page, name) for name in names}
    statement = page.statement
    context = {
        "title": page.title or f"{statement['dataset']}, {statement['vintage']}",
        "statement": statement,
        "label": LABEL,
        "count_sd": count_sd(statement["parameters"]["layer_noise_sd"]),
        "topics": SynDiffixWords(statement).topics(),
        "warnings": _warnings(page),
        "attacks": [headed(sentence) for sentence in statement["not_covered"]],
        "contract": page.contract,
        "records": page.table.num_rows,
        "files": [_linked(file) for file in page.files],
        "tables": [
            {**_linked(file), "columns": " × ".join(held)}
            for file, held in islice(page.tables.items(), _TABLES)
        ],
        "folder": next(iter(page.tables), "").rpartition("/")[0],
        "more_tables": max(len(page.tables) - _TABLES, 0),
        "groups": _groups(page, {name: _best(page, name) for name in names}),
        **_associations(page, columns),
    }
    return html(context, "syndiffix.html.j2")


@dataclass(frozen=True)
class _Source:
    """A column as it is drawn, and the columns of the table that it is counted in; none: that of all."""

    column: BinnedColumn
    among: Sequence[str] = ()


def _column(page: TablePage, name: str) -> BinnedColumn:
    return _binned(page, name, page.table[name])


def _binned(page: TablePage, name: str, cells: pa.ChunkedArray) -> BinnedColumn:
    bins = bins_of(name, cells, page.bins.get(name))
    return BinnedColumn(bins, bins.codes(cells))


def _best(page: TablePage, name: str) -> _Source:
    """A column of the table of the fewest columns that holds it: the fewer, the less is suppressed."""
    smaller = page.table.num_columns
    holding = [file for file, held in page.tables.items() if name in held and len(held) < smaller]
    if not holding:
        return _Source(_column(page, name))
    file = min(holding, key=lambda each: len(page.tables[each]))
    return _Source(_binned(page, name, page.read(file, (name,))[name]), page.tables[file])


def _linked(file: str) -> Json:
    """A file's name without its folder, and the link to it."""
    return {"name": file.rpartition("/")[2], "link": quote(file)}


def _warnings(page: TablePage) -> list[str]:
    """What must be seen before anything else; that there is nothing to see comes first."""
    if page.table.num_rows:
        return SynDiffixWords(page.statement).warnings()
    unit = page.statement["guarantee"]["unit"]
    empty = f"The synthetic table is empty: each group has fewer {unit}s than may be shown."
    return [empty, *SynDiffixWords(page.statement).warnings()]


def _groups(page: TablePage, columns: Mapping[str, _Source]) -> list[Json]:
    """The columns' charts, under the configured pages where there are any."""
    charted = {name: _chart(name, source) for name, source in columns.items()}
    visuals = {name: _visual(name, texts, columns) for name, texts in page.visuals.items()}
    return in_groups(charted, visuals, page.pages)


def _chart(name: str, source: _Source) -> Json:
    column, rows = source.column, source.column.rows
    shown = rows[:SHOWN] if column.bins.kind == "string" else rows
    kind = _KINDS[column.bins.kind]
    if column.bins.edges is not None:
        kind = f"{kind}, in bins"
    if column.missing:
        kind = f"{kind}; {whole(column.missing)} rows without a value"
    if source.among:
        others = len(source.among) - 1
        beside = f"it and {others} other{'s' if others > 1 else ''}" if others else "this column alone"
        kind = f"{kind}; in the table of {beside}"
    return _drawn(name, kind, shown, len(rows) - len(shown))


def _visual(name: str, texts: Sequence[str], columns: Mapping[str, _Source]) -> Json:
    """Chosen bins of columns, written ``header:value``."""
    counts = {
        f"{header}:{label}": count
        for header, source in columns.items()
        for label, count in source.column.rows
    }
    rows = [(text, counts[text]) for text in texts if text in counts]
    return _drawn(name, "chosen values", rows[:SHOWN], max(len(rows) - SHOWN, 0))


def _drawn(name: str, kind: str, rows: Sequence[BinRow], more: int) -> Json:
    chart = Bars(
        f"{name}: counts of its values",
        f"{len(rows)} values; synthetic rows of each.",
        [Bar(label, (count,)) for label, count in rows],
        [replace(_ROWS, name="synthetic rows")],
    )
    return {"name": name, "kind": kind, "more": more, "chart": bars(chart) if rows else None}


def _associations(page: TablePage, columns: Mapping[str, BinnedColumn]) -> Json:
    """The matrix and the ranked pairs, of the first columns where there are many."""
    found = table_associations(columns, page.tables, page.read)
    names = found.names
    context: Json = {"matrix": None, "pairs": [], "matrix_width": matrix_width(len(names))}
    context["counted_in"] = _counted_in(found, page.tables)
    if found.sources:
        pairs = [
            Bar(" × ".join(pair), (value,), f"in {found.sources[pair] or 'the table of all columns'}")
            for pair, value in found.ranked(_STRONGEST)
        ]
        half = len(pairs) if len(pairs) <= _ONE_CHART else ceil(len(pairs) / 2)
        context["pairs"] = [
            (first + 1, first + len(part), _strongest(part))
            for first in range(0, len(pairs), half)
            if (part := pairs[first : first + half])
        ]
        if len(names) <= _MATRIX_COLUMNS:
            context["matrix"] = matrix(
                Matrix(
                    "Cramer's V of every two columns",
                    "Each two columns once, by the synthetic rows.",
                    names,
                    above=Half(found.values, theme.SYNTHETIC, white_from=0.8),
                )
            )
    return context


def _strongest(pairs: Sequence[Bar]) -> Chart:
    described = f"{len(pairs)} pairs, strongest first."
    return bars(Bars("Strongest associations", described, pairs, [_ROWS], SHARES))


def _counted_in(found: TableAssociations, tables: Mapping[str, Sequence[str]]) -> Json:
    """How many pairs were counted in a table of the two alone, in one of more, and in the one of all."""
    sizes = [len(tables[file]) if file else 0 for file in found.sources.values()]
    own, whole_table = sizes.count(2), sizes.count(0)
    return {"own": own, "larger": len(sizes) - own - whole_table, "all": whole_table}
