"""What charts for a report are made of: readable numbers, headings, a stand-alone file."""

import math
from collections.abc import Sequence
from typing import Literal

from tasks.core.navigation import svg

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
