"""What the page has of a fitted release: statement and evaluation go in, tables come out."""

from statistics import median

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.arrays import Json
from tasks.core.charts import charts
from tasks.core.figures import near
from tasks.core.navigation.distributions import Kinds
from tasks.core.navigation.regimes.noise import budget_gauge
from tasks.core.navigation.regimes.regime import Regime
from tasks.core.records.columns import Schema
from tasks.core.statement.differential_privacy.words import factor, topics

#: Tables that are listed one by one; of more, those with the most and the least noise.
_LISTED = 60
#: Pairs that are named in words or shown in a chart.
_NAMED = 12


def regime(statement: Json) -> Regime:
    """How counts are named, and their error bars."""
    of_rows = statement["private"] and statement["guarantee"]["unit"] == "row"
    values = statement["values"]
    bar = values["error_bar"]["half_width_95"] if values else None
    spread = {1: values["error_bar"]["sd"]} if values else {}
    by_length: dict[int, list[float]] = {}
    for table in statement["tables"]:
        by_length.setdefault(len(table["columns"]), []).append(table["error_bar"]["sd"])
    return Regime(
        name="differential_privacy",
        units="rows" if of_rows else "subjects",
        count="noisy count",
        error_bar=charts.ErrorBar(bar, bar) if bar else None,
        spread=spread | {length: median(found) for length, found in by_length.items()},
        limit=None,
        kinds=Kinds("row" if of_rows else "subject", unpublished=None),
    )


def context(statement: Json, aggregates: Aggregates) -> Json:
    """The template's own part for a fitted release."""
    private = statement["private"]
    tables = sorted(statement["tables"], key=lambda table: table["scale"])
    return {
        "private": private,
        "factor": factor(statement["guarantee"]["epsilon"]) if private else "",
        "topics": topics(statement),
        "gauge": budget_gauge(statement) if private else None,
        "longest": aggregates.reporting_length,
        "tables": tables if len(tables) <= _LISTED else [*tables[: _LISTED // 2], *tables[-_LISTED // 2 :]],
        "tables_left_out": max(0, len(tables) - _LISTED),
    }


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
