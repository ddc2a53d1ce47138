"""What the page's sections ask a regime: how its counts are named, and how far they are off.

Differential privacy has `NoisyCounts` (by lengths) and `FittedCounts`, k-anonymity `RoundedCounts`.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from statistics import median
from typing import Any, ClassVar

import numpy as np

from tasks.core.arrays import Json
from tasks.core.charts import theme
from tasks.core.charts.bars import ErrorBar
from tasks.core.charts.plot import Limit
from tasks.core.charts.shares import NOT_KNOWN, Whole, budget_gauge, shares
from tasks.core.charts.svg import Chart, LegendEntry
from tasks.core.dp.budget import Spent
from tasks.core.dp.measurement import Measurement
from tasks.core.dp.workload.measurement import WorkloadMeasurement
from tasks.core.figures import format_near, format_up, format_whole
from tasks.core.navigation.associations import MeasuredPairs, MeasuredTables, PairCounts, ReportedPairs
from tasks.core.navigation.inputs import ReportInputs, UnitName
from tasks.core.navigation.page import headed
from tasks.core.navigation.survival import SurvivalLevel, survival_chart, survival_rows
from tasks.core.records.columns import Schema
from tasks.core.statement.differential_privacy.questions import SOURCE, conditions_of
from tasks.core.statement.differential_privacy.statement import SKIP
from tasks.core.statement.differential_privacy.words import FittedWords, LengthsWords, NoisyWords, factor
from tasks.core.statement.k_anonymity import RoundedWords


@dataclass(frozen=True)
class Regime(ABC):
    """One regime, for one release.

    Attributes:
        count: what a released count is called.
    """

    inputs: ReportInputs

    count: ClassVar[str]
    template: ClassVar[str]

    @property
    def statement(self) -> Json:
        """The content of ``privacy.json``."""
        return self.inputs.statement

    @property
    def unit(self) -> UnitName:
        return self.inputs.naming.unit_of(self.statement)

    @property
    def promised(self) -> UnitName:
        return self.inputs.naming.promised(self.statement)

    @property
    @abstractmethod
    def error_bar(self) -> ErrorBar | None:
        """Of the count of one attribute; None where counts are exact or nothing was measured."""

    @property
    def true_range(self) -> ErrorBar | None:
        """Where the true count lies for certain; None where that is not known."""
        return None

    @property
    def spread(self) -> Mapping[int, float]:
        """By length, the standard deviation of the noise; empty where there is none."""
        return {}

    @property
    def limit(self) -> Limit | None:
        """How far the protection alone may take a count from the true one; None where nothing bounds it."""
        return None

    @abstractmethod
    def pair_counts(self) -> PairCounts:
        """Where the page's associations take the released counts of pairs from."""

    @abstractmethod
    def sections(self) -> Json:
        """The regime's own part of the template's context."""

    def record_words(self, records: int) -> list[str]:
        return []


class PrivateCounts(Regime):
    """What both kinds of differentially private release have."""

    words: ClassVar[type[NoisyWords]]
    count: ClassVar[str] = "noisy count"

    @property
    def _is_private(self) -> bool:
        """Whether it is a release, and not drawn by the seeded test engine."""
        return bool(self.statement["private"])

    def sections(self) -> Json:
        is_private = self._is_private
        return {
            "private": is_private,
            "factor": factor(self.statement["guarantee"]["epsilon"]) if is_private else "",
            "topics": self.words(self.statement).topics(),
            "conditions": self._conditions(),
            "one_row_stands": "meaning" in self.statement["contribution"],
            "has_items": any(column.is_multi_valued for column in self.inputs.schema.columns),
            "condition_sentences": conditions_of(self.statement) if is_private else [],
            "questions_source": SOURCE if is_private else "",
            "gauge": gauge_of(self.statement["ledger"]) if is_private else None,
        }

    def _conditions(self) -> list[str]:
        """Why the promise does not hold whatever somebody knows: keys of the answers' sentences."""
        stated = self.statement
        skips = stated.get("on_unchanged", {}).get("policy") == SKIP
        has_stopped = "stopped_by_contract" in stated or "stopped_unread" in stated
        told = {"strict": stated["contract"]["strict"], "skipped": skips, "stopped": has_stopped}
        return [f"neighbour.{name}" for name, is_told in told.items() if is_told]


