"""Colours of every chart and page, light and dark, and sizes of text: they are decided here alone.

One visual style: blue for what was released, orange for what is synthetic (apart for every kind of colour
blindness, and in grey), dark text on light, no text under 11 px.
"""

INK = "#1f2430"
SOFT = "#5a6270"
FAINT = "#d9dde3"
GRID_LINE = "#e9ecf0"
PAPER = "#ffffff"
RELEASED = "#0b5fa5"
SYNTHETIC = "#d9730d"
#: Figures of synthetic records: the same hue, dark enough for small text.
SYNTHETIC_INK = "#a04f00"
#: Stripes of what is not known.
STRIPE = "#b4bbc6"
#: One colour and dash pattern a length or run, so that print and colour-blind readers can tell them apart.
SERIES = (
    (RELEASED, ""),
    (SYNTHETIC, "7 3"),
    ("#00795c", "2 3"),
    ("#9c3d7c", "9 3 2 3"),
    (SOFT, "4 4"),
    ("#a38600", "12 3"),
    ("#5b4bb0", "1 3"),
    ("#8a4b20", "6 2 1 2 1 2"),
)
#: By subject, in the operator's evaluation: what is rare or leaks, measures by count and by length.
RARE, BY_COUNT, BY_LENGTH = "#5b4bb0", "#00795c", RELEASED
#: Boxes of a lineage, by zone; a file of its own has no dark page.
ZONES = {"sensitive": "#fde2e2", "public": "#eef0f3", "measurement": "#fff3cd", "release": "#dceaf6"}
#: How much of its colour a filled shape has that stands behind or under another one.
PALE = 0.35
#: What each colour becomes on a dark page; a saved chart keeps the colours above.
DARK = {
    INK: "#e6e9ee",
    SOFT: "#a7afbc",
    FAINT: "#3b424e",
    GRID_LINE: "#2b313b",
    PAPER: "#16191f",
    RELEASED: "#62a8ea",
    SYNTHETIC: "#ef9442",
    SYNTHETIC_INK: "#f3ab6b",
    STRIPE: "#5a6371",
    "#00795c": "#35b898",
    "#9c3d7c": "#d585ba",
    "#a38600": "#d3b52c",
    "#5b4bb0": "#a497ef",
    "#8a4b20": "#d3925f",
}

#: Sizes of a chart's text: of names, of ticks and figures, of a legend, of the title in a file of its own.
TEXT, SMALL, LEGEND, TITLE = 12, 11, 11.5, 17
FONTS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
#: Every chart of the page is so wide: text is of one size, and readable on a telephone.
WIDTH = 400
#: A chart in a file of its own has no such neighbours.
FILE_WIDTH = 812
