"""One plot of series over a pair of axes: lines, areas, columns and dots go in, a chart comes out.

The x-axis is one of numbers, or of named places: the i-th place is at i + 1/2.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from tasks.core.charts import svg, theme
from tasks.core.charts.svg import Chart, LegendEntry, legend
from tasks.core.figures import format_near, format_whole

#: ``log1p`` is spaced by log(1 + value): 0 has a place, and large values stand as on a logarithmic axis.
#: ``around`` is linear, begins and ends at round values near what is drawn, and writes its ticks in full.
Spacing = Literal["linear", "log", "log1p", "around"]
Points = Sequence[tuple[float, float]]

#: Of several series with at most so many columns each column has its value above it.
_MOST_TOLD = 15
_SMALL = {"font_size": theme.SMALL, "fill": theme.SOFT}


@dataclass(frozen=True)
class Axes:
    """What the axes say, and how they are spaced.

    Attributes:
        x, y: what stands along them; empty: nothing.
        top: where the y-axis ends; None: where the series do.
        description: what a person who can't see the chart is told; empty: what the axes and series are.
        places: the names of the x-axis' places, an empty one is not written; None: it is one of numbers.
    """

    title: str
    x: str
    y: str
    x_spacing: Spacing = "linear"
    y_spacing: Spacing = "linear"
    top: float | None = None
    description: str = ""
    places: Sequence[str] | None = None


@dataclass(frozen=True)
class AxisScale:
    low: float
    high: float
    spacing: Spacing

    def part(self, value: float) -> float:
        """Where a value is between the ends, 0..1; beyond them at the end."""
        low, high, value = (self._spaced(each) for each in (self.low, self.high, value))
        return min(max((value - low) / (high - low), 0.0), 1.0) if high > low else 0.0

    def _spaced(self, value: float) -> float:
        if self.spacing in ("linear", "around"):
            return value
        return math.log(max(value, self.low)) if self.spacing == "log" else math.log1p(max(value, 0.0))

    def ticks(self) -> list[float]:
        """Round values: powers of ten on a logarithmic axis, and 2 and 5 times them where there are few."""
        if self.spacing in ("linear", "around"):
            span = self.high - self.low
            above = nice_ticks(span, 3 if self.spacing == "around" else 5)
            return [self.low + part for part in above if part <= span * (1 + 1e-9)]
        powers = range(math.floor(math.log10(max(self.low, 1.0))), math.floor(math.log10(self.high)) + 1)
        steps = (1, 2, 5) if len(powers) < 3 else (1,)
        found = [multiple * 10.0**power for power in powers for multiple in steps]
        kept = [tick for tick in found if self.low <= tick <= self.high * (1 + 1e-9)]
        return [0.0, *kept] if self.spacing == "log1p" and self.low == 0 else kept

    def text(self, tick: float) -> str:
        return format_whole(round(tick)) if self.spacing == "around" else short_number(tick)


def scale_of(values: Sequence[float], spacing: Spacing, *, ends_there: bool = False) -> AxisScale:
    """The range of an axis that holds the values: from 0, or from the least one on a logarithmic axis.

    Args: ends_there: whether a linear axis ends at its largest value, and not at the next tick.
    """
    top = max(values, default=1.0)
    if spacing == "linear":
        return AxisScale(0.0, max(top, 1e-9) if ends_there else nice_ticks(top)[-1], spacing)
    if spacing == "around":
        least = max(0.0, min(values, default=0.0))
        step = nice_ticks(max(top - least, 1.0), 3)[1]
        start = math.floor(least / step)
        return AxisScale(start * step, max(math.ceil(top / step), start + 1) * step, spacing)
    low = _round(min((value for value in values if value > 0), default=1.0), up=False)
    high = _round(max(top, 1.0), up=True)
    return (
        AxisScale(0.0, high, spacing) if spacing == "log1p" else AxisScale(low, max(high, 2 * low), spacing)
    )


def nice_ticks(top: float, most: int = 5) -> list[float]:
    """Round ticks from 0 that reach at least ``top``: steps of 1, 2 or 5 times a power of ten.

    >>> nice_ticks(93)
    [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]
    """
    if top <= 0:
        return [0.0, 1.0]
    step = max(_round(top / most, up=True), 1e-9)
    return [step * index for index in range(math.ceil(top / step - 1e-9) + 1)]


def short_number(value: float) -> str:
    """A tick's text: 0.5, 40, 12k, 3M."""
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= limit:
            return f"{value / (1e3 if unit == 'k' else limit):.3g}{unit}"
    return f"{value:.4g}"


