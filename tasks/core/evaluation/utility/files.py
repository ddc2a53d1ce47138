"""The files of the measures of utility: `Utility` in, JSON, tables, charts and a summary in a folder out.

All of it is made from raw records and must stay in ``sensitive/``.
"""

import json
import math
from pathlib import Path
from typing import Any

from tasks.core.evaluation.utility.charts import set_name, utility_charts
from tasks.core.evaluation.utility.distances import FeatureSet
from tasks.core.evaluation.utility.measures import ComparedSets, Utility
from tasks.core.evaluation.utility.sentences import utility_sentences
from tasks.core.evaluation.utility.table_pair import SEED
from tasks.core.tables.delimited import Row, write_rows

_WORST = 10
_TABLES = {1: "columns", 2: "pairs", 3: "triples"}
_SIDES = ("synthetic", "bootstrap", "halves")


def write_utility(found: Utility, folder: Path, prefix: str) -> None:
    """Write ``utility.json`` and, with a prefix, tables, charts and a summary."""
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
        "k_marginal": _k_marginal(found),
        "propensity": _propensity(found),
        "discriminator": _discriminator(found),
        "prediction": _prediction(found),
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


def _k_marginal(found: Utility) -> dict[str, Any]:
    about = {"group": found.about.group, "sets": len(found.k_marginal.sets)}
    return {**about, **found.k_marginal_scores}


def _propensity(found: Utility) -> dict[str, Any] | None:
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


def _discriminator(found: Utility) -> dict[str, Any] | None:
    own, halves = found.told_apart, found.halves_told_apart
    if own is None:
        return None
    return {
        "rows": dict(zip(("raw", "synthetic"), own.rows, strict=True)),
        "auc": own.auc,
        "auc_of_halves": None if halves is None else halves.auc,
    }


def _prediction(found: Utility) -> dict[str, Any] | None:
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
