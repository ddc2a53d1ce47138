"""Shares of a whole, as the parts of one bar: numbers by name go in, a chart comes out."""

from collections.abc import Sequence
from dataclasses import dataclass

from tasks.core.charts import svg, theme
from tasks.core.charts.svg import Chart, LegendEntry, legend
from tasks.core.figures import format_up

#: The colour of a part whose size is not known: stripes.
NOT_KNOWN = "url(#not-known)"
_LEFT, _WIDTH, _PITCH = 76, 520, 58
#: As wide as the text of a page on a telephone, where a wider drawing would shrink.
_GAUGE = 340


@dataclass(frozen=True)
class Whole:
    """One bar.

    Attributes:
        parts: from the left, the size (0 or more) and the colour of each; the bar is empty where all are 0.
    """

    label: str
    parts: Sequence[tuple[float, str]]
    told: str


def shares(wholes: Sequence[Whole], meanings: Sequence[LegendEntry], title: str, description: str) -> Chart:
    words, top = legend(meanings, _WIDTH)
    parts = [_stripes(), words]
    for index, whole in enumerate(wholes):
        parts.append(_bar(whole, top + 8 + _PITCH * index))
    return Chart(_WIDTH, top + 8 + _PITCH * len(wholes), title, description, parts)


def _stripes() -> str:
    """The pattern that stands for "not known"."""
    stripe = svg.rect(0, 0, 8, 8, theme.GRID_LINE) + svg.line(0, 0, 0, 8, theme.STRIPE, stroke_width=5)
    look = {"patternUnits": "userSpaceOnUse", "patternTransform": "rotate(45)"}
    return svg.tag("defs", svg.tag("pattern", stripe, id="not-known", width=8, height=8, **look))


def _bar(whole: Whole, y: float) -> str:
    length = _WIDTH - _LEFT
    total = sum(size for size, _ in whole.parts)
    parts = [svg.label(_LEFT - 10, y + 15, whole.label, text_anchor="end", font_weight="600")]
    if not total:
        parts.append(svg.rect(_LEFT, y, length, 22, theme.GRID_LINE))
    x = float(_LEFT)
    for size, colour in whole.parts:
        width = size / total * length if total else 0.0
        if width:
            parts.append(svg.rect(x, y, width, 22, colour))
        x += width
    parts.append(svg.label(_LEFT, y + 37, whole.told, font_size=theme.LEGEND, fill=theme.SOFT))
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
