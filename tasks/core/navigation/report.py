"""The page of a release: published figures go in, one HTML document comes out.

It is made from what is released and public configuration alone, so it shows nothing that the release does
not hold; equal inputs give equal bytes. What only one regime has is in `regimes`: `noise` and `fitted`
(differential privacy), `rounding` (k-anonymity).
"""

from collections.abc import Sequence

import numpy as np

from tasks.core.arrays import Json
from tasks.core.charts import theme
from tasks.core.charts.bars import SHARES, Bar, Half, Series, bars, matrix
from tasks.core.charts.plot import Area, Axes, Line, plot, scale_of
from tasks.core.charts.svg import Chart
from tasks.core.figures import format_whole
from tasks.core.navigation.associations import associations, ranked
from tasks.core.navigation.fidelity import Band, describe_rare_values
from tasks.core.navigation.inputs import ReportInputs
from tasks.core.navigation.page import html
from tasks.core.navigation.payload.release import Payload, no_records, payload_of_counts
from tasks.core.navigation.regimes import Regime, regime_of
from tasks.core.synthesis.records import AnySynthetic


def describe_record_lengths(synthetic: AnySynthetic) -> str:
    """How many attributes the synthetic records have, in a sentence; of one record or more."""
    lengths = np.concatenate([np.diff(part.offsets).astype(np.int32) for part in synthetic.parts()])
    low, middle, high = (int(each) for each in np.quantile(lengths, (0.25, 0.5, 0.75), method="inverted_cdf"))
    longest = int(lengths.max())
    if lengths.min() == longest:
        return f"Each synthetic record has {_attributes(longest)}."
    if low == high:
        rest = f"the longest has {longest}" if longest > high else "none has more"
        return f"At least half of the synthetic records have {_attributes(low)}; {rest}."
    return (
        f"Half of the synthetic records have {low} to {high} attributes; the median is {middle}, the longest "
        f"has {longest}."
    )


def _attributes(number: int) -> str:
    return "1 attribute" if number == 1 else f"{number} attributes"


#: A matrix of more columns can't be read; the ranked pairs are shown alone.
_MATRIX_COLUMNS = 20
#: One of more columns than these takes the page's whole width.
_HALF_MATRIX = 5


def render_page(inputs: ReportInputs, payload: Payload | None = None) -> str:
    """The page, without a time or anything else that is not in ``inputs``.

    Args: payload: what `payload_of_counts` makes of it, where that is there already.
    """
    regime = regime_of(inputs)
    synthetic = inputs.synthetic or no_records(inputs.aggregates)
    context = {
        **inputs.naming.page_words(inputs.statement),
        "regime": regime,
        "warnings": [],
        "contract": inputs.contract,
        "columns": [column.name for column in inputs.schema.columns],
        "released": inputs.published,
        "records": None if inputs.synthetic is None else synthetic.number_of_records,
        "records_error": _records_error(inputs),
        "zeros_lost": [
            column.name
            for column in inputs.schema.columns
            if not column.keeps_zero and (column.is_open or column.bins)
        ],
        **regime.sections,
        "record_words": _record_words(inputs, regime),
        "fidelity": inputs.fidelity,
        "fidelity_charts": _fidelity_charts(inputs, regime),
        **_associations(inputs, synthetic, regime),
    }
    return html(regime.template, context, explorer=payload or payload_of_counts(inputs))


def _records_error(inputs: ReportInputs) -> tuple[int, float] | None:
    """The longest length that was compared, and the records' mean distance there; None: not compared."""
    lengths = inputs.fidelity.lengths if inputs.fidelity is not None else ()
    return (lengths[-1].length, lengths[-1].mean_error) if lengths else None


def _record_words(inputs: ReportInputs, regime: Regime) -> list[str]:
    if inputs.synthetic is None or not inputs.synthetic.number_of_records:
        return []
    words = [describe_record_lengths(inputs.synthetic), *regime.record_words]
    return words + (describe_rare_values(inputs.fidelity) if inputs.fidelity is not None else [])


def _fidelity_charts(inputs: ReportInputs, regime: Regime) -> Json | None:
    """How synthetic counts spread, and their error by count beside what the protection alone may do."""
    fidelity, most = inputs.fidelity, regime.rounded_off
    if fidelity is None or not fidelity.bands:
        return None
    lines = [
        Line(
            f"length {length}",
            points,
            *theme.SERIES[place % len(theme.SERIES)],
            level=regime.spread.get(length),
        )
        for place, (length, points) in enumerate(fidelity.error_by_count)
    ]
    error_axes = Axes(
        "Mean absolute error by count",
        regime.count,
        f"mean absolute error ({inputs.naming.unit_of(inputs.statement).many})",
        "log",
        "log1p",
    )
    return {
        "bands": spread_chart(fidelity.bands, regime.count, most),
        "error": plot(
            lines, error_axes, (most, f"rounding removes at most {format_whole(most)}") if most else None
        ),
    }


def spread_chart(bands: Sequence[Band], count: str, rounded_off: int) -> Chart:
    """Median and spread of the synthetic counts over the released one, beside the line of equal counts.

    Args: count, rounded_off: as of `Regime`.
    """
    across = scale_of([band.released for band in bands], "log")
    steps = [across.low * (across.high / across.low) ** (step / 48) for step in range(49)]
    quantiles = [[(band.released, band.synthetic[place]) for band in bands] for place in range(5)]
    series: list[Area | Line] = []
    if rounded_off:
        low, high = [(at, at) for at in steps], [(at, at + rounded_off) for at in steps]
        series.append(Area("range of the true count", low, high, theme.RELEASED, 0.45))
    series += [
        Line("equal", [(at, at) for at in steps], theme.INK, "4 3", thick=1.3),
        Area("nine of ten", quantiles[0], quantiles[4], theme.SYNTHETIC, 0.2),
        Area("half of them", quantiles[1], quantiles[3], theme.SYNTHETIC, 0.45),
        Line("median", quantiles[2], theme.SYNTHETIC),
    ]
    total = format_whole(sum(band.combinations for band in bands))
    described = f"{total} combinations; on the dashed line both counts agree."
    axes = Axes(f"Synthetic against {count}s", count, "synthetic count", "log", "log1p", None, described)
    return plot(series, axes)


def _associations(inputs: ReportInputs, synthetic: AnySynthetic, regime: Regime) -> Json:
    found = associations(regime.pairs, inputs.schema, synthetic)
    pairs = ranked(found, inputs.schema)
    context: Json = {"matrix": None, "pairs": None, "is_large_matrix": len(found.columns) > _HALF_MATRIX}
    if not pairs:
        return context
    names = [inputs.schema.columns[index].name for index in found.columns]
    if len(names) <= _MATRIX_COLUMNS:
        context["matrix"] = matrix(
            "Cramer's V of every two columns",
            f"Below the diagonal the {regime.count}s, above it the synthetic records.",
            names,
            above=Half(found.synthetic, theme.SYNTHETIC, white_from=0.8),
            below=Half(found.released, theme.RELEASED, white_from=0.55),
        )
    context["pairs"] = bars(
        "Strongest associations",
        f"{len(pairs)} pairs, strongest first.",
        [Bar(pair, (released, synthetic)) for pair, released, synthetic in pairs],
        (
            Series(f"{regime.count}s", theme.RELEASED),
            Series("synthetic", theme.SYNTHETIC, theme.SYNTHETIC_INK),
        ),
        SHARES,
    )
    return context
