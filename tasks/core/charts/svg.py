"""The smallest SVG: text, shapes and charts go in, escaped deterministic markup comes out."""

import html
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tasks.core.charts import theme

#: Widths of characters in units of the text's size, of the widest font that a chart may be shown in.
_NARROW, _WIDE = frozenset("iljftrI.,:;'|!()[]/ -"), frozenset("mwMWQO@%&")


#: Control characters, and those that reorder what stands around them.
_CONTROLS = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def clean(text: str) -> str:
    """Text with control characters shown as a box."""
    return _CONTROLS.sub("\ufffd", text)


def escape(text: object) -> str:
    return html.escape(clean(str(text))).replace("&#x27;", "&#39;")


def shortened(text: str, longest: int) -> str:
    """Text of at most so many characters, an ellipsis in the place of what is cut."""
    text = " ".join(text.split()) or "\u2423"
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def text_width(text: str, size: float = theme.TEXT) -> float:
    """About how wide a text is; rather too much than too little."""
    return size * sum(map(_character_width, text))


def _character_width(char: str) -> float:
    if char in _NARROW:
        return 0.4
    if char in _WIDE or unicodedata.east_asian_width(char) in "WF":
        return 1.0
    return 0.7 if char.isupper() else 0.64


def fitted(text: str, room: float, size: float = theme.TEXT) -> str:
    """Text that is at most so wide, an ellipsis in the place of what is cut."""
    shown = shortened(text, int(room / (0.4 * size)) + 2)
    while len(shown) > 2 and text_width(shown, size) > room:
        shown = shortened(text, len(shown) - 1)
    return shown


def coordinate(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if value else "0"


def tag(name: str, content: str = "", /, **attributes: object) -> str:
    """One element; ``font_size`` becomes ``font-size``; the content must be escaped already.

    >>> tag("text", escape("Lyon & Lille"), x=1 / 3, font_size=12)
    '<text x="0.33" font-size="12">Lyon &amp; Lille</text>'
    """
    parts = [name]
    for key, value in attributes.items():
        if value is None or value == "":
            continue
        shown = coordinate(value) if isinstance(value, float | int) else escape(value)
        parts.append(f'{key.rstrip("_").replace("_", "-")}="{shown}"')
    head = " ".join(parts)
    return f"<{head}>{content}</{name}>" if content else f"<{head}/>"


def label(x: float, y: float, words: str, **attributes: object) -> str:
    look: dict[str, object] = {"fill": theme.INK, "font_size": theme.TEXT, **attributes}
    return tag("text", escape(words), x=x, y=y, **look)


def haloed(x: float, y: float, words: str, **attributes: object) -> str:
    halo = {"stroke": theme.PAPER, "stroke_width": 3, "paint_order": "stroke", "stroke_linejoin": "round"}
    return label(x, y, words, **halo, **attributes)


def line(
    x1: float, y1: float, x2: float, y2: float, stroke: str = theme.GRID_LINE, **attributes: object
) -> str:
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=stroke, **attributes)


def rect(x: float, y: float, width: float, height: float, fill: str, **attributes: object) -> str:
    """A rectangle; negative sizes become empty."""
    return tag("rect", x=x, y=y, width=max(width, 0.0), height=max(height, 0.0), fill=fill, **attributes)


_ROW = 19
_GAP = 16


@dataclass(frozen=True)
class LegendEntry:
    words: str
    colour: str
    mark: Literal["box", "line"] = "box"
    dashes: str = ""
    opacity: float | None = None


def legend(entries: Sequence[LegendEntry], width: float = theme.WIDTH) -> tuple[str, float]:
    """The entries from the top left, on as many lines as they need; and the height that they take."""
    parts, x, y = [], 0.0, 0.0
    for entry in entries:
        room = (16 if entry.mark == "box" else 26) + text_width(entry.words, theme.LEGEND)
        if x and x + room > width:
            x, y = 0.0, y + _ROW
        parts.append(_entry(entry, x, y))
        x += room + _GAP
    return "".join(parts), y + _ROW + 3 if entries else 0.0


def _entry(entry: LegendEntry, x: float, y: float) -> str:
    if entry.mark == "box":
        shape = rect(x, y + 3, 11, 11, entry.colour, fill_opacity=entry.opacity)
        return shape + label(x + 16, y + 13, entry.words, font_size=theme.LEGEND)
    look = {"stroke_width": 2.4, "stroke_dasharray": entry.dashes}
    shape = line(x, y + 8.5, x + 20, y + 8.5, entry.colour, **look)
    return shape + label(x + 26, y + 13, entry.words, font_size=theme.LEGEND)


@dataclass(frozen=True)
class Chart:
    """A chart that a screen reader can name.

    Attributes:
        title, description: what a person who can't see the chart is told; the page shows its own caption.
        shrinks: whether it shrinks with its place; one that does not stands in a scrolling one.
    """

    width: float
    height: float
    title: str
    description: str
    parts: Sequence[str]
    shrinks: bool = True

    def as_file(self, note: str = "") -> str:
        """The text of an SVG file of its own: the title above the chart, on a white ground."""
        edge, upper = 24, 76 if note else 54
        widths = (self.width, text_width(self.title, theme.TITLE), text_width(note))
        size = {"width": round(max(widths) + 2 * edge), "height": round(self.height + upper + 16)}
        parts = [
            rect(0, 0, size["width"], size["height"], theme.PAPER),
            label(edge, 34, self.title, font_size=theme.TITLE, font_weight="bold"),
            label(edge, 56, note, fill=theme.SOFT) if note else "",
            tag("g", "".join(self.parts), transform=f"translate({edge} {upper})"),
        ]
        file = {"xmlns": "http://www.w3.org/2000/svg", **size}
        return self._svg((size["width"], size["height"]), parts, **file) + "\n"

    def in_page(self) -> str:
        """The chart as a part of a page, as wide as its place; without a style, which pages don't allow.

        A quarter larger than drawn at most: text keeps the size of the page's own.
        """
        width, look = (1.25 * self.width, "chart") if self.shrinks else (self.width, "chart fixed")
        return self._svg((self.width, self.height), self.parts, width=round(width), class_=look)

    __html__ = in_page

    def _svg(self, size: tuple[float, float], parts: Sequence[str], **attributes: object) -> str:
        about = tag("title", escape(self.title)) + tag("desc", escape(self.description))
        return tag(
            "svg",
            about + "".join(parts),
            viewBox=f"0 0 {coordinate(size[0])} {coordinate(size[1])}",
            role="img",
            aria_label=self.title,
            **attributes,
            font_family=theme.FONTS,
        )
