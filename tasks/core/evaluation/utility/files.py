"""The files of the measures of utility: `Utility` in, JSON, tables, charts and a summary in a folder out.

All of it is made from raw records and must stay in ``sensitive/``.
"""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from tasks.core.charts import svg, theme
from tasks.core.charts.bars import PERCENTAGES, Bar, Half, Series, bars, matrix
from tasks.core.charts.plot import Axes, Columns, Line, plot, proportion
from tasks.core.evaluation.utility.measures import BINS, LEAST_ROWS, ComparedSets, Discriminator, Utility
from tasks.core.evaluation.utility.table_pair import SEED
from tasks.core.tables.writing import Row, write_rows

#: Of more columns or sets, those that are farthest are drawn.
_MOST_BARS, _MOST_NAMES, _WORST = 40, 30, 10
_RAW = Series("raw records", theme.RELEASED)
_SYNTHETIC = Series("synthetic records", theme.SYNTHETIC)
#: What is held against the raw table, and what equally good records would be.
_SIDES = {
    "synthetic": _SYNTHETIC,
    "bootstrap": Series("bootstrap of the raw table", theme.SOFT),
    "halves": Series("two halves of the raw table", theme.STRIPE),
}
_SQUARE = (496, 420)
_WIDE = (theme.FILE_WIDTH, 220)
_MARKED = "Total variation in percent; the line across a bar is that of a bootstrap of the raw table"
_ZERO = "0 where both are equal, 1 where they share nothing"
_FEW = f"fewer than {LEAST_ROWS} rows in a table"
#: Of so many columns together: what a sentence and the name of a file call the sets.
_WORDS = {
    1: ("single columns", "columns"),
    2: ("pairs of columns", "pairs"),
    3: ("sets of three columns", "triples"),
}


class _Measure(NamedTuple):
    """What the files say of one measure: JSON (null: there was none), a sentence, charts by their files."""

    body: dict[str, Any] | None
    sentence: str
    charts: Mapping[str, str] = MappingProxyType({})


def write_utility(found: Utility, folder: Path, prefix: str) -> None:
    raw, synthetic = found.rows
    summary = [
        f"{synthetic:,} synthetic records against {raw:,} raw ones. This evaluation is made from raw "
        "records: it must stay on this machine.",
        *(_distances_sentence(ways, compared) for ways, compared in found.by_ways.items()),
    ]
    charts, measures = _charts_of_sets(found), _measures(found)
    for measure in measures.values():
        summary += [measure.sentence] if measure.sentence else []
        charts |= measure.charts
    body = to_dict(found, measures)
    texts = {"utility.json": json.dumps(body, indent=1, sort_keys=True, ensure_ascii=False) + "\n"}
    texts[f"{prefix}_utility_summary.txt"] = "\n".join(summary) + "\n"
    texts |= {f"{prefix}_{name}.svg": text for name, text in charts.items()}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    for ways, compared in found.by_ways.items():
        path = folder / f"{prefix}_total_variation_of_{_WORDS[ways][1]}.tsv"
        write_rows(path, _rows(found, compared, ways))


def to_dict(found: Utility, measures: Mapping[str, _Measure] | None = None) -> dict[str, Any]:
    """For JSON: plain numbers, texts, lists and dictionaries; null where there was nothing to measure."""
    measures = measures or _measures(found)
    return {
        "features": len(found.features),
        "rows": _by_table(found.rows),
        "seed": SEED,
        "total_variation": {str(ways): _distances(found, own) for ways, own in found.by_ways.items()},
        **{name: measure.body for name, measure in measures.items()},
    }


def _by_table(rows: tuple[int, int]) -> dict[str, int]:
    return dict(zip(("raw", "synthetic"), rows, strict=True))


def _names(found: Utility, compared: ComparedSets, place: int) -> list[str]:
    return [found.features[feature] for feature in compared.sets[place]]


def _distances(found: Utility, compared: ComparedSets) -> dict[str, Any]:
    sides = {side: getattr(compared, side) for side in _SIDES}
    return {
        "sets": len(compared.sets),
        "possible_sets": math.comb(len(found.features), len(compared.sets[0])),
        "mean": {side: float(own.mean()) for side, own in sides.items()},
        "largest": {side: float(own.max()) for side, own in sides.items()},
        "worst": [
            {"columns": _names(found, compared, place)}
            | {side: float(own[place]) for side, own in sides.items()}
            for place in compared.worst(_WORST)
        ],
    }


