"""One count over releases: a point with its error bar for each goes in, a chart comes out."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from tasks.core.charts import svg, theme
from tasks.core.charts.axes import AxisScale, Frame, nice_ticks, place_labels
from tasks.core.charts.chart import Chart
from tasks.core.figures import whole


@dataclass(frozen=True)
class Point:
    """A release's count.

    Attributes:
        label: of the release.
        value: None where it was not published.
        low, high: where the true count lies, as far as noise or rounding tell.
        is_struck: of a release that was withdrawn: drawn hollow, and no line leads to it.
        is_changed: differs from the one before by more than its error explains.
    """

    label: str
    value: float | None
    low: float = 0.0
    high: float = 0.0
    is_struck: bool = False
    is_changed: bool = False


def timeline(title: str, description: str, points: Sequence[Point], height: float = 120) -> Chart:
    """Points over places, joined by a line; a changed one is filled with the second colour.

    Args:
        title: for a person who can't see the chart.
        description: likewise.
        points: in order.
        height: of the plot, in px.
    """
    ends = [end for point in points if point.value is not None for end in (point.low, point.high)]
    low, high, step = _spread(ends)
    frame = Frame(
        AxisScale(0.0, max(len(points), 1), "linear"),
        AxisScale(low, high, "linear"),
        upper=10,
        lower=10 + height,
    )
    parts = [*_grid(frame, low, high, step), *place_labels(frame, [point.label for point in points], "")]
    standing = [(place, point) for place, point in enumerate(points) if not point.is_struck]
    for (place, point), (following, next_point) in itertools.pairwise(standing):
        if point.value is not None and next_point.value is not None:
            start = (frame.x(place + 0.5), frame.y(point.value))
            end = (frame.x(following + 0.5), frame.y(next_point.value))
            parts.append(svg.line(*start, *end, theme.RELEASED, stroke_width=1.4, opacity=0.6))
    for place, point in enumerate(points):
        parts += _drawn(point, frame.x(place + 0.5), frame)
    return Chart(theme.WIDTH, frame.lower + 24, title, description, parts)


def _spread(ends: Sequence[float]) -> tuple[float, float, float]:
    """Where the axis begins and ends, and the step between ticks: round values around what is drawn."""
    low, high = max(0.0, min(ends, default=0.0)), max(ends, default=1.0)
    step = nice_ticks(max(high - low, 1.0), 3)[1]
    return math.floor(low / step) * step, max(math.ceil(high / step), math.floor(low / step) + 1) * step, step


def _grid(frame: Frame, low: float, high: float, step: float) -> list[str]:
    """Lines and ticks from below to above."""
    parts = []
    for number in range(round((high - low) / step) + 1):
        tick = low + number * step
        y = frame.y(tick)
        parts.append(svg.line(frame.left, y, frame.right, y, theme.GRID_LINE))
        soft = {"text_anchor": "end", "font_size": theme.SMALL, "fill": theme.SOFT}
        parts.append(svg.label(frame.left - 7, y + 4, whole(round(tick)), **soft))
    return parts


def _drawn(point: Point, x: float, frame: Frame) -> list[str]:
    """The error bar and the point."""
    if point.value is None:
        return []
    colour = theme.SOFT if point.is_struck else theme.SYNTHETIC if point.is_changed else theme.RELEASED
    fill = theme.PAPER if point.is_struck else colour
    bar = svg.line(x, frame.y(point.low), x, frame.y(point.high), colour, stroke_width=1.2)
    told = svg.tag("title", svg.escape(f"{point.label}: {point.value:.0f}"))
    radius = 5 if point.is_changed else 3.5
    circle = {"cx": x, "cy": frame.y(point.value), "r": radius, "fill": fill, "stroke": colour}
    return [bar, svg.tag("circle", told, **circle, stroke_width=1.5)]
