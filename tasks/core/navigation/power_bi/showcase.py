"""What a Power BI template shows: columns, charts and pages of the configuration go in, four pages come out.

The limits are SDS's (sds.md 6.2): 10 charts of chosen attributes, 4 pages, 16 charts on each. SDS cuts what
is beyond them in silence. Here every name that is left out is told, on the first page and by the run.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from tasks.core.aggregates.aggregates import Attribute
from tasks.core.arrays import Json
from tasks.core.figures import up, whole
from tasks.core.records.columns import Schema
from tasks.core.sentences import sentences_in
from tasks.core.tables.column_names import matching_name

MOST_CHOSEN = 10
MOST_PAGES = 4
MOST_CHARTS = 16

TEXTS = sentences_in(Path(__file__).parent / "texts.toml")


@dataclass(frozen=True)
class Header:
    """A column of the released synthetic records.

    Attributes:
        name: as the file's first line has it.
        place: which column of the file it is, from 1.
        column: of the public schema, by its name.
        item: of a column of several items, the item that this header stands for; None otherwise.
    """

    name: str
    place: int
    column: str
    item: str | None = None


def headers_of(names: Sequence[str], attributes: Iterable[Attribute], schema: Schema) -> tuple[Header, ...]:
    """The headers of released records, each with the column and the item that it stands for.

    Args:
        names: of the wide form, in the order of the file.
        attributes: released ones: they know what their headers stand for.
        schema: the public schema.
    """
    items = {each.header: (schema.columns[each.column].name, each.item) for each in attributes}
    return tuple(
        Header(name, place, *items.get(name, (name, None))) for place, name in enumerate(names, start=1)
    )


@dataclass(frozen=True)
class ShowcaseChart:
    """One chart: of a column, of a column's items, or of attributes that the configuration chose.

    Attributes:
        title: what stands above it.
        header: of a column with one value a record; None of others.
        column: whose items are shown; empty of others.
        chosen: attributes, ``header:value``; empty of others.
    """

    title: str
    header: Header | None = None
    column: str = ""
    chosen: tuple[str, ...] = ()


@dataclass(frozen=True)
class ShowcasePage:
    """One page of the report: its name, and the charts on it in order."""

    name: str
    charts: tuple[ShowcaseChart, ...]


@dataclass(frozen=True)
class ShowcaseInputs:
    """What a template is made of: released column names and public configuration.

    Attributes:
        title: of the report.
        prefix: that the names of the release's files begin with.
        headers: of the released synthetic records.
        schema: the public schema.
        statement: the content of ``privacy.json``, of either regime.
        reporting_length: R, how many values a reported count may be of.
        has_ranges: whether the file of counts says for each count where the true one lies.
        visuals: SDS's ``report_visuals``: name to attributes ``header:value``.
        pages: SDS's ``report_pages``: page to the visuals and columns on it, in order.
    """

    title: str
    prefix: str
    headers: tuple[Header, ...]
    schema: Schema
    statement: Json
    reporting_length: int
    has_ranges: bool = False
    visuals: Mapping[str, Sequence[str]] = field(default_factory=dict)
    pages: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def resolution(self) -> int | None:
        """Under k-anonymity, what counts are rounded down to a multiple of; None elsewhere."""
        rounded: int | None = self.statement["guarantee"].get("resolution")
        return rounded

    @property
    def protection(self) -> str:
        """What protects the release, in a sentence."""
        if self.resolution is not None:
            return TEXTS.say("protection.rounded", resolution=whole(self.resolution))
        epsilon, delta = (up(self.statement["guarantee"][name]) for name in ("epsilon", "delta"))
        return TEXTS.say("protection.private", epsilon=epsilon, delta=delta)


@dataclass(frozen=True)
class Showcase:
    """What the template holds.

    Attributes:
        pages: at most `MOST_PAGES`.
        left_out: what of the configuration it does not hold, a sentence each.
    """

    pages: tuple[ShowcasePage, ...]
    left_out: tuple[str, ...]

    @cached_property
    def columns(self) -> tuple[Header, ...]:
        """The headers with a chart of their own, each once, in the order of the file."""
        shown = {chart.header for chart in self._charts if chart.header is not None}
        return tuple(sorted(shown, key=lambda header: header.place))

    @cached_property
    def groups(self) -> tuple[ShowcaseChart, ...]:
        """The charts that are of no single header, each once, in the order of the pages."""
        return tuple(dict.fromkeys(chart for chart in self._charts if chart.header is None))

    @property
    def _charts(self) -> list[ShowcaseChart]:
        return [chart for page in self.pages for chart in page.charts]


def plan_showcase(inputs: ShowcaseInputs) -> Showcase:
    """What is on which page, and what is left out. Names of neither chart nor column are passed over."""
    chosen, left_out = _chosen_charts(inputs.visuals)
    columns = _column_charts(inputs)
    asked = _asked_pages(inputs, chosen, columns)
    pages = [ShowcasePage(name, charts[:MOST_CHARTS]) for name, charts in asked[:MOST_PAGES]]
    for name, charts in asked[:MOST_PAGES]:
        left_out += _beyond("charts", charts, MOST_CHARTS, page=name)
    left_out += _pages_beyond(asked)
    asked_for = {chart for _, charts in asked for chart in charts}
    unasked = [chart for chart in (*chosen, *columns) if chart not in asked_for]
    if unasked:
        left_out.append(TEXTS.say("left_out.unasked", names=_listed(unasked)))
    return Showcase(tuple(pages), tuple(left_out))


def _chosen_charts(visuals: Mapping[str, Sequence[str]]) -> tuple[list[ShowcaseChart], list[str]]:
    """The first of ``report_visuals``, and what there is to say of the others."""
    charts = [ShowcaseChart(name, chosen=tuple(dict.fromkeys(texts))) for name, texts in visuals.items()]
    return charts[:MOST_CHOSEN], _beyond("chosen", charts, MOST_CHOSEN)


def _column_charts(inputs: ShowcaseInputs) -> list[ShowcaseChart]:
    """A chart a column of the schema, in its order."""
    header_of = {header.column: header for header in inputs.headers if header.item is None}
    charts = []
    for column in inputs.schema.columns:
        if column.is_multi_valued:
            charts.append(ShowcaseChart(column.name, column=column.name))
        elif column.name in header_of:
            charts.append(ShowcaseChart(column.name, header=header_of[column.name]))
    return charts


def _asked_pages(
    inputs: ShowcaseInputs, chosen: Sequence[ShowcaseChart], columns: Sequence[ShowcaseChart]
) -> list[tuple[str, tuple[ShowcaseChart, ...]]]:
    """The configured pages; without any, all charts on as many pages as they need."""
    if not inputs.pages:
        charts = (*chosen, *columns)
        starts = range(0, max(len(charts), 1), MOST_CHARTS)
        return [
            (TEXTS.say("page", number=str(number)), charts[start : start + MOST_CHARTS])
            for number, start in enumerate(starts, start=1)
        ]
    by_visual = {chart.title: chart for chart in chosen}
    by_column = {matching_name(chart.title): chart for chart in columns}
    pages = []
    for name, wanted in inputs.pages.items():
        # A visual that is beyond the limit is told of already; a column of the same name is not meant.
        found = [
            by_visual.get(each) if each in inputs.visuals else by_column.get(matching_name(each))
            for each in wanted
        ]
        pages.append((name, tuple(dict.fromkeys(chart for chart in found if chart is not None))))
    return pages


def _pages_beyond(asked: Sequence[tuple[str, tuple[ShowcaseChart, ...]]]) -> list[str]:
    """The sentences on pages beyond the limit, and on what is on no other."""
    told = _beyond("pages", [ShowcaseChart(name) for name, _ in asked], MOST_PAGES)
    held = {chart for _, charts in asked[:MOST_PAGES] for chart in charts}
    lost = dict.fromkeys(chart for _, charts in asked[MOST_PAGES:] for chart in charts if chart not in held)
    return told + ([TEXTS.say("left_out.on_them", names=_listed(lost))] if lost else [])


def _beyond(what: str, charts: Sequence[ShowcaseChart], most: int, **values: str) -> list[str]:
    """The sentence on what is beyond a limit; none where nothing is."""
    if len(charts) <= most:
        return []
    rest = _listed(charts[most:])
    return [TEXTS.say(f"left_out.{what}", most=str(most), all=str(len(charts)), names=rest, **values)]


def _listed(charts: Iterable[ShowcaseChart]) -> str:
    """All of their names, on one line."""
    return ", ".join(" ".join(chart.title.split()) for chart in charts)
