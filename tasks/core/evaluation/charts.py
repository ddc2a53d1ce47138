"""Charts for a report: plain numbers in, the text of a stand-alone SVG file out.

Two kinds: bars with a line on an axis of its own (what SDS draws by length and by count, sds.md 5), and
ranked horizontal bars. Equal numbers give equal text; a chart's zone is that of its numbers.
"""

import math
from dataclasses import dataclass

from tasks.core.evaluation.chart_parts import (
    BARS,
    LINES,
    MEDIUM,
    SMALL,
    Colour,
    boxed,
    haloed,
    heading,
    readable,
    readable_alike,
    standalone,
    text_width,
    tick_text,
)
from tasks.core.navigation import svg

_LEFT, _RIGHT, _TOP, _HEIGHT = 84.0, 64.0, 92.0, 270.0
_NARROWEST, _WIDEST, _SLOT = 860.0, 2400.0, 60.0
_MOST_RANKED_TEXT = 44


@dataclass(frozen=True)
class BarAndLine:
    """Bars (left axis, from 0) and a line (right axis, 0 to 1 or as far as it goes) over the same places.

    Attributes:
        title: in bold on top.
        description: what a person who can't see the chart should be told; not shown.
        axis: what the places are, under the axis.
        labels: of the places, in order.
        bars, line: a number each place, 0 or more.
        bar_name, line_name: for the legend, with their unit.
        colour: of both.
    """

    title: str
    description: str
    axis: str
    labels: tuple[str, ...]
    bars: tuple[float, ...]
    line: tuple[float, ...]
    bar_name: str
    line_name: str
    colour: Colour


@dataclass(frozen=True)
class RankedBars:
    """Horizontal bars, drawn in the order given.

    Attributes:
        title, description: as in `BarAndLine`.
        axis: what the lengths of the bars are, with their unit.
        bars: label and number (0 or more), in order.
        unit: written behind each number, such as `` %``.
        colour: of the bars.
    """

    title: str
    description: str
    axis: str
    bars: tuple[tuple[str, float], ...]
    unit: str = ""
    colour: Colour = "violet"


@dataclass(frozen=True)
class _Frame:
    """Where things are: the middle of each place, and heights of both axes' values."""

    width: float
    slot: float
    bar_ticks: list[float]
    line_ticks: list[float]

    @property
    def right(self) -> float:
        return self.width - _RIGHT

    @property
    def bottom(self) -> float:
        return _TOP + _HEIGHT

    def middle(self, place: int) -> float:
        return _LEFT + self.slot * (place + 0.5)

    def bar_height(self, value: float) -> float:
        return self.bottom - _HEIGHT * value / self.bar_ticks[-1]

    def line_height(self, value: float) -> float:
        return self.bottom - _HEIGHT * value / self.line_ticks[-1]


def bar_and_line(chart: BarAndLine) -> str:
    """The SVG file's text: bars with their values, the line with boxed values of two decimals."""
    frame = _frame(chart)
    turned = text_width(max(chart.labels, key=len, default="")) > frame.slot - 4
    longest = max(map(text_width, chart.labels), default=0.0)
    under = 24 + (min(longest, 140.0) * 0.6 if turned else 0.0)
    height = frame.bottom + under + 34
    middle = (_LEFT + frame.right) / 2
    parts = [
        heading(chart.title),
        *_legend(chart),
        *_axes(frame),
        *_bars(chart, frame),
        *_places(chart, frame, turned),
        svg.label(middle, height - 14, chart.axis, text_anchor="middle", font_size=MEDIUM),
        *_line(chart, frame),
    ]
    return standalone(frame.width, height, (chart.title, chart.description), parts)


def ranked_bars(chart: RankedBars) -> str:
    """The SVG file's text: a bar a line, its label to the left and its value behind it."""
    each, width = 24.0, _NARROWEST
    names = [svg.shortened(name, _MOST_RANKED_TEXT) for name, _ in chart.bars]
    values = [f"{readable(value)}{chart.unit}" for _, value in chart.bars]
    left = 24 + max(map(text_width, names), default=0.0)
    right = width - 24 - max(map(text_width, values), default=0.0)
    ticks = svg.nice_ticks(max((value for _, value in chart.bars), default=0.0))
    top = 66.0
    bottom = top + each * max(len(names), 1)
    parts = [heading(chart.title)]
    if not chart.bars:
        parts.append(svg.label(24, top + 16, "There is none.", fill=svg.SOFT, font_size=MEDIUM))
    else:
        for tick in ticks:
            x = left + (right - left) * tick / ticks[-1]
            parts.append(svg.line(x, top - 4, x, bottom))
            text = readable(tick)
            parts.append(svg.label(x, bottom + 16, text, text_anchor="middle", font_size=SMALL))
        middle = (left + right) / 2
        parts.append(svg.label(middle, bottom + 40, chart.axis, text_anchor="middle", font_size=MEDIUM))
    for place, ((_, value), name, text) in enumerate(zip(chart.bars, names, values, strict=True)):
        y = top + each * place
        end = left + (right - left) * value / ticks[-1]
        parts.append(svg.label(left - 8, y + 15, name, text_anchor="end", font_size=SMALL))
        parts.append(svg.rect(left, y + 3, max(end - left, 0.5), each - 7, BARS[chart.colour]))
        parts.append(haloed(end + 6, y + 15, text, "start"))
    return standalone(width, bottom + 56, (chart.title, chart.description), parts)


