"""All measures together: equal figures each time, their files, and what the judge of the field says."""

import json
import math
import sys
from importlib import util
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from tasks.core.evaluation.utility import measures as module
from tasks.core.evaluation.utility.files import to_dict, write_utility
from tasks.core.evaluation.utility.measures import measure_utility
from tasks.core.evaluation.utility.table_pair import TablePair, table_pair
from tasks.core.tables.writing import read_rows

NAMES = ("town", "work", "a <b> & c", "smoker")
ABOUT = ("smoker", "town")
CHARTS = {
    "total_variation_by_ways", "total_variation_of_columns", "total_variation_of_pairs",
    "total_variation_of_worst_triples", "propensity_scores", "discriminator_roc", "prediction",
}  # fmt: skip
TABLES = {f"total_variation_of_{sets}" for sets in ("columns", "pairs", "triples")}


def people(number: int, seed: int, link: float) -> list[Any]:
    draw = np.random.default_rng(seed)
    town = draw.integers(1, 5, number)
    smoker = 1 + (draw.random(number) < np.where(town > 2, 0.5 + link, 0.5 - link))
    return [town, draw.integers(0, 4, number), draw.integers(1, 3, number), smoker]


def pair(synthetic: int = 700, names: tuple[str, ...] = NAMES) -> TablePair:
    width = len(names)
    return table_pair(names, people(900, 1, 0.4)[:width], people(synthetic, 2, 0.1)[:width])


@pytest.fixture(scope="module")
def found():
    return measure_utility(pair(), *ABOUT)


def test_what_is_lost_stands_beside_what_chance_would_lose(found):
    assert list(found.by_ways) == [1, 2, 3] and found.rows == (900, 700)
    pairs = found.by_ways[2]
    worst = pairs.worst(1)[0]
    assert pairs.sets[worst] == (0, 3), "town and smoker go together in the raw table alone"
    assert pairs.synthetic[worst] > 4 * pairs.bootstrap[worst]
    assert found.told_apart is not None and found.halves_told_apart is not None
    assert found.told_apart.auc > found.halves_told_apart.auc + 0.1
    assert found.prediction is not None and found.prediction.classes == 2
    scores = {side: score or 0.0 for side, score in found.k_marginal_scores.items()}
    assert scores["synthetic"] < scores["halves"] < scores["bootstrap"] < 1000
    assert found.k_marginal.sets == ((0, 1, 2), (0, 1, 3), (0, 2, 3))


def test_equal_tables_give_equal_figures(found):
    assert to_dict(measure_utility(pair(), *ABOUT)) == to_dict(found)


@pytest.mark.slow  # on a busy machine threads that wait for each other take a minute
def test_figures_are_equal_whatever_the_threads(found):
    assert to_dict(measure_utility(pair(), *ABOUT, threads=2)) == to_dict(found)


def test_progress_goes_to_the_end_of_each_part():
    told: list[tuple[str, float]] = []
    measure_utility(pair(), report=lambda what, done: told.append((what, done)))
    parts = ("marginals", "propensity", "discriminator", "prediction")
    assert tuple(dict.fromkeys(what for what, _ in told)) == parts
    for part in parts:
        own = [done for what, done in told if what == part]
        assert own == sorted(own) and own[-1] == 1.0


def test_large_tables_are_drawn_from_and_that_is_said(monkeypatch):
    monkeypatch.setattr(module, "MOST_ROWS", 100)
    drawn = to_dict(measure_utility(pair()))
    assert drawn["rows"] == {"raw": 100, "synthetic": 100}
    assert drawn["propensity"]["rows"] == {"raw": 100, "synthetic": 100}
    assert drawn["prediction"] is None


def test_the_files_say_all_of_it(found, tmp_path):
    write_utility(found, tmp_path, "p")
    names = {path.name for path in tmp_path.iterdir()}
    svgs, tsvs = ({f"p_{name}.{end}" for name in own} for own, end in ((CHARTS, "svg"), (TABLES, "tsv")))
    assert names == {"utility.json", "p_utility_summary.txt"} | svgs | tsvs
    body = json.loads((tmp_path / "utility.json").read_text())
    worst = body["total_variation"]["2"]["worst"][0]
    assert worst["columns"] == ["town", "smoker"]
    assert body["total_variation"]["3"]["sets"] == body["total_variation"]["3"]["possible_sets"] == 4
    rows = read_rows(tmp_path / "p_total_variation_of_pairs.tsv")
    assert rows[0] == ["columns", "synthetic", "bootstrap", "halves"] and len(rows) == 7
    assert rows[1][0] == "town × smoker" and float(rows[1][1]) == worst["synthetic"]
    told = read_rows(tmp_path / "p_total_variation_of_columns.tsv")
    assert math.isclose(sum(float(row[4]) for row in told[1:]), 1.0)
    summary = (tmp_path / "p_utility_summary.txt").read_text()
    assert "must stay on this machine" in summary and f"{body['discriminator']['auc']:.3f}" in summary
    for path in tmp_path.glob("*.svg"):
        root = ElementTree.fromstring(path.read_text())
        texts = [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]
        assert texts and {"width", "height", "viewBox"} <= set(root.attrib)
        if "columns" in path.name or "pairs" in path.name:
            assert "a <b> & c" in texts


