"""The files of the measures of utility: `Utility` in, JSON, tables, charts and a summary in a folder out.

All of it is made from raw records and must stay in ``sensitive/``.
"""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tasks.core.charts import svg, theme
from tasks.core.charts.bars import PERCENTAGES, Bar, Bars, Series, bars
from tasks.core.charts.matrix import Half, matrix
from tasks.core.charts.plot import Axes, Columns, Line, plot, proportion
from tasks.core.evaluation.utility.learned import BINS, LEAST_ROWS, Discriminator, Prediction, Propensity
from tasks.core.evaluation.utility.measures import ComparedSets, FeatureSet, Utility
from tasks.core.evaluation.utility.table_pair import SEED
from tasks.core.tables.writing import Row, write_rows

#: Of more columns or sets, those that are farthest are drawn.
_MOST_BARS, _MOST_NAMES, _WORST = 40, 30, 10
_RAW = Series("raw records", theme.RELEASED)
_SYNTHETIC = Series("synthetic records", theme.SYNTHETIC)
_SQUARE = (496, 420)
_WIDE = (theme.FILE_WIDTH, 220)
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
        yield "propensity_scores", _propensity_chart(found.propensity)
    if found.told_apart is not None:
        yield "discriminator_roc", _told_apart(found.told_apart, found.halves_told_apart)
    if found.prediction is not None:
        yield "prediction", _prediction_chart(found.prediction, found.about.target or "")


def _by_ways(found: Utility) -> str:
    axes = Axes(
        title="Total variation by the number of columns taken together",
        x="Columns taken together",
        y="Mean total variation",
        description="; ".join(
            f"{ways} ways: {own.synthetic.mean():.3f}, bootstrap {own.bootstrap.mean():.3f}"
            for ways, own in found.by_ways.items()
        ),
        places=[str(ways) for ways in found.by_ways],
    )
    compared = found.by_ways.values()
    series = [
        Columns(
            _SYNTHETIC.name, [float(own.synthetic.mean()) for own in compared], _SYNTHETIC.colour, proportion
        ),
        Columns(
            "bootstrap of the raw table",
            [float(own.bootstrap.mean()) for own in compared],
            theme.SOFT,
            proportion,
        ),
        Columns(
            "two halves of the raw table",
            [float(own.halves.mean()) for own in compared],
            theme.STRIPE,
            proportion,
        ),
    ]
    return plot(series, axes, size=_WIDE).as_file("0 where both are equal, 1 where they share nothing")


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
    chart = matrix(
        title=title,
        description="A cell a pair of columns, and each column by itself on the diagonal.",
        names=[found.features[place] for place in shown],
        above=Half(values[np.ix_(shown, shown)], theme.RARE, white_from=0.55, largest=largest),
        has_diagonal=True,
    )
    return chart.as_file("0 where both are equal, 1 where they share nothing; diagonal: one column")


def _propensity_chart(found: Propensity) -> str:
    edges = np.linspace(0.0, 1.0, BINS + 1)
    axes = Axes(
        title="Propensity scores",
        x="How sure a small tree is that a record is synthetic: 0 to 1, bins by their lower end",
        y="Share of the records",
        description=f"Mean squared error {found.mean_squared_error:.4f}; tables that don't differ are "
        f"expected to have {found.expected:.4f}.",
        places=[f"{edge:.1f}" if place % 2 == 0 else "" for place, edge in enumerate(edges[:-1])],
    )
    series = [
        Columns(one.name, [float(share) for share in scores], one.colour)
        for one, scores in zip((_RAW, _SYNTHETIC), found.scores, strict=True)
    ]
    return plot(series, axes, size=_WIDE).as_file(
        "The heights are the same in both colours where the tables don't differ"
    )


def _told_apart(found: Discriminator, halves: Discriminator | None) -> str:
    lines = [Line(f"synthetic records, area {found.auc:.3f}", _points(found), *theme.SERIES[1])]
    if halves is not None:
        lines.append(
            Line(f"halves of the raw table, area {halves.auc:.3f}", _points(halves), *theme.SERIES[0])
        )
    axes = Axes(
        title="How well a learner tells synthetic from raw records",
        x="Share of the raw records that are called synthetic",
        y="Share of the synthetic records that are called so",
        top=1.0,
        description=f"Area under the curve {found.auc:.3f}; 0.5 is chance.",
    )
    chance = Line("chance, area 0.5", ((0.0, 0.0), (1.0, 1.0)), *theme.SERIES[4])
    return plot([*lines, chance], axes, size=_SQUARE).as_file()


