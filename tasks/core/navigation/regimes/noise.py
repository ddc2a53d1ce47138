"""What the page has under differential privacy: the statement goes in, budget and thresholds come out."""

from markupsafe import Markup

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.arrays import Json
from tasks.core.charts import charts, plots
from tasks.core.charts.axes import Axes
from tasks.core.navigation.distributions import Kinds
from tasks.core.navigation.regimes.regime import Regime
from tasks.core.statement.differential_privacy.statement import survival_curve
from tasks.core.statement.differential_privacy.words import factor, topics


def regime(statement: Json) -> Regime:
    """How counts are named, and their error bars."""
    of_rows = statement["private"] and statement["guarantee"]["unit"] == "row"
    measured = _measured(statement)
    bar = measured[0]["error_bar"]["half_width_95"] if measured else None
    return Regime(
        name="differential_privacy",
        units="rows" if of_rows else "subjects",
        count="noisy count",
        error_bar=charts.ErrorBar(bar, bar) if bar else None,
        spread={level["length"]: level["error_bar"]["sd"] for level in measured},
        limit=None,
        kinds=Kinds("row" if of_rows else "subject"),
    )


def context(statement: Json, aggregates: Aggregates) -> Json:
    """The regime's own part of the template's context."""
    private = statement["private"]
    return {
        "private": private,
        "longest": len(statement["levels"]),
        "factor": factor(statement["guarantee"]["epsilon"]) if private else "",
        "topics": topics(statement),
        "gauge": budget_gauge(statement) if private else None,
        "shares": _shares(statement),
        "survival": _survival(statement),
        "survival_rows": _survival_rows(statement),
    }


def budget_gauge(statement: Json) -> Markup:
    """What is spent of the dataset's cap."""
    ledger = statement["ledger"]
    return Markup(charts.gauge(ledger["epsilon_spent"], ledger["epsilon_cap"], "Budget of the dataset"))


def _measured(statement: Json) -> list[Json]:
    """The lengths at which anything was measured."""
    return [level for level in statement["levels"] if not level["empty"] and level["error_bar"]]


def _shares(statement: Json) -> Markup | None:
    """What became of the candidates of each length; a length-1 open column's is not known."""
    rows = [
        charts.Share(
            f"length {level['length']}",
            level["survivors"],
            level["spurious"]["expected_spurious"] if level["length"] > 1 else None,
            _not_published(level),
        )
        for level in _measured(statement)
    ]
    return Markup(charts.shares(rows, "What was published, by length")) if rows else None


def _not_published(level: Json) -> int | None:
    """Candidates that were not published, where a release may know it (rule 3)."""
    if level["length"] > 1:
        return level["suppressed"]["value"]  # type: ignore[no-any-return]
    return None if level["open"]["columns"] else level["declared"]["suppressed"]


def _survival_levels(statement: Json) -> list[charts.SurvivalLevel]:
    return [
        charts.SurvivalLevel(_length_name(level), level["scale"], level["threshold"])
        for level in _measured(statement)
        if level["threshold"] is not None
    ]


def _length_name(level: Json) -> str:
    """A length in words; at length 1 only open columns have a threshold."""
    return f"length {level['length']}" + (", open" if level["length"] == 1 else "")


def _survival(statement: Json) -> Markup | None:
    """The chance that a combination is published, by its true count, a line a length."""
    levels = _survival_levels(statement)
    if not levels:
        return None
    top = max(level.threshold + 3.5 * level.scale for level in levels if level.threshold is not None)
    steps = sorted({max(1, round(top * part / 90)) for part in range(91)})
    lines = [
        plots.Curve(
            level.label,
            tuple(zip(map(float, steps), survival_curve(level.scale, level.threshold, steps), strict=True)),
            mark=level.threshold,
        )
        for level in levels
    ]
    axes = Axes("Chance of being published", "true count of the combination", "chance", top=1.0)
    return Markup(plots.curves(lines, axes))


def _survival_rows(statement: Json) -> list[tuple[str, list[int]]]:
    """For each length the true counts that are published in 5, 50, 95 and 99.9 of 100 cases."""
    rows = []
    for level in _survival_levels(statement):
        reach = [_least_count(level, chance) for chance in (0.05, 0.5, 0.95, 0.999)]
        rows.append((level.label, reach))
    return rows


def _least_count(level: charts.SurvivalLevel, chance: float) -> int:
    """The least true count that is published with at least this chance; by bisection."""
    low, high = 0, int((level.threshold or 0) + 9 * level.scale) + 10
    while low < high:
        middle = (low + high) // 2
        if survival_curve(level.scale, level.threshold, [middle])[0] >= chance:
            high = middle
        else:
            low = middle + 1
    return low
