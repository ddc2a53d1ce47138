"""A pair of axes and a legend: ranges and words go in; grid, ticks and places come out."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tasks.core.charts import svg

#: ``log1p`` is spaced by log(1 + value): 0 has a place, and large values stand as on a logarithmic axis.
Spacing = Literal["linear", "log", "log1p"]

#: Every chart of the page is so wide: text is of one size, and readable on a telephone.
WIDTH = 400


@dataclass(frozen=True)
class Axes:
    """What the axes say, and how they are spaced; ``top`` ends the y-axis, None: where the points do."""

    title: str
    x: str
    y: str
    x_spacing: Spacing = "linear"
    y_spacing: Spacing = "linear"
    top: float | None = None


@dataclass(frozen=True)
class AxisScale:
    """One axis' range."""

    low: float
    high: float
    spacing: Spacing

    def part(self, value: float) -> float:
        """Where a value is between the ends, 0..1; beyond them at the end."""
        low, high, value = (self._spaced(each) for each in (self.low, self.high, value))
        return min(max((value - low) / (high - low), 0.0), 1.0) if high > low else 0.0

    def _spaced(self, value: float) -> float:
        if self.spacing == "linear":
            return value
        return math.log(max(value, self.low)) if self.spacing == "log" else math.log1p(max(value, 0.0))

    def ticks(self) -> list[float]:
        """Round values: powers of ten on a logarithmic axis, and 2 and 5 times them where there are few."""
        if self.spacing == "linear":
            return [tick for tick in svg.nice_ticks(self.high) if tick <= self.high * (1 + 1e-9)]
        powers = range(math.floor(math.log10(max(self.low, 1.0))), math.floor(math.log10(self.high)) + 1)
        steps = (1, 2, 5) if len(powers) < 3 else (1,)
        found = [multiple * 10.0**power for power in powers for multiple in steps]
        kept = [tick for tick in found if self.low <= tick <= self.high * (1 + 1e-9)]
        return [0.0, *kept] if self.spacing == "log1p" and self.low == 0 else kept


def scale_of(values: Sequence[float], spacing: Spacing, *, ends_there: bool = False) -> AxisScale:
    """The range of an axis that holds the values: from 0, or from the least one on a logarithmic axis.

    Args:
        values: what it must hold.
        spacing: see `Spacing`.
        ends_there: whether a linear axis ends at its largest value, and not at the next tick.
    """
    top = max(values, default=1.0)
    if spacing == "linear":
        return AxisScale(0.0, max(top, 1e-9) if ends_there else svg.nice_ticks(top)[-1], spacing)
    low = _round(min((value for value in values if value > 0), default=1.0), up=False)
    high = _round(max(top, 1.0), up=True)
    return (
        AxisScale(0.0, high, spacing) if spacing == "log1p" else AxisScale(low, max(high, 2 * low), spacing)
    )


def _round(value: float, *, up: bool) -> float:
    """The next of 1, 2, 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(value) + 1e-9)
    steps = [multiple * power for multiple in (1, 2, 5, 10)]
    if up:
        return next(step for step in steps if step >= value * (1 - 1e-9))
    return next(step for step in reversed(steps) if step <= value * (1 + 1e-9))


@dataclass(frozen=True)
class Frame:
    """The plot's place in the figure and its axes' scales."""

    across: AxisScale
    up: AxisScale
    left: float = 56
    right: float = WIDTH - 20
    upper: float = 14
    lower: float = 262

    def x(self, value: float) -> float:
        """Where a value of the x-axis is."""
        return self.left + self.across.part(value) * (self.right - self.left)

    def y(self, value: float) -> float:
        """Where a value of the y-axis is."""
        return self.lower - self.up.part(value) * (self.lower - self.upper)


def drawn_axes(frame: Frame, axes: Axes) -> list[str]:
    """Grid, ticks and what the axes say."""
    parts = []
    small = {"font_size": 11, "fill": svg.SOFT}
    for tick in frame.across.ticks():
        x = frame.x(tick)
        parts.append(svg.line(x, frame.upper, x, frame.lower, svg.GRID_COLOUR))
        parts.append(svg.label(x, frame.lower + 16, svg.short_number(tick), text_anchor="middle", **small))
    for tick in frame.up.ticks():
        y = frame.y(tick)
        parts.append(svg.line(frame.left, y, frame.right, y, svg.GRID_COLOUR))
        parts.append(svg.label(frame.left - 7, y + 4, svg.short_number(tick), text_anchor="end", **small))
    parts.append(svg.line(frame.left, frame.lower, frame.right, frame.lower, svg.SOFT))
    middle_x, middle_y = (frame.left + frame.right) / 2, (frame.upper + frame.lower) / 2
    parts.append(svg.label(middle_x, frame.lower + 36, axes.x, text_anchor="middle", fill=svg.SOFT))
    turned = f"rotate(-90 12 {svg.coordinate(middle_y)})"
    parts.append(svg.label(12, middle_y, axes.y, text_anchor="middle", fill=svg.SOFT, transform=turned))
    return parts


_ROW = 19
_SIZE = 11.5
_GAP = 16


@dataclass(frozen=True)
class LegendEntry:
    """One meaning.

    Attributes:
        words: what it is.
        colour: of its mark.
        mark: a filled ``box``, a ``line`` or an error bar (``whisker``).
        dashes: of the line.
        opacity: of the box.
    """

    words: str
    colour: str
    mark: Literal["box", "line", "whisker"] = "box"
    dashes: str = ""
    opacity: float | None = None


def legend(entries: Sequence[LegendEntry], width: float = WIDTH) -> tuple[str, float]:
    """The entries from the top left, on as many lines as they need; and the height that they take."""
    parts, x, y = [], 0.0, 0.0
    for entry in entries:
        room = (16 if entry.mark == "box" else 26) + svg.text_width(entry.words, _SIZE)
        if x and x + room > width:
            x, y = 0.0, y + _ROW
        parts.append(_entry(entry, x, y))
        x += room + _GAP
    return "".join(parts), y + _ROW + 3 if entries else 0.0


def _entry(entry: LegendEntry, x: float, y: float) -> str:
    if entry.mark == "box":
        shape = svg.rect(x, y + 3, 11, 11, entry.colour, fill_opacity=entry.opacity)
        return shape + svg.label(x + 16, y + 13, entry.words, font_size=_SIZE)
    if entry.mark == "whisker":
        shape = svg.whisker(x, x + 20, y + 8.5, entry.colour)
    else:
        look = {"stroke_width": 2.4, "stroke_dasharray": entry.dashes}
        shape = svg.line(x, y + 8.5, x + 20, y + 8.5, entry.colour, **look)
    return shape + svg.label(x + 26, y + 13, entry.words, font_size=_SIZE)
