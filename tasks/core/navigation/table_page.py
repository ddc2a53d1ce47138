"""The page of a SynDiffix release: the synthetic table and its statement go in, one HTML document comes out.

It is made from what is released alone: equal inputs give equal bytes. Numbers and moments stand in bins with
round edges, or with public ones where the configuration has them.
"""

from collections.abc import Mapping, Sequence
from itertools import islice
from math import ceil
from urllib.parse import quote

from tasks.core.arrays import Json
from tasks.core.charts import theme
from tasks.core.charts.bars import SHARES, Bar, Bars, Series, bars
from tasks.core.charts.matrix import Half, Matrix, matrix
from tasks.core.charts.svg import Chart
from tasks.core.navigation.binned_columns import BinnedColumn
from tasks.core.navigation.page import Page, headed, html
from tasks.core.navigation.payload.release import Payload
from tasks.core.navigation.payload.synthetic_table import payload_of_table
from tasks.core.navigation.table_associations import TableAssociations, table_associations
from tasks.core.navigation.table_inputs import TablePage
from tasks.core.statement.syndiffix import LABEL, SynDiffixWords
from tasks.core.syndiffix.bins import bins_of
from tasks.core.syndiffix.settings import count_sd

_MATRIX_COLUMNS = 20
_STRONGEST = 16
_ROWS = Series("", theme.SYNTHETIC, theme.SYNTHETIC_INK)
#: More of the strongest pairs are drawn in two charts, side by side.
_ONE_CHART = 8
_TABLES = 200


def render_table(page: TablePage, payload: Payload | None = None) -> str:
    """The page, without a time or anything else that is not in ``page``.

    Args:
        page: all that is published.
        payload: what `payload_of_table` makes of it, where that is there already.
    """
    names = page.table.column_names
    columns = {name: _column(page, name) for name in names}
    statement, unit = page.statement, page.naming.unit_of(page.statement)
    context = {
        "title": page.title,
        "one": unit.one,
        "many": unit.many,
        "a_one": unit.a_one,
        "promised": page.naming.promised(statement),
        "columns": names,
        "ages": page.naming.ages,
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
        **_associations(page, columns),
    }
    return html(context, Page("syndiffix.html.j2", explorer=payload or payload_of_table(page)))


def _column(page: TablePage, name: str) -> BinnedColumn:
    cells = page.table[name]
    bins = bins_of(name, cells, page.bins.get(name))
    return BinnedColumn(bins, bins.codes(cells))


def _linked(file: str) -> Json:
    """A file's name without its folder, and the link to it."""
    return {"name": file.rpartition("/")[2], "link": quote(file)}


def _warnings(page: TablePage) -> list[str]:
    """What must be seen before anything else; that there is nothing to see comes first."""
    if page.table.num_rows:
        return SynDiffixWords(page.statement).warnings()
    many = page.naming.promised(page.statement).many
    empty = f"The synthetic table is empty: each group has fewer {many} than may be shown."
    return [empty, *SynDiffixWords(page.statement).warnings()]


def _associations(page: TablePage, columns: Mapping[str, BinnedColumn]) -> Json:
    """The matrix and the ranked pairs, of the first columns where there are many."""
    found = table_associations(columns, page.tables, page.read)
    names = found.names
    context: Json = {"matrix": None, "pairs": []}
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
