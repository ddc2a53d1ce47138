"""SDS's evaluation files and charts by their names, and ours beside them: all for ``sensitive/``.

Columns and definitions are those of S2.4 and S5.1; what is better is in ``evaluation_measures.tsv``,
``evaluation_summary.txt`` and ``evaluation.json``.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tasks.core.aggregates.linkability import LISTED, percentage
from tasks.core.charts import theme
from tasks.core.charts.plot import Axes, line_over_bars
from tasks.core.errors import InternalError
from tasks.core.evaluation.measures import (
    Comparison,
    errors_by_length,
    leakage,
    leakage_by_length,
    preservation_by_count,
    preservation_by_length,
    ratio,
    summary,
)
from tasks.core.evaluation.raw import RawEvaluation, measures
from tasks.core.figures import format_whole
from tasks.core.tables.writing import Row, read_rows, write_rows

_NOISE = "The noise protects people, whatever appears"


class RecordsPromise(NamedTuple):
    """What is promised of the synthetic records.

    Attributes:
        is_private: whether the release is differentially private; else it is k-anonymous.
        holds_resolution: under k-anonymity, whether the promise is kept beyond the reporting length: in the
            modes that read raw records always, in the aggregate-seeded one where it is told to.
        is_fitted: whether the records are fitted to counts: of combinations nothing is promised then.
    """

    is_private: bool
    holds_resolution: bool = False
    is_fitted: bool = False


def four_sentences(evaluation: RawEvaluation, claim: RecordsPromise) -> tuple[str, str, str, str]:
    """Sensitive privacy, reported counts' use, synthetic privacy, synthetic records' use.

    Raises:
        InternalError: if the synthetic records break the promise of k-anonymity.
    """
    return (
        _sensitive_privacy(evaluation),
        _reported_use(evaluation),
        _leaks(evaluation, _NOISE) if claim.is_private else _anonymity(evaluation, claim),
        _synthetic_use(evaluation),
    )


def _sensitive_privacy(evaluation: RawEvaluation) -> str:
    found = evaluation.records
    unique, rare = (_percent(sum(by), found.number_of_records) for by in (found.unique, found.rare))
    linkable = _percent(sum(found.risky), found.number_of_records)
    return (
        f"Sensitive table: a combination of up to {_attributes(evaluation)} can single out {linkable} of its "
        f"records, as fewer than {evaluation.synthetic.resolution:,} records share it. For {unique} no other "
        f"record has that combination; for a further {rare} it is only rare."
    )


def _reported_use(evaluation: RawEvaluation) -> str:
    total = summary(evaluation.reportable)
    return (
        f"Reported counts: {total['suppressed_pct']:.1f} % of the sensitive table's combinations are not "
        f"among them. The counts of the others are off by {total['mean_error']:,.2f} records on average; the "
        f"mean count is {total['mean_count']:,.2f}."
    )


def _anonymity(evaluation: RawEvaluation, claim: RecordsPromise) -> str:
    found = evaluation.synthetic
    if claim.is_fitted:
        return _leaks(evaluation, "They show no more of the table than the reported counts imply")
    if found.total("leaked_anywhere") or found.total("fabricated"):
        raise InternalError(
            "k-anonymity promises that no synthetic record holds a combination of fewer sensitive records "
            "than the resolution, but one does: do not share this release, and report the error."
        )
    least = f"at least {found.resolution:,} records of the sensitive table"
    if claim.holds_resolution:
        return f"Synthetic records: every combination of attributes in them, of any length, is in {least}."
    return (
        f"Synthetic records: every combination of up to {_attributes(evaluation)} in them is in {least}. "
        "Nothing is promised of longer combinations."
    )


def _leaks(evaluation: RawEvaluation, why: str) -> str:
    found = leakage(evaluation.synthetic)
    rare, anywhere = (_percent(found[name], found["rare"]) for name in ("leaked", "leaked_anywhere"))
    return (
        f"Synthetic records: of the sensitive table's rare combinations, those of fewer than "
        f"{evaluation.synthetic.resolution:,} records, {rare} are rare in the synthetic records too, and "
        f"{anywhere} appear at all. {why}."
    )


def _synthetic_use(evaluation: RawEvaluation) -> str:
    total = summary(evaluation.released)
    return (
        f"Synthetic records: they hold {100 - total['suppressed_pct']:.1f} % of the reported combinations. "
        f"Their counts are off from the reported ones by {total['mean_error']:,.2f} records on average; the "
        f"mean reported count is {total['mean_count']:,.2f}."
    )


def _attributes(evaluation: RawEvaluation) -> str:
    longest = max(evaluation.synthetic.lengths, default=0)
    return f"{longest} attribute" if longest == 1 else f"{longest} attributes"


def _percent(part: float, whole: float) -> str:
    return f"{100 * ratio(part, whole):.1f} %"


#: Of files ``<prefix>_<name>.tsv``; joined ones are ``<prefix>_joined_<name>.tsv``.
AGGREGATE_STATS = "stats_aggregate_counts"
SYNTHETIC_STATS = "stats_synthetic_data"
_METRIC = "Metric"


def stats_rows(comparison: Comparison, *, is_synthetic: bool) -> list[Row]:
    """Suppression, fabrication and mean errors; lengths of which nothing was kept left out, as SDS's.

    Args: is_synthetic: whether synthetic records are judged, of which more is told.
    """
    total = summary(comparison)
    rows: list[Row] = [
        (_METRIC, "Value"),
        ("Suppressed combinations %", f"{total['suppressed_pct']:.2f} %"),
        ("Fabricated combinations %", f"{total['fabricated_pct']:.2f} %"),
    ]
    kept = [row for row in errors_by_length(comparison) if row["kept"]]
    rows += [(f"{row['length']}-counts mean value +/- mean error", _mean_and_error(row)) for row in kept]
    rows.append(("Mean value +/- Mean error", _mean_and_error(total)))
    if is_synthetic:
        rows.append(("Expansion Ratio", f"{total['record_expansion_pct']:.2f} %"))
        rows.append(("Mean Proportional error %", f"{100 * total['mean_proportional_error']:.2f} %"))
    return rows


def _mean_and_error(row: Mapping[str, float]) -> str:
    return f"{row['mean_count']:.2f} +/- {row['mean_error']:.2f}"


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
        destination: an existing folder of the sensitive zone.
    """
    written = []
    for name in (AGGREGATE_STATS, SYNTHETIC_STATS):
        found = {run: path for run, folder in folders_by_run.items() for path in folder.glob(f"*_{name}.tsv")}
        written.append(destination / f"{prefix}_joined_{name}.tsv")
        write_rows(written[-1], join_stats(found))
    return written


