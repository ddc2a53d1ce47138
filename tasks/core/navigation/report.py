"""The page of a release: published figures go in, one HTML document comes out.

It is made from what is released and public configuration alone, so it shows nothing that the release does
not hold; equal inputs give equal bytes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from markupsafe import Markup

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.dp.measurement import Measurement
from tasks.core.dp.statement import survival_curve
from tasks.core.dp.statement_words import factor, topics
from tasks.core.navigation import charts, distributions, plots
from tasks.core.navigation.associations import associations, ranked
from tasks.core.navigation.distributions import Distribution, SingleCounts
from tasks.core.navigation.fidelity import Fidelity
from tasks.core.navigation.page import html
from tasks.core.synthesis.records import SyntheticRecords

Json = dict[str, Any]

#: A matrix of more columns can't be read; the ranked pairs are shown alone.
_MATRIX_COLUMNS = 20


@dataclass(frozen=True)
class ReportInputs:
    """Everything a page is made of.

    Attributes:
        statement: the content of ``privacy.json``.
        measurement: what was drawn.
        aggregates: the reportable aggregates.
        synthetic: the synthetic records; None where none were made.
        fidelity: synthetic against reportable counts; None where they were not compared.
        title: of the page; empty for the dataset's name.
        visuals: SDS's ``report_visuals``: name to attributes ``header:value``.
        pages: SDS's ``report_pages``: page to the visuals and columns on it, in order.
    """

    statement: Json
    measurement: Measurement
    aggregates: Aggregates
    synthetic: SyntheticRecords | None = None
    fidelity: Fidelity | None = None
    title: str = ""
    visuals: Mapping[str, Sequence[str]] = field(default_factory=dict)
    pages: Mapping[str, Sequence[str]] = field(default_factory=dict)


def render(inputs: ReportInputs) -> str:
    """The page, without a time or anything else that is not in ``inputs``."""
    statement = inputs.statement
    synthetic = inputs.synthetic or _no_records(inputs.aggregates)
    counts = distributions.single_counts(inputs.aggregates, synthetic)
    private = statement["private"]
    return html(
        {
            "title": inputs.title or f"{statement['dataset']}, {statement['vintage']}",
            "statement": statement,
            "unit": "rows" if private and statement["guarantee"]["unit"] == "row" else "subjects",
            "private": private,
            "factor": factor(statement["guarantee"]["epsilon"]) if private else "",
            "topics": topics(statement),
            "released": sum(len(found) for found in inputs.aggregates.counts),
            "records": synthetic.number_of_records if inputs.synthetic is not None else None,
            "scale": counts.scale,
            "gauge": _budget(statement) if private else None,
            "shares": _shares(statement),
            "survival": _survival(statement),
            "survival_rows": _survival_rows(statement),
            "groups": _groups(inputs, counts),
            "fidelity": inputs.fidelity,
            "fidelity_charts": _fidelity_charts(inputs),
            **_associations(inputs, synthetic),
        }
    )


def _no_records(aggregates: Aggregates) -> SyntheticRecords:
    """No synthetic records over the aggregates' attributes."""
    return SyntheticRecords(
        aggregates.headers, aggregates.attributes, np.zeros(1, np.int64), np.zeros(0, np.int32)
    )


def _budget(statement: Json) -> Markup:
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


