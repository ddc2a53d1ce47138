"""Charts of counts and shares: published figures go in, SVG or terminal text comes out.

Everything here draws what it is given, in the order it is given; equal inputs give equal bytes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tasks.core.dp.figures import up, whole
from tasks.core.dp.statement import survival_curve
from tasks.core.navigation import svg

_SYNTHETIC_INK = "#a04f00"


@dataclass(frozen=True)
class Bar:
    """One value with its two counts; None where a count is not published."""

    label: str
    released: float | None
    synthetic: float | None


@dataclass(frozen=True)
class ErrorBar:
    """Where the true count of a released one lies.

    Attributes:
        below, above: how far it may be from the released count, in records.
        name: what the whisker is, for the legend.
        absent: the figure of a value whose count is not published.
    """

    below: float
    above: float
    name: str = "95 % error bar"
    absent: str = ""

    def told(self, count: float) -> str:
        """The range in words, after the released count."""
        if self.below == self.above:
            return f" ± {up(self.above)}"
        return f" (true: {whole(round(count - self.below))} to {whole(round(count + self.above))})"


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


@dataclass(frozen=True)
class Level:
    """One length as the survival curve needs it: s_k in records and the threshold, None for none."""

    label: str
    scale: float
    threshold: int | None


def bars(rows: Sequence[Bar], title: str, error_bar: ErrorBar | None, names: tuple[str, str]) -> str:
    """Two counts a value, side by side, with the error bar on the first.

    Args:
        rows: in the order to be shown.
        title: for screen readers.
        error_bar: of every released count, or None for none.
        names: what the two series are.
    """
    left, right, width, pitch, top = 158, 398, 460, 30, 30
    above = error_bar.above if error_bar else 0
    reach = [max(row.released or 0, 0) + above for row in rows] + [row.synthetic or 0 for row in rows]
    ticks = svg.nice_ticks(max(reach, default=1), 4)
    per_unit = (right - left) / ticks[-1]
    bottom = top + pitch * len(rows)
    parts = [_legend(names, error_bar.name if error_bar else "")]
    for tick in ticks:
        x = left + tick * per_unit
        parts.append(svg.line(x, top - 4, x, bottom, svg.GRID))
        parts.append(
            svg.label(
                x, bottom + 15, svg.short_number(tick), text_anchor="middle", font_size=11, fill=svg.SOFT
            )
        )
    for index, row in enumerate(rows):
        parts.append(_bar_row(row, (left, top + pitch * index, per_unit, width), error_bar, names))
    parts.append(svg.line(left, top - 4, left, bottom, svg.SOFT))
    described = f"{len(rows)} values; {names[0]} and {names[1]} of each."
    return svg.figure(width, bottom + 22, title, described, parts)


def _legend(names: tuple[str, str], whisker: str) -> str:
    """What the colours mean, on one line."""
    parts = [svg.rect(0, 3, 11, 11, svg.NOISY), svg.label(16, 13, names[0], font_size=11.5)]
    x = 24 + 6.2 * len(names[0])
    if whisker:
        parts += [_whisker(x, x + 18, 8.5), svg.label(x + 24, 13, whisker, font_size=11.5)]
        x += 24 + 7 * len(whisker)
    parts += [svg.rect(x, 3, 11, 11, svg.SYNTHETIC), svg.label(x + 16, 13, names[1], font_size=11.5)]
    return "".join(parts)


def _whisker(low: float, high: float, y: float) -> str:
    """An error bar from low to high."""
    path = f"M{svg.number(low)} {svg.number(y)}H{svg.number(high)}"
    for x in (low, high):
        path += f"M{svg.number(x)} {svg.number(y - 3)}V{svg.number(y + 3)}"
    return svg.tag("path", d=path, stroke=svg.INK, stroke_width=1.2, fill="none")


def _bar_row(
    row: Bar, frame: tuple[float, float, float, float], error_bar: ErrorBar | None, names: tuple[str, str]
) -> str:
    """One value: name, both bars, error bar, both numbers."""
    left, y, per_unit, width = frame
    parts = [svg.label(left - 8, y + 15, svg.shortened(row.label, 23), text_anchor="end")]
    told = [row.label]
    if row.released is not None:
        held = max(row.released, 0)
        parts.append(svg.rect(left, y + 2, held * per_unit, 11, svg.NOISY))
        if error_bar:
            low, high = max(held - error_bar.below, 0), held + error_bar.above
            parts.append(_whisker(left + low * per_unit, left + high * per_unit, y + 7.5))
        shown = whole(round(row.released))
        parts.append(svg.label(width, y + 12, shown, text_anchor="end", font_size=11))
        told.append(f"{names[0]} {shown}" + (error_bar.told(row.released) if error_bar else ""))
    elif error_bar and error_bar.absent:
        parts.append(svg.label(width, y + 12, error_bar.absent, text_anchor="end", font_size=11))
        told.append(f"{names[0]} {error_bar.absent}")
    if row.synthetic is not None:
        parts.append(svg.rect(left, y + 15, row.synthetic * per_unit, 8, svg.SYNTHETIC))
        shown = whole(round(row.synthetic))
        parts.append(svg.label(width, y + 24, shown, text_anchor="end", font_size=11, fill=_SYNTHETIC_INK))
        told.append(f"{names[1]} {shown}")
    return svg.tag("g", svg.tag("title", svg.escape("; ".join(told))) + "".join(parts))


def two_shares(rows: Sequence[tuple[str, float, float]], title: str, names: tuple[str, str]) -> str:
    """Pairs of figures between 0 and 1, such as associations, as two bars each."""
    left, right, width, pitch, top = 196, 410, 460, 30, 30
    bottom = top + pitch * len(rows)
    parts = [_legend(names, "")]
    for tick in (0, 0.25, 0.5, 0.75, 1):
        x = left + tick * (right - left)
        parts.append(svg.line(x, top - 4, x, bottom, svg.GRID))
        parts.append(
            svg.label(x, bottom + 15, f"{tick:g}", text_anchor="middle", font_size=11, fill=svg.SOFT)
        )
    for index, (words, first, second) in enumerate(rows):
        y = top + pitch * index
        shapes = [
            svg.tag("title", svg.escape(f"{words}: {names[0]} {first:.2f}, {names[1]} {second:.2f}")),
            svg.label(left - 8, y + 16, svg.shortened(words, 30), text_anchor="end"),
            svg.rect(left, y + 2, first * (right - left), 11, svg.NOISY),
            svg.rect(left, y + 15, second * (right - left), 8, svg.SYNTHETIC),
            svg.label(width, y + 12, f"{first:.2f}", text_anchor="end", font_size=11),
            svg.label(width, y + 24, f"{second:.2f}", text_anchor="end", font_size=11, fill=_SYNTHETIC_INK),
        ]
        parts.append(svg.tag("g", "".join(shapes)))
    parts.append(svg.line(left, top - 4, left, bottom, svg.SOFT))
    return svg.figure(width, bottom + 22, title, f"{len(rows)} pairs, strongest first.", parts)


def shares(rows: Sequence[Share], title: str) -> str:
    """What became of the candidates of each length, as shares of one bar."""
    left, right, width, pitch, top = 76, 520, 520, 58, 30
    parts = [_stripes(), *_share_legend()]
    for index, row in enumerate(rows):
        parts.append(_share_row(row, (left, right, top + pitch * index)))
    return svg.figure(
        width, top + pitch * len(rows), title, "Published and unpublished candidates by length.", parts
    )


def _stripes() -> str:
    """The pattern that stands for "not known"."""
    stripe = svg.rect(0, 0, 8, 8, svg.GRID) + svg.line(0, 0, 0, 8, "#b4bbc6", stroke_width=5)
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


def _share_legend() -> list[str]:
    """Colours of `shares`."""
    parts, x = [], 0.0
    entries = (
        (svg.NOISY, "published"),
        (svg.SYNTHETIC, "of nobody (at most)"),
        (svg.FAINT, "not published"),
        ("url(#not-known)", "not known"),
    )
    for fill, words in entries:
        parts += [svg.rect(x, 3, 11, 11, fill), svg.label(x + 16, 13, words, font_size=11.5)]
        x += 34 + 6.1 * len(words)
    return parts


def _share_row(row: Share, frame: tuple[float, float, float]) -> str:
    """One length: its bar, and its figures under it."""
    left, right, y = frame
    parts = [svg.label(left - 10, y + 15, row.label, text_anchor="end", font_weight="600")]
    spurious = min(row.spurious or 0.0, float(row.published))
    told = f"{whole(row.published)} published"
    if row.spurious is not None and row.published:
        told += f" (at most {up(spurious, 2)} of nobody)"
    if row.suppressed is None:
        # The true share can't be drawn, so the known part gets half and the rest is marked as not known.
        middle = left + (right - left) / 2 if row.published else left
        parts += [
            svg.rect(left, y, middle - left, 22, svg.NOISY),
            svg.rect(middle, y, right - middle, 22, "url(#not-known)"),
        ]
        told += "; how many are not published is not known (not to scale)"
    else:
        unit = (right - left) / max(row.published + row.suppressed, 1)
        real = (row.published - spurious) * unit
        parts += [
            svg.rect(left, y, right - left, 22, svg.FAINT if row.published + row.suppressed else svg.GRID),
            svg.rect(left, y, real, 22, svg.NOISY),
            svg.rect(left + real, y, spurious * unit, 22, svg.SYNTHETIC),
        ]
        told += f"; {whole(row.suppressed)} not published"
    parts.append(svg.label(left, y + 37, told, font_size=11.5, fill=svg.SOFT))
    return svg.tag("g", svg.tag("title", svg.escape(f"{row.label}: {told}")) + "".join(parts))


def gauge(spent: float, cap: float, title: str) -> str:
    """How much of the budget is spent: one bar up to the cap."""
    width, share = 560, min(max(spent / cap, 0.0), 1.0)
    parts = [
        svg.rect(0, 20, width, 14, svg.FAINT, rx=7),
        svg.rect(0, 20, max(share * width, 6), 14, svg.NOISY, rx=7),
        svg.label(0, 13, f"spent: ε = {up(spent)}", font_size=12, font_weight="600"),
        svg.label(width, 13, f"cap: ε = {up(cap)}", text_anchor="end", fill=svg.SOFT),
    ]
    return svg.figure(width, 38, title, f"epsilon {up(spent)} of {up(cap)} spent", parts)


def curve_text(levels: Sequence[Level]) -> str:
    """The survival curve as a table for the terminal: true counts down, lengths across."""
    steps = [multiple * 10**power for power in range(7) for multiple in (1, 2, 5)]
    chances = [survival_curve(level.scale, level.threshold, steps) for level in levels]
    enough = [all(chance[index] >= 0.999 for chance in chances) for index in range(len(steps))]
    last = enough.index(True) if True in enough else len(steps) - 1
    first = next((i for i in range(last + 1) if any(1e-3 <= c[i] < 0.999 for c in chances)), last)
    widths = [max(len(level.label), 8) for level in levels]
    heads = [level.label.rjust(width) for level, width in zip(levels, widths, strict=True)]
    lines = ["  ".join(["true count", *heads])]
    for index in range(max(first - 1, 0), last + 1):
        cells = [_percent(chance[index]).rjust(width) for chance, width in zip(chances, widths, strict=True)]
        lines.append("  ".join([f"{steps[index]:,}".replace(",", " ").rjust(10), *cells]))
    return "\n".join(lines)


def _percent(chance: float) -> str:
    """A chance in per cent, never shown as certain or impossible unless it is."""
    if chance >= 1:
        return "100 %"
    if chance > 0.999:
        return ">99.9 %"
    return f"{chance * 100:.1f} %" if chance >= 0.001 or chance == 0 else "<0.1 %"
