"""Charts of counts and shares: published figures go in, SVG or terminal text comes out.

Everything here draws what it is given, in the order it is given; equal inputs give equal bytes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tasks.core.charts import svg
from tasks.core.charts.axes import WIDTH, LegendEntry, legend
from tasks.core.figures import up, whole
from tasks.core.statement.differential_privacy.statement import survival_curve

#: Where the bars of values begin and end; to the left their names, to the right their numbers.
_LEFT, _RIGHT = 132.0, 338.0
_PITCH = 30
#: As wide as the text of a page on a telephone, where a wider drawing would shrink.
_GAUGE = 340
#: An error bar narrower than this can't be seen.
_NARROWEST_WHISKER = 2


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
class SurvivalLevel:
    """One length as the survival curve needs it: s_k in records and the threshold, None for none."""

    label: str
    scale: float
    threshold: int | None


def bars(rows: Sequence[Bar], title: str, error_bar: ErrorBar | None, names: tuple[str, str]) -> str:
    """Two counts a value, side by side, with the error bar on the first; or the second alone.

    Args:
        rows: in the order to be shown.
        title: for screen readers.
        error_bar: of every released count, or None for none.
        names: what the two series are; the first is empty where there is only the second.
    """
    above = error_bar.above if error_bar else 0
    reach = [max(row.released or 0, 0) + above for row in rows] + [row.synthetic or 0 for row in rows]
    ticks = svg.nice_ticks(max(reach, default=1), 4)
    per_unit = (_RIGHT - _LEFT) / ticks[-1]
    drawn = error_bar is not None and (error_bar.below + error_bar.above) * per_unit >= _NARROWEST_WHISKER
    words, top = legend(_meanings(names, error_bar.name if error_bar and drawn else ""))
    parts = [words, *_ticks(ticks, [svg.short_number(tick) for tick in ticks], top, len(rows))]
    for index, row in enumerate(rows):
        parts.append(_bar_row(row, (top + 6 + _PITCH * index, per_unit), (error_bar, drawn), names))
    described = f"{len(rows)} values; {' and '.join(filter(None, names))} of each."
    return svg.figure(WIDTH, top + 28 + _PITCH * len(rows), title, described, parts)


def _meanings(names: tuple[str, str], whisker: str) -> list[LegendEntry]:
    """What the colours mean."""
    found = [LegendEntry(name, c) for name, c in zip(names, (svg.NOISY, svg.SYNTHETIC), strict=True) if name]
    return [*found, LegendEntry(whisker, svg.INK, "whisker")] if whisker else found


def _ticks(ticks: Sequence[float], texts: Sequence[str], top: float, rows: int) -> list[str]:
    """Grid and axis of horizontal bars."""
    bottom = top + 6 + _PITCH * rows
    parts = []
    for tick, text in zip(ticks, texts, strict=True):
        x = _LEFT + tick / ticks[-1] * (_RIGHT - _LEFT)
        parts.append(svg.line(x, top + 2, x, bottom, svg.GRID_COLOUR))
        parts.append(svg.label(x, bottom + 15, text, text_anchor="middle", font_size=11, fill=svg.SOFT))
    return [*parts, svg.line(_LEFT, top + 2, _LEFT, bottom, svg.SOFT)]


def _bar_row(
    row: Bar, place: tuple[float, float], told_range: tuple[ErrorBar | None, bool], names: tuple[str, str]
) -> str:
    """One value: name, both bars, both numbers; and the error bar, where it is to be drawn."""
    (y, per_unit), (error_bar, drawn) = place, told_range
    parts = [_name(row.label, y + 15)]
    told = [row.label]
    if row.released is not None:
        held = max(row.released, 0)
        parts.append(svg.rect(_LEFT, y + 2, held * per_unit, 11, svg.NOISY))
        if error_bar and drawn:
            low, high = max(held - error_bar.below, 0), held + error_bar.above
            parts.append(svg.whisker(_LEFT + low * per_unit, _LEFT + high * per_unit, y + 7.5))
        shown = whole(round(row.released))
        parts.append(_figure(shown, y + 12, svg.INK))
        told.append(f"{names[0]} {shown}" + (error_bar.told(row.released) if error_bar else ""))
    elif error_bar and error_bar.absent:
        parts.append(_figure(error_bar.absent, y + 12, svg.INK))
        told.append(f"{names[0]} {error_bar.absent}")
    if row.synthetic is not None:
        upper, height, figure = (15, 8, 24) if names[0] else (5, 14, 16)
        parts.append(svg.rect(_LEFT, y + upper, row.synthetic * per_unit, height, svg.SYNTHETIC))
        shown = whole(round(row.synthetic))
        parts.append(_figure(shown, y + figure, svg.SYNTHETIC_INK))
        told.append(f"{names[1]} {shown}")
    return svg.tag("g", svg.tag("title", svg.escape("; ".join(told))) + "".join(parts))


def _name(words: str, y: float) -> str:
    """What a bar is of, to its left."""
    return svg.label(_LEFT - 8, y, svg.fitted(words, _LEFT - 8), text_anchor="end")


def _figure(words: str, y: float, fill: str) -> str:
    """A bar's number, at the right edge."""
    return svg.label(WIDTH, y, words, text_anchor="end", font_size=11, fill=fill)