def gauge_of(ledger: Json) -> Chart:
    """What of a dataset's cap in force is spent. Args: ledger: the account, as a statement has it."""
    cap = ledger["in_force"]
    used = ledger["mu_squared_spent"] / cap["mu_squared"]
    return budget_gauge(used, epsilon_spent(ledger), cap["epsilon"])


def epsilon_spent(ledger: Json) -> float:
    """The epsilon of all that is spent at the delta of the cap in force, which may have been lowered."""
    delta = ledger["in_force"]["delta"]
    if delta == ledger["delta_cap"]:
        return float(ledger["epsilon_spent"])
    spent = Spent(Decimal(ledger["mu_squared_spent"]), 1 - Decimal(ledger["delta_threshold_spent"]))
    return spent.epsilon(Decimal(delta))


@dataclass(frozen=True)
class NoisyCounts(PrivateCounts):
    """Counts of combinations, drawn length by length."""

    measurement: Measurement
    words: ClassVar[type[NoisyWords]] = LengthsWords
    template: ClassVar[str] = "noise.html.j2"

    @property
    def _measured(self) -> list[Json]:
        return [level for level in self.statement["levels"] if not level["empty"] and level["error_bar"]]

    @property
    def error_bar(self) -> ErrorBar | None:
        """Of length 1."""
        bar = self._measured[0]["error_bar"]["half_width_95"] if self._measured else None
        return ErrorBar(bar, bar) if bar else None

    @property
    def spread(self) -> Mapping[int, float]:
        return {level["length"]: level["error_bar"]["sd"] for level in self._measured}

    def pair_counts(self) -> PairCounts:
        """Those of length 2."""
        return MeasuredPairs(self.measurement)

    def sections(self) -> Json:
        levels = [
            SurvivalLevel(_length_name(level), level["scale"], level["threshold"])
            for level in self._measured
            if level["threshold"] is not None
        ]
        return super().sections() | {
            "longest": len(self.statement["levels"]),
            "half_widths": [
                (level["length"], level["error_bar"]["half_width_95"]) for level in self._measured
            ],
            "thresholds": [
                (level["length"], level["threshold"]) for level in self._measured if level["threshold"]
            ],
            "shares": _shares(self._measured),
            "survival": survival_chart(levels),
            "survival_rows": survival_rows(levels),
        }


_FATES = (
    LegendEntry("published", theme.RELEASED),
    LegendEntry("held by nobody (at most)", theme.SYNTHETIC),
    LegendEntry("not published", theme.FAINT),
    LegendEntry("not known", NOT_KNOWN),
)


def _shares(measured: list[Json]) -> Chart | None:
    """What became of the candidates of each length; None where nothing was measured."""
    if not measured:
        return None
    described = "Published and unpublished candidates by length."
    return shares([_fates(level) for level in measured], _FATES, "What was published, by length", described)


def _fates(level: Json) -> Whole:
    """Candidates of a length that were published, held by nobody among them, and not published."""
    label, published, suppressed = f"length {level['length']}", level["survivors"], _not_published(level)
    expected = level["spurious"]["expected_spurious"] if level["length"] > 1 else None
    told = f"{format_whole(published)} published"
    spurious = min(expected or 0.0, float(published))
    if expected is not None and published:
        told += f" (at most {format_up(spurious, 2)} held by nobody)"
    if suppressed is None:
        # The true share can't be drawn, so the known part gets half and the rest is marked as not known.
        told += "; the number not published is not known (not to scale)"
        return Whole(label, ((1.0 if published else 0.0, theme.RELEASED), (1.0, NOT_KNOWN)), told)
    colours = (theme.RELEASED, theme.SYNTHETIC, theme.FAINT)
    sizes = (published - spurious, spurious, float(suppressed))
    told += f"; {format_whole(suppressed)} not published"
    return Whole(label, tuple(zip(sizes, colours, strict=True)), told)


def _not_published(level: Json) -> int | None:
    """Candidates that were not published, where a release may know it (R3)."""
    if level["length"] > 1:
        return level["suppressed"]["value"]  # type: ignore[no-any-return]
    return None if level["open"]["columns"] else level["declared"]["suppressed"]