def _points(found: Discriminator) -> tuple[tuple[float, float], ...]:
    return tuple((float(across), float(up)) for across, up in found.curve.T)


def _prediction_chart(found: Prediction, target: str) -> str:
    measures = [
        ("area under the curve", found.real.auc, found.synthetic.auc),
        ("F1", found.real.f1, found.synthetic.f1),
        ("accuracy", found.real.accuracy, found.synthetic.accuracy),
    ]
    names, real, made = zip(*measures, strict=True)
    axes = Axes(
        title=f"Predicting {svg.shortened(target, 40)} for raw records set aside",
        x="What the prediction is judged by",
        y="0 to 1, the higher the better",
        description="; ".join(f"{name}: {real:.3f} and {made:.3f}" for name, real, made in measures),
        places=names,
    )
    series = [
        Columns(f"learned from {one.name}", values, one.colour, proportion)
        for one, values in ((_RAW, real), (_SYNTHETIC, made))
    ]
    return plot(series, axes, size=_WIDE).as_file()


_FEW = f"fewer than {LEAST_ROWS} rows in a table"


def utility_sentences(found: Utility) -> list[str]:
    """A sentence a measure: what was found, and what equally good records would get."""
    return list(_sentences(found))


def _sentences(found: Utility) -> Iterator[str]:
    raw, synthetic = found.rows
    yield (
        f"{synthetic:,} synthetic records against {raw:,} raw ones. This evaluation is made from raw "
        "records: it must stay on this machine."
    )
    for ways, own in found.by_ways.items():
        yield (
            f"Total variation of {_sets(ways, len(own.sets))}: {own.synthetic.mean():.4f} on average, at "
            f"most {own.synthetic.max():.4f}; a bootstrap of the raw table has {own.bootstrap.mean():.4f} on "
            f"average, its two halves {own.halves.mean():.4f}."
        )
    yield _k_marginal_sentence(found)
    yield _propensity_sentence(found)
    yield _discriminator_sentence(found)
    if found.about.target is not None:
        yield _prediction_sentence(found)


def _sets(ways: int, number: int) -> str:
    words = {1: "single columns", 2: "pairs of columns", 3: "sets of three columns"}
    return f"{words[ways]} ({number:,})"


def _k_marginal_sentence(found: Utility) -> str:
    scores = found.k_marginal_scores
    if scores["synthetic"] is None:
        return "NIST's k-marginal score: there are too few columns for it."
    group = f" with {found.about.group}" if found.about.group else ""
    return (
        f"NIST's k-marginal score, of pairs{group}: {scores['synthetic']:.0f} of 1000; the bootstrap has "
        f"{scores['bootstrap']:.0f}, the halves {scores['halves']:.0f}."
    )


def _propensity_sentence(found: Utility) -> str:
    own = found.propensity
    if own is None:
        return f"Propensity: not measured, as there are {_FEW}."
    return (
        f"Propensity mean squared error: {own.mean_squared_error:.5f}. Of tables that do not differ one "
        f"expects {own.expected:.5f}."
    )


def _discriminator_sentence(found: Utility) -> str:
    own, halves = found.told_apart, found.halves_told_apart
    if own is None:
        return f"Discriminator: not measured, as there are {_FEW}."
    chance = "" if halves is None else f" (the two halves of the raw table have {halves.auc:.3f})"
    return (
        f"Discriminator: a learner tells synthetic from raw records with an area under the curve of "
        f"{own.auc:.3f}; 0.5 is chance{chance}."
    )


def _prediction_sentence(found: Utility) -> str:
    own = found.prediction
    if own is None:
        return (
            f"Train on synthetic, test on real: {found.about.target} can't be predicted here, as it has "
            f"fewer than two classes, or there are {_FEW} or no other columns."
        )
    return (
        f"Train on synthetic, test on real: {found.about.target} ({own.classes} classes) is predicted with "
        f"an area of {own.synthetic.auc:.3f} and an F1 of {own.synthetic.f1:.3f} after seeing synthetic "
        f"records alone, {own.real.auc:.3f} and {own.real.f1:.3f} after seeing raw ones."
    )


