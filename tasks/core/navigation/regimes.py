"""What the page's sections ask of a regime: how its counts are named, and how far they are off.

Differential privacy has draws by lengths and fitted ones, k-anonymity rounded counts.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from statistics import median
from typing import Any

import numpy as np

from tasks.core.arrays import Json
from tasks.core.charts import theme
from tasks.core.charts.bars import NOT_KNOWN, Whole, budget_gauge, shares
from tasks.core.charts.svg import Chart, LegendEntry
from tasks.core.dp.budget import Spent
from tasks.core.dp.measurement import Measurement
from tasks.core.dp.workload.measurement import WorkloadMeasurement
from tasks.core.errors import InternalError
from tasks.core.figures import format_near, format_up, format_whole
from tasks.core.navigation.associations import MeasuredPairs, MeasuredTables, PairCounts, ReportedPairs
from tasks.core.navigation.inputs import ReportInputs
from tasks.core.navigation.page import headed
from tasks.core.navigation.survival import SurvivalLevel, survival_chart, survival_rows
from tasks.core.records.columns import Schema
from tasks.core.statement.differential_privacy.questions import SOURCE, conditions_of
from tasks.core.statement.differential_privacy.statement import SKIP
from tasks.core.statement.differential_privacy.words import (
    FittedWords,
    LengthsWords,
    NoisyWords,
    format_risk_factor,
)
from tasks.core.statement.k_anonymity import RoundedWords


@dataclass(frozen=True)
class Regime:
    """One regime, for one release.

    Attributes:
        count: what a released count is called.
        pairs: where the page's associations take the released counts of pairs from.
        sections: the regime's own part of the template's context.
        spread: by length, the standard deviation of the noise; empty where there is none.
        rounded_off: by how much a true count may exceed the released one, for certain; 0: noise, or exact.
        record_words: what there is to say of the number of synthetic records.
    """

    template: str
    count: str
    pairs: PairCounts
    sections: Json
    spread: Mapping[int, float] = field(default_factory=dict)
    rounded_off: int = 0
    record_words: tuple[str, ...] = ()


def regime_of(inputs: ReportInputs) -> Regime:
    """The regime of a release.

    Raises:
        InternalError: a measurement is missing under differential privacy, or given under k-anonymity.
    """
    is_rounded, measurement = inputs.statement.get("regime") == "k_anonymity", inputs.measurement
    if is_rounded != (measurement is None):
        raise InternalError(
            "A page has a measurement under differential privacy, and none under k-anonymity."
        )
    if measurement is None:
        return _rounded_counts(inputs)
    if isinstance(measurement, WorkloadMeasurement):
        return _fitted_counts(inputs, measurement)
    return _counts_by_length(inputs, measurement)


def _private_sections(inputs: ReportInputs, words: NoisyWords) -> Json:
    statement = inputs.statement
    is_private = bool(statement["private"])  # else it was drawn by the seeded test engine
    return {
        "private": is_private,
        "factor": format_risk_factor(statement["guarantee"]["epsilon"]) if is_private else "",
        "topics": words.topics(),
        "conditions": _promise_conditions(statement),
        "one_row_stands": "meaning" in statement["contribution"],
        "has_items": any(column.is_multi_valued for column in inputs.schema.columns),
        "condition_sentences": conditions_of(statement) if is_private else [],
        "questions_source": SOURCE if is_private else "",
        "gauge": gauge_of(statement["ledger"]) if is_private else None,
    }


def _promise_conditions(statement: Json) -> list[str]:
    """Why the promise does not hold whatever somebody knows: keys of the answers' sentences."""
    conditions = {
        "strict": statement["contract"]["strict"],
        "skipped": statement.get("on_unchanged", {}).get("policy") == SKIP,
        "stopped": "stopped_by_contract" in statement or "stopped_unread" in statement,
    }
    return [f"neighbour.{name}" for name, holds in conditions.items() if holds]


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


def _counts_by_length(inputs: ReportInputs, measurement: Measurement) -> Regime:
    levels = inputs.statement["levels"]
    measured = [level for level in levels if not level["empty"] and level["error_bar"]]
    with_threshold = [
        SurvivalLevel(_length_name(level), level["scale"], level["threshold"])
        for level in measured
        if level["threshold"] is not None
    ]
    sections = _private_sections(inputs, LengthsWords(inputs.statement)) | {
        "longest": len(levels),
        "half_widths": [(level["length"], level["error_bar"]["half_width_95"]) for level in measured],
        "thresholds": [(level["length"], level["threshold"]) for level in measured if level["threshold"]],
        "shares": _shares(measured),
        "survival": survival_chart(with_threshold),
        "survival_rows": survival_rows(with_threshold),
    }
    spread = {level["length"]: level["error_bar"]["sd"] for level in measured}
    return Regime("noise.html.j2", "noisy count", MeasuredPairs(measurement), sections, spread)


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
    return shares(
        [_candidates_of_length(level) for level in measured],
        _FATES,
        "What was published, by length",
        described,
    )


