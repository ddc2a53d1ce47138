"""The smallest SVG: text and shapes go in, escaped deterministic markup comes out.

One visual style for every chart: blue for what was measured with noise, orange for what is synthetic
(apart for every kind of colour blindness, and in grey), dark text on light, no text under 11 px.
"""

import math
import unicodedata
from collections.abc import Sequence

INK = "#1f2430"
SOFT = "#5a6270"
FAINT = "#d9dde3"
GRID_COLOUR = "#e9ecf0"
PAPER = "#ffffff"
NOISY = "#0b5fa5"
SYNTHETIC = "#d9730d"
#: Figures of synthetic records: the same hue, dark enough for small text.
SYNTHETIC_INK = "#a04f00"
#: Stripes of what is not known.
STRIPE = "#b4bbc6"
#: One colour and dash pattern a length or run, so that print and colour-blind readers can tell them apart.
SERIES = (
    ("#0b5fa5", ""),
    ("#d9730d", "7 3"),
    ("#00795c", "2 3"),
    ("#9c3d7c", "9 3 2 3"),
    ("#5a6270", "4 4"),
    ("#a38600", "12 3"),
    ("#5b4bb0", "1 3"),
    ("#8a4b20", "6 2 1 2 1 2"),
)
#: What each colour becomes on a dark page; a saved chart keeps the colours above.
DARK = {
    INK: "#e6e9ee",
    SOFT: "#a7afbc",
    FAINT: "#3b424e",
    GRID_COLOUR: "#2b313b",
    PAPER: "#16191f",
    NOISY: "#62a8ea",
    SYNTHETIC: "#ef9442",
    SYNTHETIC_INK: "#f3ab6b",
    STRIPE: "#5a6371",
    "#00795c": "#35b898",
    "#9c3d7c": "#d585ba",
    "#a38600": "#d3b52c",
    "#5b4bb0": "#a497ef",
    "#8a4b20": "#d3925f",
}

#: Widths of characters in units of the text's size, of the widest font that a chart may be shown in.
_NARROW, _WIDE = frozenset("iljftrI.,:;'|!()[]/ -"), frozenset("mwMWQO@%&")


def clean(text: str) -> str:
    """Text with control characters, and those that reorder what stands around them, shown as a box."""
    return "".join("\ufffd" if _is_control(char) else char for char in text)


def escape(text: object) -> str:
    """Text made safe between tags and inside quoted attributes."""
    shown = clean(str(text))
    for char, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("'", "&#39;")):
        shown = shown.replace(char, entity)
    return shown


def _is_control(char: str) -> bool:
    """Characters that XML forbids, and those that reorder the text around them."""
    point = ord(char)
    if 0x202A <= point <= 0x202E or 0x2066 <= point <= 0x2069:
        return True
    return (point < 32 and char not in "\t\n\r") or 0x7F <= point <= 0x9F or 0xD800 <= point <= 0xDFFF


def shortened(text: str, longest: int) -> str:
    """Text of at most so many characters, an ellipsis in the place of what is cut."""
    text = " ".join(text.split()) or "\u2423"
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def text_width(text: str, size: float = 12) -> float:
    """About how wide a text is; rather too much than too little."""
    return size * sum(map(_character_width, text))


def _character_width(char: str) -> float:
    if char in _NARROW:
        return 0.4
    if char in _WIDE or unicodedata.east_asian_width(char) in "WF":
        return 1.0
    return 0.7 if char.isupper() else 0.64


def fitted(text: str, room: float, size: float = 12) -> str:
    """Text that is at most so wide, an ellipsis in the place of what is cut."""
    shown = shortened(text, int(room / (0.4 * size)) + 2)
    while len(shown) > 2 and text_width(shown, size) > room:
        shown = shortened(text, len(shown) - 1)
    return shown


def coordinate(value: float) -> str:
    """A coordinate with at most two decimals."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if value else "0"


def tag(name: str, content: str = "", /, **attributes: object) -> str:
    """One element; ``font_size`` becomes ``font-size``; the content must be escaped already."""
    parts = [name]
    for key, value in attributes.items():
        if value is None or value == "":
            continue
        shown = coordinate(value) if isinstance(value, float | int) else escape(value)
        parts.append(f'{key.rstrip("_").replace("_", "-")}="{shown}"')
    head = " ".join(parts)
    return f"<{head}>{content}</{name}>" if content else f"<{head}/>"


def label(x: float, y: float, words: str, **attributes: object) -> str:
    """A text element in the chart's own type."""
    look: dict[str, object] = {"fill": INK, "font_size": 12, **attributes}
    return tag("text", escape(words), x=x, y=y, **look)


def haloed(x: float, y: float, words: str, **attributes: object) -> str:
    """A text that stays readable on whatever is behind it."""
    halo = {"stroke": PAPER, "stroke_width": 3, "paint_order": "stroke", "stroke_linejoin": "round"}
    return label(x, y, words, **halo, **attributes)


def line(x1: float, y1: float, x2: float, y2: float, stroke: str = GRID_COLOUR, **attributes: object) -> str:
    """A straight line."""
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=stroke, **attributes)


def rect(x: float, y: float, width: float, height: float, fill: str, **attributes: object) -> str:
    """A rectangle; negative sizes become empty."""
    return tag("rect", x=x, y=y, width=max(width, 0.0), height=max(height, 0.0), fill=fill, **attributes)


def whisker(low: float, high: float, y: float, stroke: str = INK) -> str:
    """An error bar from low to high."""
    path = f"M{coordinate(low)} {coordinate(y)}H{coordinate(high)}"
    for x in (low, high):
        path += f"M{coordinate(x)} {coordinate(y - 3)}V{coordinate(y + 3)}"
    return tag("path", d=path, stroke=stroke, stroke_width=1.2, fill="none")


def figure(
    width: float, height: float, title: str, description: str, parts: Sequence[str], shrinks: bool = True
) -> str:
    """A chart that a screen reader can name: title and description first, then the shapes.

    One that does not shrink with its place stands in a scrolling one.
    """
    about = tag("title", escape(title)) + tag("desc", escape(description))
    # A quarter larger than drawn at most: text keeps the size of the page's own.
    style = f"max-width:{round(width * 1.25)}px" + ("" if shrinks else f";min-width:{round(width)}px")
    return tag(
        "svg",
        about + "".join(parts),
        viewBox=f"0 0 {coordinate(width)} {coordinate(height)}",
        role="img",
        aria_label=title,
        style=style,
        class_="chart",
        font_family="system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif",
    )


def nice_ticks(top: float, most: int = 5) -> list[float]:
    """Round ticks from 0 that reach at least ``top``: steps of 1, 2 or 5 times a power of ten."""
    if top <= 0:
        return [0.0, 1.0]
    rough = top / most
    power = 10 ** math.floor(math.log10(rough))
    step = next(multiple * power for multiple in (1, 2, 5, 10) if multiple * power >= rough * (1 - 1e-9))
    step = max(step, 1e-9)
    count = math.ceil(top / step - 1e-9)
    return [step * index for index in range(count + 1)]


def short_number(value: float) -> str:
    """A tick's text: 0.5, 40, 12k, 3M."""
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= limit:
            scaled = value / (1e3 if unit == "k" else limit)
            return f"{scaled:.3g}{unit}"
    return f"{value:.4g}"