_WORST = 10
_TABLES = {1: "columns", 2: "pairs", 3: "triples"}
_SIDES = ("synthetic", "bootstrap", "halves")


def write_utility(found: Utility, folder: Path, prefix: str) -> None:
    texts = {"utility.json": json.dumps(to_dict(found), indent=1, sort_keys=True, ensure_ascii=False) + "\n"}
    texts[f"{prefix}_utility_summary.txt"] = "\n".join(utility_sentences(found)) + "\n"
    texts |= {f"{prefix}_{name}.svg": text for name, text in utility_charts(found).items()}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    for ways, compared in found.by_ways.items():
        write_rows(folder / f"{prefix}_total_variation_of_{_TABLES[ways]}.tsv", _rows(found, compared, ways))


def to_dict(found: Utility) -> dict[str, Any]:
    """For JSON: plain numbers, texts, lists and dictionaries; null where there was nothing to measure."""
    return {
        "features": len(found.features),
        "rows": dict(zip(("raw", "synthetic"), found.rows, strict=True)),
        "seed": SEED,
        "total_variation": {str(ways): _distances(found, own) for ways, own in found.by_ways.items()},
        "k_marginal": _k_marginal_json(found),
        "propensity": _propensity_json(found),
        "discriminator": _discriminator_json(found),
        "prediction": _prediction_json(found),
    }


def _distances(found: Utility, compared: ComparedSets) -> dict[str, Any]:
    sides = {side: getattr(compared, side) for side in _SIDES}
    return {
        "sets": len(compared.sets),
        "possible_sets": math.comb(len(found.features), len(compared.sets[0])),
        "mean": {side: float(own.mean()) for side, own in sides.items()},
        "largest": {side: float(own.max()) for side, own in sides.items()},
        "worst": [
            {"columns": _names(found, compared.sets[place]), **_at(sides, place)}
            for place in compared.worst(_WORST)
        ],
    }


def _at(sides: dict[str, Any], place: int) -> dict[str, float]:
    return {side: float(own[place]) for side, own in sides.items()}


def _names(found: Utility, features: FeatureSet) -> list[str]:
    return [found.features[feature] for feature in features]


def _k_marginal_json(found: Utility) -> dict[str, Any]:
    about = {"group": found.about.group, "sets": len(found.k_marginal.sets)}
    return {**about, **found.k_marginal_scores}


def _propensity_json(found: Utility) -> dict[str, Any] | None:
    own = found.propensity
    if own is None:
        return None
    told = sorted(zip(found.features, own.told_by.tolist(), strict=True), key=lambda each: -each[1])
    return {
        "rows": dict(zip(("raw", "synthetic"), own.rows, strict=True)),
        "mean_squared_error": own.mean_squared_error,
        "expected_without_difference": own.expected,
        "ratio": own.ratio,
        "told_by": [{"column": name, "share": share} for name, share in told[:_WORST] if share > 0],
    }


def _discriminator_json(found: Utility) -> dict[str, Any] | None:
    own, halves = found.told_apart, found.halves_told_apart
    if own is None:
        return None
    return {
        "rows": dict(zip(("raw", "synthetic"), own.rows, strict=True)),
        "auc": own.auc,
        "auc_of_halves": None if halves is None else halves.auc,
    }


def _prediction_json(found: Utility) -> dict[str, Any] | None:
    own = found.prediction
    if own is None:
        return None
    return {
        "target": found.about.target,
        "classes": own.classes,
        "rows": dict(zip(("raw", "synthetic", "set_aside"), own.rows, strict=True)),
        "learned_from_raw": vars(own.real),
        "learned_from_synthetic": vars(own.synthetic),
        "ratio": own.ratios(),
    }


def _rows(found: Utility, compared: ComparedSets, ways: int) -> list[Row]:
    """A line a set, the farthest first; of single columns also by what the propensity's tree goes."""
    told = found.propensity.told_by if ways == 1 and found.propensity is not None else None
    header = ("columns", *_SIDES) + (() if told is None else ("told_by",))
    rows: list[Row] = [header]
    for place in compared.worst(len(compared.sets)):
        values = [float(getattr(compared, side)[place]) for side in _SIDES]
        more = [] if told is None else [float(told[compared.sets[place][0]])]
        rows.append((set_name(found, compared, place), *values, *more))
    return rows
