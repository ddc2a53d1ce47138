"""The chance that a combination is published, by its true count: as chart, table and terminal text."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tasks.core.charts import theme
from tasks.core.charts.plot import Axes, Line, plot
from tasks.core.charts.svg import Chart
from tasks.core.dp.thresholds import survival_probability


@dataclass(frozen=True)
class SurvivalLevel:
    """One length: the noise's standard deviation s_k in records, and the threshold."""

    label: str
    scale: float
    threshold: int

    def chances(self, counts: Sequence[int]) -> list[float]:
        scale = Fraction(self.scale)
        return [survival_probability(scale, self.threshold, count) for count in counts]

    def least_count(self, chance: float) -> int:
        """The least true count that is published with at least this chance."""
        counts = range(int(self.threshold + 9 * self.scale) + 10)
        return bisect_left(counts, chance, key=lambda count: self.chances([count])[0])


def survival_chart(levels: Sequence[SurvivalLevel]) -> Chart | None:
    """A line a length; None where there is none."""
    if not levels:
        return None
    top = max(level.threshold + 3.5 * level.scale for level in levels)
    steps = sorted({max(1, round(top * part / 90)) for part in range(91)})
    lines = [
        Line(
            level.label,
            tuple(zip(map(float, steps), level.chances(steps), strict=True)),
            *theme.SERIES[place % len(theme.SERIES)],
            mark=level.threshold,
        )
        for place, level in enumerate(levels)
    ]
    axes = Axes("Chance of being published", "true count of the combination", "chance", top=1.0)
    return plot(lines, axes)


def survival_rows(levels: Sequence[SurvivalLevel]) -> list[tuple[str, list[int]]]:
    """For each length the true counts that are published in 5, 50, 95 and 99.9 of 100 cases."""
    return [
        (level.label, [level.least_count(chance) for chance in (0.05, 0.5, 0.95, 0.999)]) for level in levels
    ]


def curve_text(levels: Sequence[SurvivalLevel]) -> str:
    """The survival curve as a table for the terminal: true counts down, lengths across."""
    steps = [multiple * 10**power for power in range(7) for multiple in (1, 2, 5)]
    chances = [level.chances(steps) for level in levels]
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