def measures_rows(reportable: Comparison, synthetic: Comparison, released: Comparison) -> list[Row]:
    """Header and lines, values with up to six decimals, blank where a measure has no meaning.

    The lines are those of ``evaluation_measures.tsv``: a name, the figure of `measures`, by what it is
    multiplied, whether it is of raw counts alone, and what it is.
    """
    sides = [measures(comparison) for comparison in (reportable, synthetic, released)]
    compared = ("Sensitive-vs-reportable", "Sensitive-vs-synthetic", "Reportable-vs-synthetic")
    lines: list[Row] = [(_METRIC, *compared, "What it is")]
    for name, figure, times, of, words in read_rows(Path(__file__).with_name("evaluation_measures.tsv"))[1:]:
        group, key = figure.split(".")
        values = [_number(int(times) * side[group][key]) for side in sides]
        lines.append((name, *values[:2], values[2] if of == "all" else "", words))
    for row in synthetic.distances:
        words = (
            f"half the summed differences of shares of records, mean over every {row.length} of the columns, "
            "empty cells counted as a value; 0: the same, 1: nothing in common"
        )
        lines.append((f"Total variation distance, length {row.length}", "", _number(row.mean), "", words))
    return lines


def _number(value: float) -> str:
    return f"{value:.6f}".rstrip("0").rstrip(".")


_TITLES = {
    "synthetic_leakage_by_length": "Rare sensitive combinations in the synthetic records",
    "preservation_by_count": "Preservation of counts, by count",
    "proportional_error_by_count": "Proportional error of counts, by count",
    "preservation_by_length": "Preservation of counts, by length",
}
#: What a chart calls the keys of rows.
_FIGURES = {
    "compared": "Distinct combinations in the synthetic records",
    "leak_proportion": "Proportion of them that is rare, below {}, in both tables",
    "combinations": "Combinations in the bin",
    "mean_count": "Mean count in the synthetic records",
    "preservation": "Mean preservation: share of a sensitive count that the synthetic records keep, "
    "at most 1",
    "proportional_error": "Mean proportional error: distance of the two counts over the sensitive one",
}


def synthetic_charts(comparison: Comparison) -> dict[str, str]:
    """The charts of synthetic against sensitive counts, by the name of their file without prefix."""
    by_length, by_count = preservation_by_length(comparison), preservation_by_count(comparison)
    leaked = leakage_by_length(comparison)
    drawn = {
        "synthetic_leakage_by_length": (leaked, "leak_proportion", "compared", theme.RARE),
        "preservation_by_count": (by_count, "preservation", "combinations", theme.BY_COUNT),
        "proportional_error_by_count": (by_count, "proportional_error", "combinations", theme.BY_COUNT),
        "preservation_by_length": (by_length, "preservation", "mean_count", theme.BY_LENGTH),
    }
    charts = {}
    for name, (rows, line, bars, colour) in drawn.items():
        place, word, axis = ("length", "Length", "Length of combination (attributes)")
        if name.endswith("by_count"):
            place, word = "bin", "Count up to"
            axis = "Count in the synthetic records: bins, each up to the number shown"
        places = [format_whole(row[place]) for row in rows]
        described = "; ".join(f"{word} {at}: {row[line]:.2f}" for at, row in zip(places, rows, strict=True))
        resolution = format_whole(comparison.resolution)
        upper, lower = (
            (_FIGURES[key].format(resolution), [row[key] for row in rows]) for key in (line, bars)
        )
        axes = Axes(_TITLES[name], axis, "", description=described, places=places)
        charts[name] = line_over_bars(axes, upper, lower, colour).as_file()
    return charts


