"""Runs side by side: read from their folders, one table, one page."""

import csv
import json
import re
import xml.etree.ElementTree as ET

import pytest

from tasks.core.errors import ParameterError
from tasks.core.metadata.errata import ERRATA, Erratum, errata_markdown
from tasks.core.navigation.comparison import (
    DIFFERING_SETTINGS,
    MOST_DRAWN,
    RUNS,
    comparison_charts,
    comparison_table,
    letters_of_runs,
    render_comparison,
    write_comparison_tsv,
)
from tasks.core.navigation.run_figures import RunFigures, read_run
from tests.oracles.pages import HOSTILE, Page, check

KEPT = "reported combinations that no synthetic record holds, %"


def by_length(error):
    names = {"missed": 5, "reported": 10, "mean_error": error, "preservation": 0.9}
    return [{"length": length, **names} for length in (1, 2)]


def by_count(error):
    rows = [{"bin": bound, "combinations": 4, "proportional_error": error} for bound in (10, 40)]
    return [*rows, {"bin": 20, "combinations": 0, "proportional_error": 0.0}]


def write_release(folder, error=1.5, *, regime="k_anonymity", dataset="survey", **settings):
    folder.mkdir(parents=True)
    statement = {"private": regime != "k_anonymity", "regime": regime, "dataset": dataset}
    bodies = {
        "evaluation.json": {
            "summary": {"missed_pct": 10 * error, "mean_error": error, "mean_count": 40.0},
            "by_length": by_length(error),
            "by_count": by_count(error),
            "noise": [],
            "fit": {"one_way": 0.004, "two_way": error / 100, "guessed": 3, "tables": []},
        },
        "privacy.json": statement | {"synthesis": {"mode": settings.get("mode", "row_seeded")}},
        "configuration.json": {
            "dataset": dataset,
            "output_dir": "/somewhere",
            "reporting_resolution": settings.get("resolution", 10),
            "reporting_length": 3,
            "report": {"title": folder.name},
            "protection": {"regime": regime},
            "synthesis": {"mode": "row_seeded", "random_seed": settings.get("seed")},
        },
        "MANIFEST.json": {
            "dataset": dataset,
            "vintage": "2024-05",
            "files": [
                {"file": "my_synthetic_microdata.tsv", "rows": 123},
                {"file": "my_reportable_aggregates.tsv", "rows": 4567},
            ],
        },
    }
    for name, body in bodies.items():
        (folder / name).write_text(json.dumps(body), encoding="utf-8")
    return folder


def write_raw(folder, error=2.5):
    folder.mkdir(parents=True)
    length = {"length": 1, "reference": 10, "suppressed": 2, "mean_error": error}
    synthetic = {
        "summary": {"suppressed_pct": 20.0, "mean_error": error},
        "leakage": {"leaked": 0, "leaked_anywhere": 3},
        "by_length": [length],
        "leakage_by_length": [{"length": 1, "leaked_anywhere": 3}],
        "preservation_by_length": [{"length": 1, "preservation": 0.5}],
        "preservation_by_count": by_count(0.25),
    }
    body = {
        "resolution": 10,
        "synthetic": synthetic,
        "reportable": {"summary": {"suppressed_pct": 5.0}},
        "synthetic_against_reportable": {"summary": {"suppressed_pct": 7.0, "mean_error": 9.0}},
        "total_variation": [{"length": 1, "marginals": 3, "mean": 0.125, "largest": 0.5}],
    }
    (folder / "evaluation.json").write_text(json.dumps(body), encoding="utf-8")
    return folder


@pytest.fixture
def two(tmp_path):
    return [
        read_run(write_release(tmp_path / "a", 1.5, resolution=10)),
        read_run(write_release(tmp_path / "b", 0.5, resolution=50)),
    ]


def row(runs, words):
    [found] = [each for each in comparison_table(runs) if each.words == words]
    return found


def test_a_release_is_read_with_its_figures_settings_and_sizes(two):
    run = two[0]
    assert (run.label, run.dataset, run.vintage) == ("a", "survey", "2024-05")
    assert (run.regime, run.mode, run.is_raw) == ("k_anonymity", "row_seeded", False)
    assert run.figures["released.mean_error"] == 1.5
    assert run.figures["size.synthetic_records"] == 123
    assert run.figures["size.reported_combinations"] == 4567
    assert run.figures["raw.leaked"] is None
    assert [each["bin"] for each in run.by_count] == [10, 20, 40]
    assert dict(run.settings)["reporting_resolution"] == "10"


