"""Charts for a report: plain numbers in, the text of a stand-alone SVG file out.

Two kinds: a line over bars, each in a panel of its own (what SDS draws by length and by count on two axes
of one panel, sds.md 5), and ranked horizontal bars. Equal numbers give equal text; a chart's zone is that
of its numbers.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tasks.core.charts import svg

#: By subject, as SDS has them: violet for what is rare or leaks, green by count, blue by length.
#: Bars are light and the line is dark, so that they differ in grey as well.
Colour = Literal["violet", "green", "blue"]
BARS: dict[Colour, str] = {"violet": "#cbb7e6", "green": "#b4d9be", "blue": "#b3cfea"}
LINES: dict[Colour, str] = {"violet": "#5a2a99", "green": "#1c6b3a", "blue": "#0b4c86"}

#: Sizes of ordinary text, of titles under an axis, and of the chart's own title.
SMALL, MEDIUM, LARGE = 12, 13, 17
_FONTS = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"


def readable(value: float) -> str:
    """A number for people: thousands separated, at most two decimals, none where it is large."""
    if abs(value) >= 1000 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) >= 0.005 else f"{value:.1g}"


def readable_alike(values: Sequence[float]) -> list[str]:
    """Numbers that stand side by side: two decimals in all of them where one needs any and none is large."""
    if max(values, default=0) >= 1000 or all(value == int(value) for value in values):
        return [f"{value:,.0f}" for value in values]
    return [f"{value:,.2f}" for value in values]


def tick_text(value: float, ticks: Sequence[float]) -> str:
    """As many decimals as the step needs."""
    decimals = max(0, -math.floor(math.log10(ticks[1]) + 1e-9))
    return f"{value:,.{decimals}f}"


def share_text(value: float) -> str:
    """A proportion beside a point: two decimals, more where it is small and not 0."""
    if value == 0 or value >= 0.01:
        return f"{value:.2f}"
    return f"{value:.1g}" if value >= 1e-4 else "<0.0001"


def heading(title: str) -> str:
    """The title on top."""
    return svg.label(24, 34, title, font_size=LARGE, font_weight="bold")


def panel_heading(y: float, words: str, colour: str) -> str:
    """What a panel shows, above it at the left."""
    return svg.label(24, y, words, font_size=MEDIUM, font_weight="600", fill=colour)


def standalone(width: float, height: float, about: tuple[str, str], parts: Sequence[str]) -> str:
    """A file of its own: name space, size, white ground; ``about``: title and description to be read out."""
    title = svg.tag("title", svg.escape(about[0]), id="title")
    description = svg.tag("desc", svg.escape(about[1]), id="desc")
    size = {"width": round(width), "height": round(height)}
    text = svg.tag(
        "svg",
        title + description + svg.rect(0, 0, width, height, svg.PAPER) + "".join(parts),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {size['width']} {size['height']}",
        role="img",
        aria_labelledby="title desc",
        font_family=_FONTS,
        **size,
    )
    return text + "\n"


_LEFT, _RIGHT = 84.0, 24.0
_NARROWEST, _WIDEST, _SLOT = 860.0, 1600.0, 50.0
#: Tops and heights of the two panels.
_LINE_TOP, _LINE_HEIGHT = 100.0, 190.0
_BAR_TOP, _BAR_HEIGHT = 348.0, 100.0
#: Room for names beside ranked bars.
_WIDEST_NAME = 300.0


@dataclass(frozen=True)
class BarAndLine:
    """A line (0 to 1, or as far as it goes) and under it bars (from 0), over the same places.

    Attributes:
        title: in bold on top.
        description: what a person who can't see the chart should be told; not shown.
        axis: what the places are, under the axis.
        labels: of the places, in order.
        bars, line: a number each place, 0 or more.
        bar_name, line_name: above their panels, with their unit.
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
        marks: for each bar a number that it is to be seen beside, drawn as a line across it; or none at all.
    """

    title: str
    description: str
    axis: str
    bars: tuple[tuple[str, float], ...]
    unit: str = ""
    colour: Colour = "violet"
    marks: tuple[float, ...] = ()


@dataclass(frozen=True)
class _Panel:
    """Where a panel is: its top and height, the middle of each place, and the heights of values."""

    top: float
    height: float
    slot: float
    ticks: list[float]

    @property
    def bottom(self) -> float:
        return self.top + self.height

    def middle(self, place: int) -> float:
        return _LEFT + self.slot * (place + 0.5)

    def y(self, value: float) -> float:
        return self.bottom - self.height * value / self.ticks[-1]


def bar_and_line(chart: BarAndLine) -> str:
    """The SVG file's text: two panels over the same places, each with its values."""
    number = max(len(chart.labels), 1)
    width = min(max(_NARROWEST, _LEFT + _RIGHT + _SLOT * number), _WIDEST)
    slot = (width - _LEFT - _RIGHT) / number
    upper = _Panel(_LINE_TOP, _LINE_HEIGHT, slot, svg.nice_ticks(max(1.0, *chart.line, 0.0)))
    # The value of the tallest bar stands above it.
    lower = _Panel(_BAR_TOP, _BAR_HEIGHT, slot, svg.nice_ticks(1.1 * max(chart.bars, default=0.0), 3))
    middle, colour = (_LEFT + width - _RIGHT) / 2, LINES[chart.colour]
    parts = [
        heading(chart.title),
        panel_heading(_LINE_TOP - 34, chart.line_name, colour),
        *_axis(upper, width),
        *_line(chart, upper),
        panel_heading(_BAR_TOP - 22, chart.bar_name, colour),
        *_axis(lower, width),
        *_bars(chart, lower),
        *_places(chart, lower),
        svg.label(middle, lower.bottom + 44, chart.axis, text_anchor="middle", font_size=MEDIUM),
    ]
    return standalone(width, lower.bottom + 62, (chart.title, chart.description), parts)