@pytest.mark.parametrize(("width", "synthetic"), [(1, 700), (2, 700), (4, 0), (4, 1), (1, 0), (4, 49)])
def test_tables_of_few_columns_or_records_have_files_too(width, synthetic, tmp_path):
    few = measure_utility(pair(synthetic, NAMES[:width]), target="town")
    write_utility(few, tmp_path, "p")
    body = json.loads((tmp_path / "utility.json").read_text())
    assert list(body["total_variation"]) == [str(ways) for ways in range(1, min(width, 3) + 1)]
    assert (body["discriminator"] is None) == (synthetic < 50)
    assert (body["k_marginal"]["synthetic"] is None) == (width == 1)
    if synthetic == 0:
        assert body["total_variation"]["1"]["mean"]["synthetic"] == 1.0


def test_forty_columns_are_measured_by_drawn_sets(monkeypatch, tmp_path):
    monkeypatch.setattr(module.feature_sets, "__defaults__", (30,))
    draw = np.random.default_rng(1)
    tables = [[draw.integers(0, 3, 80) for _ in range(40)] for _ in range(2)]
    many = measure_utility(table_pair([f"column {n}" for n in range(40)], *tables))
    body = to_dict(many)["total_variation"]
    assert (body["1"]["sets"], body["2"]["sets"], body["2"]["possible_sets"]) == (30, 30, 780)
    write_utility(many, tmp_path, "p")


def _judge(shared_data: Path) -> ModuleType:
    """The judge of utility, which lies beside the tables and is no part of the project."""
    path = shared_data.parent / "judge" / "score.py"
    if not path.is_file():
        pytest.skip(f"needs the judge at {path}")
    spec = util.spec_from_file_location("judge_of_utility", path)
    assert spec is not None and spec.loader is not None
    judge = util.module_from_spec(spec)
    sys.modules[spec.name] = judge
    spec.loader.exec_module(judge)
    return judge


@pytest.mark.needs_shared
def test_the_figures_are_those_of_the_judge(shared_data):
    import pandas as pd

    judge = _judge(shared_data)
    columns = ["age", "workclass", "education-num", "marital-status", "race", "sex", "income>50K"]
    table = pd.read_csv(shared_data / "adult.csv")[columns].sample(15000, random_state=1)
    table["age"] //= 5
    real, holdout, made = (
        part.reset_index(drop=True) for part in (table[:6000], table[6000:9000], table[9000:])
    )
    made["age"] = made["age"].sample(frac=1, random_state=3).to_numpy()
    said = judge.score(real, made, holdout, target="income>50K", group="race", full=False)
    codes = [[side[name].to_numpy() + 1 for name in columns] for side in (real, made)]
    found = measure_utility(table_pair(columns, *codes), "income>50K", "race")
    for ways, own in found.by_ways.items():
        assert own.synthetic.mean() == pytest.approx(said[f"tvd{ways}"], abs=1e-12)
        assert own.synthetic.max() == pytest.approx(said[f"tvd{ways}_max"], abs=1e-12)
    assert found.k_marginal_scores["synthetic"] == pytest.approx(said["kmarg"], abs=1e-9)
    assert found.propensity is not None and found.told_apart is not None and found.prediction is not None
    assert found.propensity.mean_squared_error == pytest.approx(said["pmse"], rel=0.02)
    # Other rows are drawn, and other records are set aside: four standard errors.
    assert found.told_apart.auc == pytest.approx(said["disc_auc"], abs=0.02)
    assert found.prediction.real.auc == pytest.approx(said["ml_auc"] / said["ml_auc_ratio"], abs=0.05)
    ratios = found.prediction.ratios()
    assert ratios["auc"] == pytest.approx(said["ml_auc_ratio"], abs=0.03)
    assert ratios["f1"] == pytest.approx(said["ml_f1_ratio"], abs=0.08)