def _frame(chart: BarAndLine) -> _Frame:
    number = max(len(chart.labels), 1)
    width = min(max(_NARROWEST, _LEFT + _RIGHT + _SLOT * number), _WIDEST)
    # The value of the tallest bar stands above it.
    tallest = 1.08 * max(chart.bars, default=0.0)
    highest = max(1.0, *chart.line, 0.0)
    return _Frame(
        width,
        (width - _LEFT - _RIGHT) / number,
        svg.nice_ticks(tallest),
        svg.nice_ticks(highest),
    )


def _legend(chart: BarAndLine) -> list[str]:
    bars, line = f"{chart.bar_name} (bars, left)", f"{chart.line_name} (line, right)"
    x = 24 + 20 + text_width(bars) + 28
    return [
        svg.rect(24, 53, 13, 13, BARS[chart.colour]),
        svg.label(43, 64, bars, font_size=MEDIUM),
        svg.line(x, 60, x + 26, 60, LINES[chart.colour], stroke_width=2),
        svg.tag("circle", cx=x + 13, cy=60, r=4, fill=LINES[chart.colour]),
        svg.label(x + 34, 64, line, font_size=MEDIUM),
    ]


def _axes(frame: _Frame) -> list[str]:
    parts = []
    for tick in frame.bar_ticks:
        y = frame.bar_height(tick)
        parts.append(svg.line(_LEFT, y, frame.right, y))
        text = tick_text(tick, frame.bar_ticks)
        parts.append(svg.label(_LEFT - 8, y + 4, text, text_anchor="end", font_size=SMALL))
    for tick in frame.line_ticks:
        y = frame.line_height(tick)
        parts.append(svg.line(frame.right, y, frame.right + 4, y, svg.SOFT))
        text = tick_text(tick, frame.line_ticks)
        parts.append(svg.label(frame.right + 8, y + 4, text, font_size=SMALL))
    parts.append(svg.line(frame.right, _TOP, frame.right, frame.bottom, svg.SOFT))
    parts.append(svg.line(_LEFT, frame.bottom, frame.right, frame.bottom, svg.INK))
    return parts


def _bars(chart: BarAndLine, frame: _Frame) -> list[str]:
    thick = min(frame.slot * 0.62, 84.0)
    return [
        svg.rect(
            frame.middle(place) - thick / 2,
            frame.bar_height(value),
            thick,
            frame.bottom - frame.bar_height(value),
            BARS[chart.colour],
        )
        for place, value in enumerate(chart.bars)
    ]


def _places(chart: BarAndLine, frame: _Frame, turned: bool) -> list[str]:
    """The places' labels, on the slant where they are wide; some left out where even that is too narrow."""
    step = _step(17.0 if turned else 0.0, frame)
    parts = []
    for place in range(0, len(chart.labels), step):
        x, y = frame.middle(place), frame.bottom + 19
        text = svg.shortened(chart.labels[place], 24)
        if turned:
            look = {"text_anchor": "end", "transform": f"rotate(-35 {x:.2f} {y:.2f})"}
            parts.append(svg.label(x + 4, y, text, font_size=SMALL, **look))
        else:
            parts.append(svg.label(x, y, text, font_size=SMALL, text_anchor="middle"))
    return parts


def _line(chart: BarAndLine, frame: _Frame) -> list[str]:
    """Line, the bars' values, points, and on top the boxed values, where none hides another."""
    colour = LINES[chart.colour]
    points = [(frame.middle(place), frame.line_height(value)) for place, value in enumerate(chart.line)]
    path = " ".join(f"{svg.number(x)},{svg.number(y)}" for x, y in points)
    under = [svg.tag("polyline", points=path, fill="none", stroke=colour, stroke_width=2)] if path else []
    circles = [svg.tag("circle", cx=x, cy=y, r=4, fill=colour) for x, y in points]
    values, over = readable_alike(chart.bars), []
    step = _step(44.0, frame)
    for place in range(0, len(points), step):
        x, y = points[place]
        wide = text_width(values[place]) > frame.slot * step
        text = svg.short_number(chart.bars[place]) if wide else values[place]
        baseline = _value_baseline(y, frame.bar_height(chart.bars[place]), frame)
        under.append(haloed(x, baseline, text, "middle"))
        over += boxed(x, _box_top(y, baseline, frame), f"{chart.line[place]:.2f}", colour)
    return [*under, *circles, *over]


def _value_baseline(point: float, bar_top: float, frame: _Frame) -> float:
    """A bar's value stands on the bar; where the point is there, within the bar or above the point."""
    if not bar_top - 21 < point < bar_top + 3:
        return bar_top - 5
    return bar_top + 18 if bar_top + 22 < frame.bottom and point < bar_top + 1 else point - 8


def _box_top(point: float, baseline: float, frame: _Frame) -> float:
    """Above the point, or under it where the bar's value or the frame is in the way."""
    low, high = baseline - 12, baseline + 3
    for top in (point - 25, point + 7, low - 20, high + 2):
        inside = top >= _TOP - 22 and top + 18 <= frame.bottom
        free = top + 18 <= low or top >= high
        off_point = top + 18 <= point - 4 or top >= point + 4
        if inside and free and off_point:
            return top
    return min(low, point) - 24


def _step(width: float, frame: _Frame) -> int:
    return max(1, math.ceil(width / frame.slot))
