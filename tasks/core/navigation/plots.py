"""Charts with two axes: published figures go in, SVG comes out.

Curves, the density of two counts against each other on logarithmic axes, and a matrix of associations.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tasks.core.dp.figures import whole
from tasks.core.navigation import svg
from tasks.core.navigation.fidelity import Density

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Curve:
    """One line.

    Attributes:
        label: shown beside its end.
        points: (x, y), ascending in x.
        mark: an x to mark with a dotted line and a word, or None.
        level: a y to mark with a dotted line, or None.
        look: its place among the colours; None: its place among the lines.
    """

    label: str
    points: tuple[tuple[float, float], ...]
    mark: float | None = None
    level: float | None = None
    look: int | None = None


@dataclass(frozen=True)
class Axes:
    """What the axes say, and whether they are logarithmic."""

    title: str
    x: str
    y: str
    log_x: bool = False
    log_y: bool = False
    top: float | None = None


@dataclass(frozen=True)
class _Frame:
    """The plot's place in the figure and the range of its axes."""

    low: tuple[float, float]
    high: tuple[float, float]
    log: tuple[bool, bool]
    left: float = 50
    right: float = 352
    upper: float = 14
    lower: float = 262

    def x(self, value: float) -> float:
        return self.left + self._part(value, 0) * (self.right - self.left)

    def y(self, value: float) -> float:
        return self.lower - self._part(value, 1) * (self.lower - self.upper)

    def _part(self, value: float, axis: int) -> float:
        low, high = self.low[axis], self.high[axis]
        if self.log[axis]:
            value, low, high = (math.log10(max(figure, low)) for figure in (value, low, high))
        return min(max((value - low) / (high - low), 0.0), 1.0) if high > low else 0.0


def curves(lines: Sequence[Curve], axes: Axes) -> str:
    """Lines over one pair of axes, each with its own colour and dash pattern and its name at the side."""
    frame = _frame([point for curve in lines for point in curve.points], axes)
    parts = _axes(frame, axes)
    for index, curve in enumerate(lines):
        parts += _curve(curve, frame, _look(curve, index))
    parts += _names(lines, frame)
    described = f"{axes.y} against {axes.x}: {', '.join(curve.label for curve in lines)}."
    return svg.figure(470, 304, axes.title, described, parts)


def _look(curve: Curve, index: int) -> tuple[str, str]:
    """Colour and dash pattern of a line."""
    return svg.SERIES[(index if curve.look is None else curve.look) % len(svg.SERIES)]


def _frame(points: Sequence[tuple[float, float]], axes: Axes) -> _Frame:
    """Axes that hold all points: from 0, or from the power of ten below on a logarithmic axis."""
    low, high = [0.0, 0.0], [1.0, 1.0]
    for axis, logarithmic in enumerate((axes.log_x, axes.log_y)):
        values = [point[axis] for point in points if point[axis] > 0 or not logarithmic]
        top = max(values, default=1.0)
        if logarithmic:
            low[axis] = 10.0 ** math.floor(math.log10(min(values, default=1.0)))
            high[axis] = max(10.0 ** math.ceil(math.log10(top) - 1e-9), low[axis] * 10)
        else:
            high[axis] = svg.nice_ticks(top)[-1] if axis else max(top, 1e-9)
    if axes.top is not None:
        high[1] = axes.top
    return _Frame((low[0], low[1]), (high[0], high[1]), (axes.log_x, axes.log_y))


def _ticks(low: float, high: float, logarithmic: bool) -> list[float]:
    """Powers of ten, or round steps."""
    if logarithmic:
        powers = range(round(math.log10(low)), round(math.log10(high)) + 1)
        return [10.0**power for power in powers]
    return [tick for tick in svg.nice_ticks(high) if tick <= high * (1 + 1e-9)]


def _axes(frame: _Frame, axes: Axes) -> list[str]:
    """Grid, ticks and what the axes say."""
    parts = []
    for tick in _ticks(frame.low[0], frame.high[0], axes.log_x):
        x = frame.x(tick)
        parts.append(svg.line(x, frame.upper, x, frame.lower, svg.GRID))
        shown = svg.short_number(tick)
        parts.append(svg.label(x, frame.lower + 16, shown, text_anchor="middle", font_size=11, fill=svg.SOFT))
    for tick in _ticks(frame.low[1], frame.high[1], axes.log_y):
        y = frame.y(tick)
        parts.append(svg.line(frame.left, y, frame.right, y, svg.GRID))
        shown = svg.short_number(tick)
        parts.append(svg.label(frame.left - 7, y + 4, shown, text_anchor="end", font_size=11, fill=svg.SOFT))
    parts.append(svg.line(frame.left, frame.lower, frame.right, frame.lower, svg.SOFT))
    middle_x, middle_y = (frame.left + frame.right) / 2, (frame.upper + frame.lower) / 2
    parts.append(svg.label(middle_x, frame.lower + 36, axes.x, text_anchor="middle", fill=svg.SOFT))
    turned = f"rotate(-90 12 {svg.number(middle_y)})"
    parts.append(svg.label(12, middle_y, axes.y, text_anchor="middle", fill=svg.SOFT, transform=turned))
    return parts


