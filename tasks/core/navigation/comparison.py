"""Two or more runs side by side: their figures go in, one table and one page come out.

`run_figures` reads a run's folder. A figure's best value is marked where the runs are of one dataset and its
better end is defined; what came from the raw table makes the whole comparison as sensitive as it is.
"""

import itertools
import math
import string
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tasks.core.arrays import Json
from tasks.core.charts import theme
from tasks.core.charts.plot import Axes, Columns, Line, plot
from tasks.core.charts.svg import Chart
from tasks.core.errors import ParameterError
from tasks.core.figures import format_near
from tasks.core.navigation.page import html
from tasks.core.navigation.run_figures import GROUPS, METRICS, Metric, RunFigures
from tasks.core.statement.syndiffix import LABEL, SYNDIFFIX_REGIME
from tasks.core.tables.writing import write_rows

#: More runs than colours can't be told apart in a chart.
MOST_DRAWN = len(theme.SERIES)


class _ChartOfRuns(NamedTuple):
    """A chart: caption, note, and the figure of a row; where there is a ``whole``, its part of that in %."""

    caption: str
    note: str
    key: str
    whole: str = ""
    top: float | None = None

    def figure(self, row: Json) -> float | None:
        part: float | None = row.get(self.key)
        if not self.whole or part is None:
            return part
        whole = row.get(self.whole)
        return 100 * part / whole if whole else None


def letters_of_runs(runs: int) -> list[str]:
    """A letter a run, in order: A, B, ..., Z, A2, B2, ..."""
    letters = (f"{letter}{lap}" for lap in ("", *range(2, runs)) for letter in string.ascii_uppercase)
    return list(itertools.islice(letters, runs))


_PRESERVATION = "Share of a combination's count that is kept, at most 1. More is better."
_ERROR = _ChartOfRuns(
    "Mean absolute error",
    "Of combinations that both sides hold, in records. Less is better.",
    "mean_error",
)
_KEPT = _ChartOfRuns("Count preservation", _PRESERVATION, "preservation", top=1.0)
_BY_LENGTH = {
    "released": (
        _ERROR,
        _KEPT,
        _ChartOfRuns(
            "Reported combinations missed (%)",
            "No synthetic record holds them. Less is better.",
            "missed",
            "reported",
        ),
    ),
    "raw": (
        _ERROR,
        _KEPT,
        _ChartOfRuns(
            "Suppressed combinations (%)",
            "Held by the raw table and by no synthetic record. Less is better for use.",
            "suppressed",
            "reference",
        ),
        _ChartOfRuns(
            "Rare combinations that appear at all",
            "Held by fewer records of the raw table than the resolution. Less is better.",
            "leaked_anywhere",
        ),
    ),
}
_BY_COUNT = (
    _ChartOfRuns(
        "Proportional error by count",
        "Error over the right count, in bins of the synthetic count. Less is better.",
        "proportional_error",
    ),
    _ChartOfRuns("Count preservation by count", _PRESERVATION, "preservation", top=1.0),
)


def comparison_charts(runs: Sequence[RunFigures], names: Sequence[str]) -> list[Json]:
    """Groups of charts of the first `MOST_DRAWN` runs: name, captions, notes, SVG (empty: all are 0)."""
    found = []
    for group, is_raw in (("released", False), ("raw", True)):
        drawn = [
            (place, run)
            for place, run in enumerate(runs[:MOST_DRAWN])
            if run.is_raw == is_raw and (run.by_length or run.by_count)
        ]
        held = [_by_length(wanted, drawn, names) for wanted in _BY_LENGTH[group]]
        held += [_by_count(wanted, drawn, names) for wanted in _BY_COUNT]
        shown = [chart for chart in held if chart]
        if shown:
            found.append({"name": GROUPS[group], "charts": shown})
    return found


def _by_length(wanted: _ChartOfRuns, runs: list[tuple[int, RunFigures]], names: Sequence[str]) -> Json | None:
    lengths = sorted({int(row["length"]) for _, run in runs for row in run.by_length})
    series = [
        Columns(
            names[place],
            [
                next((wanted.figure(row) for row in run.by_length if row["length"] == length), None)
                for length in lengths
            ],
            theme.SERIES[place][0],
        )
        for place, run in runs
    ]
    values = [value for each in series for value in each.values]
    if all(value is None for value in values):
        return None
    if not any(values):
        return _chart_entry(wanted, "by length", None)
    places = [f"length {length}" for length in lengths]
    chart = plot(series, Axes(f"{wanted.caption} by length", "", "", places=places), size=(theme.WIDTH, 220))
    return _chart_entry(wanted, "by length", chart)


