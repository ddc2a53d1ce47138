"""SDS's charts of the evaluation (sds.md 5): comparisons in, texts of SVG files by name out. Sensitive."""

from collections.abc import Callable, Sequence
from typing import Any

from tasks.core.evaluation.chart_parts import Colour
from tasks.core.evaluation.charts import BarAndLine, bar_and_line
from tasks.core.evaluation.leakage import leakage_by_length
from tasks.core.evaluation.preservation import preservation_by_count, preservation_by_length
from tasks.core.evaluation.sums import Comparison

_LENGTH = "Length of combination (attributes)"
_BIN = "Count in the synthetic records: bins, each up to the number shown"
_KEPT = "Mean preservation: share of a sensitive count that the synthetic records keep, at most 1"


def synthetic_charts(comparison: Comparison) -> dict[str, str]:
    """The charts of synthetic against sensitive counts, by the name of their file without prefix."""
    charts = (_leakage(comparison), *_by_count(comparison), _by_length(comparison))
    return {name: bar_and_line(chart) for name, chart in charts}


def _leakage(comparison: Comparison) -> tuple[str, BarAndLine]:
    rows = leakage_by_length(comparison)
    names = (
        "Distinct combinations in the synthetic records",
        f"Proportion of them that is rare, below {comparison.resolution:,}, in both tables",
    )
    chart = _chart(rows, ("length", "compared", "leak_proportion"), names, "violet")
    return "synthetic_leakage_by_length", chart(
        "Rare sensitive combinations in the synthetic records", _LENGTH
    )


def _by_count(comparison: Comparison) -> list[tuple[str, BarAndLine]]:
    rows = preservation_by_count(comparison)
    found = []
    for name, key, line, title in (
        ("preservation_by_count", "preservation", _KEPT, "Preservation of counts, by count"),
        (
            "proportional_error_by_count",
            "proportional_error",
            "Mean proportional error: distance of the two counts over the sensitive one",
            "Proportional error of counts, by count",
        ),
    ):
        chart = _chart(rows, ("bin", "combinations", key), ("Combinations in the bin", line), "green")
        found.append((name, chart(title, _BIN)))
    return found


def _by_length(comparison: Comparison) -> tuple[str, BarAndLine]:
    rows = preservation_by_length(comparison)
    names = ("Mean count in the synthetic records", _KEPT)
    chart = _chart(rows, ("length", "mean_count", "preservation"), names, "blue")
    return "preservation_by_length", chart("Preservation of counts, by length", _LENGTH)


def _chart(
    rows: Sequence[dict[str, Any]], keys: tuple[str, str, str], names: tuple[str, str], colour: Colour
) -> Callable[[str, str], BarAndLine]:
    """A chart of three keys (place, bar, line) of the rows, but for its title and the axis' name."""
    places, bars, line = ([row[key] for row in rows] for key in keys)
    return lambda title, axis: BarAndLine(
        title=title,
        description=_described("Length" if keys[0] == "length" else "Count up to", places, line),
        axis=axis,
        labels=tuple(f"{place:,}" for place in places),
        bars=tuple(float(bar) for bar in bars),
        line=tuple(float(value) for value in line),
        bar_name=names[0],
        line_name=names[1],
        colour=colour,
    )


def _described(word: str, places: Sequence[int], line: Sequence[float]) -> str:
    return "; ".join(f"{word} {place:,}: {value:.2f}" for place, value in zip(places, line, strict=True))
