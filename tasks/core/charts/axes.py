"""A pair of axes: ranges and words go in; grid, ticks and places come out."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tasks.core.charts import svg, theme

#: ``log1p`` is spaced by log(1 + value): 0 has a place, and large values stand as on a logarithmic axis.
Spacing = Literal["linear", "log", "log1p"]


@dataclass(frozen=True)
class Axes:
    """What the axes say, and how they are spaced.

    Attributes:
        title: of the chart.
        x, y: what stands along them; empty: nothing.
        x_spacing, y_spacing: see `Spacing`.
        top: where the y-axis ends; None: where the points do.
        description: what a person who can't see the chart is told; empty: what the axes and lines are.
    """

    title: str
    x: str
    y: str
    x_spacing: Spacing = "linear"
    y_spacing: Spacing = "linear"
    top: float | None = None
    description: str = ""


@dataclass(frozen=True)
class AxisScale:
    """One axis' range, and about how many ticks a linear one has."""

    low: float
    high: float
    spacing: Spacing
    most_ticks: int = 5

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
            return [tick for tick in nice_ticks(self.high, self.most_ticks) if tick <= self.high * (1 + 1e-9)]
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
        return AxisScale(0.0, max(top, 1e-9) if ends_there else nice_ticks(top)[-1], spacing)
    low = _round(min((value for value in values if value > 0), default=1.0), up=False)
    high = _round(max(top, 1.0), up=True)
    return (
        AxisScale(0.0, high, spacing) if spacing == "log1p" else AxisScale(low, max(high, 2 * low), spacing)
    )


def nice_ticks(top: float, most: int = 5) -> list[float]:
    """Round ticks from 0 that reach at least ``top``: steps of 1, 2 or 5 times a power of ten.

    >>> nice_ticks(93)
    [0, 20, 40, 60, 80, 100]
    """
    if top <= 0:
        return [0.0, 1.0]
    rough = top / most
    power = 10 ** math.floor(math.log10(rough))
    step = next(multiple * power for multiple in (1, 2, 5, 10) if multiple * power >= rough * (1 - 1e-9))
    step = max(step, 1e-9)
    count = math.ceil(top / step - 1e-9)
    return [step * index for index in range(count + 1)]


def short_number(value: float) -> str:
    """A tick's text: 0.5, 40, 12k, 3M."""
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= limit:
            scaled = value / (1e3 if unit == "k" else limit)
            return f"{scaled:.3g}{unit}"
    return f"{value:.4g}"


def proportion(value: float) -> str:
    """A share of 1 beside a point: two decimals, more where it is small and not 0."""
    if value == 0 or value >= 0.1:
        return f"{value:.2f}"
    return f"{value:.3f}" if value >= 1e-3 else f"{value:.1g}" if value >= 1e-4 else "<0.0001"


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
    upper: float
    lower: float
    width: float = theme.WIDTH
    left: float = 56

    @property
    def right(self) -> float:
        """Where the plot ends."""
        return self.width - 20

    def x(self, value: float) -> float:
        """Where a value of the x-axis is."""
        return self.left + self.across.part(value) * (self.right - self.left)

    def y(self, value: float) -> float:
        """Where a value of the y-axis is."""
        return self.lower - self.up.part(value) * (self.lower - self.upper)


_SMALL = {"font_size": theme.SMALL, "fill": theme.SOFT}


def drawn_axes(frame: Frame, axes: Axes) -> list[str]:
    """Grid, ticks and what the axes say."""
    parts = []
    for tick in frame.across.ticks():
        x = frame.x(tick)
        parts.append(svg.line(x, frame.upper, x, frame.lower, theme.GRID_LINE))
        parts.append(svg.label(x, frame.lower + 16, short_number(tick), text_anchor="middle", **_SMALL))
    return [*parts, *y_ticks(frame), *_base(frame, axes.x), *y_words(frame, axes.y)]


def y_ticks(frame: Frame) -> list[str]:
    """Grid and ticks from below to above."""
    parts = []
    for tick in frame.up.ticks():
        y = frame.y(tick)
        parts.append(svg.line(frame.left, y, frame.right, y, theme.GRID_LINE))
        parts.append(svg.label(frame.left - 7, y + 4, short_number(tick), text_anchor="end", **_SMALL))
    return parts


def y_words(frame: Frame, words: str) -> list[str]:
    """What is along the y-axis; nothing where that is empty."""
    if not words:
        return []
    middle = (frame.upper + frame.lower) / 2
    turned = f"rotate(-90 12 {svg.coordinate(middle)})"
    return [svg.label(12, middle, words, text_anchor="middle", fill=theme.SOFT, transform=turned)]


def _base(frame: Frame, words: str) -> list[str]:
    """The line that the plot stands on, and what is along it."""
    parts = [svg.line(frame.left, frame.lower, frame.right, frame.lower, theme.SOFT)]
    if words:
        middle = (frame.left + frame.right) / 2
        parts.append(svg.label(middle, frame.lower + 36, words, text_anchor="middle", fill=theme.SOFT))
    return parts


def place_width(frame: Frame) -> float:
    """The room of one place, where the x-axis is one of places and not of numbers: the i-th is at i + 1/2."""
    return (frame.right - frame.left) / frame.across.high


def place_labels(frame: Frame, labels: Sequence[str], words: str) -> list[str]:
    """The places' names under the plot, some left out where they would touch; and what they are."""
    texts = [svg.shortened(label, 24) if label else "" for label in labels]
    step = every(texts, place_width(frame))
    named = [
        svg.label(frame.x(place + 0.5), frame.lower + 16, texts[place], text_anchor="middle", **_SMALL)
        for place in range(0, len(texts), step)
        if texts[place]
    ]
    return [*named, *_base(frame, words)]


def every(texts: Sequence[str], room: float) -> int:
    """1 where texts fit that each have so much room; 2 where only every second one fits, and so on."""
    widest = max((svg.text_width(text, theme.SMALL) for text in texts), default=0.0)
    return max(1, math.ceil((widest + 4) / room))
