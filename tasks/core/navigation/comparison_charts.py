"""Charts of runs side by side: figures by length and by count go in, SVG comes out, a colour a run.

Runs that were measured against different counts stand in different charts: their errors can't be compared.
"""

import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tasks.core.arrays import Json
from tasks.core.charts import theme
from tasks.core.charts.plot import Axes, Columns, Line, plot
from tasks.core.charts.svg import Chart
from tasks.core.navigation.metrics import GROUPS
from tasks.core.navigation.run_figures import RunFigures, figure_of

#: More runs than colours can't be told apart in a chart.
MOST_DRAWN = len(theme.SERIES)

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
    return lambda row: figure_of(row.get(key))


def _share(part: str, whole: str) -> _Figure:
    def share(row: Json) -> float | None:
        some, all_ = figure_of(row.get(part)), figure_of(row.get(whole))
        return None if some is None or not all_ else 100 * some / all_

    return share


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
        Columns(
            names[place],
            [_at(run.by_length, length, wanted.figure) for length in lengths],
            theme.SERIES[place][0],
        )
        for place, run in runs
    ]
    values = [value for each in series for value in each.values]
    if all(value is None for value in values):
        return None
    if not any(values):
        return _entry(wanted, "by length", None)
    places = [f"length {length}" for length in lengths]
    chart = plot(series, Axes(f"{wanted.caption} by length", "", "", places=places), size=(theme.WIDTH, 220))
    return _entry(wanted, "by length", chart)


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
            lines.append(Line(names[place], known, *theme.SERIES[place]))
    if not lines:
        return None
    axes = Axes(
        wanted.caption,
        "synthetic count, up to",
        wanted.caption.lower().removesuffix(" by count"),
        x_spacing="log",
        top=wanted.top,
    )
    return _entry(wanted, "", plot(lines, axes))


def _entry(wanted: _Wanted, by: str, chart: Chart | None) -> Json:
    return {"caption": f"{wanted.caption} {by}".strip(), "note": wanted.note, "chart": chart}
