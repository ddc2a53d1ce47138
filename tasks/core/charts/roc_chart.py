"""A chart of receiver operating characteristics: curves from 0, 0 to 1, 1 go in, an SVG file comes out."""

from collections.abc import Sequence
from dataclasses import dataclass

from tasks.core.charts import svg
from tasks.core.charts.standalone import MEDIUM, SMALL, heading, standalone

_LEFT, _TOP, _SIDE = 84.0, 104.0, 420.0
_TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


@dataclass(frozen=True)
class RocCurve:
    """One curve.

    Attributes:
        name: in the legend.
        points: across and up, each 0..1.
        colour, dash: of the line.
    """

    name: str
    points: Sequence[tuple[float, float]]
    colour: str
    dash: str = ""


@dataclass(frozen=True)
class RocChart:
    """Curves over the diagonal, which is chance.

    Attributes:
        title: in bold on top.
        description: what a person who can't see the chart should be told; not shown.
        across, up: what the axes are.
        curves: in the order of the legend.
    """

    title: str
    description: str
    across: str
    up: str
    curves: tuple[RocCurve, ...]


def roc_chart(chart: RocChart) -> str:
    """The SVG file's text."""
    right, bottom = _LEFT + _SIDE, _TOP + _SIDE
    parts = [heading(chart.title)]
    for tick in _TICKS:
        x, y = _LEFT + _SIDE * tick, bottom - _SIDE * tick
        parts += [svg.line(x, _TOP, x, bottom), svg.line(_LEFT, y, right, y)]
        parts.append(svg.label(x, bottom + 18, f"{tick:g}", text_anchor="middle", font_size=SMALL))
        parts.append(svg.label(_LEFT - 8, y + 4, f"{tick:g}", text_anchor="end", font_size=SMALL))
    parts.append(svg.line(_LEFT, bottom, right, _TOP, svg.SOFT, stroke_dasharray="2 4"))
    x = 24.0
    for curve in chart.curves:
        look = {"stroke": curve.colour, "stroke_width": 2.2, "stroke_dasharray": curve.dash, "fill": "none"}
        parts.append(svg.tag("polyline", points=_path(curve), **look))
        parts.append(svg.line(x, 58, x + 26, 58, curve.colour, stroke_width=2.6, stroke_dasharray=curve.dash))
        parts.append(svg.label(x + 32, 62, curve.name, font_size=MEDIUM))
        x += 56 + svg.text_width(curve.name, MEDIUM)
    middle = _TOP + _SIDE / 2
    turned = f"rotate(-90 28 {svg.coordinate(middle)})"
    parts.append(svg.label(28, middle, chart.up, text_anchor="middle", font_size=MEDIUM, transform=turned))
    across = (_LEFT + _SIDE / 2, bottom + 44)
    parts.append(svg.label(*across, chart.across, text_anchor="middle", font_size=MEDIUM))
    width = max(right + 40, x)
    return standalone(width, bottom + 62, (chart.title, chart.description), parts)


def _path(curve: RocCurve) -> str:
    bottom = _TOP + _SIDE
    return " ".join(
        f"{svg.coordinate(_LEFT + _SIDE * across)},{svg.coordinate(bottom - _SIDE * up)}"
        for across, up in curve.points
    )
