"""The smallest SVG: text and shapes go in, escaped deterministic markup comes out."""

import unicodedata

from tasks.core.charts import theme

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
    """A coordinate with at most two decimals."""
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
    """A text element in the chart's own type."""
    look: dict[str, object] = {"fill": theme.INK, "font_size": theme.TEXT, **attributes}
    return tag("text", escape(words), x=x, y=y, **look)


def haloed(x: float, y: float, words: str, **attributes: object) -> str:
    """A text that stays readable on whatever is behind it."""
    halo = {"stroke": theme.PAPER, "stroke_width": 3, "paint_order": "stroke", "stroke_linejoin": "round"}
    return label(x, y, words, **halo, **attributes)


def line(
    x1: float, y1: float, x2: float, y2: float, stroke: str = theme.GRID_LINE, **attributes: object
) -> str:
    """A straight line."""
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=stroke, **attributes)


def rect(x: float, y: float, width: float, height: float, fill: str, **attributes: object) -> str:
    """A rectangle; negative sizes become empty."""
    return tag("rect", x=x, y=y, width=max(width, 0.0), height=max(height, 0.0), fill=fill, **attributes)


def whisker(low: float, high: float, y: float, stroke: str = theme.INK) -> str:
    """An error bar from low to high."""
    path = f"M{coordinate(low)} {coordinate(y)}H{coordinate(high)}"
    for x in (low, high):
        path += f"M{coordinate(x)} {coordinate(y - 3)}V{coordinate(y + 3)}"
    return tag("path", d=path, stroke=stroke, stroke_width=1.2, fill="none")
