"""Horizontal bars, parts of a whole, and squares of every two columns: numbers go in, a chart comes out."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tasks.core.arrays import Floats
from tasks.core.charts import svg, theme
from tasks.core.charts.plot import nice_ticks, proportion, short_number
from tasks.core.charts.svg import Chart, LegendEntry, legend
from tasks.core.figures import format_up

#: From one name to the next, and at the right the room for figures.
_PITCH, _FIGURES = 30, 62
#: Of one or two bars by a name: each one's top, its height, and where its figure stands.
_LANES = {1: ((5, 14, 16),), 2: ((2, 11, 12), (15, 8, 24))}


@dataclass(frozen=True)
class Series:
    """Bars of one meaning: its name in the legend (empty: none), their colour, and that of their figures."""

    name: str
    colour: str
    ink: str = theme.INK


@dataclass(frozen=True)
class Bar:
    """The bars of one name: a value for each series, 0 or more, or None."""

    label: str
    values: tuple[float | None, ...]
    note: str = ""
    mark: float | None = None


class Numbers(NamedTuple):
    """How numbers are written, and where the axis has its ticks; None: at round numbers from 0."""

    text: Callable[[float], str]
    ticks: tuple[float, ...] | None = None


SHARES = Numbers(lambda value: f"{value:.2f}", (0, 0.25, 0.5, 0.75, 1))
PROPORTIONS = Numbers(proportion)
PERCENTAGES = Numbers(lambda value: f"{value:.2f}\u202f%")


def bars(
    title: str,
    description: str,
    rows: Sequence[Bar],
    series: Sequence[Series],
    numbers: Numbers,
    *,
    axis: str = "",
    width: float = theme.WIDTH,
) -> Chart:
    """A line a name, in the order of the rows: bars of one or two series, and figures at the right edge."""
    # Names have a third of the width at most, as all have on the page.
    widest = max((svg.text_width(row.label) for row in rows), default=0.0) + 8
    left, right = max(min(widest, 0.33 * width), 132.0), width - _FIGURES
    reach = [value or 0 for row in rows for value in (*row.values, row.mark)]
    ticks = numbers.ticks or nice_ticks(max(reach, default=1), 4)
    scale = (right - left) / ticks[-1]
    words, top = legend([LegendEntry(each.name, each.colour) for each in series if each.name], width)
    bottom = top + 6 + _PITCH * max(len(rows), 1)
    parts = [words]
    for tick in ticks:
        x, small = left + tick * scale, {"font_size": theme.SMALL, "fill": theme.SOFT}
        parts.append(svg.line(x, top + 2, x, bottom, theme.GRID_LINE))
        parts.append(svg.label(x, bottom + 15, short_number(tick), text_anchor="middle", **small))
    parts.append(svg.line(left, top + 2, left, bottom, theme.SOFT))
    for index, row in enumerate(rows):
        parts.append(_row(row, series, numbers.text, (left, scale, width), top + 6 + _PITCH * index))
    if not rows:
        parts.append(svg.label(left + 8, top + 26, "There is none.", fill=theme.SOFT))
    if axis:
        look = {"text_anchor": "middle", "fill": theme.SOFT}
        parts.append(svg.label((left + right) / 2, bottom + 36, axis, **look))
    return Chart(width, bottom + (44 if axis else 22), title, description, parts)


def _row(
    row: Bar,
    all_series: Sequence[Series],
    text: Callable[[float], str],
    place: tuple[float, float, float],
    y: float,
) -> str:
    """One name, its bars and figures. Args: place: where bars begin, pixels a unit, where figures end."""
    left, scale, right = place
    parts, told = _name(row.label, left - 8, y), [row.label]
    lanes = _LANES[len(all_series)]
    for series, value, (upper, height, figure) in zip(all_series, row.values, lanes, strict=True):
        if value is None:
            continue
        parts.append(svg.rect(left, y + upper, max(value, 0) * scale, height, series.colour))
        figures, look = text(value), {"font_size": theme.SMALL, "fill": series.ink}
        parts.append(svg.label(right, y + figure, figures, text_anchor="end", **look))
        told.append(f"{series.name} {figures}".strip())
    if row.mark is not None:
        x = left + row.mark * scale
        parts.append(svg.line(x, y + 2, x, y + 22, theme.INK, stroke_width=2))
    said = "; ".join([*told, row.note] if row.note else told)
    return svg.tag("g", svg.tag("title", svg.escape(said)) + "".join(parts))


def _name(words: str, room: float, y: float) -> list[str]:
    """What bars are of, to their left; names of several columns on two lines where one has no room."""
    lines = [(words, 15)]
    if " × " in words and svg.text_width(words) > room:
        first, rest = words.split(" × ", 1)
        lines = [(first, 10), (f"× {rest}", 23)]
    return [svg.label(room, y + below, svg.fitted(line, room), text_anchor="end") for line, below in lines]


#: The colour of a part whose size is not known: stripes.
NOT_KNOWN = "url(#not-known)"
_PARTS_LEFT, _PARTS_WIDTH, _PARTS_PITCH = 76, 520, 58
#: As wide as the text of a page on a telephone, where a wider drawing would shrink.
_GAUGE = 340


@dataclass(frozen=True)
class Whole:
    """One bar: from the left the size (0 or more) and the colour of each part; empty where all are 0."""

    label: str
    parts: Sequence[tuple[float, str]]
    told: str


def shares(wholes: Sequence[Whole], meanings: Sequence[LegendEntry], title: str, description: str) -> Chart:
    words, top = legend(meanings, _PARTS_WIDTH)
    parts = [_stripes(), words]
    for index, whole in enumerate(wholes):
        parts.append(_whole(whole, top + 8 + _PARTS_PITCH * index))
    return Chart(_PARTS_WIDTH, top + 8 + _PARTS_PITCH * len(wholes), title, description, parts)


def _stripes() -> str:
    """The pattern that stands for "not known"."""
    stripe = svg.rect(0, 0, 8, 8, theme.GRID_LINE) + svg.line(0, 0, 0, 8, theme.STRIPE, stroke_width=5)
    look = {"patternUnits": "userSpaceOnUse", "patternTransform": "rotate(45)"}
    return svg.tag("defs", svg.tag("pattern", stripe, id="not-known", width=8, height=8, **look))


def _whole(whole: Whole, y: float) -> str:
    length = _PARTS_WIDTH - _PARTS_LEFT
    total = sum(size for size, _ in whole.parts)
    parts = [svg.label(_PARTS_LEFT - 10, y + 15, whole.label, text_anchor="end", font_weight="600")]
    if not total:
        parts.append(svg.rect(_PARTS_LEFT, y, length, 22, theme.GRID_LINE))
    x = float(_PARTS_LEFT)
    for size, colour in whole.parts:
        width = size / total * length if total else 0.0
        if width:
            parts.append(svg.rect(x, y, width, 22, colour))
        x += width
    parts.append(svg.label(_PARTS_LEFT, y + 37, whole.told, font_size=theme.LEGEND, fill=theme.SOFT))
    return svg.tag("g", svg.tag("title", svg.escape(f"{whole.label}: {whole.told}")) + "".join(parts))


def budget_gauge(used: float, epsilon_spent: float, epsilon_cap: float) -> Chart:
    """The bar of a dataset's budget, filled as far as it is used.

    Args:
        used: the share of the cap's mu² that is spent. Releases add up in mu², and not in epsilon.
    """
    used = min(max(used, 0.0), 1.0)
    parts = [
        svg.rect(0, 20, _GAUGE, 16, theme.FAINT, rx=8),
        svg.rect(0, 20, max(used * _GAUGE, 6), 16, theme.RELEASED, rx=8),
        svg.label(0, 13, f"{used:.0%} used: ε = {format_up(epsilon_spent)}", font_weight="600"),
        svg.label(_GAUGE, 13, f"cap: ε = {format_up(epsilon_cap)}", text_anchor="end", fill=theme.SOFT),
    ]
    described = (
        f"{used:.0%} of the budget is used: epsilon {format_up(epsilon_spent)} of {format_up(epsilon_cap)}"
    )
    return Chart(_GAUGE, 40, "Budget of the dataset", described, parts)


#: In px: a square's side, room for names to the left and above, and to the right as they slant.
_CELL, _NAMES, _ABOVE, _BESIDE = 40, 134, 96, 84


@dataclass(frozen=True)
class Half:
    """The numbers on one side of the diagonal.

    Attributes:
        values: (n, n), symmetric, 0 or more; NaN where there is nothing to say.
        white_from: from which share of the largest the figures are white.
    """

    values: Floats
    colour: str
    white_from: float
    largest: float = 1.0


def matrix(
    title: str,
    description: str,
    names: Sequence[str],
    above: Half,
    below: Half | None = None,
    *,
    has_diagonal: bool = False,
) -> Chart:
    """A square for every two of the named columns; a side that is None stays empty.

    Args: has_diagonal: whether the diagonal holds numbers of the upper side, and is not grey.
    """
    left, top, number, parts = _NAMES, _ABOVE, len(names), list[str]()
    for index, name in enumerate(names):
        middle = index * _CELL + _CELL / 2
        parts.append(svg.label(left - 8, top + middle + 4, svg.fitted(name, left - 10), text_anchor="end"))
        turned = f"rotate(-45 {svg.coordinate(left + middle)} {top - 8})"
        parts.append(svg.label(left + middle, top - 8, svg.fitted(name, 118), transform=turned))
    for row in range(number):
        for column in range(number):
            half = below if row > column else above
            if half is None:
                continue
            place = (left + column * _CELL, top + row * _CELL)
            if row == column and not has_diagonal:
                parts.append(svg.rect(*place, _CELL - 2, _CELL - 2, theme.GRID_LINE))
            else:
                parts.append(_cell(half, float(half.values[row, column]), place))
    width = _NAMES + number * _CELL + _BESIDE
    return Chart(width, top + number * _CELL + 4, title, description, parts, shrinks=False)


def _cell(half: Half, value: float, place: tuple[float, float]) -> str:
    """One square with its number; what is not known stays empty."""
    x, y = place
    if not math.isfinite(value):
        return svg.rect(x, y, _CELL - 2, _CELL - 2, theme.PAPER, stroke=theme.FAINT)
    share = min(value / half.largest, 1.0)
    # Text turns white where the square behind it is dark enough to read it on.
    ink = theme.PAPER if share > half.white_from else theme.INK
    look = {"text_anchor": "middle", "font_size": theme.SMALL, "fill": ink}
    shape = svg.rect(x, y, _CELL - 2, _CELL - 2, half.colour, fill_opacity=0.04 + 0.96 * share)
    # Three decimals where two would show nothing.
    text = f"{value:.{2 if half.largest >= 0.1 else 3}f}".removeprefix("0")
    return shape + svg.label(x + (_CELL - 2) / 2, y + _CELL / 2 + 3, text, **look)
