"""SDS's two tables of statistics, and those of several runs side by side (sds.md 5, 7).

Comparisons or written tables in, rows of texts out: metrics as SDS words them, two decimals. Sensitive.
"""

from collections.abc import Mapping
from pathlib import Path

from tasks.core.evaluation.count_errors import errors_by_length, summary
from tasks.core.evaluation.sums import Comparison
from tasks.core.evaluation.tables import Row, read_rows, write_rows

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

    Args:
        paths_by_run: the written tables, by the run's name.
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
