"""A page with a sample of the records: its numbers stand for all of them, and it says what it holds."""

import re
from collections import Counter

import pytest

from tasks.core.navigation.inputs import Naming, ReportInputs
from tasks.core.navigation.payload import block as sample
from tasks.core.navigation.report import render_page
from tasks.core.statement.differential_privacy.statement import accounted_statement
from tests.core.navigation.explorer.test_saving import save_chart, save_records, table
from tests.oracles.payloads import decoded
from tests.oracles.releases import SCHEMA, ledger_facts, release

pytestmark = pytest.mark.needs_chromium

NAMES = [column.name for column in SCHEMA.columns]
NUMBER, CAP = 4000, 1500
SENTENCE = (
    "This page holds 1,500 of the 4,000 synthetic records, evenly spread; "
    "all are in survey_synthetic_microdata.tsv."
)
#: More columns than counts are released for.
FOUR = {"age": "[30,45)", "region": "north", "sector": "services", "health": "good"}


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """A release of 4,000 records: its page, and the page where no more than 1,500 may be in one."""
    measurement, aggregates, synthetic = release(NUMBER)
    statement = accounted_statement(measurement, ledger_facts(), "abc")
    naming = Naming("A survey", "survey")
    inputs = ReportInputs(statement, SCHEMA, aggregates, measurement, synthetic, naming=naming)
    folder = tmp_path_factory.mktemp("sampled")
    found = {"whole": folder / "whole.html", "sampled": folder / "sampled.html"}
    found["whole"].write_text(render_page(inputs), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sample, "MOST_RECORDS", CAP)
        found["sampled"].write_text(render_page(inputs), encoding="utf-8")
    return found


@pytest.fixture(scope="module")
def chosen_records(pages):
    """Of the records of the whole page those that a sample has."""
    every = decoded(pages["whole"].read_text(encoding="utf-8")).records()
    return [dict(zip(NAMES, every[i * NUMBER // CAP], strict=True)) for i in range(CAP)]


def expected(records, chosen, name) -> dict[str, int]:
    """How many records of the release hold each value of a column within the others' choices."""
    found: Counter[str] = Counter()
    for record in records:
        if all(value in record[other] for other, value in chosen.items() if other != name):
            found.update(record[name])
    return {value: round(n * NUMBER / CAP) for value, n in found.items()}


def in_words(value: str) -> str:
    between = re.fullmatch(r"\[(\d+),(\d+)\)", value)
    return f"{between[1]} to under {between[2]}" if between else value


def estimates(explorer, chart):
    return {label: estimated for label, (estimated, _) in explorer.rows(chart).items() if estimated}


def choose(explorer, chosen):
    for name, value in chosen.items():
        explorer.click(name, in_words(value))


def test_bars_of_a_sample_stand_for_all_records_and_no_published_count_depends_on_it(
    opened, pages, chosen_records
):
    whole, sampled = opened(pages["whole"]), opened(pages["sampled"])
    held: dict[str, str] = {}
    for more in ({}, {"region": "north"}, {"sector": "services"}):
        held |= more
        for explorer in (whole, sampled):
            choose(explorer, more)
        for name in ("region", "sector", "health", "languages"):
            found, all_of_it = estimates(sampled, name), estimates(whole, name)
            assert found == expected(chosen_records, held, name)
            for label, estimated in found.items():
                assert abs(estimated - all_of_it[label]) < 5 * (all_of_it[label] * NUMBER / CAP) ** 0.5
        if len(held) < 2:
            for name in ("region", "health"):
                actual = [
                    {label: row[1] for label, row in each.rows(name).items()} for each in (whole, sampled)
                ]
                assert actual[0] == actual[1]
                assert whole.ranges(name) == sampled.ranges(name) != {}
    for explorer in (whole, sampled):
        explorer.press("Clear")
        choose(explorer, FOUR)
    assert sampled.answer() == whole.answer() and " to " in whole.answer()
    # A page with all records says nothing of a sample.
    for words in ("This page holds", "about", "scaled to all"):
        assert words not in whole.page.locator(".explorer").inner_text()
    whole.press("Records")
    assert "This page holds" not in whole.page.locator(".explorer").inner_text()


def test_whatever_is_of_a_sample_says_so(opened, pages, chosen_records):
    explorer = opened(pages["sampled"])
    bar = explorer.page.locator(".explorer .selection")
    assert "4,000 of 4,000 synthetic records" in bar.inner_text() and SENTENCE in bar.inner_text()
    legend = explorer.page.locator(".legend").inner_text()
    assert "counted in 1,500 of 4,000 synthetic records, and scaled to all" in legend
    _, *rows = table(save_chart(explorer, "health", "CSV"))
    found = {row[2]: int(row[3]) for row in rows if int(row[3])}
    assert found == expected(chosen_records, {}, "health")
    drawing = save_chart(explorer, "region", "SVG").path().read_text(encoding="utf-8")
    assert "1,500 of 4,000" in drawing
    # The table and its file have the records of the page.
    download = save_records(explorer)
    box = explorer.page.locator(".records").inner_text()
    assert SENTENCE in box and "Records 1 to 1,000 of 1,500" in box
    assert download.suggested_filename == "survey_sample_of_records.csv"
    header, *rows = table(download)
    assert header == NAMES and len(rows) == CAP
    place = NAMES.index("town")
    assert [{row[place]} - {""} for row in rows] == [record["town"] for record in chosen_records]
    explorer.press("Charts")
    explorer.click("region", "north")
    north = expected(chosen_records, {}, "region")["north"]
    assert f"about {north:,} of 4,000 synthetic records" in bar.inner_text()
    # Where no released count covers it, the answer is of the sample.
    answer = explorer.page.locator(".ask .answer")
    assert SENTENCE not in answer.inner_text()
    choose(explorer, {name: value for name, value in FOUR.items() if name != "region"})
    number = decoded(pages["sampled"].read_text(encoding="utf-8")).meta["number"]["value"]
    met = sum(all(value in record[name] for name, value in FOUR.items()) for record in chosen_records)
    assert f"{round(met * number / CAP)} in the synthetic records" in answer.inner_text()
    assert SENTENCE in answer.inner_text()
    explorer.press("Keep as A, to compare")
    assert SENTENCE in explorer.page.locator(".comparison").inner_text()