def write_sensitive_files(
    evaluation: RawEvaluation, folder: Path, prefix: str, claim: RecordsPromise | None = None
) -> list[Path]:
    """Write every file of SDS's evaluate stage that is made from raw data, and return their paths.

    Args:
        folder: an existing folder of the sensitive zone.
        claim: what is promised of the synthetic records; None: no summary in words is written.
    """
    texts = {f"{prefix}_{name}.svg": text for name, text in synthetic_charts(evaluation.synthetic).items()}
    texts["evaluation.json"] = json.dumps(evaluation.to_dict(), indent=1, sort_keys=True) + "\n"
    if claim is not None:
        texts[f"{prefix}_evaluation_summary.txt"] = "\n".join(four_sentences(evaluation, claim)) + "\n"
    written = [folder / name for name in texts]
    for path, text in zip(written, texts.values(), strict=True):
        path.write_text(text, encoding="utf-8")
    for name, rows in _tables(evaluation).items():
        write_rows(folder / f"{prefix}_{name}.tsv", rows)
        written.append(folder / f"{prefix}_{name}.tsv")
    # A line a combination, of short ones alone.
    listed = [
        folder / f"{prefix}_synthetic_{name}_to_length_{LISTED}.tsv" for name in ("aggregates", "rare_combos")
    ]
    evaluation.combinations.write_aggregates(evaluation.synthetic.compared_records, listed[0])
    evaluation.combinations.write_rare(listed[1])
    return written + listed


def _tables(evaluation: RawEvaluation) -> dict[str, list[Row]]:
    synthetic, reportable, released = evaluation.synthetic, evaluation.reportable, evaluation.released
    return {
        "sensitive_analysis_by_length": _analysis_rows(evaluation),
        "parameters": _parameter_rows(evaluation),
        "synthetic_leakage_by_length": _columns(
            leakage_by_length(synthetic),
            {
                "syn_combo_length": "length",
                "combo_count": "compared",
                "leak_count": "leaked",
                "leak_proportion": "leak_proportion",
            },
        ),
        "preservation_by_count": _columns(
            reversed(preservation_by_count(synthetic)),
            {
                "syn_count_bucket": "bin",
                "mean_combo_count": "mean_count",
                "mean_combo_length": "mean_length",
                "count_preservation": "preservation",
                "mean_proportional_error": "proportional_error",
            },
        ),
        "preservation_by_length": _columns(
            preservation_by_length(synthetic),
            {
                "syn_combo_length": "length",
                "mean_combo_count": "mean_count",
                "count_preservation": "preservation",
                "mean_proportional_error": "proportional_error",
            },
        ),
        SYNTHETIC_STATS: stats_rows(synthetic, is_synthetic=True),
        AGGREGATE_STATS: stats_rows(reportable, is_synthetic=False),
        "evaluation_measures": measures_rows(reportable, synthetic, released),
    }


def _analysis_rows(evaluation: RawEvaluation) -> list[Row]:
    """Rounded down to the resolution; percentages of the rounded number of records, 0 where it is 0."""
    found = evaluation.records.protected(evaluation.synthetic.resolution)
    sides = {"rare": found.rare, "unique": found.unique, "risky": found.risky}
    rows: list[Row] = [("combo_length", *(f"sen_{side}{end}" for side in sides for end in ("", "_pct")))]
    for length, counts in enumerate(zip(*sides.values(), strict=True), start=1):
        pairs = ((count, percentage(count, found.number_of_records)) for count in counts)
        rows.append((length, *(value for pair in pairs for value in pair)))
    return rows


def _parameter_rows(evaluation: RawEvaluation) -> list[Row]:
    found = evaluation.records.protected(evaluation.synthetic.resolution)
    risky = sum(found.risky)
    return [
        ("parameter", "value"),
        ("resolution", evaluation.synthetic.resolution),
        ("limit", max(evaluation.synthetic.lengths, default=0)),
        ("total_sensitive_records", found.number_of_records),
        ("unique_identifiable", sum(found.unique)),
        ("rare_identifiable", sum(found.rare)),
        ("risky_identifiable", risky),
        ("risky_identifiable_pct", percentage(risky, found.number_of_records)),
    ]


def _columns(rows: Iterable[dict[str, Any]], keys: Mapping[str, str]) -> list[Row]:
    """A header and the values of rows. Args: keys: of each column of the file."""
    return [tuple(keys), *(tuple(row[key] for key in keys.values()) for row in rows)]
