"""The page of a release: published figures go in, one HTML document comes out.

It is made from what is released and public configuration alone, so it shows nothing that the release does
not hold; equal inputs give equal bytes. What only one regime has is in `regimes`: `noise` and `fitted`
(differential privacy), `rounding` (k-anonymity).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from markupsafe import Markup

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.arrays import Json
from tasks.core.charts import charts, plots
from tasks.core.charts.axes import Axes
from tasks.core.dp.measurement import Measurement
from tasks.core.dp.workload.measurement import WorkloadMeasurement
from tasks.core.errors import InternalError
from tasks.core.navigation import distributions
from tasks.core.navigation.associations import PairCounts, associations, ranked
from tasks.core.navigation.bands import bands
from tasks.core.navigation.distributions import Distribution, SingleCounts, lengths_told
from tasks.core.navigation.fidelity import Fidelity, rare_values_told
from tasks.core.navigation.page import html
from tasks.core.navigation.regimes import fitted as fitted_sections
from tasks.core.navigation.regimes import noise as noise_sections
from tasks.core.navigation.regimes import rounding as rounding_sections
from tasks.core.navigation.regimes.regime import Regime
from tasks.core.navigation.released_associations import MeasuredPairs, MeasuredTables, ReportedPairs
from tasks.core.records.columns import Schema
from tasks.core.synthesis.records import SyntheticRecords

#: A matrix of more columns can't be read; the ranked pairs are shown alone.
_MATRIX_COLUMNS = 20
#: One of more columns than these takes the page's whole width.
_HALF_MATRIX = 5


@dataclass(frozen=True)
class ReportInputs:
    """Everything a page is made of.

    Attributes:
        statement: the content of ``privacy.json``, of either regime.
        schema: the public schema.
        aggregates: the reportable aggregates.
        measurement: what was drawn; None under k-anonymity.
        synthetic: the synthetic records; None where none were made.
        fidelity: synthetic against reportable counts; None where they were not compared.
        title: of the page; empty for the dataset's name.
        visuals: SDS's ``report_visuals``: name to attributes ``header:value``.
        pages: SDS's ``report_pages``: page to the visuals and columns on it, in order.
        contract: the content of ``contract.json``; None where there was no data contract.
        fit: of a fitted release, the part ``fit`` of ``evaluation.json``; None where it was not evaluated.
        published: how many combinations are published, where ``aggregates`` holds only those that were drawn.
    """

    statement: Json
    schema: Schema
    aggregates: Aggregates
    measurement: Measurement | WorkloadMeasurement | None = None
    synthetic: SyntheticRecords | None = None
    fidelity: Fidelity | None = None
    title: str = ""
    visuals: Mapping[str, Sequence[str]] = field(default_factory=dict)
    pages: Mapping[str, Sequence[str]] = field(default_factory=dict)
    contract: Json | None = None
    fit: Json | None = None
    published: int | None = None


def render_page(inputs: ReportInputs) -> str:
    """The page, without a time or anything else that is not in ``inputs``.

    Raises:
        InternalError: a measurement is missing under differential privacy, or given under k-anonymity.
    """
    statement = inputs.statement
    is_rounded = statement.get("regime") == "k_anonymity"
    if is_rounded != (inputs.measurement is None):
        raise InternalError(
            "A page has a measurement under differential privacy, and none under k-anonymity."
        )
    sections = rounding_sections if is_rounded else noise_sections
    if isinstance(inputs.measurement, WorkloadMeasurement):
        sections = fitted_sections
    regime = sections.regime(statement)
    synthetic = inputs.synthetic or _no_records(inputs.aggregates)
    counts = distributions.single_counts(inputs.aggregates, synthetic)
    return html(
        {
            "title": inputs.title or f"{statement['dataset']}, {statement['vintage']}",
            "statement": statement,
            "regime": regime,
            "contract": inputs.contract,
            "unit": regime.units,
            "released": _published(inputs),
            "records": synthetic.number_of_records if inputs.synthetic is not None else None,
            "scale": counts.scale,
            "zeros_lost": [
                column.name
                for column in inputs.schema.columns
                if not column.keeps_zero and (column.is_open or column.bins)
            ],
            **sections.context(statement, inputs.aggregates),
            "record_words": _record_words(inputs),
            "groups": _groups(inputs, counts, regime),
            "fidelity": inputs.fidelity,
            "fit": None if inputs.fit is None else fitted_sections.fit_context(inputs.fit, inputs.schema),
            "fidelity_charts": _fidelity_charts(inputs, regime),
            **_associations(inputs, synthetic, regime),
        }
    )


def _published(inputs: ReportInputs) -> int:
    """How many combinations are published; of a fitted release those that were estimated, too."""
    if inputs.published is not None:
        return inputs.published
    return sum(len(found) for found in inputs.aggregates.counts)


def _record_words(inputs: ReportInputs) -> list[str]:
    """What there is to say of the number of synthetic records, of their length and of rare values in them."""
    if inputs.synthetic is None or not inputs.synthetic.number_of_records:
        return []
    words = [lengths_told(inputs.synthetic)]
    if inputs.measurement is None:
        words += rounding_sections.why_more_records(inputs.statement, inputs.synthetic.number_of_records)
    return words + (rare_values_told(inputs.fidelity) if inputs.fidelity is not None else [])


def _no_records(aggregates: Aggregates) -> SyntheticRecords:
    """No synthetic records over the aggregates' attributes."""
    return SyntheticRecords(
        aggregates.headers, aggregates.attributes, np.zeros(1, np.int64), np.zeros(0, np.int32)
    )


