"""Contracts: what is read, and every fault with its place."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.contracts.odcs import load_contract, read_contract
from tasks.core.errors import ParameterError
from tests.oracles.contracts import COLUMNS, HEAD, contract_of

ROOT = Path(__file__).resolve().parents[3]


def faults(text: str) -> list[str]:
    with pytest.raises(ParameterError) as caught:
        read_contract(text, "c.yaml")
    return caught.value.problems


def column_faults(body: str) -> list[str]:
    return faults(HEAD + "      - name: x\n" + "".join(f"        {line}\n" for line in body.splitlines()))


def test_everything_that_is_declared_is_read():
    contract = contract_of()
    assert (contract.subject_id, contract.min_rows, contract.table) == ("person", 3, "visits")
    assert [column.name for column in contract.columns] == ["ward", "age", "languages", "remark", "seen"]
    ward, age, languages, remark, seen = contract.columns
    assert ward.values == ("north", "south") == ward.domain
    assert ward.max_empty_percent == 40
    assert age.bins == (0, 18, 65) and age.is_numeric
    assert (languages.delimiter, languages.max_items) == ("|", 2)
    assert remark.max_distinct == 3 and remark.forbidden[0].name == "badge numbers"
    assert seen.logical_type == "date"


def test_a_description_is_read_and_demands_nothing():
    body = "      - name: person\n{0}        required: true\n      - name: ward\n{0}"
    head = HEAD.replace("      - {name: person, required: true}\n", "")
    said = read_contract(head + body.format("        description: <b>where</b> they lay\n"))
    plain = read_contract(head + body.format(""))
    assert said.columns[0].description == "<b>where</b> they lay" and not plain.columns[0].description
    assert said.meaning == plain.meaning, "words change no draw"


def test_scalars_are_the_text_that_stands_in_the_file():
    values = "[yes, 007, 1.0, 12:30, null, 1_000, 'a;b']"
    columns = f"""\
      - name: x
        quality: [{{metric: invalidValues, mustBe: 0, arguments: {{validValues: {values}}}}}]
"""
    held = ("yes", "007", "1.0", "12<colon>30", "null", "1_000", "a<semicolon>b")
    assert contract_of(columns).columns[0].values == held


def test_all_faults_are_reported_at_once_with_their_lines():
    text = (
        (HEAD + COLUMNS)
        .replace("v3.1.0", "v2.2.0")
        .replace("[north, south]", "[north, north]")
        .replace("logicalType: integer", "logicalType: whole")
        .replace("mustBeGreaterOrEqualTo: 3", "mustBeGreaterOrEqualTo: many")
        .replace("property: delimiter", "property: separator")
        .replace("logicalType: date", "datatype: date")
    )
    found = faults(text)
    expected = {
        "v2.2.0": "apiVersion",
        "name: ward": "schema[0].properties[1]:",
        "whole": "schema[0].properties[2].logicalType",
        "many": "schema[0].quality[0].mustBeGreaterOrEqualTo",
        "separator": "schema[0].properties[3].customProperties[0]",
        "datatype": "schema[0].properties[5].datatype",
    }
    for needle, place in expected.items():
        line = next(i for i, content in enumerate(text.splitlines(), start=1) if needle in content)
        assert any(f"c.yaml, line {line}: {place}" in fault for fault in found), (needle, found)


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("logicalType: array", "an array needs a delimiter"),
        ("customProperties: [{property: delimiter, value: '|'}]", "an array needs a delimiter"),
        ("logicalTypeOptions: {maxItems: 3}", "only an array has maxItems"),
        ("customProperties: [{property: bins, value: [0, 1]}]", "bins need the logicalType"),
        (
            "logicalType: integer\ncustomProperties: [{property: bins, value: [1, 1]}]",
            "increase strictly, not be [1, 1]: put them in order",
        ),
        ("logicalType: integer\ncustomProperties: [{property: bins, value: [1]}]", "two or more"),
        ("logicalType: integer\ncustomProperties: [{property: bins, value: [0, inf]}]", "finite"),
        ("customProperties: [{property: drafted, value: true}]", "there is none"),
        ("customProperties: [{property: other, value: rest}]", "other needs declared"),
        ("customProperties: [{property: valueFormat, value: '%Y'}]", "valueFormat needs"),
        ("quality: [{metric: invalidValues, arguments: {validValues: [a]}}]", "mustBe 0"),
        ("quality: [{metric: invalidValues, mustBe: 0}]", "validValues"),
        ("quality: [{metric: invalidValues, mustBe: 0, arguments: {validValues: ['']}}]", "empty text"),
        ("quality: [{metric: nullValues, mustBeLessOrEqualTo: 5}]", "unit percent"),
        ("quality: [{metric: nullValues, unit: percent, mustBeLessOrEqualTo: 101}]", "less than or equal"),
        ("quality: [{metric: duplicateValues, mustBe: 0}]", "should be 'rowCount'"),
        ("quality: [{type: sql, query: select 1}]", "type"),
        ("quality: [{type: custom, engine: soda, implementation: {rule: distinctValues}}]", "engine"),
        (
            "quality: [{type: custom, engine: marginalia, implementation: {rule: forbiddenPattern,"
            " name: n, pattern: '(?=a)b'}}]",
            "look-around",
        ),
        (
            "quality: [{type: custom, engine: marginalia, implementation: {rule: forbiddenPattern,"
            " name: n, pattern: '('}}]",
            "regular expression",
        ),
        ("primaryKey: true", "not a key that a contract may hold"),
        ("name: y", "given twice"),
    ],
)
def test_what_cannot_be_meant_is_refused(body, sentence):
    assert any(sentence in fault for fault in column_faults(body)), column_faults(body)


@pytest.mark.parametrize("text", ["", "a", "- a", "a: [", "&a [*a]", "schema: []", "schema: [x]", "\0", "%"])
def test_what_is_no_contract_is_a_parameter_error(text):
    assert faults(text)


@given(st.text(max_size=60))
def test_any_text_is_a_contract_or_a_parameter_error(text):
    with pytest.raises(ParameterError):
        read_contract(text)


def test_a_missing_file_and_one_that_is_not_text_are_parameter_errors(tmp_path):
    (tmp_path / "latin.yaml").write_bytes(b"name: caf\xe9")
    for name in ("nowhere.yaml", "latin.yaml"):
        with pytest.raises(ParameterError, match=name):
            load_contract(tmp_path / name)


def test_the_example_of_the_readme_is_a_contract():
    text = (ROOT / "data_contracts" / "README.md").read_text(encoding="utf-8")
    example = text.split("```yaml\n")[1].split("```")[0]
    assert yaml.safe_load(example)["kind"] == "DataContract"
    contract = read_contract(example)
    assert [column.name for column in contract.columns if column.domain is not None] == ["region"]
