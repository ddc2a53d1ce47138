"""Tables of an evaluation: comparisons or written tables in, rows of texts out (sds.md 5, 7). Sensitive.

SDS's two tables of statistics, with metrics as SDS words them and two decimals, also of several runs side
by side; and all measures in one table with a word on each, SDS's definitions marked so, beside them the
figures that do not flatter.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tasks.core.evaluation.measures import (
    Comparison,
    errors_by_length,
    leakage,
    mean_preservation,
    summary,
    weighted_mean_preservation,
)
from tasks.core.tables.delimited import Row, read_rows, write_rows

#: Of files ``<prefix>_<name>.tsv``; joined ones are ``<prefix>_joined_<name>.tsv``.
AGGREGATE_STATS = "stats_aggregate_counts"
SYNTHETIC_STATS = "stats_synthetic_data"
_METRIC = "Metric"


def stats_rows(comparison: Comparison) -> list[Row]:
    """Suppression, fabrication and mean errors; lengths of which nothing was kept left out, as SDS's."""
    total = summary(comparison)
    by_length = [row for row in errors_by_length(comparison) if row["kept"]]
    return [
        (_METRIC, "Value"),
        ("Suppressed combinations %", f"{total['suppressed_pct']:.2f} %"),
        ("Fabricated combinations %", f"{total['fabricated_pct']:.2f} %"),
        *(
            (
                f"{row['length']}-counts mean value +/- mean error",
                f"{row['mean_count']:.2f} +/- {row['mean_error']:.2f}",
            )
            for row in by_length
        ),
        ("Mean value +/- Mean error", f"{total['mean_count']:.2f} +/- {total['mean_error']:.2f}"),
    ]


def synthetic_stats_rows(comparison: Comparison) -> list[Row]:
    """The same, and what only synthetic records have."""
    total = summary(comparison)
    return [
        *stats_rows(comparison),
        ("Expansion Ratio", f"{total['record_expansion_pct']:.2f} %"),
        ("Mean Proportional error %", f"{100 * total['mean_proportional_error']:.2f} %"),
    ]


def join_stats(paths_by_run: Mapping[str, Path]) -> list[Row]:
    """One of the two tables of each run side by side: a row a metric, a column a run, in order.

    A metric that a run does not have is blank; one that only later runs have stands where theirs does.
    """
    tables = [{row[0]: row[1] for row in read_rows(path)[1:]} for path in paths_by_run.values()]
    metrics: list[str] = []
    for table in tables:
        place = 0
        for metric in table:
            if metric not in metrics:
                metrics.insert(place, metric)
            place = metrics.index(metric) + 1
    header = (_METRIC, *paths_by_run)
    return [header, *((metric, *(table.get(metric, "") for table in tables)) for metric in metrics)]


def write_joined_stats(folders_by_run: Mapping[str, Path], prefix: str, destination: Path) -> list[Path]:
    """Write SDS's two joined tables, and return their paths.

    Args:
        folders_by_run: folders of the evaluation's files, by the run's name; a run without them is left out.
        prefix: of the joined tables' names.
        destination: an existing folder of the sensitive zone.
    """
    written = []
    for name in (AGGREGATE_STATS, SYNTHETIC_STATS):
        found = {run: path for run, folder in folders_by_run.items() for path in folder.glob(f"*_{name}.tsv")}
        written.append(destination / f"{prefix}_joined_{name}.tsv")
        write_rows(written[-1], join_stats(found))
    return written


_HEADER = (
    "Metric",
    "Sensitive-vs-reportable",
    "Sensitive-vs-synthetic",
    "Reportable-vs-synthetic",
    "What it is",
)


@dataclass(frozen=True)
class _Measure:
    """One line: its name, its value for a comparison, what it is; ``of_sensitive``: of raw counts alone."""

    name: str
    value: Callable[[Comparison], float]
    words: str
    of_sensitive: bool = False


