"""SDS's evaluation files and charts by their names, and ours beside them: all for ``sensitive/``.

Columns and definitions are those of sds.md 2.4 and 5; what is better is in ``evaluation_measures.tsv``,
``evaluation_summary.txt`` and ``evaluation.json``.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from tasks.core.aggregates.rare import LISTED, percentage
from tasks.core.charts import theme
from tasks.core.charts.line_over_bars import LineOverBars, line_over_bars
from tasks.core.evaluation.measures import (
    Comparison,
    leakage_by_length,
    preservation_by_count,
    preservation_by_length,
)
from tasks.core.evaluation.raw import RawEvaluation
from tasks.core.evaluation.sentences import RecordsPromise, four_sentences
from tasks.core.evaluation.tables import (
    AGGREGATE_STATS,
    SYNTHETIC_STATS,
    measures_rows,
    stats_rows,
    synthetic_stats_rows,
)
from tasks.core.figures import whole
from tasks.core.tables.delimited import Row, write_rows

_LENGTH = "Length of combination (attributes)"
_BIN = "Count in the synthetic records: bins, each up to the number shown"
_KEPT = "Mean preservation: share of a sensitive count that the synthetic records keep, at most 1"


def synthetic_charts(comparison: Comparison) -> dict[str, str]:
    """The charts of synthetic against sensitive counts, by the name of their file without prefix."""
    charts = (_leakage(comparison), *_by_count(comparison), _by_length(comparison))
    return {name: line_over_bars(chart).as_file() for name, chart in charts}


def _leakage(comparison: Comparison) -> tuple[str, LineOverBars]:
    rows = leakage_by_length(comparison)
    names = (
        "Distinct combinations in the synthetic records",
        f"Proportion of them that is rare, below {whole(comparison.resolution)}, in both tables",
    )
    chart = _chart(rows, ("length", "compared", "leak_proportion"), names, theme.RARE)
    return "synthetic_leakage_by_length", chart(
        "Rare sensitive combinations in the synthetic records", _LENGTH
    )


def _by_count(comparison: Comparison) -> list[tuple[str, LineOverBars]]:
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
        chart = _chart(rows, ("bin", "combinations", key), ("Combinations in the bin", line), theme.BY_COUNT)
        found.append((name, chart(title, _BIN)))
    return found


def _by_length(comparison: Comparison) -> tuple[str, LineOverBars]:
    rows = preservation_by_length(comparison)
    names = ("Mean count in the synthetic records", _KEPT)
    chart = _chart(rows, ("length", "mean_count", "preservation"), names, theme.BY_LENGTH)
    return "preservation_by_length", chart("Preservation of counts, by length", _LENGTH)


def _chart(
    rows: Sequence[dict[str, Any]], keys: tuple[str, str, str], names: tuple[str, str], colour: str
) -> Callable[[str, str], LineOverBars]:
    """A chart of three keys (place, bar, line) of the rows, but for its title and the axis' name."""
    places, bars, line = ([row[key] for row in rows] for key in keys)
    return lambda title, axis: LineOverBars(
        title=title,
        description=_described("Length" if keys[0] == "length" else "Count up to", places, line),
        axis=axis,
        labels=[whole(place) for place in places],
        line=(names[1], line),
        bars=(names[0], bars),
        colour=colour,
    )


def _described(word: str, places: Sequence[int], line: Sequence[float]) -> str:
    return "; ".join(f"{word} {whole(place)}: {value:.2f}" for place, value in zip(places, line, strict=True))


def write_sensitive_files(
    evaluation: RawEvaluation, folder: Path, prefix: str, claim: RecordsPromise | None = None
) -> list[Path]:
    """Write every file of SDS's evaluate stage that is made from raw data, and return their paths.

    Args:
        evaluation: what was found.
        folder: an existing folder of the sensitive zone.
        prefix: of the files' names.
        claim: what is promised of the synthetic records; None: no summary in words is written.
    """
    texts = {f"{prefix}_{name}.svg": text for name, text in synthetic_charts(evaluation.synthetic).items()}
    texts["evaluation.json"] = json.dumps(evaluation.to_dict(), indent=1, sort_keys=True) + "\n"
    if claim is not None:
        texts[f"{prefix}_evaluation_summary.txt"] = "\n".join(four_sentences(evaluation, claim)) + "\n"
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    tables = {f"{prefix}_{name}.tsv": rows for name, rows in _tables(evaluation).items()}
    for name, rows in tables.items():
        write_rows(folder / name, rows)
    return [*(folder / name for name in (*texts, *tables)), *_write_combinations(evaluation, folder, prefix)]


def _tables(evaluation: RawEvaluation) -> dict[str, list[Row]]:
    synthetic, reportable, released = evaluation.synthetic, evaluation.reportable, evaluation.released
    return {
        "sensitive_analysis_by_length": _analysis_rows(evaluation),
        "parameters": _parameter_rows(evaluation),
        "synthetic_leakage_by_length": _leakage_rows(synthetic),
        "preservation_by_count": _by_count_rows(synthetic),
        "preservation_by_length": _by_length_rows(synthetic),
        SYNTHETIC_STATS: synthetic_stats_rows(synthetic),
        AGGREGATE_STATS: stats_rows(reportable),
        "evaluation_measures": measures_rows(reportable, synthetic, released),
    }


def _write_combinations(evaluation: RawEvaluation, folder: Path, prefix: str) -> list[Path]:
    """Write the files with a line a combination, of short ones alone."""
    names = ("synthetic_aggregates", "synthetic_rare_combos")
    paths = [folder / f"{prefix}_{name}_to_length_{LISTED}.tsv" for name in names]
    evaluation.combinations.write_aggregates(evaluation.synthetic.compared_records, paths[0])
    evaluation.combinations.write_rare(paths[1])
    return paths


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
        shares = [percentage(count, found.number_of_records) for count in counts]
        pairs = zip(counts, shares, strict=True)
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


def _leakage_rows(comparison: Comparison) -> list[Row]:
    keys = ("length", "compared", "leaked", "leak_proportion")
    header = ("syn_combo_length", "combo_count", "leak_count", "leak_proportion")
    return [header, *_values(leakage_by_length(comparison), keys)]


def _by_count_rows(comparison: Comparison) -> list[Row]:
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


def _values(rows: Iterable[dict[str, Any]], keys: Sequence[str]) -> list[Row]:
    return [tuple(row[key] for key in keys) for row in rows]
