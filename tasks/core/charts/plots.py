"""Charts with two axes: published figures go in, SVG comes out.

Curves, and a matrix of associations.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tasks.core.arrays import Floats
from tasks.core.charts import svg
from tasks.core.charts.axes import WIDTH, Axes, Frame, LegendEntry, drawn_axes, legend, scale_of


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


def curves(lines: Sequence[Curve], axes: Axes, limit: Limit | None = None) -> str:
    """Lines over one pair of axes, each with its own colour and dash pattern, and a limit with its words."""
    looks = [_look(curve, index) for index, curve in enumerate(lines)]
    entries = [
        LegendEntry(curve.label, colour, "line", dashes)
        for curve, (colour, dashes) in zip(lines, looks, strict=True)
    ]
    words, above = legend(entries)
    frame = _frame(lines, axes, limit, above)
    parts = [words, *drawn_axes(frame, axes)]
    for curve, look in zip(lines, looks, strict=True):
        parts += _curve(curve, frame, look)
    if limit is not None:
        parts += _limit(limit, frame)
    described = f"{axes.y} against {axes.x}: {', '.join(curve.label for curve in lines)}."
    return svg.figure(WIDTH, frame.lower + 44, axes.title, described, parts)


def _look(curve: Curve, index: int) -> tuple[str, str]:
    """Colour and dash pattern of a line."""
    return svg.SERIES[(index if curve.look is None else curve.look) % len(svg.SERIES)]


def _frame(lines: Sequence[Curve], axes: Axes, limit: Limit | None, above: float) -> Frame:
    """Axes that hold all points and the limit, under a legend of a height."""
    points = [point for curve in lines for point in curve.points]
    heights = [y for _, y in points] + [curve.level for curve in lines if curve.level is not None]
    if limit is not None:
        heights.append(limit.value)
    up = scale_of([axes.top] if axes.top is not None else heights, axes.y_spacing)
    across = scale_of([x for x, _ in points], axes.x_spacing, ends_there=True)
    return Frame(across, up, upper=above + 10, lower=above + 240)


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
        svg.line(frame.left, y, frame.right, y, svg.INK, stroke_width=1.5, stroke_dasharray="6 3"),
        svg.haloed(frame.right, y - 6, limit.words, text_anchor="end", font_size=11.5),
    ]


@dataclass(frozen=True)
class AssociationSides:
    """Associations of every two of n columns from two sources.

    Attributes:
        released: (n, n) in 0..1, NaN where there is nothing to say; drawn below the diagonal.
        synthetic: likewise; drawn above it.
        name: of the first source; empty where there is only the second.
    """

    released: Floats
    synthetic: Floats
    name: str


#: Of a matrix in px: a square's side, room for names to the left and above, and to the right as they slant.
_CELL, _NAMES, _ABOVE, _BESIDE = 40, 134, 96, 84


def matrix_width(columns: int) -> int:
    """How wide the matrix of so many columns is, in px."""
    return _NAMES + columns * _CELL + _BESIDE


def matrix(names: Sequence[str], sides: AssociationSides, title: str) -> str:
    """Associations of every two columns: one source below the diagonal, the other above it.

    Args:
        names: of the columns, in order.
        sides: both sources.
        title: for screen readers.
    """
    cell, left, top = _CELL, _NAMES, _ABOVE
    parts = []
    for index, name in enumerate(names):
        middle = index * cell + cell / 2
        shown = svg.fitted(name, left - 10)
        parts.append(svg.label(left - 8, top + middle + 4, shown, text_anchor="end"))
        turned = f"rotate(-45 {svg.coordinate(left + middle)} {top - 8})"
        parts.append(svg.label(left + middle, top - 8, svg.fitted(name, 118), transform=turned))
    for row in range(len(names)):
        for column in range(len(names)):
            place = (left + column * cell, top + row * cell, cell)
            if row > column and not sides.name:
                continue
            source = sides.released if row > column else sides.synthetic
            parts.append(_matrix_cell(float(source[row, column]), place, row, column))
    side = len(names) * cell
    words = f"Below the diagonal the {sides.name}, above it the synthetic records."
    if not sides.name:
        words = "Each two columns once, by the synthetic rows."
    return svg.figure(matrix_width(len(names)), top + side + 4, title, words, parts, shrinks=False)


def _matrix_cell(value: float, place: tuple[float, float, float], row: int, column: int) -> str:
    """One square with its figure; the diagonal and what is not known stay grey."""
    x, y, cell = place
    if row == column:
        return svg.rect(x, y, cell - 2, cell - 2, svg.GRID_COLOUR)
    if not math.isfinite(value):
        return svg.rect(x, y, cell - 2, cell - 2, svg.PAPER, stroke=svg.FAINT)
    colour = svg.NOISY if row > column else svg.SYNTHETIC
    # Text turns white where the square behind it is dark enough to read it on.
    ink = svg.PAPER if value > (0.55 if row > column else 0.8) else svg.INK
    shape = svg.rect(x, y, cell - 2, cell - 2, colour, fill_opacity=0.04 + 0.96 * min(value, 1.0))
    return shape + svg.label(
        x + (cell - 2) / 2,
        y + cell / 2 + 3,
        f"{value:.2f}".removeprefix("0"),
        text_anchor="middle",
        font_size=11,
        fill=ink,
    )
