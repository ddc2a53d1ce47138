"""The three plain answers: made of released figures, and no more is claimed than the protection does."""

import html
import re
from dataclasses import replace

import pytest

from tasks.core.navigation.inputs import Naming, ReportInputs, TablePage, UnitName
from tasks.core.navigation.page import list_columns, page_sentence
from tasks.core.navigation.report import render_page
from tasks.core.navigation.table_page import render_table
from tasks.core.statement.differential_privacy.statement import RunChoices, accounted_statement
from tasks.core.statement.syndiffix import syndiffix_statement
from tests.core.navigation.test_table_page import FACTS
from tests.core.navigation.test_table_page import page as synthetic_tables
from tests.oracles.anonymous_releases import rounded_inputs
from tests.oracles.pages import check
from tests.oracles.releases import SCHEMA, ledger_facts, noisy_inputs, release

VISIT = Naming(unit=UnitName.of("visit"))


def answers(text: str) -> list[str]:
    """The words of the three answers, in their order."""
    check(text)
    [found] = re.findall(r'<div class="answers".*?</div>\n</div>\n', text, re.DOTALL)
    parts = re.findall(r'<div class="answer">\n<h2>.*?</h2>(.*?)</div>', found, re.DOTALL)
    assert len(parts) == 3
    words = (html.unescape(re.sub("<[^>]*>", "", part)) for part in parts)
    return [" ".join(part.split()) for part in words]


def noisy(naming: Naming = Naming(), **changes: object) -> list[str]:
    return answers(render_page(noisy_inputs(naming=naming, **changes)))


def anonymous(naming: Naming = Naming(), **changes: object) -> list[str]:
    return answers(render_page(rounded_inputs(naming=naming, **changes)))


def test_under_noise_they_give_the_ranges_and_the_limit_of_what_can_be_concluded():
    given = noisy_inputs()
    what, exact, neighbour = noisy()
    assert f"about {given.measurement.number_of_records} people in 6 columns" in what
    assert f"{given.synthetic.number_of_records} made-up records" in what
    for level in given.statement["levels"]:
        assert f"± {level['error_bar']['half_width_95']} for {level['length']} value" in exact
    assert re.search(r"at most [\d.]+ times as likely with your neighbour’s data in the table", neighbour)
    assert "What is true of many is not hidden" in neighbour
    assert "weak promise" not in neighbour


def test_of_people_one_row_each_counts_and_both_cards_say_so_in_their_word():
    said = "Where a patient has several rows", "not how many ever had it", "how many patients ever had"
    what, exact, neighbour = noisy(Naming(unit=UnitName.of("patient")))
    assert said[0] in what and said[1] in what and said[2] in exact and said[1] not in neighbour
    for *others, _ in (noisy(unit="row"), anonymous()):
        assert not any(each in " ".join(others) for each in said[1:])


def test_a_row_is_not_called_a_person_where_it_is_said_what_is_protected():
    _, _, neighbour = noisy(VISIT, unit="row")
    assert "What is protected is one row of the table (visit): a neighbour with several rows" in neighbour
    assert "one row of your neighbour’s" in neighbour
    _, _, neighbour = anonymous(VISIT, unit="row")
    assert "rows of the table are counted, not people: a neighbour with 10 rows can be a group" in neighbour
    assert "each stands for at least 10 rows" in neighbour and "leave a single row" in neighbour


@pytest.mark.parametrize("made", [noisy, anonymous])
def test_a_record_is_called_what_the_operator_calls_it(made):
    what, exact, _ = made(VISIT, unit="row")
    assert "visits in 6 columns" in what and "visits" in exact
    assert "people" not in what + exact and "subject" not in what + exact
    what, exact, _ = made(Naming(unit=UnitName.of("patient")))
    assert "patients in 6 columns" in what and "patients" in exact and "people" not in what + exact


@pytest.mark.parametrize("made", [noisy, anonymous])
def test_a_word_that_would_mislead_is_not_taken(made):
    """As of a table whose contract alone names the subject, or of an older configuration."""
    what, _, _ = made(VISIT)
    assert "people in 6 columns" in what and "visit" not in what
    told = " ".join(made(Naming(unit=UnitName("fisher", "persons")), unit="row"))
    assert "rows in 6 columns" in told and "persons" not in told and "fisher" not in told


