"""Charts of runs side by side: figures by length and by count go in, SVG comes out, a colour a run.

Runs that were measured against different counts stand in different charts: their errors can't be compared.
"""

import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from tasks.core.arrays import Json
from tasks.core.charts import plots, svg
from tasks.core.charts.axes import WIDTH, Axes, LegendEntry, legend
from tasks.core.navigation.run_figures import GROUPS, RunFigures

#: More runs than colours can't be told apart in a chart.
MOST_DRAWN = len(svg.SERIES)

_Figure = Callable[[Json], float | None]


@dataclass(frozen=True)
class _Wanted:
    """One chart: its caption, a note under it, and the figure of a row."""

    caption: str
    note: str
    figure: _Figure
    top: float | None = None


def marks(runs: int) -> list[str]:
    """A letter a run, in order: A, B, ..., Z, A2, B2, ..."""
    letters = string.ascii_uppercase
    return [
        letters[place % len(letters)] + (str(place // len(letters) + 1) if place >= len(letters) else "")
        for place in range(runs)
    ]


def _of(key: str) -> _Figure:
    return lambda row: _number(row.get(key))


def _share(part: str, whole: str) -> _Figure:
    def share(row: Json) -> float | None:
        some, all_ = _number(row.get(part)), _number(row.get(whole))
        return None if some is None or not all_ else 100 * some / all_

    return share


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


_PRESERVATION = "Share of a combination's count that is kept, at most 1. More is better."
_ERROR = _Wanted(
    "Mean absolute error",
    "Of combinations that both sides hold, in records. Less is better.",
    _of("mean_error"),
)
_KEPT = _Wanted("Count preservation", _PRESERVATION, _of("preservation"), 1.0)
_BY_LENGTH = {
    "released": (
        _ERROR,
        _KEPT,
        _Wanted(
            "Reported combinations missed (%)",
            "No synthetic record holds them. Less is better.",
            _share("missed", "reported"),
        ),
    ),
    "raw": (
        _ERROR,
        _KEPT,
        _Wanted(
            "Suppressed combinations (%)",
            "Held by the raw table and by no synthetic record. Less is better for use.",
            _share("suppressed", "reference"),
        ),
        _Wanted(
            "Rare combinations that appear at all",
            "Held by fewer records of the raw table than the resolution. Less is better.",
            _of("leaked_anywhere"),
        ),
    ),
}
_BY_COUNT = (
    _Wanted(
        "Proportional error by count",
        "Error over the right count, in bins of the synthetic count. Less is better.",
        _of("proportional_error"),
    ),
    _Wanted("Count preservation by count", _PRESERVATION, _of("preservation"), 1.0),
)


def charts(runs: Sequence[RunFigures], names: Sequence[str]) -> list[Json]:
    """Groups of charts of the first `MOST_DRAWN` runs: a name, and charts of caption, note and SVG.

    The SVG is empty where every figure is 0.
    """
    found = []
    for group, is_raw in (("released", False), ("raw", True)):
        drawn = [
            (place, run)
            for place, run in enumerate(runs[:MOST_DRAWN])
            if run.is_raw == is_raw and (run.by_length or run.by_count)
        ]
        held = [_by_length(wanted, drawn, names) for wanted in _BY_LENGTH[group]]
        held += [_by_count(wanted, drawn, names) for wanted in _BY_COUNT]
        shown = [chart for chart in held if chart]
        if shown:
            found.append({"name": GROUPS[group], "charts": shown})
    return found


def _by_length(wanted: _Wanted, runs: list[tuple[int, RunFigures]], names: Sequence[str]) -> Json | None:
    lengths = sorted({int(row["length"]) for _, run in runs for row in run.by_length})
    series = [
        RunBars(names[place], place, tuple(_at(run.by_length, length, wanted.figure) for length in lengths))
        for place, run in runs
    ]
    if all(value is None for one in series for value in one.values):
        return None
    if not any(value for one in series for value in one.values):
        return _entry(wanted, "by length", "")
    groups = [f"length {length}" for length in lengths]
    return _entry(wanted, "by length", bars_by_run(groups, series, f"{wanted.caption} by length"))


def _at(rows: Sequence[Json], length: int, figure: _Figure) -> float | None:
    return next((figure(row) for row in rows if row["length"] == length), None)


def _by_count(wanted: _Wanted, runs: list[tuple[int, RunFigures]], names: Sequence[str]) -> Json | None:
    lines = []
    for place, run in runs:
        # A bin without combinations has no mean; it is recorded as 0.
        rows = [row for row in run.by_count if row.get("combinations") != 0]
        points = [(float(row["bin"]), wanted.figure(row)) for row in rows]
        known = tuple((x, y) for x, y in points if y is not None)
        if known:
            lines.append(plots.Curve(names[place], known, look=place))
    if not lines:
        return None
    axes = Axes(
        wanted.caption,
        "synthetic count, up to",
        wanted.caption.lower().removesuffix(" by count"),
        x_spacing="log",
        top=wanted.top,
    )
    return _entry(wanted, "", plots.curves(lines, axes))


def _entry(wanted: _Wanted, by: str, chart: str) -> Json:
    return {"caption": f"{wanted.caption} {by}".strip(), "note": wanted.note, "chart": Markup(chart)}


@dataclass(frozen=True)
class RunBars:
    """One run's bars.

    Attributes:
        name: for the legend.
        look: its place among the colours.
        values: one a group; None where there is none.
    """

    name: str
    look: int
    values: tuple[float | None, ...]


def bars_by_run(groups: Sequence[str], series: Sequence[RunBars], title: str) -> str:
    """Bars side by side, a group of them for each of ``groups`` and a colour for each of ``series``."""
    words, above = legend([LegendEntry(one.name, svg.SERIES[one.look][0]) for one in series])
    left, right, upper, lower = 56.0, WIDTH - 20.0, above + 10, above + 230
    top = max((value for one in series for value in one.values if value is not None), default=1.0)
    ticks = svg.nice_ticks(top)
    parts = [words, *_scale(ticks, (left, right, upper, lower))]
    room = (right - left) / max(len(groups), 1)
    width = min(0.8 * room / max(len(series), 1), 34)
    for index, name in enumerate(groups):
        middle = left + (index + 0.5) * room
        first = middle - width * len(series) / 2
        for place, one in enumerate(series):
            parts.append(_bar(one, index, (first + place * width, width, lower, (lower - upper) / ticks[-1])))
        parts.append(svg.label(middle, lower + 16, name, text_anchor="middle", font_size=11, fill=svg.SOFT))
    parts.append(svg.line(left, lower, right, lower, svg.SOFT))
    return svg.figure(WIDTH, lower + 26, title, f"{title}: {', '.join(one.name for one in series)}.", parts)


def _scale(ticks: Sequence[float], frame: tuple[float, float, float, float]) -> list[str]:
    left, right, upper, lower = frame
    parts = []
    for tick in ticks:
        y = lower - tick / ticks[-1] * (lower - upper)
        parts.append(svg.line(left, y, right, y, svg.GRID_COLOUR))
        shown = svg.short_number(tick)
        parts.append(svg.label(left - 7, y + 4, shown, text_anchor="end", font_size=11, fill=svg.SOFT))
    return parts


def _bar(one: RunBars, index: int, frame: tuple[float, float, float, float]) -> str:
    """One bar, with its figure for who points at it; a dash where there is none."""
    x, width, lower, per_unit = frame
    value = one.values[index]
    if value is None:
        return svg.label(x + width / 2, lower - 4, "–", text_anchor="middle", font_size=11, fill=svg.SOFT)
    height = value * per_unit
    told = svg.tag("title", svg.escape(f"{one.name}: {value:.4g}"))
    shape = svg.rect(x + 0.5, lower - height, width - 1, height, svg.SERIES[one.look][0])
    return svg.tag("g", told + shape)