def proportion(value: float) -> str:
    """A share of 1 beside a point: two decimals, more where it is small and not 0."""
    if value == 0 or value >= 0.1:
        return f"{value:.2f}"
    return f"{value:.3f}" if value >= 1e-3 else f"{value:.1g}" if value >= 1e-4 else "<0.0001"


def _full_number(value: float) -> str:
    return format_whole(round(value)) if value == int(value) or value >= 1000 else format_near(value)


def _round(value: float, *, up: bool) -> float:
    """The next of 1, 2, 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(value) + 1e-9)
    steps = [multiple * power for multiple in (1, 2, 5, 10)]
    if up:
        return next(step for step in steps if step >= value * (1 - 1e-9))
    return next(step for step in reversed(steps) if step <= value * (1 + 1e-9))


@dataclass(frozen=True)
class _Frame:
    """The plot's place in the figure, and its axes' scales."""

    across: AxisScale
    up: AxisScale
    upper: float
    lower: float
    width: float
    left: float = 56

    @property
    def right(self) -> float:
        return self.width - 20

    @property
    def place_width(self) -> float:
        return (self.right - self.left) / self.across.high

    def x(self, value: float) -> float:
        return self.left + self.across.part(value) * (self.right - self.left)

    def y(self, value: float) -> float:
        return self.lower - self.up.part(value) * (self.lower - self.upper)

    def path(self, points: Points) -> str:
        return "L".join(f"{svg.coordinate(self.x(x))} {svg.coordinate(self.y(y))}" for x, y in points)


@dataclass(frozen=True)
class Line:
    """A line; a single point is a dot.

    Attributes:
        label: for the legend; empty: it has no entry.
        mark, level: an x and a y to mark with a dotted line, or None.
        text: what is written above each point, which then has a dot; None: nothing.
    """

    label: str
    points: Points
    colour: str
    dashes: str = ""
    mark: float | None = None
    level: float | None = None
    text: Callable[[float], str] | None = None
    thick: float = 2.4

    def heights(self) -> list[float]:
        return [y for _, y in self.points] + ([] if self.level is None else [self.level])

    def draw(self, frame: _Frame) -> list[str]:
        parts = []
        dotted = {"stroke_dasharray": "2 3", "stroke_width": 1.5}
        if self.mark is not None and self.mark <= frame.across.high:
            x = frame.x(self.mark)
            parts.append(svg.line(x, frame.upper, x, frame.lower, self.colour, **dotted))
        if self.level is not None:
            y = frame.y(self.level)
            parts.append(svg.line(frame.left, y, frame.right, y, self.colour, **dotted))
        told = svg.tag("title", svg.escape(self.label)) if self.label else ""
        if len(self.points) > 1:
            look = {"stroke": self.colour, "stroke_width": self.thick, "stroke_dasharray": self.dashes}
            path = f"M{frame.path(self.points)}"
            parts.append(svg.tag("path", told, d=path, stroke_linejoin="round", fill="none", **look))
        places = [(frame.x(x), frame.y(y)) for x, y in self.points]
        if len(self.points) == 1 or self.text is not None:
            parts += [svg.tag("circle", told, cx=x, cy=y, r=3.5, fill=self.colour) for x, y in places]
        if self.text is not None:
            parts += _texts(places, [self.text(y) for _, y in self.points], frame, self.colour)
        return parts


@dataclass(frozen=True)
class Area:
    """What lies between two lines; of a single point a bar. Attributes: label: empty: no entry."""

    label: str
    low: Points
    high: Points
    colour: str
    opacity: float

    def heights(self) -> list[float]:
        return [y for _, y in self.high]

    def draw(self, frame: _Frame) -> list[str]:
        look = {"fill": self.colour, "fill_opacity": self.opacity}
        if len(self.low) == 1:
            [(x, low)], [(_, high)] = self.low, self.high
            height = frame.y(low) - frame.y(high)
            return [svg.tag("rect", x=frame.x(x) - 8, y=frame.y(high), width=16, height=height, **look)]
        outline = f"M{frame.path(self.low)}L{frame.path(self.high[::-1])}Z"
        return [svg.tag("path", d=outline, **look)]


@dataclass(frozen=True)
class Columns:
    """Upright bars, one a place; all such series of a plot stand side by side there.

    Attributes:
        values: a number a place, None where there is none: a dash.
        text: what is written above each where they are few; None: nothing.
    """

    label: str
    values: Sequence[float | None]
    colour: str
    text: Callable[[float], str] | None = None
    opacity: float | None = None

    def heights(self) -> list[float]:
        return [value for value in self.values if value is not None]

    def draw(self, frame: _Frame, side: int, sides: int) -> list[str]:
        """Args: side: its place among those that stand side by side. sides: how many these are."""
        width = min(0.8 * frame.place_width / sides, 0.085 * frame.width)
        lefts = [frame.x(place + 0.5) + (side - sides / 2) * width for place in range(len(self.values))]
        parts, tops, texts = [], [], []
        for x, value in zip(lefts, self.values, strict=True):
            if value is None:
                look = {**_SMALL, "text_anchor": "middle"}
                parts.append(svg.label(x + width / 2, frame.lower - 4, "–", **look))
                continue
            top = frame.y(value)
            told = svg.tag("title", svg.escape(f"{self.label}: {value:.4g}"))
            height, look = frame.lower - top, {"fill_opacity": self.opacity}
            bar = svg.rect(x + 0.5, top, width - 1, height, self.colour, **look)
            parts.append(svg.tag("g", told + bar))
            tops.append((x + width / 2, top + 4))
            texts.append(self.text(value) if self.text else "")
        if self.text is not None and (sides == 1 or sides * len(self.values) <= _MOST_TOLD):
            parts += _texts(tops, texts, frame, theme.INK)
        return parts


@dataclass(frozen=True)
class Dots:
    """Points with error bars. Attributes: points: (x, y, low, high, what is told of it)."""

    points: Sequence[tuple[float, float, float, float, str]]
    colour: str
    is_hollow: bool = False
    label = ""

    def heights(self) -> list[float]:
        return [end for _, _, low, high, _ in self.points for end in (low, high)]

    def draw(self, frame: _Frame) -> list[str]:
        parts = []
        for place, value, low, high, words in self.points:
            x, told = frame.x(place), svg.tag("title", svg.escape(words))
            parts.append(svg.line(x, frame.y(low), x, frame.y(high), self.colour, stroke_width=1.2))
            look = {"fill": theme.PAPER if self.is_hollow else self.colour, "stroke": self.colour}
            parts.append(svg.tag("circle", told, cx=x, cy=frame.y(value), r=4, stroke_width=1.5, **look))
        return parts


Series = Line | Area | Columns | Dots


def plot(
    series: Sequence[Series],
    axes: Axes,
    limit: tuple[float, str] | None = None,
    size: tuple[float, float] = (theme.WIDTH, 230),
) -> Chart:
    """All series over one pair of axes, each drawn over those before it.

    Args: limit: a height that all series are to be read against, and what it is.
    """
    words, above = legend([_legend_entry(each) for each in series if each.label], size[0])
    frame = _frame(series, axes, limit, above + 10, size)
    parts = [words, *_grid(frame, axes)]
    columns = [each for each in series if isinstance(each, Columns)]
    for each in series:
        if isinstance(each, Columns):
            parts += each.draw(frame, columns.index(each), len(columns))
        else:
            parts += each.draw(frame)
    parts += _base(frame, axes)
    if limit is not None:
        y = frame.y(limit[0])
        look = {"stroke_width": 1.5, "stroke_dasharray": "6 3"}
        parts.append(svg.line(frame.left, y, frame.right, y, theme.INK, **look))
        parts.append(svg.haloed(frame.right, y - 6, limit[1], text_anchor="end", font_size=theme.LEGEND))
    named = ", ".join(each.label for each in series if each.label)
    over = axes.title if axes.places is not None else f"{axes.y} against {axes.x}"
    height = frame.lower + (44 if axes.x else 26)
    return Chart(size[0], height, axes.title, axes.description or f"{over}: {named}.", parts)


def line_over_bars(
    axes: Axes, line: tuple[str, Sequence[float]], bars: tuple[str, Sequence[float]], colour: str
) -> Chart:
    """A line and under it bars, each in a panel of its own with its values, over the same places.

    SDS draws both on two axes of one panel (S5.1), which invites to compare what can't be compared. Both have
    a name with a unit, and a number each place, 0 or more; the line's axis goes to 1 at least.
    """
    places = axes.places or ()
    width = min(max(theme.FILE_WIDTH, 50 * len(places)), 1552)
    is_crowded = _every([_full_number(value) for value in bars[1]], (width - 76) / max(len(places), 1)) > 1
    text = short_number if is_crowded else _full_number
    points = [(place + 0.5, value) for place, value in enumerate(line[1])]
    high = nice_ticks(max((1.0, *line[1])))[-1]
    upper = Axes(axes.title, "", "", top=high, places=[""] * len(places))
    # The value of the tallest bar stands above it.
    top = nice_ticks(1.1 * max(bars[1], default=0.0), 3)[-1]
    lower = Axes(axes.title, axes.x, "", top=top, places=places)
    charts = [
        plot([Line(line[0], points, colour, text=proportion)], upper, size=(width, 180)),
        plot([Columns(bars[0], bars[1], colour, text, theme.PALE)], lower, size=(width, 100)),
    ]
    moved = svg.tag("g", "".join(charts[1].parts), transform=f"translate(0 {round(charts[0].height)})")
    height = round(charts[0].height) + charts[1].height
    return Chart(width, height, axes.title, axes.description, [*charts[0].parts, moved])


def _legend_entry(series: Series) -> LegendEntry:
    if isinstance(series, Line):
        return LegendEntry(series.label, series.colour, "line", series.dashes)
    return LegendEntry(series.label, series.colour, opacity=getattr(series, "opacity", None))


def _frame(
    series: Sequence[Series],
    axes: Axes,
    limit: tuple[float, str] | None,
    upper: float,
    size: tuple[float, float],
) -> _Frame:
    heights = [height for each in series for height in each.heights()]
    if limit is not None:
        heights.append(limit[0])
    up = scale_of([axes.top] if axes.top is not None else heights, axes.y_spacing)
    if axes.places is not None:
        across = AxisScale(0, max(len(axes.places), 1), "linear")
    else:
        xs = [x for each in series for x, _ in _points(each)]
        across = scale_of(xs, axes.x_spacing, ends_there=True)
    return _Frame(across, up, upper, upper + size[1], size[0])


def _points(series: Series) -> Points:
    return series.points if isinstance(series, Line) else series.high if isinstance(series, Area) else ()


def _grid(frame: _Frame, axes: Axes) -> list[str]:
    parts = []
    for tick in frame.across.ticks() if axes.places is None else ():
        x = frame.x(tick)
        parts.append(svg.line(x, frame.upper, x, frame.lower, theme.GRID_LINE))
        parts.append(svg.label(x, frame.lower + 16, short_number(tick), text_anchor="middle", **_SMALL))
    for tick in frame.up.ticks():
        y = frame.y(tick)
        parts.append(svg.line(frame.left, y, frame.right, y, theme.GRID_LINE))
        parts.append(svg.label(frame.left - 7, y + 4, frame.up.text(tick), text_anchor="end", **_SMALL))
    return parts


def _base(frame: _Frame, axes: Axes) -> list[str]:
    """The places' names, some left out where they would touch; the plot's ground; the words."""
    names = [svg.shortened(name, 24) if name else "" for name in axes.places or ()]
    parts = [
        svg.label(frame.x(place + 0.5), frame.lower + 16, names[place], text_anchor="middle", **_SMALL)
        for place in range(0, len(names), _every(names, frame.place_width))
        if names[place]
    ]
    parts.append(svg.line(frame.left, frame.lower, frame.right, frame.lower, theme.SOFT))
    look = {"text_anchor": "middle", "fill": theme.SOFT}
    if axes.x:
        parts.append(svg.label((frame.left + frame.right) / 2, frame.lower + 36, axes.x, **look))
    if axes.y:
        middle = (frame.upper + frame.lower) / 2
        turned = f"rotate(-90 12 {svg.coordinate(middle)})"
        parts.append(svg.label(12, middle, axes.y, transform=turned, **look))
    return parts


def _texts(points: Points, texts: Sequence[str], frame: _Frame, colour: str) -> list[str]:
    look = {"text_anchor": "middle", "font_size": theme.SMALL, "fill": colour}
    shown = list(zip(points, texts, strict=True))[:: _every(texts, frame.place_width)]
    return [svg.haloed(x, y - 9, text, **look) for (x, y), text in shown]


def _every(texts: Sequence[str], room: float) -> int:
    """1 where texts fit that each have so much room; 2 where only every second one fits, and so on."""
    widest = max((svg.text_width(text, theme.SMALL) for text in texts), default=0.0)
    return max(1, math.ceil((widest + 4) / room))