def _by_count(wanted: _ChartOfRuns, runs: list[tuple[int, RunFigures]], names: Sequence[str]) -> Json | None:
    lines = []
    for place, run in runs:
        # A bin without combinations has no mean; it is recorded as 0.
        rows = [row for row in run.by_count if row.get("combinations") != 0]
        points = [(float(row["bin"]), wanted.figure(row)) for row in rows]
        known = tuple((x, y) for x, y in points if y is not None)
        if known:
            lines.append(Line(names[place], known, *theme.SERIES[place]))
    if not lines:
        return None
    axes = Axes(
        wanted.caption,
        "synthetic count, up to",
        wanted.caption.lower().removesuffix(" by count"),
        x_spacing="log",
        top=wanted.top,
    )
    return _chart_entry(wanted, "", plot(lines, axes))


def _chart_entry(wanted: _ChartOfRuns, by: str, chart: Chart | None) -> Json:
    return {"caption": f"{wanted.caption} {by}".strip(), "note": wanted.note, "chart": chart}


DIFFERING_SETTINGS = "Settings that differ"
RUNS = "What they are"

_REGIMES = {
    "differential_privacy": "differential privacy",
    "k_anonymity": "k-anonymity, not differentially private",
    "syndiffix": LABEL,
    "": "not recorded",
}


class TableRow(NamedTuple):
    """One line of the table: for each run a figure (of a setting None) and what is shown.

    Attributes:
        better: ``lower`` or ``higher``; empty where neither end is better.
        best: for each run whether no other is better.
    """

    group: str
    words: str
    better: str
    values: tuple[float | None, ...]
    texts: tuple[str, ...]
    best: tuple[bool, ...]


def comparison_table(runs: Sequence[RunFigures]) -> list[TableRow]:
    """What the runs are, the settings that differ, then a row for each figure that any run has.

    Raises:
        ParameterError: fewer than two runs, or two of one label.
    """
    if len(runs) < 2:
        raise ParameterError(
            f"Comparing needs two or more runs, and was given {len(runs)}; give another one."
        )
    if len({run.label for run in runs}) < len(runs):
        raise ParameterError("Runs that are compared need labels of their own; two have the same.")
    rows = [_text_row(RUNS, words, texts) for words, texts in _identities(runs)]
    rows += [_text_row(DIFFERING_SETTINGS, name, texts) for name, texts in _differing_settings(runs)]
    return rows + [
        _figure_row(metric, runs)
        for metric in METRICS
        if any(run.figures.get(metric.key) is not None for run in runs)
    ]


def _identities(runs: Sequence[RunFigures]) -> list[tuple[str, tuple[str, ...]]]:
    """Dataset and vintage where they differ, outcome where one failed; protection, mode, measured against."""
    done, against = (
        [run for run in runs if not run.has_failed],
        ("its own reported counts", "the raw table (sensitive)"),
    )
    told: list[tuple[str, Callable[[RunFigures], str]]] = [
        ("dataset", lambda run: run.dataset or "not recorded"),
        ("vintage (label of the release)", lambda run: run.vintage or "not recorded"),
    ]
    told = [(words, text) for words, text in told if len(set(map(text, done))) > 1]
    told += [
        ("protection", lambda run: _REGIMES.get(run.regime, run.regime)),
        ("synthesis mode", lambda run: run.mode or "not recorded"),
        ("measured against", lambda run: against[run.is_raw]),
    ]
    if any(run.status != "published" for run in runs):
        told.append(("status (see ERRATA.md)", lambda run: run.status))
    lines = [(words, tuple("" if run.has_failed else text(run) for run in runs)) for words, text in told]
    outcomes = tuple("failed" if run.has_failed else "done" for run in runs)
    return lines if len(done) == len(runs) else [("outcome", outcomes), *lines]


def _differing_settings(runs: Sequence[RunFigures]) -> list[tuple[str, tuple[str, ...]]]:
    """Settings of which not all runs that recorded any have the same; blank where a run has none.

    SynDiffix has many of its own: that other protections lack them is no difference to be told.
    """
    held = [dict(run.settings) for run in runs]
    names = dict.fromkeys(itertools.chain.from_iterable(held))
    return [(name, tuple(each.get(name, "") for each in held)) for name in names if _differs(name, runs)]


def _differs(name: str, runs: Sequence[RunFigures]) -> bool:
    recorded = [(run, dict(run.settings).get(name)) for run in runs if run.settings]
    having = {run.regime for run, text in recorded if text is not None}
    lacking = {run.regime for run, text in recorded if text is None}
    if having == {SYNDIFFIX_REGIME} and SYNDIFFIX_REGIME not in lacking:
        lacking = set()
    return len({text for _, text in recorded if text is not None}) + bool(lacking) > 1