def test_a_sensitive_evaluation_is_read_with_each_comparison_under_its_own_name(tmp_path):
    run = read_run(write_raw(tmp_path / "evaluation"), "here")
    assert (run.label, run.is_raw, run.regime) == ("here", True, "")
    assert run.figures["raw.mean_error"] == 2.5
    assert run.figures["reported.suppressed_pct"] == 5.0
    assert run.figures["released.missed_pct"] == 7.0
    assert run.figures["released.mean_error"] == 9.0
    assert run.figures["raw.leaked_anywhere"] == 3
    assert run.figures["raw.total_variation_1"] == 0.125
    assert run.by_length == (
        {
            "length": 1,
            "reference": 10,
            "suppressed": 2,
            "mean_error": 2.5,
            "preservation": 0.5,
            "leaked_anywhere": 3,
        },
    )


def test_a_seed_is_a_setting_only_where_the_release_holds_it(tmp_path):
    shown = read_run(write_release(tmp_path / "public", seed=7))
    masked = read_run(write_release(tmp_path / "masked", seed="**********"))
    raw = write_raw(tmp_path / "raw")
    (raw / "configuration.json").write_text(
        json.dumps({"synthesis": {"random_seed": 4711}}), encoding="utf-8"
    )
    assert dict(shown.settings)["synthesis.random_seed"] == "7"
    for run in (masked, read_run(raw)):
        assert "synthesis.random_seed" not in dict(run.settings)


def test_settings_that_differ_come_before_the_figures_and_the_others_not_at_all(two, tmp_path):
    def differing(runs):
        rows = comparison_table(runs)
        assert list(dict.fromkeys(each.group for each in rows))[:2] == [RUNS, DIFFERING_SETTINGS]
        return [(each.words, each.texts) for each in rows if each.group == DIFFERING_SETTINGS]

    assert differing(two) == [("reporting_resolution", ("10", "50"))]
    path = tmp_path / "b" / "configuration.json"
    body = json.loads(path.read_text())
    path.write_text(json.dumps(body | {"synthesis": {"mode": "unseeded", "random_seed": None}}))
    assert ("synthesis_mode", ("row_seeded", "unseeded")) in differing([two[0], read_run(tmp_path / "b")])


def test_runs_of_different_datasets_are_told_and_not_ranked(tmp_path):
    runs = [
        read_run(write_release(tmp_path / "a", 1.5)),
        read_run(write_release(tmp_path / "b", 0.5, dataset="other")),
    ]
    assert row(runs, KEPT).best == (False, False)
    assert "different datasets" in Page(render_comparison(runs, "t")).text
    assert row(runs, "dataset").texts == ("survey", "other")


def test_fewer_than_two_runs_are_refused(two):
    with pytest.raises(ParameterError, match="two or more runs, and was given 1"):
        comparison_table(two[:1])
    with pytest.raises(ParameterError, match="labels of their own"):
        comparison_table([two[0], two[0]])


def test_a_missing_or_damaged_evaluation_is_told_as_such_and_what_is_not_recorded_is_blank(tmp_path):
    with pytest.raises(ParameterError, match="the evaluate stage writes both"):
        read_run(tmp_path)
    for text in ("{", "[1]", "\ufeff"):
        (tmp_path / "evaluation.json").write_text(text, encoding="utf-8")
        with pytest.raises(ParameterError, match="make the run again"):
            read_run(tmp_path)
    (tmp_path / "evaluation.json").write_text("{}", encoding="utf-8")
    run = read_run(tmp_path)
    assert set(run.figures.values()) == {None}
    assert (run.by_length, run.by_count, run.regime, run.settings) == ((), (), "", ())


def test_the_tsv_holds_every_row_with_figures_to_six_digits(two, tmp_path):
    third = RunFigures('odd\t"name"', figures={"released.missed_pct": 1 / 3})
    write_comparison_tsv([*two, third], tmp_path / "t.tsv")
    with (tmp_path / "t.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t"))
    assert rows[0] == ["group", "metric", "better", "a", "b", 'odd\t"name"']
    assert len(rows) == len(comparison_table([*two, third])) + 1
    [kept] = [each for each in rows if each[1] == KEPT]
    assert kept[2:] == ["lower", "15", "5", "0.333333"]