def ranked_bars(chart: RankedBars) -> str:
    """The SVG file's text: a bar a line, its label to the left and its value behind it."""
    each, width, top = 24.0, _NARROWEST, 66.0
    names = [svg.fitted(name, _WIDEST_NAME, SMALL) for name, _ in chart.bars]
    values = [f"{text}{chart.unit}" for text in readable_alike([value for _, value in chart.bars])]
    left = 36 + max((svg.text_width(name, SMALL) for name in names), default=0.0)
    right = width - 36 - max((svg.text_width(value, SMALL) for value in values), default=0.0)
    ticks = svg.nice_ticks(max((*(value for _, value in chart.bars), *chart.marks), default=0.0))
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
        if chart.marks:
            mark = left + (right - left) * chart.marks[place] / ticks[-1]
            parts.append(svg.line(mark, y + 1, mark, y + each - 2, LINES[chart.colour], stroke_width=2.5))
            end = max(end, mark)
        parts.append(svg.haloed(end + 6, y + 15, text, text_anchor="start", font_size=SMALL))
    return standalone(width, bottom + 56, (chart.title, chart.description), parts)


def _axis(panel: _Panel, width: float) -> list[str]:
    """Grid and ticks of a panel."""
    texts = [tick_text(tick, panel.ticks) for tick in panel.ticks]
    if max(svg.text_width(text, SMALL) for text in texts) > _LEFT - 12:
        texts = [svg.short_number(tick) for tick in panel.ticks]
    parts = []
    for tick, text in zip(panel.ticks, texts, strict=True):
        y = panel.y(tick)
        parts.append(svg.line(_LEFT, y, width - _RIGHT, y, svg.GRID_COLOUR if tick else svg.SOFT))
        parts.append(svg.label(_LEFT - 8, y + 4, text, text_anchor="end", font_size=SMALL))
    return parts


def _line(chart: BarAndLine, panel: _Panel) -> list[str]:
    """The line, its points, and their values above them."""
    colour = LINES[chart.colour]
    points = [(panel.middle(place), panel.y(value)) for place, value in enumerate(chart.line)]
    path = " ".join(f"{svg.coordinate(x)},{svg.coordinate(y)}" for x, y in points)
    parts = [svg.tag("polyline", points=path, fill="none", stroke=colour, stroke_width=2)] if path else []
    parts += [svg.tag("circle", cx=x, cy=y, r=4, fill=colour) for x, y in points]
    return parts + _values(points, [share_text(value) for value in chart.line], panel.slot, colour)


def _bars(chart: BarAndLine, panel: _Panel) -> list[str]:
    """The bars, and their values above them."""
    thick = min(panel.slot * 0.62, 84.0)
    points = [(panel.middle(place), panel.y(value)) for place, value in enumerate(chart.bars)]
    parts = [svg.rect(x - thick / 2, y, thick, panel.bottom - y, BARS[chart.colour]) for x, y in points]
    texts = readable_alike(chart.bars)
    if _step(texts, panel.slot) > 1:
        texts = [svg.short_number(value) for value in chart.bars]
    return parts + _values([(x, y + 4) for x, y in points], texts, panel.slot, svg.INK)


def _values(
    points: Sequence[tuple[float, float]], texts: Sequence[str], slot: float, colour: str
) -> list[str]:
    """A text above each point, or above every second or further one where they would touch."""
    step = _step(texts, slot)
    return [
        svg.haloed(x, y - 9, text, text_anchor="middle", font_size=SMALL, fill=colour)
        for (x, y), text in list(zip(points, texts, strict=True))[::step]
    ]


def _places(chart: BarAndLine, panel: _Panel) -> list[str]:
    """The places' labels, some left out where they would touch."""
    texts = [svg.shortened(label, 24) for label in chart.labels]
    return [
        svg.label(panel.middle(place), panel.bottom + 19, texts[place], font_size=SMALL, text_anchor="middle")
        for place in range(0, len(texts), _step(texts, panel.slot))
    ]


def _step(texts: Sequence[str], slot: float) -> int:
    widest = max((svg.text_width(text, SMALL) for text in texts), default=0.0)
    return max(1, math.ceil((widest + 4) / slot))
