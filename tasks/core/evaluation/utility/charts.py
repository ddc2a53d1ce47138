"""Charts of the measures of utility: `Utility` in, texts of SVG files by name out. Sensitive."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from tasks.core.charts import svg, theme
from tasks.core.charts.axes import Axes
from tasks.core.charts.bars import PERCENTAGES, PROPORTIONS, Bar, Bars, Series, bars
from tasks.core.charts.curves import Curve, curves
from tasks.core.charts.grouped_bars import GroupedBars, grouped_bars
from tasks.core.charts.matrix import Half, Matrix, matrix
from tasks.core.evaluation.utility.learned import BINS, Discriminator, Prediction, Propensity
from tasks.core.evaluation.utility.measures import ComparedSets, Utility

#: Of more columns or sets, those that are farthest are drawn.
_MOST_BARS, _MOST_NAMES, _WORST = 40, 30, 10
_RAW = Series("raw records", theme.RELEASED)
_SYNTHETIC = Series("synthetic records", theme.SYNTHETIC)
_SQUARE = (496, 420)
_MARKED = "Total variation in percent; the line across a bar is that of a bootstrap of the raw table"


def utility_charts(found: Utility) -> dict[str, str]:
    """The charts that there is something to draw in, by the name of their file without prefix."""
    return dict(_charts(found))


def _charts(found: Utility) -> Iterator[tuple[str, str]]:
    if found.by_ways:
        yield "total_variation_by_ways", _by_ways(found)
        yield "total_variation_of_columns", _of_sets(found, 1, _MOST_BARS, "Total variation of each column")
    if 2 in found.by_ways:
        yield "total_variation_of_pairs", _of_pairs(found)
    if 3 in found.by_ways:
        yield (
            "total_variation_of_worst_triples",
            _of_sets(found, 3, _WORST, "Sets of three columns that are farthest apart"),
        )
    if found.propensity is not None:
        yield "propensity_scores", _propensity(found.propensity)
    if found.told_apart is not None:
        yield "discriminator_roc", _told_apart(found.told_apart, found.halves_told_apart)
    if found.prediction is not None:
        yield "prediction", _prediction(found.prediction, found.about.target or "")


def _by_ways(found: Utility) -> str:
    chart = GroupedBars(
        Axes(
            title="Total variation by the number of columns taken together",
            x="Columns taken together",
            y="Mean total variation",
            description="; ".join(
                f"{ways} ways: {own.synthetic.mean():.3f}, bootstrap {own.bootstrap.mean():.3f}"
                for ways, own in found.by_ways.items()
            ),
        ),
        places=[
            Bar(str(ways), tuple(float(side.mean()) for side in (own.synthetic, own.bootstrap, own.halves)))
            for ways, own in found.by_ways.items()
        ],
        series=[
            _SYNTHETIC,
            Series("bootstrap of the raw table", theme.SOFT),
            Series("two halves of the raw table", theme.STRIPE),
        ],
        numbers=PROPORTIONS,
        width=theme.FILE_WIDTH,
    )
    return grouped_bars(chart).as_file("0 where both are equal, 1 where they share nothing")


def _of_sets(found: Utility, ways: int, most: int, title: str) -> str:
    compared = found.by_ways[ways]
    worst = compared.worst(most)
    rows = [
        Bar(
            set_name(found, compared, place),
            (100 * float(compared.synthetic[place]),),
            mark=100 * float(compared.bootstrap[place]),
        )
        for place in worst
    ]
    chart = Bars(
        title=title if most >= len(compared.sets) or ways > 1 else f"{title}, the farthest {most}",
        description="; ".join(f"{row.label}: {row.values[0]:.2f} %" for row in rows),
        rows=rows,
        series=[_SYNTHETIC],
        numbers=PERCENTAGES,
        axis=_MARKED,
        width=theme.FILE_WIDTH,
    )
    return bars(chart).as_file()


def set_name(found: Utility, compared: ComparedSets, place: int) -> str:
    """A set of features by their names."""
    return " × ".join(found.features[feature] for feature in compared.sets[place])


def _of_pairs(found: Utility) -> str:
    """Pairs below the diagonal, columns on it; of many columns those whose pairs are farthest on average."""
    number = len(found.features)
    values = np.full((number, number), np.nan)
    for ways in (1, 2):
        for features, distance in zip(found.by_ways[ways].sets, found.by_ways[ways].synthetic, strict=True):
            values[features[0], features[-1]] = values[features[-1], features[0]] = distance
    held = ~np.isnan(values)
    means = np.where(held, values, 0.0).sum(axis=1) / np.maximum(held.sum(axis=1), 1)
    shown = np.sort(np.argsort(-means, kind="stable")[:_MOST_NAMES])
    title = "Total variation of pairs of columns" + (
        f", of the {_MOST_NAMES} farthest" if number > len(shown) else ""
    )
    largest = float(np.nan_to_num(values).max(initial=0.0)) or 1.0
    chart = Matrix(
        title=title,
        description="A cell a pair of columns, and each column by itself on the diagonal.",
        names=[found.features[place] for place in shown],
        above=Half(values[np.ix_(shown, shown)], theme.RARE, white_from=0.55, largest=largest),
        has_diagonal=True,
    )
    return matrix(chart).as_file("0 where both are equal, 1 where they share nothing; diagonal: one column")


def _propensity(found: Propensity) -> str:
    edges = np.linspace(0.0, 1.0, BINS + 1)
    chart = GroupedBars(
        Axes(
            title="Propensity scores",
            x="How sure a small tree is that a record is synthetic: 0 to 1, bins by their lower end",
            y="Share of the records",
            description=f"Mean squared error {found.mean_squared_error:.4f}; tables that don't differ are "
            f"expected to have {found.expected:.4f}.",
        ),
        places=[
            Bar(f"{edge:.1f}" if place % 2 == 0 else "", (float(raw), float(made)))
            for place, (edge, raw, made) in enumerate(zip(edges[:-1], *found.scores, strict=True))
        ],
        series=[_RAW, _SYNTHETIC],
        width=theme.FILE_WIDTH,
    )
    return grouped_bars(chart).as_file(
        "The heights are the same in both colours where the tables don't differ"
    )


def _told_apart(found: Discriminator, halves: Discriminator | None) -> str:
    lines = [Curve(f"synthetic records, area {found.auc:.3f}", _points(found), look=1)]
    if halves is not None:
        lines.append(Curve(f"halves of the raw table, area {halves.auc:.3f}", _points(halves), look=0))
    axes = Axes(
        title="How well a learner tells synthetic from raw records",
        x="Share of the raw records that are called synthetic",
        y="Share of the synthetic records that are called so",
        top=1.0,
        description=f"Area under the curve {found.auc:.3f}; 0.5 is chance.",
    )
    chance = Curve("chance, area 0.5", ((0.0, 0.0), (1.0, 1.0)), look=4)
    return curves([*lines, chance], axes, size=_SQUARE).as_file()


def _points(found: Discriminator) -> tuple[tuple[float, float], ...]:
    return tuple((float(across), float(up)) for across, up in found.curve.T)


def _prediction(found: Prediction, target: str) -> str:
    measures = [
        ("area under the curve", found.real.auc, found.synthetic.auc),
        ("F1", found.real.f1, found.synthetic.f1),
        ("accuracy", found.real.accuracy, found.synthetic.accuracy),
    ]
    chart = GroupedBars(
        Axes(
            title=f"Predicting {svg.shortened(target, 40)} for raw records set aside",
            x="What the prediction is judged by",
            y="0 to 1, the higher the better",
            description="; ".join(f"{name}: {real:.3f} and {made:.3f}" for name, real, made in measures),
        ),
        places=[Bar(name, (real, made)) for name, real, made in measures],
        series=[replace(each, name=f"learned from {each.name}") for each in (_RAW, _SYNTHETIC)],
        numbers=PROPORTIONS,
        width=theme.FILE_WIDTH,
    )
    return grouped_bars(chart).as_file()
