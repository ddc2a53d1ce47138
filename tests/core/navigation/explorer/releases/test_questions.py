"""Typed questions on real releases: number and range of the answer are the files'."""

import re
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import parse_qsl

import pytest
import yaml

from tests.chromium import ExplorerPage, number
from tests.core.navigation.explorer.releases.conftest import files_of
from tests.core.navigation.explorer.releases.making import QUICK, Made
from tests.core.navigation.explorer.releases.steps import on_kinds
from tests.oracles.released_files import MISSING, Actual, Chosen, ReleasedFiles, as_shown

pytestmark = [pytest.mark.needs_chromium, pytest.mark.server]

#: Of each table, what is asked, and what of the release's files is meant.
#: Neighbouring bins stand as one, for releases sort numbers more or less finely. Where the bins of a kind
#: are cut by a question, it has its own.
QUESTIONS: dict[str, tuple[tuple[str, Chosen], ...]] = {
    "survey": (
        ("social housing", {"housing": ["social"]}),
        ("students in bad health", {"work": ["student"], "health": ["bad"]}),
        ("retired, healthy", {"work": ["retired"], "health": ["good"]}),
        ("district Fellside; health: fair", {"district": ["Fellside"], "health": ["fair"]}),
    ),
    "adult": (
        ("sex 0, race 4", {"sex": ["0"], "race": ["4"]}),
        ("age 20 to 29", {"age": ["20 to under 30"]}),
        ("age under 30, income>50K 1", {"age": ["under 30"], "income>50K": ["1"]}),
    ),
    "national2019": (
        ("SEX 2, OWN_RENT 2", {"SEX": ["2"], "OWN_RENT": ["2"]}),
        ("AGEP 60 to 64", {"AGEP": ["60 to under 65"]}),
    ),
    "national2019 syndiffix": (
        ("SEX 2, OWN_RENT 2", {"SEX": ["2"], "OWN_RENT": ["2"]}),
        ("AGEP 60 to 69", {"AGEP": ["60 to under 70"]}),
    ),
}
#: Of each table, two groups whose numbers are far apart.
GROUPS: dict[str, tuple[str, str, str]] = {
    "survey": ("housing", "rented", "social"),
    "adult": ("sex", "1", "0"),
    "national2019": ("OWN_RENT", "1", "2"),
}


def questions_of(kind: str) -> tuple[tuple[str, Chosen], ...]:
    """What is asked of a release of a kind."""
    return QUESTIONS.get(kind) or QUESTIONS[kind.split()[0]]


class Answered(NamedTuple):
    """What an answer says. Attributes: value: None where only a range is. records: beside such a range."""

    value: int | None
    ends: tuple[int, int] | None
    records: int | None = None


def asked(explorer: ExplorerPage, question: str) -> Answered:
    """The answer to a question."""
    explorer.ask(question)
    explorer.page.locator(".explorer .reading").first.wait_for()
    value, words = explorer.answer(), explorer.page.locator(".explorer .answer .range").inner_text()
    if ends := between(value):
        records = re.search(r"; ([\d,.]+) in the synthetic records", words)
        return Answered(None, ends, number(records[1]) if records else None)
    return Answered(None if value == "–" else number(value), between(words))


def between(words: str) -> tuple[int, int] | None:
    """The two ends of a range that words have in them."""
    found = re.search(r"([\d,.]+) to ([\d,.]+)", words)
    return (number(found[1]) or 0, number(found[2]) or 0) if found else None


def joined(chosen: Chosen) -> Chosen:
    """A selection with neighbouring bins as one.

    >>> joined({"age": ["under 0", "0 to under 5", "5 to under 10", "15 to 20", "missing"]})
    {'age': ['under 10', '15 to 20', 'missing']}
    """
    return {column: _joined(values) for column, values in chosen.items()}


def _joined(values: Sequence[str]) -> list[str]:
    found: list[str] = []
    for value in values:
        low, to, high = value.partition(" to ")
        before = re.fullmatch(r"(.*)under (.+)", found[-1]) if found else None
        if to and before and before[2] == low:
            found[-1] = before[1] + high
        else:
            found.append(value)
    return found


def selected(explorer: ExplorerPage) -> Chosen:
    """What is chosen, as the page's link has it."""
    found: dict[str, list[str]] = {}
    link = explorer.page.evaluate("location.hash")[1:]
    for column, value in parse_qsl(link, keep_blank_values=True):
        if not column.startswith("!"):
            found.setdefault(column, []).append(as_shown(value) or MISSING)
    return found