def measures_rows(reportable: Comparison, synthetic: Comparison, released: Comparison) -> list[Row]:
    """Header and lines, values with up to six decimals, blank where a measure has no meaning.

    Args:
        reportable: reported counts against the true ones.
        synthetic: synthetic counts against the true ones.
        released: synthetic counts against the reported ones.
    """
    sensitive = (reportable, synthetic)
    lines = [_line(measure, sensitive, released) for measure in _MEASURES]
    for row in synthetic.distances:
        words = (
            f"half the summed differences of shares of records, mean over every {row.length} of the columns, "
            "empty cells counted as a value; 0: the same, 1: nothing in common"
        )
        lines.append((f"Total variation distance, length {row.length}", "", _text(row.mean), "", words))
    return [_HEADER, *lines]


def _line(measure: _Measure, sensitive: Sequence[Comparison], released: Comparison) -> Row:
    last = "" if measure.of_sensitive else _text(measure.value(released))
    return (measure.name, *(_text(measure.value(one)) for one in sensitive), last, measure.words)


def _text(value: float) -> str:
    return f"{value:.6f}".rstrip("0").rstrip(".")


def _summary(name: str) -> Callable[[Comparison], float]:
    return lambda comparison: summary(comparison)[name]


def _leakage(name: str, times: float = 1) -> Callable[[Comparison], float]:
    return lambda comparison: times * leakage(comparison)[name]


_MEASURES = (
    _Measure(
        "Suppressed combinations %",
        _summary("suppressed_pct"),
        "combinations of the first that the second lacks, of the first's (SDS)",
    ),
    _Measure(
        "Fabricated combinations %",
        _summary("fabricated_pct"),
        "combinations of the second that the first lacks, of the first's (SDS; can exceed 100)",
    ),
    _Measure(
        "Fabricated combinations %, of the second's",
        _summary("fabricated_pct_of_compared"),
        "the same, of the second's own combinations",
    ),
    _Measure("Mean count", _summary("mean_count"), "records with a combination of the first, on average"),
    _Measure(
        "Mean error",
        _summary("mean_error"),
        "difference of the two counts, over combinations that both have (SDS: losing one costs nothing)",
    ),
    _Measure(
        "Mean error over the union",
        _summary("mean_error_of_union"),
        "the same over combinations that either has, a missing one counted as 0",
    ),
    _Measure(
        "Mean proportional error %",
        lambda comparison: 100 * summary(comparison)["mean_proportional_error"],
        "difference over the first's count: mean of the means of the bins of the second's count (SDS)",
    ),
    _Measure(
        "Mean proportional error %, each combination alike",
        lambda comparison: 100 * summary(comparison)["mean_proportional_error_unbinned"],
        "the same without bins, over what reaches the resolution in the first or is in the second",
    ),
    _Measure(
        "Weighted mean proportional error %",
        lambda comparison: 100 * summary(comparison)["weighted_mean_proportional_error"],
        "differences of all of the first's combinations, added up, over their counts, added up",
    ),
    _Measure(
        "Mean preservation %",
        lambda comparison: 100 * mean_preservation(comparison),
        "part of the first's count that the second has, at most all, over the same combinations",
    ),
    _Measure(
        "Weighted mean preservation %",
        lambda comparison: 100 * weighted_mean_preservation(comparison),
        "part of all of the first's counts, added up, that the second has",
    ),
    _Measure("Record expansion %", _summary("record_expansion_pct"), "more records in the second (SDS)"),
    _Measure(
        "Rare combinations",
        _leakage("rare"),
        "combinations of the sensitive table with fewer records than the resolution",
        of_sensitive=True,
    ),
    _Measure(
        "Leaked combinations",
        _leakage("leaked"),
        "rare ones that the second has, with a count below the resolution as well (SDS)",
        of_sensitive=True,
    ),
    _Measure(
        "Leaked combinations %, of the second's",
        _leakage("leak_proportion", 100),
        "the same, of the second's combinations (SDS's pipeline)",
        of_sensitive=True,
    ),
    _Measure(
        "Leaked combinations %, of the sensitive",
        _leakage("leaked_pct_of_reference"),
        "the same, of the sensitive table's combinations (SDS's web page)",
        of_sensitive=True,
    ),
    _Measure(
        "Rare combinations that appear",
        _leakage("leaked_anywhere"),
        "rare ones that the second has, with whatever count",
        of_sensitive=True,
    ),
    _Measure(
        "Rare combinations that appear %",
        _leakage("leaked_anywhere_proportion", 100),
        "the same, of the rare ones",
        of_sensitive=True,
    ),
)
