"""Charts of the measures of utility: `Utility` in, texts of SVG files by name out. Sensitive."""

from collections.abc import Iterable, Iterator

import numpy as np

from tasks.core.charts import svg
from tasks.core.charts.grouped_bars import GroupedBars, Series, grouped_bars
from tasks.core.charts.heat_map import HeatMap, heat_map
from tasks.core.charts.roc_chart import RocChart, RocCurve, roc_chart
from tasks.core.charts.standalone import RankedBars, ranked_bars
from tasks.core.evaluation.utility.learned import BINS, Discriminator, Prediction, Propensity
from tasks.core.evaluation.utility.measures import ComparedSets, Utility

#: Of more columns or sets, those that are farthest are drawn.
_MOST_BARS, _MOST_NAMES, _WORST = 40, 30, 10
_BOOTSTRAP, _HALVES = svg.SOFT, svg.STRIPE
_MARKED = "Total variation in percent; the line across a bar: of a bootstrap of the raw table"


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
        yield "total_variation_of_worst_triples", _of_sets(found, 3, _WORST, "The farthest sets of three")
    if found.propensity is not None:
        yield "propensity_scores", _propensity(found.propensity)
    if found.told_apart is not None:
        yield "discriminator_roc", _told_apart(found.told_apart, found.halves_told_apart)
    if found.prediction is not None:
        yield "prediction", _prediction(found.prediction, found.about.target or "")


def _by_ways(found: Utility) -> str:
    compared = found.by_ways.values()
    series = (
        Series("synthetic records", _means(compared, "synthetic"), svg.SYNTHETIC),
        Series("bootstrap of the raw table", _means(compared, "bootstrap"), _BOOTSTRAP),
        Series("its two halves", _means(compared, "halves"), _HALVES),
    )
    return grouped_bars(
        GroupedBars(
            title="Total variation by the number of columns taken together",
            description="; ".join(
                f"{ways} ways: {own.synthetic.mean():.3f}, bootstrap {own.bootstrap.mean():.3f}"
                for ways, own in found.by_ways.items()
            ),
            axis="Columns taken together",
            upright="Mean total variation: 0 where equal, 1 where nothing is shared",
            labels=tuple(map(str, found.by_ways)),
            series=series,
        )
    )


def _means(compared: Iterable[ComparedSets], side: str) -> tuple[float, ...]:
    return tuple(float(getattr(each, side).mean()) for each in compared)


def _of_sets(found: Utility, ways: int, most: int, title: str) -> str:
    compared = found.by_ways[ways]
    worst = compared.worst(most)
    bars = [(named(found, compared, place), 100 * float(compared.synthetic[place])) for place in worst]
    return ranked_bars(
        RankedBars(
            title=title if most >= len(compared.sets) or ways > 1 else f"{title}, the farthest {most}",
            description="; ".join(f"{name}: {value:.2f} %" for name, value in bars),
            axis=_MARKED,
            bars=tuple(bars),
            unit=" %",
            marks=tuple(100 * float(compared.bootstrap[place]) for place in worst),
        )
    )


def named(found: Utility, compared: ComparedSets, place: int) -> str:
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
    return heat_map(
        HeatMap(
            title=title,
            description="A cell a pair of columns, and each column by itself on the diagonal.",
            scale="total variation; on the diagonal each column by itself",
            names=tuple(found.features[place] for place in shown),
            values=values[np.ix_(shown, shown)],
        )
    )


def _propensity(found: Propensity) -> str:
    edges = np.linspace(0.0, 1.0, BINS + 1)
    series = (
        Series("raw records", tuple(found.scores[0].tolist()), svg.NOISY),
        Series("synthetic records", tuple(found.scores[1].tolist()), svg.SYNTHETIC),
    )
    return grouped_bars(
        GroupedBars(
            title="Propensity scores",
            description=f"Mean squared error {found.mean_squared_error:.4f}; tables that don't differ are "
            f"expected to have {found.expected:.4f}.",
            axis="How sure a small tree is that a record is synthetic: 0 to 1, bins by their lower end",
            upright="Share of the records; the same heights in both colours where the tables don't differ",
            labels=tuple(f"{edge:.1f}" if place % 2 == 0 else "" for place, edge in enumerate(edges[:-1])),
            series=series,
        )
    )


def _told_apart(found: Discriminator, halves: Discriminator | None) -> str:
    curves = [RocCurve(f"synthetic records, area {found.auc:.3f}", _points(found), svg.SYNTHETIC)]
    if halves is not None:
        name = f"halves of the raw table, area {halves.auc:.3f}"
        curves.append(RocCurve(name, _points(halves), _BOOTSTRAP, "6 4"))
    return roc_chart(
        RocChart(
            title="How well a learner tells synthetic from raw records",
            description=f"Area under the curve {found.auc:.3f}; 0.5 is chance.",
            across="Share of the raw records that are called synthetic",
            up="Share of the synthetic records that are called so",
            curves=tuple(curves),
        )
    )


def _points(found: Discriminator) -> list[tuple[float, float]]:
    return [(float(across), float(up)) for across, up in found.curve.T]


def _prediction(found: Prediction, target: str) -> str:
    names = ("area under the curve", "F1", "accuracy")
    sides = (("raw records", found.real, svg.NOISY), ("synthetic records", found.synthetic, svg.SYNTHETIC))
    series = tuple(
        Series(f"learned from {name}", (own.auc, own.f1, own.accuracy), colour) for name, own, colour in sides
    )
    return grouped_bars(
        GroupedBars(
            title=f"Predicting {svg.shortened(target, 40)} for raw records set aside",
            description="; ".join(
                f"{name}: {real:.3f} and {made:.3f}"
                for name, real, made in zip(names, *(each.values for each in series), strict=True)
            ),
            axis="What the prediction is judged by",
            upright="0 to 1, the higher the better",
            labels=names,
            series=series,
        )
    )
