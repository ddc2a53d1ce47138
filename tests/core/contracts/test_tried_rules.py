"""A draft's own rule is tried on what it keeps: codes stay, and what is emptied is told with the rule."""

import csv
from typing import Any

import pytest
import yaml

from tasks.core.contracts.draft import Answers, draft_contract, lookalike_sentences, lookalikes
from tasks.core.contracts.odcs import read_contract
from tasks.core.queries import connect
from tasks.core.recognition.init_answers import Correction
from tasks.core.recognition.table import RecognisedTable, recognise_table
from tasks.core.records.cells import code_texts
from tasks.core.records.columns import Column

_BOOKS = ("9783161484100", "9780306406157", "9781861972712")
_CUSTOMS = ("0201100510", "0101210000", "8471300100", "8703231901")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("trade") / "trade.csv"
    rows: list[tuple[object, ...]] = [
        (_BOOKS[place % 3], _CUSTOMS[place % 4], "north" if place % 2 else "south", place % 7)
        for place in range(600)
    ]
    rows[5] = (*rows[5][:2], "078-05-1120", 3)
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("book", "hs10", "region", "boxes"), *rows])
    return recognise_table(path).corrected([Correction("region", "text")])


def drafted(table: RecognisedTable) -> tuple[dict[str, Any], str]:
    answers = Answers(None, "dp", "trade", "2026-11")
    text = draft_contract(table, answers)
    return yaml.safe_load(text)["schema"][0], text


def test_no_cell_of_a_column_of_codes_is_emptied(table):
    contract = read_contract(drafted(table)[1], "c.yaml")
    for name, values in (("book", _BOOKS), ("hs10", _CUSTOMS)):
        column = next(column for column in contract.columns if column.name == name)
        patterns = tuple(p for rule in contract.forbidden_in(column) for p in rule.patterns)
        with connect() as connection:
            coded = code_texts(list(values), Column(name, forbidden=patterns), connection)
        assert coded.codes.all()


def test_the_rule_stands_for_all_other_open_columns(table):
    contract = read_contract(drafted(table)[1], "c.yaml")
    kinds = {
        column.name: {rule.name for rule in contract.forbidden_in(column)} for column in contract.columns
    }
    every = {"e-mail addresses", "telephone numbers", "identity numbers"}
    assert kinds["region"] == every
    assert kinds["book"] == every - {"identity numbers"}
    assert kinds["hs10"] == {"e-mail addresses"}


def test_both_are_told_by_the_rule_s_name(table):
    said = list(lookalike_sentences(lookalikes(table, None)))
    assert [line.split(":")[0] for line in said] == ["LOOK", "LOOK", "ATTENTION"]
    assert all("noPersonalIdentifiers" in line for line in said)
    assert "'book' holds codes" in said[0] and "--column 'book'=skip" in said[0]
    assert "telephone numbers or identity numbers" in said[1]
    assert "(telephone, identityNumber) empties what looks like" in said[2]
    assert said[2].endswith("in 'region': 1 of its cells.")
    assert not any(value in line for line in said for value in (*_BOOKS, *_CUSTOMS, "078-05-1120"))
