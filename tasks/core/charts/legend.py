"""A legend: colours and what they mean go in; a line of marks and words, or several, comes out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tasks.core.charts import svg, theme

_ROW = 19
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


def legend(entries: Sequence[LegendEntry], width: float = theme.WIDTH) -> tuple[str, float]:
    """The entries from the top left, on as many lines as they need; and the height that they take."""
    parts, x, y = [], 0.0, 0.0
    for entry in entries:
        room = (16 if entry.mark == "box" else 26) + svg.text_width(entry.words, theme.LEGEND)
        if x and x + room > width:
            x, y = 0.0, y + _ROW
        parts.append(_entry(entry, x, y))
        x += room + _GAP
    return "".join(parts), y + _ROW + 3 if entries else 0.0


def _entry(entry: LegendEntry, x: float, y: float) -> str:
    if entry.mark == "box":
        shape = svg.rect(x, y + 3, 11, 11, entry.colour, fill_opacity=entry.opacity)
        return shape + svg.label(x + 16, y + 13, entry.words, font_size=theme.LEGEND)
    if entry.mark == "whisker":
        shape = svg.whisker(x, x + 20, y + 8.5, entry.colour)
    else:
        look = {"stroke_width": 2.4, "stroke_dasharray": entry.dashes}
        shape = svg.line(x, y + 8.5, x + 20, y + 8.5, entry.colour, **look)
    return shape + svg.label(x + 26, y + 13, entry.words, font_size=theme.LEGEND)
