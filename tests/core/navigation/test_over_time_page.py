"""The page of releases over time: all vintages, withdrawn ones marked and not compared, nothing invented."""

import numpy as np
import pytest

from flows.command import main as command
from tasks.core.evaluation.over_time import ReleasedCounts
from tasks.core.metadata.errata import Erratum
from tasks.core.navigation.over_time import DatedRelease, History, render_over_time, write_over_time_tsv
from tests.core.evaluation.test_over_time import noisy, rounded

WITHDRAWN = (Erratum("2026-12-24", "withdrawn", "It is of a <test> table."),)


def dated(month: int, counts: ReleasedCounts | None, **more: object) -> DatedRelease:
    label = f"2026-{month:02}"
    body: dict[str, object] = {
        "name": f"{label}-1",
        "vintage": label,
        "protection": "Differentially private with epsilon 1.",
        "settings": (("protection.epsilon", "1"),),
        "errata": (),
        "counts": counts,
    }
    return DatedRelease(**(body | more))  # type: ignore[arg-type]


@pytest.fixture
def history():
    """Twelve months: a jump in the eighth, the fifth withdrawn and far off, other settings in the tenth."""
    draw = np.random.default_rng(1)
    months = []
    for month in range(1, 13):
        truth = {"town: Lyon": 900 if month >= 8 else 300, "town: <Nice>": 200}
        if month == 5:
            truth["town: <Nice>"] = 9000
        more: dict[str, object] = {"errata": WITHDRAWN} if month == 5 else {}
        if month == 10:
            more["settings"] = (("protection.epsilon", "2"),)
        months.append(dated(month, noisy(truth, 6.0, draw), **more))
    return History("people", months)


def test_every_vintage_is_on_the_page_and_what_changed_is_named(history):
    page = render_over_time(history)
    assert page == render_over_time(History("people", history.releases))
    assert all(f"2026-{month:02}-1" in page for month in range(1, 13))
    assert "at most 5&nbsp;%" in page and "protection.epsilon" in page
    changed = {each.combination[0][0] for each in history.found.changes if each.combination}
    assert changed == {"town: Lyon"}
    assert "It is of a &lt;test&gt; table." in page and "<test>" not in page and "<Nice>" not in page


def test_where_nothing_is_left_to_compare_the_page_says_which_releases_were_withdrawn():
    draw = np.random.default_rng(1)
    months = [dated(month, noisy({"town: Lyon": 300}, 6.0, draw)) for month in (1, 2)]
    months[1] = dated(2, months[1].counts, errata=WITHDRAWN)
    page = render_over_time(History("people", months))
    assert "No two of these releases can be compared." in page
    assert "Withdrawn releases are shown and not compared: 2026-02-1." in page


def test_a_withdrawn_release_is_shown_and_not_compared(history):
    points = history.points((("town: <Nice>", ""),))
    assert points[4].is_struck and points[4].value is not None and points[4].value > 8000
    assert not any(point.is_changed for point in points)
    steps = {(history.place(before), history.place(after)) for before, after in history.found.pairs}
    assert (3, 5) in steps and not any(4 in step for step in steps)


def test_the_table_has_every_count_and_when_it_changed(history, tmp_path):
    write_over_time_tsv(history, tmp_path / "t.tsv")
    head, *lines = [line.split("\t") for line in (tmp_path / "t.tsv").read_text().splitlines()]
    assert head == ["combination", *(f"2026-{month:02}-1" for month in range(1, 13)), "changed_at"]
    assert [line[0] for line in lines] == ["number of records", "town: <Nice>", "town: Lyon"]
    assert "2026-08" in lines[2][-1] and lines[1][-1] == ""


def test_rounded_releases_are_told_without_a_word_of_noise():
    months = [dated(month, rounded({"a": 15 + 20 * (month > 1)}, 10)) for month in (1, 2)]
    page = render_over_time(History("people", months))
    assert "No release here is differentially private" in page and "certain" in page
    assert "Holm" not in page and "Comparing releases" in page
    unchanged = [dated(month, rounded({"a": 15}, 10)) for month in (1, 2)]
    page = render_over_time(History("people", unchanged))
    assert "no proof that nothing changed" in page and "None was found." in page


def test_releases_without_counts_are_named(history):
    page = render_over_time(History("people", [*history.releases, dated(13, None)]))
    assert "2026-13-1" in page and "Without counts whose error is stated" in page


def test_the_command_refuses_what_is_no_folder_of_releases(tmp_path, capsys):
    assert command.main(["compare", "--over-time", str(tmp_path)]) == 2
    assert command.main(["compare", "--over-time", str(tmp_path), str(tmp_path)]) == 2
    assert "OUTPUT_DIR/release/DATASET" in capsys.readouterr().err
