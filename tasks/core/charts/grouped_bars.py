"""Upright bars: at each place one of every series; numbers by place go in, a chart comes out."""

from collections.abc import Sequence
from dataclasses import dataclass

from tasks.core.charts import svg, theme
from tasks.core.charts.axes import (
    Axes,
    AxisScale,
    Frame,
    place_labels,
    place_width,
    scale_of,
    y_ticks,
    y_words,
)
from tasks.core.charts.bars import Bar, Numbers, Series
from tasks.core.charts.chart import Chart
from tasks.core.charts.legend import LegendEntry, legend

_HEIGHT = 220
#: Of at most so many bars each has its value above it.
_MOST_TOLD = 15


@dataclass(frozen=True)
class GroupedBars:
    """What is drawn.

    Attributes:
        axes: what they say; the y-axis begins at 0.
        places: from left to right; an empty label is not written.
        series: in the order of each place.
        numbers: how the value above each bar is written; None: the values are not written.
        width: in px.
    """

    axes: Axes
    places: Sequence[Bar]
    series: Sequence[Series]
    numbers: Numbers | None = None
    width: float = theme.WIDTH


def grouped_bars(chart: GroupedBars) -> Chart:
    """Bars of all series side by side at each place; a dash where there is no number."""
    words, above = legend([LegendEntry(one.name, one.colour) for one in chart.series], chart.width)
    values = [value for place in chart.places for value in place.values if value is not None]
    across = AxisScale(0, max(len(chart.places), 1), "linear")
    up = scale_of(values, "linear")
    frame = Frame(across, up, upper=above + 10, lower=above + 10 + _HEIGHT, width=chart.width)
    parts = [words, *y_ticks(frame), *y_words(frame, chart.axes.y)]
    for index in range(len(chart.places)):
        parts += _place(chart, index, frame)
    parts += place_labels(frame, [place.label for place in chart.places], chart.axes.x)
    names = ", ".join(series.name for series in chart.series)
    described = chart.axes.description or f"{chart.axes.title}: {names}."
    height = frame.lower + (44 if chart.axes.x else 26)
    return Chart(chart.width, height, chart.axes.title, described, parts)


def _place(chart: GroupedBars, index: int, frame: Frame) -> list[str]:
    """The bars of one place."""
    number, place = len(chart.series), chart.places[index]
    width = min(0.8 * place_width(frame) / max(number, 1), 0.085 * chart.width)
    first = frame.x(index + 0.5) - width * number / 2
    is_told = chart.numbers is not None and number * len(chart.places) <= _MOST_TOLD
    return [
        _bar(series, value, (first + each * width, width), frame, chart.numbers if is_told else None)
        for each, (series, value) in enumerate(zip(chart.series, place.values, strict=True))
    ]


def _bar(
    series: Series, value: float | None, at: tuple[float, float], frame: Frame, numbers: Numbers | None
) -> str:
    """One bar, with its number for a person who points at it; a dash where there is none."""
    x, width = at
    middle, small = x + width / 2, {"font_size": theme.SMALL, "text_anchor": "middle"}
    if value is None:
        return svg.label(middle, frame.lower - 4, "–", fill=theme.SOFT, **small)
    top = frame.y(value)
    parts = [
        svg.tag("title", svg.escape(f"{series.name}: {value:.4g}")),
        svg.rect(x + 0.5, top, width - 1, frame.lower - top, series.colour),
    ]
    if numbers is not None:
        parts.append(svg.haloed(middle, top - 5, numbers.text(value), **small))
    return svg.tag("g", "".join(parts))