def _curve(curve: Curve, frame: _Frame, look: tuple[str, str]) -> list[str]:
    """One line with its marks."""
    colour, dashes = look
    parts = []
    if curve.mark is not None and curve.mark <= frame.high[0]:
        x = frame.x(curve.mark)
        parts.append(
            svg.line(x, frame.upper, x, frame.lower, colour, stroke_dasharray="1 4", stroke_width=1.3)
        )
    if curve.level is not None and frame.low[1] < curve.level <= frame.high[1]:
        y = frame.y(curve.level)
        parts.append(
            svg.line(frame.left, y, frame.right, y, colour, stroke_dasharray="1 4", stroke_width=1.3)
        )
    path = "L".join(f"{svg.number(frame.x(x))} {svg.number(frame.y(y))}" for x, y in curve.points)
    if path:
        parts.append(
            svg.tag(
                "path",
                svg.tag("title", svg.escape(curve.label)),
                d=f"M{path}",
                fill="none",
                stroke=colour,
                stroke_width=2.4,
                stroke_dasharray=dashes,
                stroke_linejoin="round",
            )
        )
    return parts


def _names(lines: Sequence[Curve], frame: _Frame) -> list[str]:
    """The lines' names in a column at the right, each with a piece of its line."""
    parts = []
    for index, curve in enumerate(lines):
        colour, dashes = _look(curve, index)
        y = frame.upper + 12 + index * 20
        x = frame.right + 10
        parts.append(svg.line(x, y - 4, x + 20, y - 4, colour, stroke_width=2.4, stroke_dasharray=dashes))
        parts.append(svg.label(x + 25, y, curve.label, font_size=11.5))
    return parts


def density(found: Density, axes: Axes) -> str:
    """Two counts of the same combinations against each other, darker where more of them lie."""
    high = 10.0**found.decades
    frame = _Frame((1.0, 1.0), (high, high), (True, True), right=430, lower=394)
    most = math.log1p(max((number for _, _, number in found.squares), default=1))
    side = (frame.right - frame.left) / found.cells
    height = (frame.lower - frame.upper) / found.cells
    parts = _axes(frame, axes)
    for across, up, number in found.squares:
        x, y = frame.left + across * side, frame.lower - (up + 1) * height
        shade = 0.22 + 0.78 * math.log1p(number) / most
        parts.append(svg.rect(x, y, side, height, svg.NOISY, fill_opacity=shade))
    parts.append(svg.line(frame.left, frame.lower, frame.right, frame.upper, svg.INK, stroke_dasharray="4 4"))
    whole_number = whole(sum(number for _, _, number in found.squares))
    words = f"{whole_number} combinations; on the dashed line both counts agree."
    return svg.figure(460, 436, axes.title, words, parts)


@dataclass(frozen=True)
class Sides:
    """Associations of every two of n columns from two sources.

    Attributes:
        released: (n, n) in 0..1, NaN where there is nothing to say; drawn below the diagonal.
        synthetic: likewise; drawn above it.
        name: of the first source.
    """

    released: Floats
    synthetic: Floats
    name: str


def matrix(names: Sequence[str], sides: Sides, title: str) -> str:
    """Associations of every two columns: one source below the diagonal, the other above it.

    Args:
        names: of the columns, in order.
        sides: both sources.
        title: for screen readers.
    """
    cell, left, top = max(34, min(54, 330 // max(len(names), 1))), 134, 104
    parts = []
    for index, name in enumerate(names):
        middle = index * cell + cell / 2
        parts.append(svg.label(left - 8, top + middle + 4, svg.shortened(name, 19), text_anchor="end"))
        turned = f"rotate(-45 {svg.number(left + middle)} {top - 8})"
        parts.append(svg.label(left + middle, top - 8, svg.shortened(name, 16), transform=turned))
    for row in range(len(names)):
        for column in range(len(names)):
            place = (left + column * cell, top + row * cell, cell)
            source = sides.released if row > column else sides.synthetic
            parts.append(_matrix_cell(float(source[row, column]), place, row, column))
    side = len(names) * cell
    words = f"Below the diagonal the {sides.name}, above it the synthetic records."
    return svg.figure(left + side + 70, top + side + 4, title, words, parts)


def _matrix_cell(value: float, place: tuple[float, float, float], row: int, column: int) -> str:
    """One square with its figure; the diagonal and what is not known stay grey."""
    x, y, cell = place
    if row == column:
        return svg.rect(x, y, cell - 2, cell - 2, svg.GRID)
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
