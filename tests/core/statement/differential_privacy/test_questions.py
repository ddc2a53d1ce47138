"""The questions of NIST SP 800-226 are answered in every private statement, by its own figures."""

import re

import pytest

from tasks.core.statement.differential_privacy.questions import TOPICS, answer_questionnaire
from tasks.core.statement.differential_privacy.statement import RunChoices, accounted_statement
from tests.oracles.described import statement
from tests.oracles.releases import ledger_facts, noisy_inputs
from tests.oracles.workloads import draw, parameters, people

DRAWN = ("lengths", "fitted")


def answers(protection: str, **changes: object) -> dict[str, str]:
    return {each["topic"]: each["answer"] for each in answer_questionnaire(statement(protection, **changes))}


@pytest.mark.parametrize("protection", DRAWN)
def test_all_are_asked_in_order_and_answered(protection):
    body = statement(protection)
    asked = answer_questionnaire(body)
    assert [each["topic"] for each in asked] == list(TOPICS)
    assert all(each["question"].endswith("?") and each["answer"].endswith(".") for each in asked)


def test_they_stand_in_the_statement_and_not_in_that_of_a_test_draw():
    body = statement("lengths")
    assert body["questions"] == answer_questionnaire(body)
    tried = draw(people(300, 1, tags=True), parameters())  # by the seeded test engine
    assert "questions" not in accounted_statement(tried, ledger_facts(unit="row"), "abc1234")


def test_figures_are_the_statements_own_and_losses_are_rounded_up():
    body, found = statement("lengths"), answers("lengths")
    assert "Epsilon is 1 and delta is 1e-06" in found["parameters"] and "2.8 times" in found["parameters"]
    spent = re.search(r"epsilon ([\d.]+) at delta", found["composition"])
    assert spent and float(spent[1]) >= body["ledger"]["epsilon_spent"]
    width = body["contribution"]["width"]
    assert f"at most {width} attributes" in found["contributions"]


def test_the_unit_is_the_statements():
    subject, row = answers("lengths"), answers("lengths", unit="row")
    assert "The column 'person'" in subject["unit"] and "several rows" in row["unit"]
    assert "one person" in subject["parameters"] and "one row" in row["parameters"]


def test_choices_and_thresholds_are_told_only_where_there_are_any():
    body = statement("lengths")
    assert "threshold" in answers("lengths")["mechanism"]
    body["guarantee"]["delta_threshold"] = 0.0
    found = {each["topic"]: each["answer"] for each in answer_questionnaire(body)}
    assert "threshold" not in found["mechanism"] and "not declared" not in found["mechanism"]
    assert "small groups" not in found["bias"]


@pytest.mark.parametrize(
    ("choices", "topics", "said"),
    [
        (RunChoices(strict_contract="ab" * 32), ("parameters", "not_protected"),
         "the guarantee holds between tables that both satisfy it"),
        (RunChoices(skips_unchanged=True), ("parameters", "not_protected"),
         "What is guaranteed holds between tables of which releases would"),
        (RunChoices(drafted_from_table=True), ("not_protected",), "was drafted by looking at the table"),
    ],
)  # fmt: skip
def test_what_is_not_protected_is_said_and_what_a_release_tells_with_the_factor(choices, topics, said):
    found = {each["topic"]: each["answer"] for each in noisy_inputs(choices=choices).statement["questions"]}
    plain = answers("lengths")
    assert all(said in found[topic] and said not in plain[topic] for topic in topics)