def _groups(inputs: ReportInputs, counts: SingleCounts, regime: Regime) -> list[Json]:
    """The columns' charts, under the configured pages where there are any."""
    columns = distributions.column_distributions(inputs.schema, inputs.aggregates, counts, regime.kinds)
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
        {
            "name": name,
            "columns": [
                _column(found, inputs.synthetic is not None, regime, f"{place}-{i}")
                for i, found in enumerate(held)
            ],
        }
        for place, (name, held) in enumerate(groups)
    ]


def _column(found: Distribution, is_drawn: bool, regime: Regime, place: str) -> Json:
    shown = found.bars
    if not is_drawn:
        shown = tuple(charts.Bar(row.label, row.released, None) for row in shown)
    names = (regime.count, "synthetic")
    chart = charts.bars(shown, f"{found.name}: counts of its values", regime.error_bar, names)
    return {
        "id": f"column-{place}",
        "name": found.name,
        "kind": found.kind,
        "more": found.more,
        "chart": Markup(chart) if found.bars else None,
    }


def _fidelity_charts(inputs: ReportInputs, regime: Regime) -> Json | None:
    """How synthetic counts spread, and their error by count beside what the protection alone may do."""
    fidelity = inputs.fidelity
    if fidelity is None or not fidelity.bands:
        return None
    axes = Axes(f"Synthetic against {regime.count}s", regime.count, "synthetic count")
    lines = [
        plots.Curve(f"length {length}", points, level=regime.spread.get(length))
        for length, points in fidelity.error_by_count
    ]
    error_axes = Axes(
        "Mean absolute error by count", regime.count, f"mean absolute error ({regime.units})", "log", "log1p"
    )
    return {
        "bands": Markup(bands(fidelity.bands, axes, regime.error_bar if regime.is_rounded else None)),
        "error": Markup(plots.curves(lines, error_axes, regime.limit)),
    }


def _pair_counts(inputs: ReportInputs) -> PairCounts:
    if isinstance(inputs.measurement, WorkloadMeasurement):
        return MeasuredTables(inputs.measurement)
    if inputs.measurement is not None:
        return MeasuredPairs(inputs.measurement)
    resolution = inputs.statement["guarantee"]["resolution"]
    return ReportedPairs(inputs.aggregates, len(inputs.schema.columns), resolution)


def _associations(inputs: ReportInputs, synthetic: SyntheticRecords, regime: Regime) -> Json:
    """The matrix and the ranked pairs."""
    found = associations(_pair_counts(inputs), inputs.schema, synthetic)
    pairs = ranked(found, inputs.schema)
    context: Json = {"matrix": None, "pairs": None, "is_large_matrix": len(found.columns) > _HALF_MATRIX}
    if not pairs:
        return context
    names = [inputs.schema.columns[index].name for index in found.columns]
    if len(names) <= _MATRIX_COLUMNS:
        sides = plots.AssociationSides(found.released, found.synthetic, f"{regime.count}s")
        context["matrix"] = Markup(plots.matrix(names, sides, "Cramer's V of every two columns"))
    chart = charts.two_shares(pairs, "Strongest associations", (f"{regime.count}s", "synthetic"))
    context["pairs"] = Markup(chart)
    return context