def two_shares(rows: Sequence[tuple[str, float, float]], title: str, names: tuple[str, str]) -> str:
    """Pairs of figures between 0 and 1, such as associations, as two bars each."""
    words, top = legend(_meanings(names, ""))
    ticks = (0, 0.25, 0.5, 0.75, 1)
    parts = [words, *_ticks(ticks, [f"{tick:g}" for tick in ticks], top, len(rows))]
    for index, (pair, first, second) in enumerate(rows):
        y, one, other = top + 6 + _PITCH * index, *(_two_lines(pair))
        shapes = [
            svg.tag("title", svg.escape(f"{pair}: {names[0]} {first:.2f}, {names[1]} {second:.2f}")),
            _name(one, y + (10 if other else 16)),
            _name(other, y + 23) if other else "",
            svg.rect(_LEFT, y + 2, first * (_RIGHT - _LEFT), 11, svg.NOISY),
            svg.rect(_LEFT, y + 15, second * (_RIGHT - _LEFT), 8, svg.SYNTHETIC),
            _figure(f"{first:.2f}", y + 12, svg.INK),
            _figure(f"{second:.2f}", y + 24, svg.SYNTHETIC_INK),
        ]
        parts.append(svg.tag("g", "".join(shapes)))
    height = top + 28 + _PITCH * len(rows)
    return svg.figure(WIDTH, height, title, f"{len(rows)} pairs, strongest first.", parts)


def one_share(rows: Sequence[tuple[str, float, str]], title: str) -> str:
    """Pairs of synthetic columns by one figure between 0 and 1, as a bar each; last: words on where from."""
    ticks = (0, 0.25, 0.5, 0.75, 1)
    parts = _ticks(ticks, [f"{tick:g}" for tick in ticks], 0, len(rows))
    for index, (pair, share, source) in enumerate(rows):
        y, one, other = 6 + _PITCH * index, *(_two_lines(pair))
        shapes = [
            svg.tag("title", svg.escape(f"{pair}: {share:.2f}{source}")),
            _name(one, y + (10 if other else 16)),
            _name(other, y + 23) if other else "",
            svg.rect(_LEFT, y + 5, share * (_RIGHT - _LEFT), 14, svg.SYNTHETIC),
            _figure(f"{share:.2f}", y + 16, svg.SYNTHETIC_INK),
        ]
        parts.append(svg.tag("g", "".join(shapes)))
    return svg.figure(WIDTH, 28 + _PITCH * len(rows), title, f"{len(rows)} pairs, strongest first.", parts)


def _two_lines(pair: str) -> tuple[str, str]:
    """A pair's names on two lines where one has no room for them."""
    if " × " not in pair or svg.text_width(pair) <= _LEFT - 8:
        return pair, ""
    one, other = pair.split(" × ", 1)
    return one, f"× {other}"


def shares(rows: Sequence[Share], title: str) -> str:
    """What became of the candidates of each length, as shares of one bar."""
    left, right, width, pitch = 76, 520, 520, 58
    words, top = legend(_SHARES, width)
    parts = [_stripes(), words]
    for index, row in enumerate(rows):
        parts.append(_share_row(row, (left, right, top + 8 + pitch * index)))
    described = "Published and unpublished candidates by length."
    return svg.figure(width, top + 8 + pitch * len(rows), title, described, parts)


def _stripes() -> str:
    """The pattern that stands for "not known"."""
    stripe = svg.rect(0, 0, 8, 8, svg.GRID_COLOUR) + svg.line(0, 0, 0, 8, svg.STRIPE, stroke_width=5)
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
    LegendEntry("published", svg.NOISY),
    LegendEntry("of nobody (at most)", svg.SYNTHETIC),
    LegendEntry("not published", svg.FAINT),
    LegendEntry("not known", "url(#not-known)"),
)


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
            svg.rect(
                left, y, right - left, 22, svg.FAINT if row.published + row.suppressed else svg.GRID_COLOUR
            ),
            svg.rect(left, y, real, 22, svg.NOISY),
            svg.rect(left + real, y, spurious * unit, 22, svg.SYNTHETIC),
        ]
        told += f"; {whole(row.suppressed)} not published"
    parts.append(svg.label(left, y + 37, told, font_size=11.5, fill=svg.SOFT))
    return svg.tag("g", svg.tag("title", svg.escape(f"{row.label}: {told}")) + "".join(parts))


def gauge(spent: float, cap: float, title: str) -> str:
    """How much of the budget is spent: one bar up to the cap."""
    share = min(max(spent / cap, 0.0), 1.0)
    parts = [
        svg.rect(0, 20, _GAUGE, 16, svg.FAINT, rx=8),
        svg.rect(0, 20, max(share * _GAUGE, 6), 16, svg.NOISY, rx=8),
        svg.label(0, 13, f"spent: ε = {up(spent)}", font_size=12, font_weight="600"),
        svg.label(_GAUGE, 13, f"cap: ε = {up(cap)}", text_anchor="end", fill=svg.SOFT),
    ]
    return svg.figure(_GAUGE, 40, title, f"epsilon {up(spent)} of {up(cap)} spent", parts)


def curve_text(levels: Sequence[SurvivalLevel]) -> str:
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