def test_the_page_warns_of_raw_data_and_of_what_is_not_differentially_private(two, tmp_path):
    text = render_comparison(two, "Two runs")
    assert check(text).text.count("Two runs") == 2
    assert render_comparison(two, "Two runs") == text
    assert "SENSITIVE" not in text
    assert "No run here is differentially private" in Page(text).text
    raw = read_run(write_raw(tmp_path / "raw"))
    assert "SENSITIVE: figures here are measured against the raw table" in render_comparison([*two, raw], "t")
    private = [
        read_run(write_release(tmp_path / name, value, regime="differential_privacy"))
        for name, value in (("c", 1.0), ("d", 2.0))
    ]
    assert "differentially private:" not in Page(render_comparison(private, "t")).text
    assert "Some runs here are not differentially private" in render_comparison([*private, *two], "t")


def test_raw_and_released_figures_never_share_a_chart(two, tmp_path):
    raw = read_run(write_raw(tmp_path / "raw"))
    runs = [*two, raw]
    found = comparison_charts(runs, letters_of_runs(3))
    assert [group["name"] for group in found] == [
        "Synthetic records against the reported counts",
        "Synthetic records against the raw table",
    ]
    descriptions = [
        [ET.fromstring(each["chart"].in_page()).find("desc").text for each in group["charts"]]
        for group in found
    ]
    assert all(text.endswith(": A, B.") for text in descriptions[0])
    assert all(text.endswith(": C.") for text in descriptions[1])


def test_a_bin_without_combinations_is_not_a_point_at_zero_and_all_zeros_are_told(two, tmp_path):
    chart = next(
        each["chart"]
        for each in comparison_charts(two, ["A", "B"])[0]["charts"]
        if each["caption"] == "Proportional error by count"
    )
    drawn = [path.get("d") for path in ET.fromstring(chart.in_page()).iter("path")]
    assert [len(re.findall(r"[ML]", path)) for path in drawn] == [2, 2]
    runs = [read_run(write_release(tmp_path / name, 0.0)) for name in ("c", "d")]
    assert "0 in every run, at every length." in Page(render_comparison(runs, "t")).text


def test_more_runs_than_colours_are_all_in_the_table_and_the_first_in_the_charts(two):
    runs = [RunFigures(f"run {i}", figures=two[0].figures, by_length=two[0].by_length) for i in range(30)]
    page = check(render_comparison(runs, "t"))
    assert f"The charts show the first {MOST_DRAWN} runs" in page.text
    assert "run 29" in page.text
    assert letters_of_runs(28)[24:] == ["Y", "Z", "A2", "B2"]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_labels_settings_and_titles_are_shown_as_text(two, hostile):
    odd = RunFigures(hostile, hostile, hostile, hostile, hostile, ((hostile, hostile),), two[0].figures)
    page = check(render_comparison([two[0], odd], hostile))
    assert page.tags.count("script") == 1
    assert not {"img"} & set(page.tags)
    assert "\u202e" not in render_comparison([two[0], odd], hostile)


def test_a_release_that_was_withdrawn_is_marked_beside_the_others(tmp_path):
    folders = [write_release(tmp_path / name) for name in ("first", "second")]
    runs = [read_run(folder, folder.name) for folder in folders]
    assert "ERRATA.md" not in render_comparison(runs, "Runs side by side"), "where none is, nothing is said"
    erratum = Erratum("2026-12-01", "withdrawn", "Counts of a test table.", "")
    text = errata_markdown("survey", "2024-05", "second", [erratum])
    (folders[1] / ERRATA).write_text(text, encoding="utf-8")
    runs = [read_run(folder, folder.name) for folder in folders]
    page = render_comparison(runs, "Runs side by side")
    assert re.search(r"status \(see ERRATA.md\).*?published.*?withdrawn", page, re.DOTALL)
    write_comparison_tsv(runs, tmp_path / "comparison.tsv")
    table = (tmp_path / "comparison.tsv").read_text(encoding="utf-8")
    assert "withdrawn" in table and "published" in table


def test_the_best_of_a_row_is_that_of_its_better_end_ties_share_it_and_equals_have_none(two):
    assert row(two, KEPT).best == (False, True)
    assert row(two, "mean count").best == (False, False)
    higher = [
        RunFigures(label, figures={"raw.mean_preservation": value})
        for label, value in (("a", 0.5), ("b", 0.75))
    ]
    assert row(higher, "mean count preservation").best == (False, True)
    assert row(two, "expected error of two columns, share").best == (False, True)

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
