import argparse
import dataclasses
import json

import numpy as np
import pytest

from tests.benchmarks import fitted
from tests.benchmarks.fitted_scores import marginal_scores, uniques_hit, variation_of
from tests.benchmarks.fitted_tables import GENERATED, CellTable, table_named


def _table(cells, sizes):
    headers = tuple(f"c{place}" for place in range(len(sizes)))
    return CellTable("small", headers, np.array(cells), sizes)


def test_variation_is_half_the_summed_differences_of_shares():
    table = _table([[0, 0], [0, 1], [1, 1], [1, 1]], (2, 2))
    made = np.array([[0, 0], [1, 1]])
    assert variation_of(table, made, [0]) == 0
    assert variation_of(table, made, [0, 1]) == pytest.approx((0.25 + 0.25 + 0) / 2)
    assert variation_of(table, np.array([[-1, -1]]), [0]) == 1


def test_uniques_are_hit_by_whoever_is_like_them():
    real = np.array([[0, 0], [0, 1], [1, 1], [1, 1], [2, 2]])
    assert uniques_hit(real, np.array([[0, 1], [1, 1], [0, 1], [7, 7]])) == pytest.approx(1 / 3)
    assert uniques_hit(real, real) == 1


def test_the_score_of_a_table_with_itself_is_the_best():
    table = table_named("few")
    scores = marginal_scores(table, table.cells)
    assert scores == {"tvd1": 0, "tvd2": 0, "tvd3": 0, "k_marginal": 1000}


@pytest.mark.parametrize("name", ["xor2", "xor3", "sum3"])
def test_a_hidden_relation_shows_in_its_set_alone(name):
    table = table_named(name)
    (planted,) = table.planted
    shape = [table.sizes[column] for column in planted]
    keys = np.ravel_multi_index(tuple(table.cells[:, list(planted)].T), shape)
    counts = np.bincount(keys, minlength=np.prod(shape)).reshape(shape)
    assert np.abs(counts / counts.sum() - 1 / counts.size).sum() / 2 > 0.4
    margin = counts.sum(axis=0)
    assert np.abs(margin / margin.sum() - 1 / margin.size).sum() / 2 < 0.03


def test_a_missing_table_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("MARGINALIA_DATA", str(tmp_path))
    with pytest.raises(SystemExit, match=r"Skipped: .*adult-domain.json is missing"):
        table_named("adult13")


@pytest.mark.parametrize(
    "options", [[], ["--open"], ["--open", "--without", "other"], ["--without", "chains"]]
)
def test_a_line_says_what_was_asked_and_what_came_out(options, monkeypatch, capsys):
    small = _table(np.random.default_rng(1).integers(0, 3, (400, 3)), (3, 3, 3))
    monkeypatch.setitem(GENERATED, "small", lambda: small)
    monkeypatch.setattr("sys.argv", ["fitted", "small", "4", *options])
    assert fitted.main() == 0
    line = json.loads(capsys.readouterr().out)
    assert line["table"] == "small"
    assert 0 <= line["tvd1"] <= line["tvd2"] <= line["tvd3"] < 0.5
    assert line["records"] == pytest.approx(400, abs=60)


@pytest.mark.parametrize("lever", fitted.LEVERS)
def test_every_lever_can_be_taken_out_and_changes_the_records(lever):
    table = table_named("few" if lever in {"levels", "other"} else "xor2")
    table = dataclasses.replace(table, cells=table.cells[:3_000])
    options = {"epsilon": 10.0, "open": lever == "other", "target": False, "length": None, "threads": 1}
    made = [
        fitted.measured(table, argparse.Namespace(**options, without=without), 1)[1]
        for without in ([], [lever])
    ]
    assert made[0].shape != made[1].shape or np.any(made[0] != made[1])