def conditional(choices: RunChoices = RunChoices(), **changes: object) -> str:
    """The third answer; beside the factor a strict contract's condition is told, too."""
    page = render_page(noisy_inputs(choices=choices, **changes))
    [lead] = re.findall(r'<p class="lead">(.*?)</p>', page, re.DOTALL)
    said = "this is not protected, and the guarantee holds between tables that both satisfy it"
    assert (said in lead) == (choices.strict_contract is not None)
    return answers(page)[2]


def test_what_that_there_is_a_release_tells_is_said_with_the_promise():
    plain = conditional()
    assert "That holds whatever else they know." in plain
    skipped = {"policy": "skip", "policies": (("skip", "2024-05"),)}
    stopped = {"stopped_runs": 2, "stopping_contracts": 1}
    strict, skipping, none = RunChoices("a" * 64), RunChoices(skips_unchanged=True), RunChoices()
    for choices, changes, english in (
        (strict, {}, "its table keeps the contract, and the promise does not cover"),
        (skipping, {}, "only where the table has changed"),
        (none, skipped, "only where the table has changed"),
        (none, stopped, "Earlier runs were stopped"),
        (none, {"unread_runs": 1}, "Earlier runs were stopped"),
    ):
        told = conditional(choices, **changes)
        assert english in told and "That holds whatever" not in told and "Apart from this" in told
        assert english not in plain


def test_that_declarations_were_drafted_from_the_table_is_an_answer_of_every_protection():
    choices, facts = RunChoices(drafted_from_table=True), replace(FACTS, drafted_from_table=True)
    table = render_table(synthetic_tables(statement=syndiffix_statement(facts, "abc")))
    drafted = {
        "noise": conditional(choices),
        "rounding": anonymous(drafted_from_table=True)[2],
        "syndiffix": answers(table)[2],
    }
    for name, told in drafted.items():
        assert "drafted by looking at the table itself" in told and "single people" in told
        assert ("given these declarations, and not the declarations" in told) == (name == "noise")
    plain = [conditional(), anonymous()[2], answers(render_table(synthetic_tables()))[2]]
    assert not any("drafted" in told for told in plain)


def test_rounded_counts_are_certain_and_say_what_a_group_does_not_hide():
    what, exact, neighbour = anonymous()
    assert "where at least 10 do" in what
    assert "a count of 100 stands for 100 to 109 people. That is certain" in exact
    assert neighbour.startswith("Not by one count alone: each stands for at least 10 people.")
    assert "nothing limits what can be learned about one person" in neighbour
    assert "this protects less than differential privacy" in neighbour
    assert "Adding up and subtracting the counts that are shown" in neighbour
    assert "can leave a single person" in neighbour
    assert "possibly" not in exact and "How many it has can follow from the counts" in exact


def test_at_a_resolution_of_one_the_neighbour_can_be_found():
    _, exact, neighbour = anonymous(resolution=1)
    assert exact.startswith("Every count is exact, and none is left out.")
    assert neighbour.startswith("Yes.") and "nobody is protected" in neighbour


def test_a_draw_of_the_test_engine_says_that_it_protects_nobody():
    measurement, aggregates, _ = release(600)
    fake = replace(measurement, private=False)
    body = accounted_statement(fake, ledger_facts(), "x")
    page = render_page(ReportInputs(body, SCHEMA, aggregates, fake))
    assert "NOT PRIVATE" in check(page).text
    assert answers(page)[2] == (
        "Possibly. This was drawn by the seeded test engine, which protects nobody. Do not share it."
    )


def test_syndiffix_says_that_nothing_is_proved():
    page: TablePage = synthetic_tables()
    what, exact, neighbour = answers(render_table(page))
    assert "A made-up table of 300 rows with 4 columns: age, old, <b>town</b> and blank" in what
    assert "it may be off by much more" in exact and "How much is not known from this release" in exact
    assert neighbour.startswith("Nobody has proved that they can’t.")


def test_a_population_and_columns_are_only_put_in_as_text():
    said = page_sentence("what.population", population="<b>{many}</b>")
    assert said == "Described are &lt;b&gt;{many}&lt;/b&gt;."
    assert "&lt;i&gt; and &lt;b&gt;" in list_columns(["<i>", "<b>"])


def test_many_columns_are_counted_and_few_are_named():
    columns = list_columns
    assert columns([str(number) for number in range(9)]) == "9 columns: 0, 1, 2, 3, 4, 5 and 3 more"
    assert columns([str(number) for number in range(7)]) == "7 columns: 0, 1, 2, 3, 4, 5 and 6"
    assert columns([]) == "0 columns"