def _distances_sentence(ways: int, compared: ComparedSets) -> str:
    return (
        f"Total variation of {_WORDS[ways][0]} ({len(compared.sets):,}): {compared.synthetic.mean():.4f} on "
        f"average, at most {compared.synthetic.max():.4f}; a bootstrap of the raw table has "
        f"{compared.bootstrap.mean():.4f} on average, its two halves {compared.halves.mean():.4f}."
    )


def _rows(found: Utility, compared: ComparedSets, ways: int) -> list[Row]:
    """A line a set, the farthest first; of single columns also by what the propensity's tree goes."""
    told = found.propensity.told_by if ways == 1 and found.propensity is not None else None
    rows: list[Row] = [("columns", *_SIDES) + (() if told is None else ("told_by",))]
    for place in compared.worst(len(compared.sets)):
        values = [float(getattr(compared, side)[place]) for side in _SIDES]
        more = [] if told is None else [float(told[compared.sets[place][0]])]
        rows.append((" × ".join(_names(found, compared, place)), *values, *more))
    return rows


def _charts_of_sets(found: Utility) -> dict[str, str]:
    charts = {}
    if found.by_ways:
        charts["total_variation_by_ways"] = _by_ways(found)
        title = "Total variation of each column"
        if len(found.by_ways[1].sets) > _MOST_BARS:
            title += f", the farthest {_MOST_BARS}"
        charts["total_variation_of_columns"] = _of_sets(found, 1, _MOST_BARS, title)
    if 2 in found.by_ways:
        charts["total_variation_of_pairs"] = _of_pairs(found)
    if 3 in found.by_ways:
        title = "Sets of three columns that are farthest apart"
        charts["total_variation_of_worst_triples"] = _of_sets(found, 3, _WORST, title)
    return charts


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
    series = [
        Columns(
            own.name,
            [float(getattr(compared, side).mean()) for compared in found.by_ways.values()],
            own.colour,
            proportion,
        )
        for side, own in _SIDES.items()
    ]
    return plot(series, axes, size=_WIDE).as_file(_ZERO)


def _of_sets(found: Utility, ways: int, most: int, title: str) -> str:
    compared = found.by_ways[ways]
    rows = [
        Bar(
            " × ".join(_names(found, compared, place)),
            (100 * float(compared.synthetic[place]),),
            mark=100 * float(compared.bootstrap[place]),
        )
        for place in compared.worst(most)
    ]
    described = "; ".join(f"{row.label}: {row.values[0]:.2f} %" for row in rows)
    chart = bars(title, described, rows, [_SYNTHETIC], PERCENTAGES, axis=_MARKED, width=theme.FILE_WIDTH)
    return chart.as_file()


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
    return chart.as_file(f"{_ZERO}; diagonal: one column")


def _measures(found: Utility) -> dict[str, _Measure]:
    """A measure at a time, what was found, and what equally good records would get."""
    return {
        "k_marginal": _k_marginal(found),
        "propensity": _propensity(found),
        "discriminator": _discriminator(found),
        "prediction": _prediction(found),
    }


def _k_marginal(found: Utility) -> _Measure:
    scores = found.k_marginal_scores
    body = {"group": found.group, "sets": len(found.k_marginal.sets), **scores}
    if scores["synthetic"] is None:
        return _Measure(body, "NIST's k-marginal score: there are too few columns for it.")
    group = f" with {found.group}" if found.group else ""
    sentence = (
        f"NIST's k-marginal score, of pairs{group}: {scores['synthetic']:.0f} of 1000; the bootstrap has "
        f"{scores['bootstrap']:.0f}, the halves {scores['halves']:.0f}."
    )
    return _Measure(body, sentence)


