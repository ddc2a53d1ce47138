"""A chart of bars side by side: plain numbers of some series go in, an SVG file's text comes out."""

from collections.abc import Sequence
from dataclasses import dataclass

from tasks.core.charts import svg
from tasks.core.charts.standalone import MEDIUM, SMALL, heading, share_text, standalone, tick_text

_LEFT, _RIGHT, _TOP, _HEIGHT = 84.0, 24.0, 104.0, 240.0
_WIDTH = 860.0
#: Of at most so many bars each has its value above it.
_MOST_VALUES = 15


@dataclass(frozen=True)
class Series:
    """Bars of one colour.

    Attributes:
        name: in the legend.
        values: a number a group, 0 or more.
        colour: of the bars.
    """

    name: str
    values: tuple[float, ...]
    colour: str


@dataclass(frozen=True)
class GroupedBars:
    """A bar of each series over each place.

    Attributes:
        title: in bold on top.
        description: what a person who can't see the chart should be told; not shown.
        axis, upright: what the places and the heights are.
        labels: of the places; an empty one is not written.
        series: at least one.
    """

    title: str
    description: str
    axis: str
    upright: str
    labels: tuple[str, ...]
    series: tuple[Series, ...]


def grouped_bars(chart: GroupedBars) -> str:
    """The SVG file's text."""
    tallest = max((value for each in chart.series for value in each.values), default=0.0)
    ticks = svg.nice_ticks(tallest)
    bottom, middle = _TOP + _HEIGHT, (_LEFT + _WIDTH - _RIGHT) / 2
    parts = [
        heading(chart.title),
        *legend_row([(each.name, each.colour) for each in chart.series], 62.0),
        svg.label(24, _TOP - 14, chart.upright, font_size=SMALL, fill=svg.SOFT),
        *_grid(ticks),
        *_bars(chart, ticks[-1]),
        svg.label(middle, bottom + 44, chart.axis, text_anchor="middle", font_size=MEDIUM),
    ]
    return standalone(_WIDTH, bottom + 62, (chart.title, chart.description), parts)


def legend_row(entries: Sequence[tuple[str, str]], y: float) -> list[str]:
    """A patch and a name for each, in a row."""
    parts, x = [], 24.0
    for name, colour in entries:
        parts.append(svg.rect(x, y - 11, 14, 14, colour))
        parts.append(svg.label(x + 20, y, name, font_size=MEDIUM))
        x += 44 + svg.text_width(name, MEDIUM)
    return parts


def _grid(ticks: list[float]) -> list[str]:
    parts = []
    for tick in ticks:
        y = _TOP + _HEIGHT * (1 - tick / ticks[-1])
        parts.append(svg.line(_LEFT, y, _WIDTH - _RIGHT, y, svg.GRID_COLOUR if tick else svg.SOFT))
        parts.append(svg.label(_LEFT - 8, y + 4, tick_text(tick, ticks), text_anchor="end", font_size=SMALL))
    return parts


def _bars(chart: GroupedBars, top: float) -> list[str]:
    """The bars, their values where there is room, and the places' labels."""
    bottom, number = _TOP + _HEIGHT, len(chart.series)
    slot = (_WIDTH - _LEFT - _RIGHT) / max(len(chart.labels), 1)
    thick = min(0.8 * slot / number, 64.0)
    is_told = number * len(chart.labels) <= _MOST_VALUES
    parts = []
    for place, label in enumerate(chart.labels):
        middle = _LEFT + slot * (place + 0.5)
        for index, each in enumerate(chart.series):
            x, height = middle + thick * (index - number / 2), _HEIGHT * each.values[place] / top
            parts.append(svg.rect(x, bottom - height, max(thick - 2, 1.0), height, each.colour))
            if is_told:
                value = (
                    share_text(each.values[place])
                    if each.values[place] >= 0.1
                    else f"{each.values[place]:.3f}"
                )
                at = (x + thick / 2 - 1, bottom - height - 5)
                parts.append(svg.haloed(*at, value, text_anchor="middle", font_size=SMALL))
        parts.append(svg.label(middle, bottom + 19, label, text_anchor="middle", font_size=SMALL))
    return parts