def _candidates_of_length(level: Json) -> Whole:
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


def _rounded_counts(inputs: ReportInputs) -> Regime:
    """Counts rounded down to multiples of a resolution: what does not protect, and what is reported."""
    statement = inputs.statement
    k = int(statement["guarantee"]["resolution"])
    source = _source_of_records(statement["synthesis"])
    sections = {
        "private": False,
        "topics": RoundedWords(statement).topics(),
        "warnings": RoundedWords(statement).warnings(),
        "made_from": _MADE_FROM[source],
        "made_of": source,
        "others": k - 1,
        "attacks": [headed(sentence) for sentence in statement["not_covered"]],
        "levels": [
            _summary_of_length(length, counts, k)
            for length, counts in enumerate(inputs.drawn.counts, start=1)
        ],
    }
    return Regime(
        template="rounding.html.j2",
        count="reported count",
        pairs=ReportedPairs(inputs.drawn, len(inputs.schema.columns), k),
        sections=sections,
        rounded_off=k - 1,
        record_words=_many_records(inputs, k),
    )


def _many_records(inputs: ReportInputs, k: int) -> tuple[str, ...]:
    statement, naming = inputs.statement, inputs.naming
    mode, most = statement["synthesis"]["mode"], statement["count"]["most"]
    records = 0 if inputs.synthetic is None else inputs.synthetic.number_of_records
    if mode not in ("row_seeded", "value_seeded") or records <= most:
        return ()
    few = f"fewer than {format_whole(k)} {naming.promised(statement).many}"
    return (
        f"There are more synthetic records than {naming.unit_of(statement).many}, and they are shorter. The "
        f"reason is that {mode} meets the reported count of every single attribute exactly, but ends a "
        f"record where one more attribute would make a combination that {few} hold. "
        "It puts what is then still owed into further records. If the number and length of the records "
        "matter more to you than exact counts of single attributes, use aggregate_seeded, which makes as "
        "many records as you ask for, or unseeded, which makes about as many as are reported.",
    )


#: What the synthetic records are made from, in a few words.
_MADE_FROM = {
    "counts": "drawn from those counts alone",
    "held": "drawn from those counts and held to the raw table",
    "raw": "drawn from the raw table",
}


def _source_of_records(synthesis: Json) -> str:
    """What the synthetic records are made from: a key of `_MADE_FROM`, and the end of a sentence's."""
    if not synthesis["reads_records"]:
        return "counts"
    return "held" if synthesis["mode"] == "aggregate_seeded" else "raw"


def _summary_of_length(length: int, counts: np.ndarray[Any, np.dtype[np.int64]], k: int) -> Json:
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


def _fitted_counts(inputs: ReportInputs, measurement: WorkloadMeasurement) -> Regime:
    """Counts of single values and of chosen tables, to which the records are fitted."""
    values, stated = inputs.statement["values"], inputs.statement["tables"]
    tables = sorted(stated, key=lambda table: table["scale"])
    half, longest = _LISTED // 2, inputs.aggregates.reporting_length
    deviations: dict[int, list[float]] = {1: [values["error_bar"]["sd"]]} if values else {}
    widest: dict[int, int] = {1: values["error_bar"]["half_width_95"]} if values else {}
    for table in stated:
        length, bar = len(table["columns"]), table["error_bar"]
        deviations.setdefault(length, []).append(bar["sd"])
        widest[length] = max(widest.get(length, 0), bar["half_width_95"])
    sections = _private_sections(inputs, FittedWords(inputs.statement)) | {
        "longest": longest,
        "longest_reported": longest,
        "half_widths": sorted(widest.items()),
        "tables": [*tables[:half], *tables[-half:]] if len(tables) > _LISTED else tables,
        "tables_left_out": max(0, len(tables) - _LISTED),
        "fit": None if inputs.fit is None else fit_context(inputs.fit, inputs.schema),
    }
    spread = {length: median(found) for length, found in deviations.items()}
    return Regime("fitted.html.j2", "noisy count", MeasuredTables(measurement), sections, spread)


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
            for row in _table_rows(singles)
        ],
        "left_out": [
            column.name
            for column in schema.columns
            if column.is_multi_valued and column.name not in {table["columns"][0] for table in singles}
        ],
        "worst": _table_rows(sorted(pairs, key=lambda table: -(table["expected_error"] or 0.0))[:_NAMED]),
    }


def _is_replaced(unreleased: Json) -> bool:
    return bool(unreleased["written_as"] == "released values")


def _table_rows(tables: list[Json]) -> list[Json]:
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
