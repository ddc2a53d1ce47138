"""Typed questions on real releases: number and range of the answer are the files', in two languages."""

import re
from urllib.parse import parse_qsl

import pytest
import yaml

from tests.chromium import ExplorerPage, number
from tests.core.navigation.explorer.releases.conftest import files_of
from tests.core.navigation.explorer.releases.steps import on_kinds
from tests.oracles.released_files import Actual, Chosen, ReleasedFiles, as_shown

pytestmark = [pytest.mark.needs_chromium, pytest.mark.server]

#: Of each table, what is asked in English and in German, and what of the release's files is meant.
QUESTIONS: dict[str, tuple[tuple[str, Chosen], ...]] = {
    "survey": (
        ("social housing", {"housing": ["social"]}),
        ("students in bad health", {"work": ["student"], "health": ["bad"]}),
        ("Rentner, gesund", {"work": ["retired"], "health": ["good"]}),
        ("district Fellside; health: fair", {"district": ["Fellside"], "health": ["fair"]}),
    ),
    "adult": (
        ("sex 0, race 4", {"sex": ["0"], "race": ["4"]}),
        ("age 20 to 29", {"age": ["20 to under 30"]}),
        (
            "age unter 30, income>50K 1",
            {"age": ["under 0", "0 to under 10", "10 to under 20", "20 to under 30"], "income>50K": ["1"]},
        ),
    ),
    "national2019": (
        ("SEX 2, OWN_RENT 2", {"SEX": ["2"], "OWN_RENT": ["2"]}),
        ("AGEP 60 bis 64", {"AGEP": ["60 to under 65"]}),
    ),
}


def asked(explorer: ExplorerPage, question: str) -> tuple[int | None, tuple[int, int] | None]:
    """The number of the answer to a question, and its range."""
    explorer.ask(question)
    explorer.page.locator(".explorer .reading").first.wait_for()
    value, words = explorer.answer(), explorer.page.locator(".explorer .answer .range").inner_text()
    between = re.search(r"([\d,.]+) (?:to|bis) ([\d,.]+)", words)
    ends = (number(between[1]) or 0, number(between[2]) or 0) if between else None
    return (None if value == "–" else number(value)), ends


def selected(explorer: ExplorerPage) -> Chosen:
    """What is chosen, as the page's link has it."""
    found: dict[str, list[str]] = {}
    for column, value in parse_qsl(explorer.page.evaluate("location.hash")[1:]):
        if not column.startswith("!"):
            found.setdefault(column, []).append(as_shown(value))
    return found


def told(files: ReleasedFiles, chosen: Chosen) -> Actual:
    """What the files say of a selection; its last column is looked at within the others."""
    *_, column = chosen
    if files.protection == "syndiffix":
        return Actual(sum(files.estimated(chosen, column, each) for each in chosen[column]))
    found = files.actual(chosen | {}, column, chosen[column][0]) if len(chosen[column]) == 1 else None
    return found or Actual()


@pytest.mark.parametrize(
    "kind", on_kinds("survey fitted", "survey k_anonymity", "survey syndiffix", "adult lengths")
)
def test_the_answer_to_a_question_is_in_the_files(kind, release, opened):
    made = release(kind)
    files = files_of(made)
    explorer = opened(made.page)
    compared = 0
    for question, chosen in QUESTIONS[kind.split()[0]]:
        if not set(chosen) <= set(files.columns):
            continue
        value, ends = asked(explorer, question)
        assert selected(explorer) == chosen, question
        expected = told(files, chosen)
        if expected.value is None:
            continue
        compared += 1
        assert value == expected.value, question
        if files.protection == "syndiffix":
            assert ends is None
        elif expected.low is not None:
            assert ends == (expected.low, expected.high), question
    assert compared > 1


@pytest.mark.parametrize("kind", on_kinds("survey k_anonymity"))
def test_the_answer_is_the_same_in_german(kind, release, opened):
    made = release(kind)
    question, chosen = QUESTIONS[kind.split()[0]][-1]
    english = asked(opened(made.page), question)
    explorer = opened(made.page, "#!lang=de")
    assert asked(explorer, question) == english
    assert explorer.page.locator("section.explorer").get_attribute("lang") == "de"
    assert selected(explorer) == chosen


@pytest.mark.parametrize("kind", on_kinds("survey fitted", "survey k_anonymity"))
def test_the_answer_is_copied_with_its_range_and_citation(kind, release, opened):
    made = release(kind)
    explorer = opened(made.page)
    explorer.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    _, ends = asked(explorer, QUESTIONS[kind.split()[0]][0][0])
    explorer.press("Copy answer with citation")
    explorer.page.wait_for_selector("[role=status]:text('Copied')", state="attached")
    copied = explorer.page.evaluate("navigator.clipboard.readText()")
    assert f" {explorer.answer()} (" in copied
    assert all(f"{end:,}" in copied for end in ends or ())
    cited = yaml.safe_load((made.folder / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["title"] in copied and str(cited["version"]) in copied


def sides(explorer: ExplorerPage) -> list[int | None]:
    """The numbers of two groups, and their difference."""
    counts = ".comparison .pair > :is(.side, .difference) .number > span"
    return [number(text) for text in explorer.page.locator(counts).all_inner_texts()]


@pytest.mark.parametrize("kind", on_kinds("survey fitted", "survey k_anonymity"))
def test_two_groups_stand_side_by_side_with_their_difference(kind, release, opened):
    made = release(kind)
    files = files_of(made)
    explorer = opened(made.page)
    one, other = ({"housing": ["rented"]}, {"housing": ["social"]})
    explorer.click("housing", "rented")
    explorer.press("Keep as A, to compare")
    explorer.press("Clear")
    explorer.click("housing", "social")
    first, second = told(files, one), told(files, other)
    assert first.value is not None and second.value is not None
    assert sides(explorer) == [first.value, second.value, first.value - second.value]
    verdict = explorer.page.locator(".difference").inner_text()
    ends = [number(end) for end in re.findall(r"between ([−\d,]+) and ([−\d,]+\d)", verdict)[0]]
    if files.protection == "k_anonymity":
        assert first.low is not None and second.low is not None
        assert ends == [first.low - (second.high or 0), (first.high or 0) - second.low]
        assert "certain" in verdict
    else:
        assert ends[0] < first.value - second.value < ends[1]
        assert "difference is real" in verdict


def test_another_vintage_is_opened_from_its_file_and_compared(release, opened):
    here, there = release("survey fitted"), release("survey fitted", "2026-12")
    explorer = opened(here.page)
    explorer.click("work", "student")
    explorer.page.locator("input[type=file]").set_input_files(there.page)
    explorer.page.wait_for_selector(".comparison .pair .difference")
    expected = [told(files_of(each), {"work": ["student"]}).value for each in (here, there)]
    assert sides(explorer) == [*expected, (expected[0] or 0) - (expected[1] or 0)]
    words = explorer.page.locator(".comparison").inner_text()
    assert "2026-11" in words and "2026-12" in words
    explorer.press("Close the other release")
    assert sides(explorer) == []
