"""A finished chart: shapes and words go in, markup for a page or the text of a file of its own comes out."""

from collections.abc import Sequence
from dataclasses import dataclass

from tasks.core.charts import svg, theme


@dataclass(frozen=True)
class Chart:
    """A chart that a screen reader can name.

    Attributes:
        width, height: in px.
        title, description: what a person who can't see the chart is told; the page shows its own caption.
        parts: the shapes, as markup.
        shrinks: whether it shrinks with its place; one that does not stands in a scrolling one.
    """

    width: float
    height: float
    title: str
    description: str
    parts: Sequence[str]
    shrinks: bool = True

    def __html__(self) -> str:
        """What a Jinja template writes where it is given a chart."""
        return self.in_page()

    def as_file(self, note: str = "") -> str:
        """The text of an SVG file of its own: the title above the chart, on a white ground.

        Args:
            note: a line under the title.
        """
        edge, upper = 24, 76 if note else 54
        widths = (self.width, svg.text_width(self.title, theme.TITLE), svg.text_width(note))
        size = {"width": round(max(widths) + 2 * edge), "height": round(self.height + upper + 16)}
        parts = [
            svg.rect(0, 0, size["width"], size["height"], theme.PAPER),
            svg.label(edge, 34, self.title, font_size=theme.TITLE, font_weight="bold"),
            svg.label(edge, 56, note, fill=theme.SOFT) if note else "",
            svg.tag("g", "".join(self.parts), transform=f"translate({edge} {upper})"),
        ]
        file = {"xmlns": "http://www.w3.org/2000/svg", **size}
        return self._svg((size["width"], size["height"]), parts, **file) + "\n"

    def in_page(self) -> str:
        """The chart as a part of a page, as wide as its place; without a style, which pages don't allow.

        A quarter larger than drawn at most: text keeps the size of the page's own.
        """
        width, look = (1.25 * self.width, "chart") if self.shrinks else (self.width, "chart fixed")
        return self._svg((self.width, self.height), self.parts, width=round(width), class_=look)

    def _svg(self, size: tuple[float, float], parts: Sequence[str], **attributes: object) -> str:
        about = svg.tag("title", svg.escape(self.title)) + svg.tag("desc", svg.escape(self.description))
        return svg.tag(
            "svg",
            about + "".join(parts),
            viewBox=f"0 0 {svg.coordinate(size[0])} {svg.coordinate(size[1])}",
            role="img",
            aria_label=self.title,
            **attributes,
            font_family=theme.FONTS,
        )
