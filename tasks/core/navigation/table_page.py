"""The page of a SynDiffix release: the synthetic table and its statement go in, one HTML document comes out.

It is made from what is released alone: equal inputs give equal bytes. Numbers and moments stand in bins with
round edges, or with public ones where the configuration has them.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from math import ceil
from urllib.parse import quote

import numpy as np

from tasks.core.arrays import Floats, Json
from tasks.core.charts import theme
from tasks.core.charts.bars import SHARES, Bar, Half, Series, bars, matrix
from tasks.core.charts.svg import Chart
from tasks.core.navigation.associations import MOST_CHARTED_COLUMNS, count_pairs, cramers_v
from tasks.core.navigation.inputs import TablePage
from tasks.core.navigation.page import headed, html
from tasks.core.navigation.payload.release import Payload
from tasks.core.navigation.payload.synthetic_table import payload_of_table
from tasks.core.statement.syndiffix import LABEL, SynDiffixWords
from tasks.core.syndiffix.bins import bins_of
from tasks.core.syndiffix.settings import count_sd


@dataclass(frozen=True)
class TableAssociations:
    """Cramer's V of every two columns.

    Attributes:
        values: (n, n), symmetric, in 0..1; NaN where there is nothing to say.
        sources: by two names the file that a finite value was counted in; "" is the table of all columns.
    """

    names: tuple[str, ...]
    values: Floats
    sources: Mapping[tuple[str, str], str]

    def ranked(self, most: int) -> list[tuple[tuple[str, str], float]]:
        """The strongest pairs with their values; equal ones by their names."""
        place = {name: index for index, name in enumerate(self.names)}
        found = [(pair, float(self.values[place[pair[0]], place[pair[1]]])) for pair in self.sources]
        return sorted(found, key=lambda each: (-each[1], each[0]))[:most]


def table_associations(page: TablePage) -> TableAssociations:
    """Cramer's V of the first `MOST_CHARTED_COLUMNS` columns, by the smallest table that holds a pair."""
    names = tuple(page.table.column_names)[:MOST_CHARTED_COLUMNS]
    bins = {name: bins_of(name, page.table[name], page.bins.get(name)) for name in names}
    codes = {name: own.codes(page.table[name]) for name, own in bins.items()}
    values = np.full((len(names), len(names)), np.nan)
    sources = {}
    for (i, one), (j, other) in combinations(enumerate(names), 2):
        file, both = page.smallest((one, other)), (codes[one], codes[other])
        if file is not None:
            table = page.read(file, (one, other))
            both = bins[one].codes(table[one]), bins[other].codes(table[other])
        shape = len(bins[one].labels) + 1, len(bins[other].labels) + 1
        values[i, j] = values[j, i] = cramers_v(count_pairs(*both, shape))
        if math.isfinite(values[i, j]):
            sources[one, other] = file or ""
    return TableAssociations(names, values, sources)


_MATRIX_COLUMNS = 20
_STRONGEST = 16
_ROWS = Series("", theme.SYNTHETIC, theme.SYNTHETIC_INK)
#: More of the strongest pairs are drawn in two charts, side by side.
_ONE_CHART = 8
_TABLES = 200


def render_table(page: TablePage, payload: Payload | None = None) -> str:
    """The page, without a time or anything else that is not in ``page``.

    Args: payload: what `payload_of_table` makes of it, where that is there already.
    """
    names = page.table.column_names
    statement = page.statement
    context = {
        **page.naming.page_words(statement),
        "columns": names,
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
        **_associations(page),
    }
    return html("syndiffix.html.j2", context, explorer=payload or payload_of_table(page))


def _linked(file: str) -> Json:
    return {"name": file.rpartition("/")[2], "link": quote(file)}


def _warnings(page: TablePage) -> list[str]:
    """What must be seen before anything else; that there is nothing to see comes first."""
    if page.table.num_rows:
        return SynDiffixWords(page.statement).warnings()
    many = page.naming.promised(page.statement).many
    empty = f"The synthetic table is empty: each group has fewer {many} than may be shown."
    return [empty, *SynDiffixWords(page.statement).warnings()]


def _associations(page: TablePage) -> Json:
    found = table_associations(page)
    context: Json = {"matrix": None, "pairs": [], "counted_in": _counted_in(found, page.tables)}
    if not found.sources:
        return context
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
    if len(found.names) <= _MATRIX_COLUMNS:
        context["matrix"] = matrix(
            "Cramer's V of every two columns",
            "Each two columns once, by the synthetic rows.",
            found.names,
            above=Half(found.values, theme.SYNTHETIC, white_from=0.8),
        )
    return context


def _strongest(pairs: Sequence[Bar]) -> Chart:
    described = f"{len(pairs)} pairs, strongest first."
    return bars("Strongest associations", described, pairs, [_ROWS], SHARES)


def _counted_in(found: TableAssociations, tables: Mapping[str, Sequence[str]]) -> Json:
    """How many pairs were counted in a table of the two alone, in one of more, and in the one of all."""
    sizes = [len(tables[file]) if file else 0 for file in found.sources.values()]
    own, whole_table = sizes.count(2), sizes.count(0)
    return {"own": own, "larger": len(sizes) - own - whole_table, "all": whole_table}