def told(files: ReleasedFiles, chosen: Chosen) -> Actual:
    """What the files say of a selection; its last column is looked at within the others."""
    *_, column = chosen
    if files.protection == "syndiffix":
        return Actual(sum(files.estimated(chosen, column, each) for each in chosen[column]))
    found = files.actual(chosen | {}, column, chosen[column][0]) if len(chosen[column]) == 1 else None
    return found or Actual()


def in_records(files: ReleasedFiles, chosen: Chosen) -> int:
    """What the synthetic records say of a selection, scaled to the number of rows of the table."""
    return round(len(files.selected(chosen)) * files.statement["noisy_count"]["value"] / len(files.records))


@pytest.mark.parametrize("kind", on_kinds(*QUICK))
def test_answers_are_those_of_the_files_are_copied_and_compared(kind, release, opened):
    made = release(kind)
    files = files_of(made)
    explorer = opened(made.page)
    compared = 0
    for question, chosen in questions_of(kind):
        if not set(chosen) <= set(files.columns):
            continue
        found, taken = asked(explorer, question), selected(explorer)
        assert joined(taken) == chosen, question
        expected = told(files, taken)
        if found.records is not None:
            assert found.records == in_records(files, taken), question
        if expected.value is None:
            continue
        compared += 1
        assert found.value == expected.value, question
        if files.protection == "syndiffix":
            assert found.ends is None
        elif expected.low is not None:
            assert found.ends == (expected.low, expected.high), question
    assert compared > 1
    is_copied_with_its_range_and_citation(explorer, made, questions_of(kind)[0][0])
    explorer.press("Clear")
    two_groups_stand_side_by_side(explorer, files, kind)


def is_copied_with_its_range_and_citation(explorer: ExplorerPage, made: Made, question: str) -> None:
    explorer.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    found = asked(explorer, question)
    explorer.press("Copy answer with citation")
    explorer.page.wait_for_selector("[role=status]:text('Copied')", state="attached")
    copied = explorer.page.evaluate("navigator.clipboard.readText()")
    assert f" {explorer.answer()} (" in copied
    assert all(f"{end:,}" in copied for end in found.ends or ())
    cited = yaml.safe_load((made.folder / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["title"] in copied and str(cited["version"]) in copied


def two_groups_stand_side_by_side(explorer: ExplorerPage, files: ReleasedFiles, kind: str) -> None:
    column, one, other = GROUPS[kind.split()[0]]
    explorer.click(column, one)
    explorer.press("Keep as A, to compare")
    explorer.press("Clear")
    explorer.click(column, other)
    first, second = told(files, {column: [one]}), told(files, {column: [other]})
    assert first.value is not None and second.value is not None
    assert sides(explorer) == [first.value, second.value, first.value - second.value]
    verdict = explorer.page.locator(".difference").inner_text()
    ends = [
        number(end) for found in re.findall(r"between ([−\d,]+) and ([−\d,]+\d)", verdict) for end in found
    ]
    if files.protection == "syndiffix":
        assert ends == [] and "can't be told" in verdict
    elif files.protection == "k_anonymity":
        assert first.low is not None and second.low is not None
        assert ends == [first.low - (second.high or 0), (first.high or 0) - second.low]
        assert "certain" in verdict
    else:
        assert ends[0] < first.value - second.value < ends[1]
        assert "difference is real" in verdict


def sides(explorer: ExplorerPage) -> list[int | None]:
    """The numbers of two groups, and their difference."""
    counts = ".comparison .pair > :is(.side, .difference) .number > span"
    return [number(text) for text in explorer.page.locator(counts).all_inner_texts()]


def test_another_release_is_opened_from_its_file_and_compared(release, opened):
    here, there = release("survey fitted"), release("survey k_anonymity")
    explorer = opened(here.page)
    explorer.click("work", "student")
    explorer.page.locator("input[type=file]").set_input_files(there.page)
    explorer.page.wait_for_selector(".comparison .pair .difference")
    expected = [told(files_of(each), {"work": ["student"]}).value for each in (here, there)]
    assert sides(explorer) == [*expected, (expected[0] or 0) - (expected[1] or 0)]
    explorer.press("Close the other release")
    assert sides(explorer) == []
