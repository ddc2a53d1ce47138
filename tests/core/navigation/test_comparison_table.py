"""The table of runs side by side: what is shown of settings, failures and figures."""

import json

import pytest

from tasks.core.navigation.comparison import (
    DIFFERING_SETTINGS,
    comparison_table,
    render_comparison,
    write_comparison_tsv,
)
from tasks.core.navigation.run_figures import RunFigures, read_run
from tests.core.navigation.test_comparison import KEPT, row, write_release
from tests.oracles.pages import Page, check


@pytest.fixture
def two(tmp_path):
    return [read_run(write_release(tmp_path / name, error)) for name, error in (("a", 1.5), ("b", 0.5))]


def test_the_best_of_a_row_is_that_of_its_better_end(two):
    assert row(two, KEPT).best == (False, True)
    assert row(two, "mean count").best == (False, False)
    higher = [
        RunFigures(label, figures={"raw.mean_preservation": value})
        for label, value in (("a", 0.5), ("b", 0.75))
    ]
    assert row(higher, "mean count preservation").best == (False, True)


def test_ties_share_the_mark_and_a_row_of_equals_has_none():
    def runs(*values):
        return [
            RunFigures(str(place), figures={"released.missed_pct": value})
            for place, value in enumerate(values)
        ]

    assert row(runs(1.0, 1.0, 2.0), KEPT).best == (True, True, False)
    assert row(runs(1.0, 1.0), KEPT).best == (False, False)
    assert row(runs(1.0, None), KEPT).best == (False, False)


def test_figures_of_a_row_have_equally_many_decimals_and_none_is_rounded_to_nothing():
    def texts(*values):
        runs = [RunFigures(str(i), figures={"raw.mean_error": value}) for i, value in enumerate(values)]
        return row(runs, "mean absolute error, of those kept").texts

    assert texts(49.507, 32.912, 11.7, None) == ("49.51", "32.91", "11.70", "")
    assert texts(134478.0, 10.0) == ("134,478", "10")
    assert texts(0.43346, 0.5, 0.0) == ("0.4335", "0.5000", "0.0000")
    assert texts(1234.5, 0.0004) == ("1,234", "4·10⁻⁴")


def test_the_synthesis_mode_is_among_the_settings_that_differ(tmp_path):
    folders = [write_release(tmp_path / name) for name in ("a", "b")]
    path = folders[1] / "configuration.json"
    body = json.loads(path.read_text())
    path.write_text(json.dumps(body | {"synthesis": {"mode": "unseeded", "random_seed": None}}))
    rows = comparison_table([read_run(folder) for folder in folders])
    told = {each.words: each.texts for each in rows if each.group == DIFFERING_SETTINGS}
    assert told["synthesis_mode"] == ("row_seeded", "unseeded")


def test_a_failed_run_is_listed_as_failed_without_figures(two, tmp_path):
    runs = [*two, RunFigures("2_broken", has_failed=True)]
    assert row(runs, "outcome").texts == ("done", "done", "failed")
    assert row(runs, "protection").texts[2] == ""
    assert row(runs, KEPT).texts[2] == "" and row(runs, KEPT).best == (False, True, False)
    page = check(render_comparison(runs, "t"))
    assert "2_broken" in page.text and "C failed and has no figures." in page.text
    assert "were not recorded beside" not in page.text
    write_comparison_tsv(runs, tmp_path / "t.tsv")
    assert "outcome\t\tdone\tdone\tfailed" in (tmp_path / "t.tsv").read_text()
    assert "outcome" not in Page(render_comparison(two, "t")).text
    assert "dataset" not in [each.words for each in comparison_table(runs)]


def of_columns(label, *columns, regime="syndiffix", **settings):
    given = {"input.use_columns": json.dumps(columns)} | settings
    figures = {"raw.mean_error": float(len(columns) + len(settings))}
    return RunFigures(label, regime=regime, settings=tuple(given.items()), figures=figures)


def test_runs_of_other_columns_are_not_ranked():
    error = "mean absolute error, of those kept"
    runs = [of_columns("a", "x", "y", n="1"), of_columns("b", "y", "x")]
    assert row(runs, error).best == (False, True), "their order does not matter"
    assert "of different columns" not in render_comparison(runs, "")
    runs = [of_columns("a", "x", "y"), of_columns("b", "x")]
    assert row(runs, error).best == (False, False)
    assert "of different columns" in render_comparison(runs, "")


def test_what_syndiffix_alone_has_is_told_only_where_its_runs_differ():
    def told(*runs):
        return [each.words for each in comparison_table(runs) if each.group == DIFFERING_SETTINGS]

    other = of_columns("k", "x", regime="k_anonymity", resolution="10")
    assert told(of_columns("a", "x", layer_sd="1"), other) == ["resolution"]
    assert told(of_columns("a", "x", layer_sd="1"), of_columns("b", "x", layer_sd="2"), other) == [
        "layer_sd",
        "resolution",
    ]
    assert told(of_columns("a", "x", layer_sd="1"), of_columns("b", "x")) == ["layer_sd"]


def test_fitted_releases_are_compared_by_what_noise_alone_says_of_them(tmp_path):
    folders = [write_release(tmp_path / name) for name in ("a", "b")]
    for folder, two_way in zip(folders, (0.02, 0.01), strict=True):
        fit = {"fit": {"one_way": 0.004, "two_way": two_way, "guessed": 3, "pairs": 55, "tables": []}}
        (folder / "evaluation.json").write_text(json.dumps(fit))
    found = row([read_run(folder) for folder in folders], "expected error of two columns, share")
    assert found.best == (False, True)