def _propensity(found: Utility) -> _Measure:
    own = found.propensity
    if own is None:
        return _Measure(None, f"Propensity: not measured, as there are {_FEW}.")
    told = sorted(zip(found.features, own.told_by.tolist(), strict=True), key=lambda each: -each[1])
    body = {
        "rows": _by_table(own.rows),
        "mean_squared_error": own.mean_squared_error,
        "expected_without_difference": own.expected,
        "ratio": own.ratio,
        "told_by": [{"column": name, "share": share} for name, share in told[:_WORST] if share > 0],
    }
    sentence = (
        f"Propensity mean squared error: {own.mean_squared_error:.5f}. Of tables that do not differ one "
        f"expects {own.expected:.5f}."
    )
    edges = np.linspace(0.0, 1.0, BINS + 1)
    axes = Axes(
        title="Propensity scores",
        x="How sure a small tree is that a record is synthetic: 0 to 1, bins by their lower end",
        y="Share of the records",
        description=f"Mean squared error {own.mean_squared_error:.4f}; tables that don't differ are "
        f"expected to have {own.expected:.4f}.",
        places=[f"{edge:.1f}" if place % 2 == 0 else "" for place, edge in enumerate(edges[:-1])],
    )
    series = [
        Columns(one.name, [float(share) for share in scores], one.colour)
        for one, scores in zip((_RAW, _SYNTHETIC), own.scores, strict=True)
    ]
    note = "The heights are the same in both colours where the tables don't differ"
    return _Measure(body, sentence, {"propensity_scores": plot(series, axes, size=_WIDE).as_file(note)})


def _discriminator(found: Utility) -> _Measure:
    own, halves = found.told_apart, found.halves_told_apart
    if own is None:
        return _Measure(None, f"Discriminator: not measured, as there are {_FEW}.")
    body = {
        "rows": _by_table(own.rows),
        "auc": own.auc,
        "auc_of_halves": None if halves is None else halves.auc,
    }
    lines, chance = [_curve("synthetic records", own, 1)], ""
    if halves is not None:
        lines.append(_curve("halves of the raw table", halves, 0))
        chance = f" (the two halves of the raw table have {halves.auc:.3f})"
    sentence = (
        f"Discriminator: a learner tells synthetic from raw records with an area under the curve of "
        f"{own.auc:.3f}; 0.5 is chance{chance}."
    )
    axes = Axes(
        title="How well a learner tells synthetic from raw records",
        x="Share of the raw records that are called synthetic",
        y="Share of the synthetic records that are called so",
        top=1.0,
        description=f"Area under the curve {own.auc:.3f}; 0.5 is chance.",
    )
    lines.append(Line("chance, area 0.5", ((0.0, 0.0), (1.0, 1.0)), *theme.SERIES[4]))
    return _Measure(body, sentence, {"discriminator_roc": plot(lines, axes, size=_SQUARE).as_file()})


def _curve(name: str, found: Discriminator, look: int) -> Line:
    points = tuple((float(across), float(up)) for across, up in found.curve.T)
    return Line(f"{name}, area {found.auc:.3f}", points, *theme.SERIES[look])


def _prediction(found: Utility) -> _Measure:
    own, target = found.prediction, found.target
    if target is None:
        return _Measure(None, "")
    if own is None:
        sentence = (
            f"Train on synthetic, test on real: {target} can't be predicted here, as it has fewer than two "
            f"classes, or there are {_FEW} or no other columns."
        )
        return _Measure(None, sentence)
    body = {
        "target": target,
        "classes": own.classes,
        "rows": dict(zip(("raw", "synthetic", "set_aside"), own.rows, strict=True)),
        "learned_from_raw": vars(own.real),
        "learned_from_synthetic": vars(own.synthetic),
        "ratio": own.ratios(),
    }
    sentence = (
        f"Train on synthetic, test on real: {target} ({own.classes} classes) is predicted with an area of "
        f"{own.synthetic.auc:.3f} and an F1 of {own.synthetic.f1:.3f} after seeing synthetic records alone, "
        f"{own.real.auc:.3f} and {own.real.f1:.3f} after seeing raw ones."
    )
    names = {"auc": "area under the curve", "f1": "F1", "accuracy": "accuracy"}
    real, made = ([getattr(score, key) for key in names] for score in (own.real, own.synthetic))
    told = zip(names.values(), real, made, strict=True)
    axes = Axes(
        title=f"Predicting {svg.shortened(target, 40)} for raw records set aside",
        x="What the prediction is judged by",
        y="0 to 1, the higher the better",
        description="; ".join(f"{name}: {raw:.3f} and {synthetic:.3f}" for name, raw, synthetic in told),
        places=list(names.values()),
    )
    series = [
        Columns(f"learned from {one.name}", values, one.colour, proportion)
        for one, values in ((_RAW, real), (_SYNTHETIC, made))
    ]
    return _Measure(body, sentence, {"prediction": plot(series, axes, size=_WIDE).as_file()})