def _survival_levels(statement: Json) -> list[charts.Level]:
    return [
        charts.Level(_length_name(level), level["scale"], level["threshold"])
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
    axes = plots.Axes("Chance of being published", "true count of the combination", "chance", top=1.0)
    return Markup(plots.curves(lines, axes))


def _survival_rows(statement: Json) -> list[tuple[str, list[int]]]:
    """For each length the true counts that are published in 5, 50, 95 and 99.9 of 100 cases."""
    rows = []
    for level in _survival_levels(statement):
        reach = [_least_count(level, chance) for chance in (0.05, 0.5, 0.95, 0.999)]
        rows.append((level.label, reach))
    return rows


def _least_count(level: charts.Level, chance: float) -> int:
    """The least true count that is published with at least this chance; by bisection."""
    low, high = 0, int((level.threshold or 0) + 9 * level.scale) + 10
    while low < high:
        middle = (low + high) // 2
        if survival_curve(level.scale, level.threshold, [middle])[0] >= chance:
            high = middle
        else:
            low = middle + 1
    return low


def _groups(inputs: ReportInputs, counts: SingleCounts) -> list[Json]:
    """The columns' charts, under the configured pages where there are any."""
    columns = distributions.column_distributions(inputs.measurement.schema, inputs.aggregates, counts)
    by_name = {found.name: found for found in columns}
    chosen = {
        name: distributions.visual(name, texts, inputs.aggregates, counts)
        for name, texts in inputs.visuals.items()
    }
    groups: list[tuple[str, list[Distribution]]] = []
    placed: set[str] = set()
    for page, names in (inputs.pages or ({"": list(chosen)} if chosen else {})).items():
        found = [chosen.get(name) or by_name.get(name) for name in names]
        placed.update(names)
        groups.append((page, [each for each in found if each is not None]))
    rest = [found for found in columns if found.name not in placed]
    if rest:
        groups.append(("Other columns" if groups and groups[0][0] else "", rest))
    return [
        {"name": name, "columns": [_column(found, inputs, f"{place}-{i}") for i, found in enumerate(held)]}
        for place, (name, held) in enumerate(groups)
    ]


def _column(found: Distribution, inputs: ReportInputs, place: str) -> Json:
    first = _measured(inputs.statement)[:1]
    bar = first[0]["error_bar"]["half_width_95"] if first else None
    shown = found.bars
    if inputs.synthetic is None:
        shown = tuple(charts.Bar(row.label, row.noisy, None) for row in shown)
    chart = charts.bars(shown, f"{found.name}: counts of its values", bar, ("noisy count", "synthetic"))
    return {
        "id": f"column-{place}",
        "name": found.name,
        "kind": found.kind,
        "more": found.more,
        "chart": Markup(chart) if found.bars else None,
    }


def _fidelity_charts(inputs: ReportInputs) -> list[Json]:
    """Density of both counts, and the error by count with the noise beside it."""
    fidelity = inputs.fidelity
    if fidelity is None or not fidelity.density.squares:
        return []
    axes = plots.Axes(
        "Synthetic against noisy counts", "noisy count", "synthetic count", log_x=True, log_y=True
    )
    bars = {level["length"]: level["error_bar"]["sd"] for level in _measured(inputs.statement)}
    lines = [
        plots.Curve(f"length {length}", points, level=bars.get(length))
        for length, points in fidelity.error_by_count
    ]
    error_axes = plots.Axes(
        "Mean error by count", "noisy count", "mean error (records)", log_x=True, log_y=True
    )
    return [
        {"chart": Markup(plots.density(fidelity.density, axes)), "what": "density"},
        {"chart": Markup(plots.curves(lines, error_axes)), "what": "error"},
    ]


def _associations(inputs: ReportInputs, synthetic: SyntheticRecords) -> Json:
    """The matrix and the ranked pairs."""
    schema = inputs.measurement.schema
    found = associations(inputs.measurement, synthetic)
    pairs = ranked(found, schema)
    context: Json = {"matrix": None, "pairs": None, "pair_rows": pairs}
    if not pairs:
        return context
    names = [schema.columns[index].name for index in found.columns]
    if len(names) <= _MATRIX_COLUMNS:
        matrix = plots.matrix(names, found.noisy, found.synthetic, "Cramer's V of every two columns")
        context["matrix"] = Markup(matrix)
    chart = charts.two_shares(pairs, "Strongest associations", ("noisy counts", "synthetic"))
    context["pairs"] = Markup(chart)
    return context
