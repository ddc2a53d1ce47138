"""Shares of a whole as parts of one bar: what became of candidates, and what is spent of a budget."""

from collections.abc import Sequence
from dataclasses import dataclass

from tasks.core.charts import svg, theme
from tasks.core.charts.chart import Chart
from tasks.core.charts.legend import LegendEntry, legend
from tasks.core.figures import up, whole

#: As wide as the text of a page on a telephone, where a wider drawing would shrink.
_GAUGE = 340


@dataclass(frozen=True)
class Share:
    """How the candidates of one length fared.

    Attributes:
        label: the length in words.
        published: combinations published.
        spurious: how many of them are expected to be held by nobody; None where the notion is empty.
        suppressed: candidates not published; None where that is not known to the release.
    """

    label: str
    published: int
    spurious: float | None
    suppressed: int | None


def shares(rows: Sequence[Share], title: str) -> Chart:
    """What became of the candidates of each length, as shares of one bar."""
    left, right, width, pitch = 76, 520, 520, 58
    words, top = legend(_SHARES, width)
    parts = [_stripes(), words]
    for index, row in enumerate(rows):
        parts.append(_share_row(row, (left, right, top + 8 + pitch * index)))
    described = "Published and unpublished candidates by length."
    return Chart(width, top + 8 + pitch * len(rows), title, described, parts)


def _stripes() -> str:
    """The pattern that stands for "not known"."""
    stripe = svg.rect(0, 0, 8, 8, theme.GRID_LINE) + svg.line(0, 0, 0, 8, theme.STRIPE, stroke_width=5)
    pattern = svg.tag(
        "pattern",
        stripe,
        id="not-known",
        width=8,
        height=8,
        patternUnits="userSpaceOnUse",
        patternTransform="rotate(45)",
    )
    return svg.tag("defs", pattern)


_SHARES = (
    LegendEntry("published", theme.RELEASED),
    LegendEntry("held by nobody (at most)", theme.SYNTHETIC),
    LegendEntry("not published", theme.FAINT),
    LegendEntry("not known", "url(#not-known)"),
)


def _share_row(row: Share, frame: tuple[float, float, float]) -> str:
    """One length: its bar, and its figures under it."""
    left, right, y = frame
    parts = [svg.label(left - 10, y + 15, row.label, text_anchor="end", font_weight="600")]
    spurious = min(row.spurious or 0.0, float(row.published))
    told = f"{whole(row.published)} published"
    if row.spurious is not None and row.published:
        told += f" (at most {up(spurious, 2)} held by nobody)"
    if row.suppressed is None:
        # The true share can't be drawn, so the known part gets half and the rest is marked as not known.
        middle = left + (right - left) / 2 if row.published else left
        parts += [
            svg.rect(left, y, middle - left, 22, theme.RELEASED),
            svg.rect(middle, y, right - middle, 22, "url(#not-known)"),
        ]
        told += "; the number not published is not known (not to scale)"
    else:
        unit = (right - left) / max(row.published + row.suppressed, 1)
        real = (row.published - spurious) * unit
        parts += [
            svg.rect(
                left, y, right - left, 22, theme.FAINT if row.published + row.suppressed else theme.GRID_LINE
            ),
            svg.rect(left, y, real, 22, theme.RELEASED),
            svg.rect(left + real, y, spurious * unit, 22, theme.SYNTHETIC),
        ]
        told += f"; {whole(row.suppressed)} not published"
    parts.append(svg.label(left, y + 37, told, font_size=theme.LEGEND, fill=theme.SOFT))
    return svg.tag("g", svg.tag("title", svg.escape(f"{row.label}: {told}")) + "".join(parts))


def gauge(spent: float, cap: float, title: str) -> Chart:
    """How much of the budget is spent: one bar up to the cap."""
    share = min(max(spent / cap, 0.0), 1.0)
    parts = [
        svg.rect(0, 20, _GAUGE, 16, theme.FAINT, rx=8),
        svg.rect(0, 20, max(share * _GAUGE, 6), 16, theme.RELEASED, rx=8),
        svg.label(0, 13, f"spent: ε = {up(spent)}", font_weight="600"),
        svg.label(_GAUGE, 13, f"cap: ε = {up(cap)}", text_anchor="end", fill=theme.SOFT),
    ]
    return Chart(_GAUGE, 40, title, f"epsilon {up(spent)} of {up(cap)} spent", parts)