def _text_row(group: str, words: str, texts: tuple[str, ...]) -> TableRow:
    return TableRow(group, words, "", (None,) * len(texts), texts, (False,) * len(texts))


def _figure_row(metric: Metric, runs: Sequence[RunFigures]) -> TableRow:
    values = tuple(run.figures.get(metric.key) for run in runs)
    known = [value for value in values if value is not None]
    best: float | None = None
    if metric.better and one_dataset(runs) and same_columns(runs) and min(known) != max(known):
        best = min(known) if metric.better == "lower" else max(known)
    return TableRow(
        group=metric.group,
        words=metric.words,
        better=metric.better,
        values=values,
        texts=_format_alike(values),
        best=tuple(value is not None and value == best for value in values),
    )


def one_dataset(runs: Sequence[RunFigures]) -> bool:
    """Whether no two runs are known to be of different datasets."""
    return len({run.dataset for run in runs if run.dataset}) <= 1


def same_columns(runs: Sequence[RunFigures]) -> bool:
    """Whether no two runs are known to be of different columns; their order does not matter."""
    held = (dict(run.settings).get("input.use_columns") for run in runs)
    return len({frozenset(text.strip("[]").split(", ")) for text in held if text}) <= 1


def _format_alike(values: Sequence[float | None]) -> tuple[str, ...]:
    """A row's figures with as many decimals as give its largest one four digits; nothing for None."""
    known = [value for value in values if value is not None]
    if all(value == int(value) for value in known):
        decimals = 0
    else:
        largest = max(map(abs, known))
        decimals = min(max(3 - math.floor(math.log10(largest)), 0), 6)
    return tuple("" if value is None else _with_decimals(value, decimals) for value in values)


def _with_decimals(value: float, decimals: int) -> str:
    """So many decimals; two digits of a figure that would be shown as 0 and is not."""
    if value and round(value, decimals) == 0:
        return format_near(value, 2)
    return f"{value:,.{decimals}f}".replace("-", "\u2212")


def write_comparison_tsv(runs: Sequence[RunFigures], path: Path) -> None:
    """Write the table: ``group``, ``metric``, ``better`` and a column a run; figures to six digits.

    Nothing stands where a run has no figure. Raises ParameterError: see `comparison_table`.
    """
    rows = comparison_table(runs)
    lines = [("group", "metric", "better", *(run.label for run in runs))]
    for row in rows:
        cells = (
            text if value is None else _format_plain(value)
            for value, text in zip(row.values, row.texts, strict=True)
        )
        lines.append((row.group, row.words, row.better, *cells))
    write_rows(path, lines)


def _format_plain(value: float) -> str:
    """A figure for programs: whole numbers in full, others to six digits."""
    return f"{value:.0f}" if value == int(value) and abs(value) < 1e15 else f"{value:.6g}"


def render_comparison(runs: Sequence[RunFigures], title: str) -> str:
    """One self-contained HTML page; equal runs give equal bytes. Raises: see `comparison_table`."""
    rows = comparison_table(runs)
    marks = letters_of_runs(len(runs))
    named = [line for line in rows if line.group == RUNS]
    figures = [row for row in rows if row.group not in (RUNS, DIFFERING_SETTINGS)]
    shown = {row.words for row in figures}
    definitions = {metric.words: metric.about for metric in METRICS if metric.words in shown and metric.about}
    context: dict[str, Any] = {
        "title": title,
        "runs": list(zip(marks, runs, strict=True)),
        "is_raw": any(run.is_raw for run in runs),
        "is_test": any(run.is_test for run in runs),
        "not_private": any(run.regime not in ("differential_privacy", "") for run in runs),
        "none_private": all(run.regime not in ("differential_privacy", "") for run in runs),
        "one_dataset": one_dataset(runs),
        "same_columns": same_columns(runs),
        "unrecorded": [
            mark for mark, run in zip(marks, runs, strict=True) if not run.settings and not run.has_failed
        ],
        "failed": [mark for mark, run in zip(marks, runs, strict=True) if run.has_failed],
        "identities": named,
        "settings": [row for row in rows if row.group == DIFFERING_SETTINGS],
        "groups": [(name, list(held)) for name, held in itertools.groupby(figures, lambda row: row.group)],
        "charts": comparison_charts(runs, marks),
        "most_drawn": MOST_DRAWN,
        "definitions": list(definitions.items()),
    }
    return html("comparison.html.j2", context, ("comparison.css",))
