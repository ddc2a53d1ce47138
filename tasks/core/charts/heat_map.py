"""A heat map of pairs: names and a number for each two of them go in, the text of an SVG file comes out."""

import math
from dataclasses import dataclass

import numpy as np

from tasks.core.arrays import Floats
from tasks.core.charts import svg
from tasks.core.charts.standalone import SMALL, heading, readable, standalone

_TOP, _CELL, _WIDEST_NAME, _LEAST_WIDTH = 92.0, 34.0, 220.0, 620.0
#: From nothing to the largest value.
_PALE, _DARK = (0xF6, 0xF2, 0xFC), (0x4A, 0x1D, 0x8F)
_STEPS = 24


@dataclass(frozen=True)
class HeatMap:
    """A square of cells below its diagonal, and the diagonal itself.

    Attributes:
        title: in bold on top.
        description: what a person who can't see the chart should be told; not shown.
        scale: what the numbers are.
        names: f of them.
        values: (f, f), 0 or more; the upper half is not looked at, and NaN is left empty.
    """

    title: str
    description: str
    scale: str
    names: tuple[str, ...]
    values: Floats


def heat_map(chart: HeatMap) -> str:
    """The SVG file's text: a cell of a row's name and a column's, its number in it."""
    names = [svg.fitted(name, _WIDEST_NAME, SMALL) for name in chart.names]
    widest = max((svg.text_width(name, SMALL) for name in names), default=0.0)
    left = 32 + widest
    lower = np.tril(np.nan_to_num(chart.values))
    largest = float(lower.max(initial=0.0)) or 1.0
    parts = [heading(chart.title), *_legend(chart.scale, largest)]
    for row, name in enumerate(names):
        y = _TOP + _CELL * row
        parts.append(svg.label(left - 8, y + _CELL / 2 + 4, name, text_anchor="end", font_size=SMALL))
        for column in range(row + 1):
            value = float(chart.values[row, column])
            if not math.isnan(value):
                parts += _cell(left + _CELL * column, y, value, largest)
    bottom = _TOP + _CELL * len(names)
    for column, name in enumerate(names):
        parts.append(_slanted(left + _CELL * (column + 0.5) + 4, bottom + 12, name))
    width = max(left + _CELL * len(names) + 24, _LEAST_WIDTH)
    return standalone(width, bottom + 24 + 0.8 * widest, (chart.title, chart.description), parts)


def _cell(x: float, y: float, value: float, largest: float) -> list[str]:
    part = value / largest
    ink = "#ffffff" if part > 0.5 else svg.INK
    # Three decimals where two would show nothing.
    text = f"{value:.{2 if largest >= 0.1 else 3}f}".removeprefix("0") if value < 0.995 else "1"
    middle = (x + _CELL / 2, y + _CELL / 2 + 4)
    return [
        svg.rect(x, y, _CELL - 1, _CELL - 1, _colour(part)),
        svg.label(*middle, text, text_anchor="middle", font_size=11, fill=ink),
    ]


def _colour(part: float) -> str:
    mixed = (round(low + (high - low) * part) for low, high in zip(_PALE, _DARK, strict=True))
    return "#" + "".join(f"{each:02x}" for each in mixed)


def _slanted(x: float, y: float, name: str) -> str:
    turned = f"rotate(-50 {svg.coordinate(x)} {svg.coordinate(y)})"
    return svg.label(x, y, name, text_anchor="end", font_size=SMALL, transform=turned)


def _legend(scale: str, largest: float) -> list[str]:
    """The colours from 0 to the largest value, and what they are of."""
    each, y = 6.0, 54.0
    parts = [svg.label(24, y + 11, "0", font_size=SMALL)]
    for step in range(_STEPS):
        parts.append(svg.rect(40 + each * step, y, each, 14, _colour(step / (_STEPS - 1))))
    words = f"{readable(largest)}   {scale}"
    parts.append(svg.label(48 + each * _STEPS, y + 11, words, font_size=SMALL))
    return parts