def _length_name(level: Json) -> str:
    """A length in words; at length 1 only open columns have a threshold."""
    return f"length {level['length']}" + (", open" if level["length"] == 1 else "")


class RoundedCounts(Regime):
    """Counts rounded down to multiples of a resolution."""

    count: ClassVar[str] = "reported count"
    template: ClassVar[str] = "rounding.html.j2"

    @property
    def _resolution(self) -> int:
        return int(self.statement["guarantee"]["resolution"])

    @property
    def error_bar(self) -> ErrorBar | None:
        k = self._resolution
        return ErrorBar(0, k - 1, "range of the true count", f"< {format_whole(k)}") if k > 1 else None

    @property
    def true_range(self) -> ErrorBar | None:
        return self.error_bar

    @property
    def limit(self) -> Limit | None:
        k = self._resolution
        return Limit(k - 1, f"rounding removes at most {format_whole(k - 1)}") if k > 1 else None

    def pair_counts(self) -> PairCounts:
        """Those of length 2."""
        return ReportedPairs(self.inputs.drawn, len(self.inputs.schema.columns), self._resolution)

    def sections(self) -> Json:
        """What does not protect, and what is reported."""
        k, statement = self._resolution, self.statement
        counts = self.inputs.drawn.counts
        return {
            "private": False,
            "topics": RoundedWords(statement).topics(),
            "warnings": RoundedWords(statement).warnings(),
            "made_from": _MADE_FROM[_made_of(statement["synthesis"])],
            "made_of": _made_of(statement["synthesis"]),
            "others": k - 1,
            "attacks": [headed(sentence) for sentence in statement["not_covered"]],
            "levels": [_level(length, each, k) for length, each in enumerate(counts, start=1)],
        }

    def record_words(self, records: int) -> list[str]:
        mode, most = self.statement["synthesis"]["mode"], self.statement["count"]["most"]
        if mode not in ("row_seeded", "value_seeded") or records <= most:
            return []
        few = f"fewer than {format_whole(self._resolution)} {self.promised.many}"
        return [
            f"There are more synthetic records than {self.unit.many}, and they are shorter. The reason is "
            f"that {mode} meets the reported count of every single attribute exactly, but ends a record "
            f"where one more attribute would make a combination that {few} hold. "
            "It puts what is then still owed into further records. If the number and length of the records "
            "matter more to you than exact counts of single attributes, use aggregate_seeded, which makes as "
            "many records as you ask for, or unseeded, which makes about as many as are reported."
        ]


#: What the synthetic records are made from, in a few words.
_MADE_FROM = {
    "counts": "drawn from those counts alone",
    "held": "drawn from those counts and held to the raw table",
    "raw": "drawn from the raw table",
}


def _made_of(synthesis: Json) -> str:
    """What the synthetic records are made from: a key of `_MADE_FROM`, and the end of a sentence's."""
    if not synthesis["reads_records"]:
        return "counts"
    return "held" if synthesis["mode"] == "aggregate_seeded" else "raw"


def _level(length: int, counts: np.ndarray[Any, np.dtype[np.int64]], k: int) -> Json:
    if not len(counts):
        return {"length": length, "combinations": 0}
    return {
        "length": length,
        "combinations": len(counts),
        "smallest": int(np.count_nonzero(counts == k)),
        "median": int(np.sort(counts)[(len(counts) - 1) // 2]),
        "largest": int(counts.max()),
    }


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
        values = self.statement["values"]
        bar = values["error_bar"]["half_width_95"] if values else None
        return ErrorBar(bar, bar) if bar else None

    @property
    def spread(self) -> Mapping[int, float]:
        values = self.statement["values"]
        by_length: dict[int, list[float]] = {}
        for table in self.statement["tables"]:
            by_length.setdefault(len(table["columns"]), []).append(table["error_bar"]["sd"])
        single = {1: values["error_bar"]["sd"]} if values else {}
        return single | {length: median(found) for length, found in by_length.items()}

    def pair_counts(self) -> PairCounts:
        return MeasuredTables(self.measurement)

    def sections(self) -> Json:
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
    return "–" if share is None else f"{format_near(100 * share, 2)}\u202f%"
