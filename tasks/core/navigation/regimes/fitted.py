"""What the page has of a fitted release: statement and evaluation go in, tables come out."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import ClassVar

from tasks.core.arrays import Json
from tasks.core.charts.bars import ErrorBar
from tasks.core.dp.workload.measurement import WorkloadMeasurement
from tasks.core.figures import near
from tasks.core.navigation.associations import PairCounts
from tasks.core.navigation.regimes.noise import PrivateCounts
from tasks.core.navigation.released_associations import MeasuredTables
from tasks.core.records.columns import Schema
from tasks.core.statement.differential_privacy.words import FittedWords, NoisyWords

#: Tables that are listed one by one; of more, those with the most and the least noise.
_LISTED = 60
#: Pairs that are named in words or shown in a chart.
_NAMED = 12


@dataclass(frozen=True)
class FittedCounts(PrivateCounts):
    """Counts of single values and of chosen tables, to which the records are fitted."""

    measurement: WorkloadMeasurement
    words: ClassVar[type[NoisyWords]] = FittedWords
    template: ClassVar[str] = "fitted.html.j2"

    @property
    def error_bar(self) -> ErrorBar | None:
        """Of the single values."""
        values = self.statement["values"]
        bar = values["error_bar"]["half_width_95"] if values else None
        return ErrorBar(bar, bar) if bar else None

    @property
    def spread(self) -> Mapping[int, float]:
        """Of the single values, and of a typical table of each number of columns."""
        values = self.statement["values"]
        by_length: dict[int, list[float]] = {}
        for table in self.statement["tables"]:
            by_length.setdefault(len(table["columns"]), []).append(table["error_bar"]["sd"])
        single = {1: values["error_bar"]["sd"]} if values else {}
        return single | {length: median(found) for length, found in by_length.items()}

    def pair_counts(self) -> PairCounts:
        """Those of the measured tables."""
        return MeasuredTables(self.measurement)

    def sections(self) -> Json:
        """The tables, and how good the records are."""
        tables = sorted(self.statement["tables"], key=lambda table: table["scale"])
        is_long, half = len(tables) > _LISTED, _LISTED // 2
        fit = self.inputs.fit
        return super().sections() | {
            "longest": self.inputs.aggregates.reporting_length,
            "longest_reported": self.inputs.aggregates.reporting_length,
            "half_widths": self._half_widths(),
            "tables": [*tables[:half], *tables[-half:]] if is_long else tables,
            "tables_left_out": max(0, len(tables) - _LISTED),
            "fit": None if fit is None else fit_context(fit, self.inputs.schema),
        }

    def _half_widths(self) -> list[tuple[int, int]]:
        """By length, the error bar of the measured table that has the widest."""
        widest: dict[int, int] = {}
        if self.statement["values"]:
            widest[1] = self.statement["values"]["error_bar"]["half_width_95"]
        for table in self.statement["tables"]:
            length, half = len(table["columns"]), table["error_bar"]["half_width_95"]
            widest[length] = max(widest.get(length, 0), half)
        return sorted(widest.items())


def fit_context(fit: Json, schema: Schema) -> Json:
    """How good the records are, for the template: the evaluation's ``fit`` goes in."""
    pairs = [table for table in fit["tables"] if table["is_guess"] is not None]
    guessed = sorted(" × ".join(table["columns"]) for table in pairs if table["is_guess"])
    singles = [table for table in fit["tables"] if len(table["columns"]) == 1]
    rare = {found["column"]: found["share"] for found in fit["unreleased"]}
    columns = {name for table in fit["tables"] for name in table["columns"]} | set(rare)
    return {
        "one_way": _percent(fit["one_way"]),
        "two_way": _percent(fit["two_way"]),
        "pairs": fit["pairs"],
        "measured_pairs": fit["measured_pairs"],
        "all_pairs": fit["all_pairs"],
        "guessed": fit["guessed"],
        "guessed_names": guessed[:_NAMED],
        "guessed_more": max(0, len(guessed) - _NAMED),
        "too_rare": _percent(sum(rare.values()) / len(columns)) if rare else "",
        "replaced": [found["column"] for found in fit["unreleased"] if _is_replaced(found)],
        "emptied": [
            {"name": found["column"], "share": _percent(found["share"])}
            for found in fit["unreleased"]
            if found["share"] and not _is_replaced(found)
        ],
        "columns": [
            row | {"too_rare": _percent(round(rare.get(row["name"], 0.0), 4)) if rare else ""}
            for row in _rows(singles)
        ],
        "left_out": [
            column.name
            for column in schema.columns
            if column.is_multi_valued and column.name not in {table["columns"][0] for table in singles}
        ],
        "worst": _rows(sorted(pairs, key=lambda table: -(table["expected_error"] or 0.0))[:_NAMED]),
    }


def _is_replaced(unreleased: Json) -> bool:
    return bool(unreleased["written_as"] == "released values")


def _rows(tables: list[Json]) -> list[Json]:
    """Tables as they are shown."""
    return [
        {
            "name": " × ".join(table["columns"]),
            "expected_error": _percent(table["expected_error"]),
            "distance": _percent(table["distance"]),
            "noise_distance": _percent(table["noise_distance"]),
            "signal": None if table["signal"] is None else f"{table['signal']:.3g}",
            "is_guess": table["is_guess"],
            "too_rare": "",
        }
        for table in tables
    ]


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{near(100 * share, 2)}\u202f%"
