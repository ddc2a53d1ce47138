"""The page of a SynDiffix release: the synthetic table and its statement go in, one HTML document comes out.

It is made from what is released alone: equal inputs give equal bytes. Numbers and moments are drawn in bins
with round edges, or with public ones where the configuration has them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice
from math import isfinite
from typing import Any
from urllib.parse import quote

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from markupsafe import Markup

from tasks.core.dp.figures import whole
from tasks.core.navigation import charts, plots
from tasks.core.navigation.associations import MOST_COLUMNS, cramers_v
from tasks.core.navigation.distributions import SHOWN
from tasks.core.navigation.page import html
from tasks.core.navigation.scales import Row, rows_of
from tasks.core.syndiffix.bins import Bins, bins_of
from tasks.core.syndiffix.parameters import count_sd
from tasks.core.syndiffix.statement import LABEL, topics, warnings

Json = dict[str, Any]
Codes = npt.NDArray[np.int64]

_MATRIX_COLUMNS = 20
_HALF_MATRIX = 5
_STRONGEST = 15
_TABLES = 200
_KINDS = {
    "boolean": "true or false",
    "integer": "whole numbers",
    "real": "numbers",
    "timestamp": "dates or times",
    "string": "texts",
}


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
        tables: of each table of a single question its file, relative to the page, and its columns.
    """

    statement: Json
    table: pa.Table
    bins: Mapping[str, Sequence[float]] = field(default_factory=dict)
    title: str = ""
    visuals: Mapping[str, Sequence[str]] = field(default_factory=dict)
    pages: Mapping[str, Sequence[str]] = field(default_factory=dict)
    contract: Json | None = None
    tables: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Column:
    """A column in its bins."""

    bins: Bins
    codes: Codes

    @property
    def rows(self) -> list[Row]:
        """Each bin and how many rows it has, as its chart shows them; what is in none is the last."""
        counts = np.bincount(self.codes[self.codes >= 0], minlength=len(self.bins.labels) + 1)
        return rows_of(self.bins, counts.tolist())

    @property
    def missing(self) -> int:
        """How many rows have no value."""
        return int(np.count_nonzero(self.codes < 0))


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
        "topics": topics(statement),
        "warnings": warnings(statement),
        "attacks": [_headed(sentence) for sentence in statement["not_covered"]],
        "contract": page.contract,
        "records": page.table.num_rows,
        "tables": [
            {"file": file, "link": quote(file), "columns": " × ".join(names)}
            for file, names in islice(page.tables.items(), _TABLES)
        ],
        "more_tables": max(len(page.tables) - _TABLES, 0),
        "groups": _groups(page, columns),
        **_associations(columns),
    }
    return html(context, "report_syndiffix.html.j2")


def _column(page: TablePage, name: str) -> _Column:
    bins = bins_of(name, page.table[name], page.bins.get(name))
    return _Column(bins, bins.codes(page.table[name]))


def _headed(sentence: str) -> tuple[str, str]:
    """The words before the colon, and the rest as a sentence."""
    name, said = sentence.split(": ", 1)
    return name, said[0].upper() + said[1:]


def _groups(page: TablePage, columns: Mapping[str, _Column]) -> list[Json]:
    """The columns' charts, under the configured pages where there are any."""
    drawn = {name: _chart(name, column) for name, column in columns.items()}
    drawn |= {name: _visual(name, texts, columns) for name, texts in page.visuals.items()}
    chosen = page.pages or ({"": list(page.visuals)} if page.visuals else {})
    groups = [(title, [name for name in names if name in drawn]) for title, names in chosen.items()]
    placed = {name for _, names in groups for name in names}
    if rest := [name for name in columns if name not in placed]:
        groups.append(("Other columns" if groups and groups[0][0] else "", rest))
    return [
        {
            "name": title,
            "columns": [drawn[name] | {"id": f"column-{g}-{i}"} for i, name in enumerate(names)],
        }
        for g, (title, names) in enumerate(groups)
    ]


def _chart(name: str, column: _Column) -> Json:
    rows = column.rows
    shown = rows[:SHOWN] if column.bins.kind == "string" else rows
    kind = _KINDS[column.bins.kind]
    if column.bins.edges is not None:
        kind = f"{kind}, in bins"
    if column.missing:
        kind = f"{kind}; {whole(column.missing)} rows without a value"
    return _drawn(name, kind, shown, len(rows) - len(shown))


def _visual(name: str, texts: Sequence[str], columns: Mapping[str, _Column]) -> Json:
    """Chosen bins of columns, written ``header:value``."""
    counts = {
        f"{header}:{label}": count for header, column in columns.items() for label, count in column.rows
    }
    rows = [(text, counts[text]) for text in texts if text in counts]
    return _drawn(name, "chosen values", rows[:SHOWN], max(len(rows) - SHOWN, 0))


def _drawn(name: str, kind: str, rows: Sequence[Row], more: int) -> Json:
    bars = [charts.Bar(label, None, count) for label, count in rows]
    chart = charts.bars(bars, f"{name}: counts of its values", None, ("", "synthetic rows"))
    return {"name": name, "kind": kind, "more": more, "chart": Markup(chart) if bars else None}


def _associations(columns: Mapping[str, _Column]) -> Json:
    """The matrix and the ranked pairs, of the first columns where there are many."""
    names = list(columns)[:MOST_COLUMNS]
    found = np.full((len(names), len(names)), np.nan)
    for one, other in combinations(range(len(names)), 2):
        table = _crossed(columns[names[one]], columns[names[other]])
        found[one, other] = found[other, one] = cramers_v(table)
    pairs = [
        (f"{names[one]} × {names[other]}", float(found[one, other]))
        for one, other in combinations(range(len(names)), 2)
        if isfinite(found[one, other])
    ]
    pairs = sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:_STRONGEST]
    context: Json = {"matrix": None, "pairs": None, "is_large_matrix": len(names) > _HALF_MATRIX}
    if pairs:
        context["pairs"] = Markup(charts.one_share(pairs, "Strongest associations"))
        if len(names) <= _MATRIX_COLUMNS:
            sides = plots.Sides(found, found, "")
            context["matrix"] = Markup(plots.matrix(names, sides, "Cramer's V of every two columns"))
    return context


def _crossed(one: _Column, other: _Column) -> npt.NDArray[np.float64]:
    """The two-way table of the rows that have a value in both."""
    both = (one.codes >= 0) & (other.codes >= 0)
    shape = len(one.bins.labels) + 1, len(other.bins.labels) + 1
    keys = one.codes[both] * shape[1] + other.codes[both]
    return np.bincount(keys, minlength=shape[0] * shape[1]).astype(np.float64).reshape(shape)
