"""SDS's evaluation files, by their names and columns, and ``evaluation.json``: all for ``sensitive/``.

Columns and definitions are those of sds.md 2.4 and 5; what is better is in ``evaluation.json`` alone.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tasks.core.evaluation.comparison import Comparison
from tasks.core.evaluation.leakage import leakage_by_length
from tasks.core.evaluation.preservation import preservation_by_count, preservation_by_length
from tasks.core.evaluation.raw import RawEvaluation, RawInputs
from tasks.core.evaluation.selections import write_rare_combinations, write_selections
from tasks.core.evaluation.utility import errors_by_length, summary
from tasks.core.queries import Resources

Row = Sequence[Any]


def write_sensitive_files(
    inputs: RawInputs,
    evaluation: RawEvaluation,
    folder: Path,
    prefix: str,
    resources: Resources = Resources(),
) -> list[Path]:
    """Write every file of SDS's evaluate stage that is made from raw data, and return their paths.

    Args:
        inputs: what was evaluated.
        evaluation: what was found.
        folder: an existing folder of the sensitive zone.
        prefix: of the files' names.
        resources: memory, threads, scratch.
    """
    tables = {
        "sensitive_rare_by_length": _rare_rows(evaluation),
        "sensitive_analysis_by_length": _analysis_rows(evaluation),
        "parameters": _parameter_rows(evaluation),
        "synthetic_leakage_by_length": _leakage_rows(evaluation.synthetic),
        "preservation_by_count": _by_count_rows(evaluation.synthetic),
        "preservation_by_length": _by_length_rows(evaluation.synthetic),
        "stats_synthetic_data": [*_stats_rows(evaluation.synthetic), *_synthetic_rows(evaluation.synthetic)],
        "stats_aggregate_counts": _stats_rows(evaluation.reportable),
    }
    paths = {name: folder / f"{prefix}_{name}.tsv" for name in tables}
    for name, rows in tables.items():
        _write_rows(paths[name], rows)
    written = [*paths.values()]
    for name, counts in (
        ("sensitive_aggregates", inputs.sensitive),
        ("synthetic_aggregates", evaluation.synthetic_marginals),
    ):
        written.append(folder / f"{prefix}_{name}.tsv")
        write_selections(counts, written[-1], "count", resources)
    written.append(folder / f"{prefix}_synthetic_rare_combos_by_length.tsv")
    synthetic = (evaluation.synthetic_records, evaluation.synthetic_marginals)
    write_rare_combinations(synthetic, inputs.sensitive, inputs.resolution, written[-1], resources)
    written.append(folder / "evaluation.json")
    text = json.dumps(evaluation.to_dict(), indent=1, sort_keys=True) + "\n"
    written[-1].write_text(text, encoding="utf-8")
    return written


def _rare_rows(evaluation: RawEvaluation) -> list[Row]:
    header = ("sen_combo_length", "combo_count", "rare_count", "rare_proportion")
    return [header, *((row.length, row.combinations, row.rare, row.proportion) for row in evaluation.rare)]


def _analysis_rows(evaluation: RawEvaluation) -> list[Row]:
    """Rounded down to the resolution; percentages of the rounded number of records, 0 where it is 0."""
    header = (
        "combo_length",
        "sen_rare",
        "sen_rare_pct",
        "sen_unique",
        "sen_unique_pct",
        "sen_risky",
        "sen_risky_pct",
    )
    found = evaluation.records.protected(evaluation.synthetic.resolution)
    rows: list[Row] = [header]
    for length, counts in enumerate(zip(found.rare, found.unique, found.risky, strict=True), start=1):
        shares = [_percentage(count, found.number_of_records) for count in counts]
        pairs = zip(counts, shares, strict=True)
        rows.append((length, *(value for pair in pairs for value in pair)))
    return rows


def _parameter_rows(evaluation: RawEvaluation) -> list[Row]:
    found = evaluation.records.protected(evaluation.synthetic.resolution)
    risky = sum(found.risky)
    return [
        ("parameter", "value"),
        ("resolution", evaluation.synthetic.resolution),
        ("limit", max(evaluation.synthetic_marginals.lengths, default=0)),
        ("total_sensitive_records", found.number_of_records),
        ("unique_identifiable", sum(found.unique)),
        ("rare_identifiable", sum(found.rare)),
        ("risky_identifiable", risky),
        ("risky_identifiable_pct", _percentage(risky, found.number_of_records)),
    ]


def _leakage_rows(comparison: Comparison) -> list[Row]:
    keys = ("length", "compared", "leaked", "leak_proportion")
    header = ("syn_combo_length", "combo_count", "leak_count", "leak_proportion")
    return [header, *_values(leakage_by_length(comparison), keys)]


def _by_count_rows(comparison: Comparison) -> list[Row]:
    """Bins descending, as SDS's."""
    keys = ("bin", "mean_count", "mean_length", "preservation", "proportional_error")
    header = (
        "syn_count_bucket",
        "mean_combo_count",
        "mean_combo_length",
        "count_preservation",
        "mean_proportional_error",
    )
    return [header, *_values(reversed(preservation_by_count(comparison)), keys)]


def _by_length_rows(comparison: Comparison) -> list[Row]:
    keys = ("length", "mean_count", "preservation", "proportional_error")
    header = ("syn_combo_length", "mean_combo_count", "count_preservation", "mean_proportional_error")
    return [header, *_values(preservation_by_length(comparison), keys)]


def _stats_rows(comparison: Comparison) -> list[Row]:
    """Two decimals, and lengths of which nothing was kept left out, as SDS's."""
    total = summary(comparison)
    by_length = [row for row in errors_by_length(comparison) if row["kept"]]
    return [
        ("Metric", "Value"),
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


def _synthetic_rows(comparison: Comparison) -> list[Row]:
    total = summary(comparison)
    return [
        ("Expansion Ratio", f"{total['record_expansion_pct']:.2f} %"),
        ("Mean Proportional error %", f"{100 * total['mean_proportional_error']:.2f} %"),
    ]


def _values(rows: Iterable[dict[str, Any]], keys: Sequence[str]) -> list[Row]:
    return [tuple(row[key] for key in keys) for row in rows]


def _percentage(count: int, total: int) -> float:
    return 100 * count / total if total else 0.0


def _write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Numbers and our own words: nothing here needs quoting."""
    path.write_text("".join("\t".join(map(str, row)) + "\n" for row in rows), encoding="utf-8")
