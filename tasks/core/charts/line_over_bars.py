"""A line and under it bars, each in a panel of its own, over the same places.

SDS draws both on two axes of one panel (S5.1), which invites to compare what can't be compared.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tasks.core.charts import svg, theme
from tasks.core.charts.axes import (
    AxisScale,
    Frame,
    every,
    nice_ticks,
    place_labels,
    place_width,
    proportion,
    short_number,
    y_ticks,
)
from tasks.core.charts.chart import Chart
from tasks.core.figures import near, whole

_LINE, _BARS, _SLOT, _WIDEST = (36.0, 226.0), (284.0, 384.0), 50, 1552


@dataclass(frozen=True)
class LineOverBars:
    """What is drawn.

    Attributes:
        title: on top.
        description: what a person who can't see the chart is told.
        axis: what the places are, under the axis.
        labels: of the places, in order.
        line: its name, with its unit, and a number each place, 0 or more; its axis goes to 1 at least.
        bars: likewise.
        colour: of both.
    """

    title: str
    description: str
    axis: str
    labels: Sequence[str]
    line: tuple[str, Sequence[float]]
    bars: tuple[str, Sequence[float]]
    colour: str


def line_over_bars(chart: LineOverBars) -> Chart:
    """Two panels, each with its values."""
    number = max(len(chart.labels), 1)
    width = min(max(theme.FILE_WIDTH, _SLOT * number), _WIDEST)
    across = AxisScale(0, number, "linear")
    high = nice_ticks(max((1.0, *chart.line[1])))[-1]
    upper = Frame(across, AxisScale(0, high, "linear"), *_LINE, width)
    # The value of the tallest bar stands above it.
    high = nice_ticks(1.1 * max(chart.bars[1], default=0.0), 3)[-1]
    lower = Frame(across, AxisScale(0, high, "linear", 3), *_BARS, width)
    parts = [
        _heading(chart.line[0], upper, chart.colour),
        *y_ticks(upper),
        *_line(chart, upper),
        _heading(chart.bars[0], lower, chart.colour),
        *y_ticks(lower),
        *_bars(chart, lower),
        *place_labels(lower, chart.labels, chart.axis),
    ]
    return Chart(width, lower.lower + 44, chart.title, chart.description, parts)


def _heading(words: str, frame: Frame, colour: str) -> str:
    return svg.label(0, frame.upper - 28, words, font_weight="600", fill=colour)


def _line(chart: LineOverBars, frame: Frame) -> list[str]:
    points = [(frame.x(place + 0.5), frame.y(value)) for place, value in enumerate(chart.line[1])]
    path = " ".join(f"{svg.coordinate(x)},{svg.coordinate(y)}" for x, y in points)
    look = {"fill": "none", "stroke": chart.colour, "stroke_width": 2}
    parts = [svg.tag("polyline", points=path, **look)] if path else []
    parts += [svg.tag("circle", cx=x, cy=y, r=4, fill=chart.colour) for x, y in points]
    return parts + _values(points, [proportion(value) for value in chart.line[1]], frame, chart.colour)


def _bars(chart: LineOverBars, frame: Frame) -> list[str]:
    values = chart.bars[1]
    thick = min(place_width(frame) * 0.62, 84.0)
    points = [(frame.x(place + 0.5), frame.y(value)) for place, value in enumerate(values)]
    parts = [
        svg.rect(x - thick / 2, y, thick, frame.lower - y, chart.colour, fill_opacity=theme.PALE)
        for x, y in points
    ]
    texts = [whole(round(value)) if value == int(value) or value >= 1000 else near(value) for value in values]
    if every(texts, place_width(frame)) > 1:
        texts = [short_number(value) for value in values]
    return parts + _values([(x, y + 4) for x, y in points], texts, frame, theme.INK)


def _values(
    points: Sequence[tuple[float, float]], texts: Sequence[str], frame: Frame, colour: str
) -> list[str]:
    """A text above each point, or above every second or further one where they would touch."""
    look = {"text_anchor": "middle", "font_size": theme.SMALL, "fill": colour}
    step = every(texts, place_width(frame))
    return [
        svg.haloed(x, y - 9, text, **look) for (x, y), text in list(zip(points, texts, strict=True))[::step]
    ]
