"""A matrix of every two columns: a number for each two of them goes in, a chart comes out."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tasks.core.arrays import Floats
from tasks.core.charts import svg, theme
from tasks.core.charts.svg import Chart

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
