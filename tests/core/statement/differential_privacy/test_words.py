"""The statement in plain words."""

import dataclasses
import math

import pytest

from tasks.core.statement.differential_privacy.statement import RunChoices, accounted_statement
from tasks.core.statement.differential_privacy.words import LengthsWords, format_risk_factor
from tests.oracles.releases import ledger_facts, noisy_inputs, release


def said_each(**changes) -> list[str]:
    return LengthsWords(noisy_inputs(**changes).statement).sentences()


def said(**changes) -> str:
    return " ".join(said_each(**changes))


def test_the_claim_the_account_and_the_scope_are_said():
    text = said()
    assert "epsilon 1 and delta 10⁻⁶" in text
    assert "adding or removing all of a person's rows" in text
    assert "epsilon 3 at delta 10⁻⁵" in text
    assert "comes to epsilon 0.869" in text
    assert "one ledger per user of one machine" in text


@pytest.mark.parametrize(
    ("changes", "phrase"),
    [
        ({"releases": 12}, "The 12 releases so far come to"),
        ({"remaining_releases": 0}, "No further release at this setting would fit."),
        ({"unit": "row"}, "adding or removing one row"),
        ({"unit": "row"}, "For a person with 2 rows"),
    ],
)
def test_the_words_follow_the_figures(changes, phrase):
    assert phrase in said(**changes)


def test_the_factor_is_never_below_e_to_the_epsilon():
    for epsilon in (0.1, 1.0, 4.0):
        assert float(format_risk_factor(epsilon)) >= math.exp(epsilon) * (1 - 1e-12)
    for epsilon in (50.0, 650.0):
        shown = format_risk_factor(epsilon).replace(",", "")
        assert "·" in shown or float(shown) >= math.exp(epsilon) * (1 - 1e-12)
    assert format_risk_factor(5000.0) == "∞"


def test_a_test_engines_draw_says_only_that_it_is_not_private():
    measurement, _, _ = release(600)
    body = accounted_statement(dataclasses.replace(measurement, private=False), ledger_facts(), "abc")
    assert LengthsWords(body).sentences() == [
        "NOT PRIVATE: this was drawn by the seeded test engine and must not be released."
    ]


def test_every_sentence_stands_under_a_heading():
    choices = RunChoices("ab" * 32, ("percentile_percentage",))
    words = LengthsWords(noisy_inputs(choices=choices).statement)
    assert [heading for heading, _ in words.topics()] == [
        "The promise",
        "The noise",
        "What is published",
        "The account",
        "Conditions",
        "Unused settings",
    ]
    assert sum(len(under) for _, under in words.topics()) == len(words.sentences())


def test_the_expected_disclosures_are_an_estimate_and_no_bound():
    # The number of people is a noisy one, so what follows from it bounds nothing.
    found = next(sentence for sentence in said_each() if "such a value is published" in sentence)
    assert "at most" not in found and "is then about" in found
    assert found.startswith("Suppose that there are 696 subjects")
    how = noisy_inputs().statement["disclosed_uniques"]["how"]
    assert "at most" not in how and "no bound" in how


def test_rows_are_called_rows_where_they_are_the_unit():
    text = said(unit="row")
    assert "expected number of those of which such a value" in text
    assert "subject" not in text.replace("subject_id", "")
    assert "expected number of those of whom such a value" in said()
