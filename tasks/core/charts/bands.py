"""How one count spreads where another is given: bands of quantiles go in, SVG comes out."""

from collections.abc import Sequence
from dataclasses import dataclass

from tasks.core.charts import svg, theme
from tasks.core.charts.axes import Axes, Frame, drawn_axes, scale_of
from tasks.core.charts.bars import ErrorBar
from tasks.core.charts.chart import Chart
from tasks.core.charts.legend import LegendEntry, legend
from tasks.core.figures import whole

_OUTER, _INNER = 0.2, 0.45


@dataclass(frozen=True)
class Band:
    """The synthetic counts of published combinations whose released counts are near each other.

    Attributes:
        released: mean released count.
        combinations: how many.
        synthetic: five quantiles of their synthetic counts; half of them lie between the inner two, nine of
            ten between the outer two.
    """

    released: float
    combinations: int
    synthetic: tuple[float, ...]


def bands(found: Sequence[Band], axes: Axes, error_bar: ErrorBar | None) -> Chart:
    """Median and spread of the synthetic counts over the released one, beside the line of equal counts.

    Args:
        found: ascending by the released count.
        axes: what they say.
        error_bar: where the true count of a released one lies; None: it is exact, or not told.
    """
    entries = [
        LegendEntry("median", theme.SYNTHETIC, "line"),
        LegendEntry("half of them", theme.SYNTHETIC, opacity=_INNER),
        LegendEntry("nine of ten", theme.SYNTHETIC, opacity=_OUTER),
        LegendEntry("equal", theme.INK, "line", "4 3"),
    ]
    if error_bar is not None:
        entries.append(LegendEntry(error_bar.name, theme.RELEASED, opacity=_INNER))
    words, above = legend(entries)
    counts = [band.released for band in found]
    across = scale_of(counts, "log")
    heights = [max(band.synthetic) for band in found] + counts
    frame = Frame(across, scale_of(heights, "log1p"), upper=above + 10, lower=above + 240)
    parts = [words, *drawn_axes(frame, axes), *_true(frame, error_bar), *_spread(found, frame)]
    total = whole(sum(band.combinations for band in found))
    described = f"{total} combinations; on the dashed line both counts agree."
    return Chart(theme.WIDTH, frame.lower + 44, axes.title, described, parts)


def _steps(frame: Frame) -> list[float]:
    """Counts along the x-axis, close enough together for a curve."""
    low, high, steps = frame.across.low, frame.across.high, 48
    return [low * (high / low) ** (step / steps) for step in range(steps + 1)]


def _true(frame: Frame, error_bar: ErrorBar | None) -> list[str]:
    """Where the true count lies, and the line of equal counts."""
    parts = []
    steps = _steps(frame)
    if error_bar is not None:
        low = [(count, max(count - error_bar.below, 0.0)) for count in steps]
        high = [(count, count + error_bar.above) for count in steps]
        parts.append(_area(low, high, frame, theme.RELEASED, _INNER))
    path = _path([(count, count) for count in steps], frame)
    dashed = {"stroke": theme.INK, "stroke_dasharray": "4 3", "stroke_width": 1.3}
    return [*parts, svg.tag("path", d=f"M{path}", fill="none", **dashed)]


def _spread(found: Sequence[Band], frame: Frame) -> list[str]:
    """Both bands and the median; a single bin is drawn as bars and a dot."""
    if len(found) == 1:
        x = frame.x(found[0].released)
        lowest, low, middle, high, highest = map(frame.y, found[0].synthetic)
        ends = ((lowest, highest, _OUTER), (low, high, _INNER))
        parts = [
            svg.rect(x - 8, end, 16, start - end, theme.SYNTHETIC, fill_opacity=opacity)
            for start, end, opacity in ends
        ]
        return [*parts, svg.tag("circle", cx=x, cy=middle, r=3.5, fill=theme.SYNTHETIC)]
    lines = [[(band.released, band.synthetic[place]) for band in found] for place in range(5)]
    return [
        _area(lines[0], lines[4], frame, theme.SYNTHETIC, _OUTER),
        _area(lines[1], lines[3], frame, theme.SYNTHETIC, _INNER),
        svg.tag(
            "path",
            d=f"M{_path(lines[2], frame)}",
            fill="none",
            stroke=theme.SYNTHETIC,
            stroke_width=2.4,
            stroke_linejoin="round",
        ),
    ]


def _area(
    low: Sequence[tuple[float, float]],
    high: Sequence[tuple[float, float]],
    frame: Frame,
    colour: str,
    opacity: float,
) -> str:
    outline = f"M{_path(low, frame)}L{_path(list(reversed(high)), frame)}Z"
    return svg.tag("path", d=outline, fill=colour, fill_opacity=opacity)


def _path(points: Sequence[tuple[float, float]], frame: Frame) -> str:
    return "L".join(f"{svg.coordinate(frame.x(x))} {svg.coordinate(frame.y(y))}" for x, y in points)
