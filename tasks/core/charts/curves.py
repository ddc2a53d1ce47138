"""Lines over one pair of axes: points go in, a chart comes out."""

from collections.abc import Sequence
from dataclasses import dataclass

from tasks.core.charts import svg, theme
from tasks.core.charts.axes import Axes, AxisScale, Frame, drawn_axes, scale_of
from tasks.core.charts.chart import Chart
from tasks.core.charts.legend import LegendEntry, legend


@dataclass(frozen=True)
class Curve:
    """One line.

    Attributes:
        label: for the legend.
        points: (x, y), ascending in x.
        mark: an x to mark with a dotted line, or None.
        level: a y to mark with a dotted line, or None.
        look: its place among the colours; None: its place among the lines.
    """

    label: str
    points: tuple[tuple[float, float], ...]
    mark: float | None = None
    level: float | None = None
    look: int | None = None


@dataclass(frozen=True)
class Limit:
    """A height that all lines are to be read against, and what it is."""

    value: float
    words: str


def curves(
    lines: Sequence[Curve],
    axes: Axes,
    limit: Limit | None = None,
    size: tuple[float, float] = (theme.WIDTH, 230),
) -> Chart:
    """Lines over one pair of axes, each with its own colour and dash pattern, and a limit with its words.

    Args:
        lines: in the order of the legend.
        axes: what they say.
        limit: drawn across all lines.
        size: the chart's width and its plot's height, in px.
    """
    looks = [_look(curve, index) for index, curve in enumerate(lines)]
    entries = [
        LegendEntry(curve.label, colour, "line", dashes)
        for curve, (colour, dashes) in zip(lines, looks, strict=True)
    ]
    words, above = legend(entries, size[0])
    across, up = _scales(lines, axes, limit)
    frame = Frame(across, up, upper=above + 10, lower=above + 10 + size[1], width=size[0])
    parts = [words, *drawn_axes(frame, axes)]
    for curve, look in zip(lines, looks, strict=True):
        parts += _curve(curve, frame, look)
    if limit is not None:
        parts += _limit(limit, frame)
    described = axes.description or f"{axes.y} against {axes.x}: {', '.join(curve.label for curve in lines)}."
    return Chart(size[0], frame.lower + 44, axes.title, described, parts)


def _look(curve: Curve, index: int) -> tuple[str, str]:
    """Colour and dash pattern of a line."""
    return theme.SERIES[(index if curve.look is None else curve.look) % len(theme.SERIES)]


def _scales(lines: Sequence[Curve], axes: Axes, limit: Limit | None) -> tuple[AxisScale, AxisScale]:
    """Axes that hold all points and the limit."""
    points = [point for curve in lines for point in curve.points]
    heights = [y for _, y in points] + [curve.level for curve in lines if curve.level is not None]
    if limit is not None:
        heights.append(limit.value)
    up = scale_of([axes.top] if axes.top is not None else heights, axes.y_spacing)
    return scale_of([x for x, _ in points], axes.x_spacing, ends_there=True), up


def _curve(curve: Curve, frame: Frame, look: tuple[str, str]) -> list[str]:
    """One line with its marks; a single point is a dot."""
    colour, dashes = look
    parts = []
    dotted = {"stroke_dasharray": "2 3", "stroke_width": 1.5}
    if curve.mark is not None and curve.mark <= frame.across.high:
        x = frame.x(curve.mark)
        parts.append(svg.line(x, frame.upper, x, frame.lower, colour, **dotted))
    if curve.level is not None:
        y = frame.y(curve.level)
        parts.append(svg.line(frame.left, y, frame.right, y, colour, **dotted))
    places = [(frame.x(x), frame.y(y)) for x, y in curve.points]
    told = svg.tag("title", svg.escape(curve.label))
    if len(places) == 1:
        parts.append(svg.tag("circle", told, cx=places[0][0], cy=places[0][1], r=3.5, fill=colour))
    elif places:
        path = "L".join(f"{svg.coordinate(x)} {svg.coordinate(y)}" for x, y in places)
        line = {"fill": "none", "stroke": colour, "stroke_width": 2.4, "stroke_dasharray": dashes}
        parts.append(svg.tag("path", told, d=f"M{path}", stroke_linejoin="round", **line))
    return parts


def _limit(limit: Limit, frame: Frame) -> list[str]:
    """A line across, with its words above it at the right."""
    y = frame.y(limit.value)
    return [
        svg.line(frame.left, y, frame.right, y, theme.INK, stroke_width=1.5, stroke_dasharray="6 3"),
        svg.haloed(frame.right, y - 6, limit.words, text_anchor="end", font_size=theme.LEGEND),
    ]
