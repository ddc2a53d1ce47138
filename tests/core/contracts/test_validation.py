"""Tables judged against their contract: verdicts are right, and carry nothing of the data."""

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tasks.configuration.flat_file import read_configuration
from tasks.core.contracts.odcs import load_contract
from tasks.core.contracts.rules import Judgement
from tasks.core.errors import InputError
from tasks.core.tables.header import InputFile
from tests.oracles.contracts import COLUMNS, GOOD_ROWS, contract_of, judged, write_table

CANARY = "canary-7f3a"
ROOT = Path(__file__).resolve().parents[3]


def broken(rows: tuple[str, ...], tmp_path: Path) -> set[str]:
    return {rule.sentence for rule in judged(write_table(tmp_path / "t.csv", rows), contract_of()).broken}


def numbers_of(judgement: Judgement) -> dict[str, float]:
    sentences = (rule.sentence for rule in judgement.rules)
    return dict(zip(sentences, judgement.numbers, strict=True))


def test_a_table_that_keeps_its_contract_passes_every_rule(tmp_path):
    assert broken(GOOD_ROWS, tmp_path) == set()


@pytest.mark.parametrize(
    ("row", "rule"),
    [
        (",north,40,da,well,", "every record has a subject id"),
        ("5,west,40,da,well,", "ward: every value is one of those listed"),
        ("5,north,forty,da,well,", "age: every value is of type integer"),
        ("5,north,40,da|en|de,well,", "languages: at most 2 items a subject"),
        ("1,north,40,de,well,", "languages: at most 2 items a subject"),
        ("5,north,40,jane@x.org,well,", "languages: nothing that looks like e-mail addresses"),
        ("5,north,40,da,+44 20 7946 0000,", "remark: nothing that looks like telephone numbers"),
        ("5,north,40,da,178-05-1120,", "remark: nothing that looks like identity numbers"),
        ("5,north,40,da,QX1234,", "remark: nothing that looks like badge numbers"),
        ("5,north,40,da,well,yesterday", "seen: every value is of type date"),
    ],
)
def test_each_broken_rule_is_found_alone(row, rule, tmp_path):
    assert broken((*GOOD_ROWS, row), tmp_path) == {rule}


def test_rules_of_the_table_are_judged(tmp_path):
    two_people = ("1,north,,,,", " 1 ,north,,,,", "2,south,,,,")
    assert broken(two_people, tmp_path) == {"at least 3 records"}
    many_words = tuple(f"{i},north,,,word{i}," for i in range(4))
    assert broken(many_words, tmp_path) == {"remark: at most 3 distinct values"}
    empty = (*GOOD_ROWS, "5,,,,,", "6,0,,,,")
    assert broken(empty, tmp_path) == {"ward: at most 40 % empty"}
    assert broken((), tmp_path) == {"at least 3 records"}


def test_sentences_carry_no_value_and_no_number_of_the_data(tmp_path):
    rows = (*GOOD_ROWS, *(f",{CANARY}{i},{CANARY},{CANARY},a@{CANARY}.org,{CANARY}" for i in range(23)))
    sentences = [
        rule.violation for rule in judged(write_table(tmp_path / "t.csv", rows), contract_of()).broken
    ]
    assert len(sentences) >= 5
    shown = " ".join(sentences)
    assert CANARY not in shown and "23" not in shown and "27" not in shown
    assert "Column 'ward' has values outside its declared list. Correct them" in sentences[1]
    assert all(re.search(r"\. (Give|Complete|Correct|Fill|Remove)", sentence) for sentence in sentences)


def test_what_was_counted_is_apart(tmp_path):
    rows = (*GOOD_ROWS, "5,west,,,,", "6,west,,,,", "7,east,,,,")
    numbers = numbers_of(judged(write_table(tmp_path / "t.csv", rows), contract_of()))
    assert numbers["ward: every value is one of those listed"] == 3
    assert numbers["at least 3 records"] == 7
    assert numbers["ward: at most 40 % empty"] == pytest.approx(100 / 7)


def test_an_unreadable_table_is_refused_without_its_cells(tmp_path):
    source = write_table(tmp_path / "t.csv", (*GOOD_ROWS, f"9,{CANARY}"))
    with pytest.raises(InputError) as caught:
        judged(source, contract_of())
    assert CANARY not in str(caught.value)


def test_other_takes_what_is_not_listed(tmp_path):
    columns = COLUMNS.replace(
        "      - name: age\n",
        "        customProperties: [{property: other, value: rest}]\n      - name: age\n",
    )
    source = write_table(tmp_path / "t.csv", (*GOOD_ROWS, "5,west,,,,"))
    assert judged(source, contract_of(columns)).broken == []


def test_parquet_is_judged_as_the_text_it_becomes(tmp_path):
    table = pa.table(
        {
            "person": pa.array([1, 2, 3], pa.int32()),
            "ward": pa.array(["north", None, "south"]),
            "age": pa.array([40, None, 7], pa.int16()),
            "languages": pa.array([["da", "en"], [], None], pa.list_(pa.string())),
            "remark": pa.array(["x", "y", ""]),
            "seen": pa.array([0, 1, None], pa.date32()),
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    assert judged(InputFile(tmp_path / "t.parquet"), contract_of()).broken == []


def test_cells_are_normalised_as_the_encoder_does(tmp_path):
    rows = ("1,\u00a0north\u2003, 40 ,\u3000da | en|da ,  ,", "\t2,south\x1f,,|,x,", " 3 ,0,0,0|0,0,")
    judgement = judged(write_table(tmp_path / "t.csv", rows), contract_of())
    assert judgement.broken == []
    numbers = numbers_of(judgement)
    assert numbers["remark: at most 3 distinct values"] == 1
    assert numbers["ward: at most 40 % empty"] == pytest.approx(100 / 3)


def test_one_word_in_two_unicode_forms_is_the_listed_one(tmp_path):
    assert "north" in COLUMNS
    source = write_table(tmp_path / "t.csv", ("1,o\u0308st,,,,", "2,\u00f6st,,,,", "3,south,,,,"))
    assert judged(source, contract_of(COLUMNS.replace("north", "\u00f6st"))).broken == []


LIMITED = """\
      - name: age
        logicalType: integer
        logicalTypeOptions: {minimum: 0, maximum: 120}
        customProperties: [{property: bins, value: [0, 18, 65]}, {property: negative, value: bookkeeping}]
"""


@pytest.mark.parametrize(
    ("cell", "is_within"), [("0", True), ("120", True), ("", True), ("(3)", False), ("121", False)]
)
def test_a_number_beyond_the_declared_limits_breaks_the_contract(cell, is_within, tmp_path):
    rows = ("1,30", "2,40", f"3,{cell}")
    judgement = judged(write_table(tmp_path / "t.csv", rows, "person,age"), contract_of(LIMITED))
    rule = "age: every number is at least 0 and at most 120"
    assert [item.sentence for item in judgement.broken] == ([] if is_within else [rule])


@pytest.mark.needs_shared
@pytest.mark.parametrize("name", ["adult", "national2019"])
def test_the_contract_of_a_public_table_holds(name, shared_data):
    declared = read_configuration(ROOT / "deployments" / "configurations" / f"{name}.json").input
    assert declared.contract is not None
    contract = load_contract(ROOT / declared.contract)
    assert all(judged(InputFile(shared_data / f"{name}.csv"), contract).verdicts)
