"""The public schema: what is declared, and every way to declare it wrongly."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.contracts.contract import Contract
from tasks.core.contracts.declaration import Declarations
from tasks.core.contracts.public_schema import build_schema, numbers_without_bins
from tasks.core.errors import ParameterError
from tasks.core.records.cells import code_texts
from tasks.core.records.columns import Schema
from tests.oracles.contracts import HEAD, HEADER, contract_of

HEADERS = ("person", " Ward", "age ", "tags", "secret:column")


def schema(contract: Contract | None = None, headers: tuple[str, ...] = HEADERS, **declared: Any) -> Schema:
    return build_schema(headers, Declarations(**declared), contract, cap_required=True)


def problems(
    contract: Contract | None = None, headers: tuple[str, ...] = HEADERS, **declared: Any
) -> list[str]:
    with pytest.raises(ParameterError) as caught:
        schema(contract, headers, **declared)
    return caught.value.problems


def test_columns_keep_file_order_and_the_id_is_never_an_attribute():
    found = schema(subject_id=" PERSON ", use_columns=("Tags", " ward ", "person"))
    assert [column.name for column in found.columns] == ["Ward", "tags"]
    assert found.subject_id == "person"
    assert [column.name for column in schema(subject_id="person").columns] == [
        "Ward",
        "age",
        "tags",
        "secret<colon>column",
    ]


@pytest.mark.parametrize(
    "declared",
    [
        {"subject_id": "nowhere"},
        {"use_columns": ("ward", "nowhere")},
        {"multi_value_columns": {"nowhere": ";"}},
        {"sensitive_zeros": ("nowhere",)},
        {"bins": {"nowhere": (0, 1)}},
        {"domains": {"nowhere": ("a",)}},
        {"max_items": {"nowhere": 2}},
    ],
)
def test_an_unknown_name_is_an_error_that_names_its_key(declared):
    (found,) = problems(**declared)
    assert next(iter(declared)) in found and "'nowhere'" in found


def test_all_unknown_names_are_reported_at_once_and_no_undeclared_header_is_shown():
    found = problems(subject_id="x1", use_columns=("x2",), bins={"x3": (0, 1)}, sensitive_zeros=("x4", "x5"))
    assert len(found) == 5
    assert not any("secret" in problem or "age" in problem for problem in found)
    [unnamed] = problems(subject_id="", headers=("a", "b", ""), use_columns=("a",))
    assert unnamed.startswith("subject_id names the column ''")


@pytest.mark.parametrize(
    ("declared", "sentence"),
    [
        ({"bins": {"age": (1,)}}, "two or more"),
        ({"bins": {"age": (1, 1)}}, "increase"),
        ({"bins": {"age": (2, 1)}}, "increase"),
        ({"bins": {"age": (0, float("nan"))}}, "finite"),
        ({"bins": {"age": (0, float("inf"))}}, "finite"),
        ({"bins": {"age": (1, 1 + 2**-52)}}, "labels"),
        ({"domains": {"ward": ("a", " a ")}}, "each once"),
        ({"domains": {"ward": ("a", " ")}}, "empty text"),
        ({"domains": {"ward": ()}}, "at least one"),
        ({"domains": {"age": ("a",)}, "bins": {"age": (0, 1)}}, "both bins and a domain"),
        ({"max_items": {"ward": 2}}, "multi_value_columns"),
        ({"bins": {"tags": (0, 1)}, "multi_value_columns": {"tags": ";"}}, "can't be binned"),
        ({"bins": {"age": (0, 1), " AGE": (0, 1)}}, "once"),
        ({"subject_id": "person", "sensitive_zeros": ("person",)}, "never an attribute"),
        ({"subject_id": "person", "use_columns": ("person",)}, "At least one column"),
    ],
)
def test_a_declaration_that_cannot_be_meant_is_an_error(declared, sentence):
    assert any(sentence in problem for problem in problems(**declared))


def test_duplicate_and_missing_headers_are_named_by_position():
    found = problems(headers=("a", "secret", " Secret", ""))
    assert found == [
        "Columns 2 and 3 of the input have the same name; rename one.",
        "Column 4 of the input has no name: name it in the file, or list the columns to use in use_columns.",
    ]


def test_zero_is_a_value_where_declared_or_in_the_domain():
    found = schema(sensitive_zeros=("WARD",), domains={"age": ("0", "1"), "tags": ("1",)})
    assert [column.zero_is_value for column in found.columns] == [False, True, True, False, False]


def test_rule_12_every_multi_valued_column_has_a_cap_under_dp():
    declared = {"multi_value_columns": {"tags": ";"}}
    assert schema(**declared).columns[3].max_items == 8
    assert schema(**declared, domains={"tags": ("a", "b")}).columns[3].max_items == 2
    assert schema(**declared, max_items={"Tags": 3}).columns[3].max_items == 3
    loose = build_schema(HEADERS, Declarations(**declared), cap_required=False)
    assert loose.columns[3].max_items == 0


CLINIC = tuple(HEADER.split(","))


def test_the_contract_supplies_what_the_configuration_leaves_out():
    found = schema(contract_of(), CLINIC)
    ward, age, languages, remark, _ = found.columns
    assert found.subject_id == "person"
    assert ward.domain == ("north", "south") and ward.forbidden == ()
    assert age.bins == (0, 18, 65)
    assert (languages.delimiter, languages.max_items) == ("|", 2)
    assert remark.forbidden[0] == "^[A-Z]{2}[0-9]{4}$" and len(remark.forbidden) == 12
    agreeing = schema(
        contract_of(),
        CLINIC,
        subject_id="Person",
        bins={"age": [0, 18, 65]},
        domains={"ward": ("north", "south")},
        multi_value_columns={"languages": "|"},
        max_items={"languages": 2},
    )
    assert agreeing == found


@pytest.mark.parametrize(
    "declared",
    [
        {"bins": {"age": (0, 18)}},
        {"domains": {"ward": ("north",)}},
        {"multi_value_columns": {"languages": ";"}},
        {"multi_value_columns": {"remark": ";"}},
        {"max_items": {"languages": 3}},
        {"subject_id": "remark"},
    ],
)
def test_declaring_otherwise_than_the_contract_is_an_error(declared):
    (key,) = declared
    assert any(
        key in problem and "contract" in problem for problem in problems(contract_of(), CLINIC, **declared)
    )


def test_the_file_must_have_the_contracts_columns_and_no_others():
    found = problems(contract_of(), ("person", "ward", "languages", "remark", "seen", "secret"))
    assert len(found) == 2
    assert "'age'" in found[0] and "Column 6" in found[1] and "secret" not in "".join(found)
    used = schema(contract_of(), ("person", "ward", "secret"), use_columns=("ward",))
    assert [column.name for column in used.columns] == ["ward"]


def test_rule_11_a_drafted_list_stays_open_and_a_declared_one_closes_it():
    columns = """\
      - name: ward
        quality: [{metric: invalidValues, mustBe: 0, arguments: {validValues: [a, b]}}]
        customProperties: [{property: drafted, value: true}]
"""
    contract = contract_of(columns)
    assert schema(contract, ("person", "ward")).columns[0].is_open
    accepted = schema(contract, ("person", "ward"), domains={"ward": ("a",)}).columns[0]
    assert accepted.domain == ("a",) and accepted.forbidden == ()


def test_other_joins_the_domain():
    columns = """\
      - name: ward
        quality: [{metric: invalidValues, mustBe: 0, arguments: {validValues: [a, b]}}]
        customProperties: [{property: other, value: rest}]
      - name: income
        logicalType: number
        customProperties: [{property: bins, value: [0, 1]}, {property: other, value: unknown}]
"""
    ward, income = schema(contract_of(columns), ("person", "ward", "income")).columns
    assert (ward.domain, ward.other) == (("a", "b", "rest"), "rest")
    assert income.domain == ("<0", "[0,1]", ">1", "unknown")


@pytest.mark.parametrize("kind", ["integer", "number"])
def test_a_declared_number_needs_bins_or_a_domain_under_dp(kind):
    contract = contract_of(f"      - name: income\n        logicalType: {kind}\n")
    headers = ("person", "income")
    (found,) = problems(contract, headers)
    assert "'income'" in found and '"bins": {"income": [' in found
    assert schema(contract, headers, bins={"income": (0, 10)}).columns[0].bins == (0, 10)
    assert schema(contract, headers, domains={"income": ("1", "2")}).columns[0].domain == ("1", "2")
    assert build_schema(headers, Declarations(), contract, cap_required=False).columns[0].is_open


@pytest.mark.parametrize(
    ("domain", "decimal", "cells", "values"),
    [
        (
            ("1", "2", "3"),
            {},
            ["1.0", "2.00", "1,00", "3", "1.5", "01", "v1.0"],
            ["1", "2", "1", "3", "", "", ""],
        ),
        (("1", "2"), {"*": ","}, ["1,000", "2.0", "1.000"], ["1", "2", ""]),
        (("1", "1.0"), {}, ["1.0", "1", "1.00"], ["1.0", "1", ""]),
        (("a", "0"), {}, ["0.0", "-0.0", "a.0", "a"], ["0", "0", "", "a"]),
        (None, {}, ["1.0", "1"], ["1.0", "1"]),
    ],
)
def test_a_listed_whole_number_is_met_by_a_cell_with_zeros_behind_its_mark(domain, decimal, cells, values):
    declared = Declarations(domains={"x": domain} if domain else {}, decimal=decimal)
    (column,) = build_schema(["x"], declared, cap_required=True).columns
    found = code_texts(cells, column)
    assert [("", *found.values)[code] for code in found.codes] == values


@pytest.mark.parametrize("said", [{"cut": {"x": "whole"}}, {}])
def test_zeros_are_dropped_of_a_column_that_is_said_to_hold_whole_numbers(said):
    contract = None if said else contract_of("      - {name: x, logicalType: integer}\n")
    headers = ("x",) if said else ("person", "x")
    (column,) = build_schema(headers, Declarations(**said), contract, cap_required=bool(said)).columns
    assert code_texts(["7.0", "7", "7,00", "7.5"], column).values == ("7", "7.5")


def test_items_cannot_collide_with_another_columns_header():
    headers = ("tags", "tags_a", "tags_b.c")
    declared = Declarations(multi_value_columns={"tags": ";"}, domains={"tags": ("a", "z")})
    with pytest.raises(ParameterError, match=r"'tags'.*'tags_a'"):
        build_schema(headers, declared, cap_required=True)
    found = schema(headers=headers, multi_value_columns={"tags": ";"})
    assert found.columns[0].forbidden == ("^a$", "^b\\.c$")
    declared = Declarations(multi_value_columns={"tags": ";"})
    assert build_schema(headers, declared, cap_required=False).columns[0].forbidden == ()


def test_a_similar_name_is_pointed_at_without_showing_an_undeclared_header():
    [found] = problems(use_columns=("wardd",))
    assert found == (
        "use_columns names the column 'wardd', which the input does not have; "
        "did you mean the name of column 2?"
    )
    [found] = problems(contract_of(), CLINIC, sensitive_zeros=("wardd",))
    assert found.endswith("which the input does not have; did you mean 'ward'?")
    [found] = problems(subject_id="zzzzzz")
    assert found.endswith("which the input does not have: correct the name, or take it out.")


def test_numbers_without_bins_are_named_and_accepted_under_k_anonymity():
    contract = contract_of("      - {name: ward}\n      - {name: age, logicalType: integer}\n")
    headers = ("person", "ward", "age")
    found = build_schema(headers, Declarations(), contract, cap_required=False)
    assert numbers_without_bins(found, contract) == ["age"]
    binned = build_schema(headers, Declarations(bins={"age": (0, 1)}), contract, cap_required=False)
    assert numbers_without_bins(binned, contract) == []


@given(
    st.lists(st.text(max_size=6), max_size=6),
    st.dictionaries(st.text(max_size=4), st.lists(st.text(max_size=3))),
)
def test_any_header_gives_a_schema_or_a_parameter_error(headers, domains):
    declared = Declarations(domains={name: tuple(values) for name, values in domains.items()})
    try:
        found = build_schema(headers, declared, cap_required=True)
    except ParameterError as error:
        assert error.problems
    else:
        assert Schema.from_json(found.to_json()) == found


def test_a_contract_without_subject_has_none():
    head = HEAD.replace("    customProperties:\n      - {property: subjectId, value: person}\n", "")
    contract = contract_of("      - name: x\n", head.replace("      - {name: person, required: true}\n", ""))
    assert schema(contract, ("x",)).subject_id is None


def test_a_star_says_that_zero_is_a_value_in_every_column():
    found = schema(subject_id="person", sensitive_zeros=("*",))
    assert [column.zero_is_value for column in found.columns] == [True] * 4
    assert problems(sensitive_zeros=("*", "nowhere"))[0].startswith(
        "sensitive_zeros names the column 'nowhere'"
    )


LIMITED = """\
      - name: age
        required: true
        logicalType: integer
        logicalTypeOptions: {minimum: 0, maximum: 120}
        customProperties: [{property: bins, value: [0, 18, 65]}]
"""


def test_a_declared_limit_at_an_end_leaves_no_bin_beyond_it():
    (age,) = schema(contract_of(LIMITED), ("person", "age")).columns
    assert age.domain == ("[0,18)", "[18,65]", ">65") and age.open_ends == (">65",)
    assert (age.minimum, age.maximum, age.required) == (0, 120, True)
    (open_below,) = schema(
        contract_of(LIMITED.replace("value: [0,", "value: [5,")), ("person", "age")
    ).columns
    assert open_below.domain is not None and open_below.domain[0] == "<5", "0 to 5 can be"


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        (LIMITED.replace("[0, 18, 65]", "[-5, 18, 65]"), "minimum is above the first edge"),
        (LIMITED.replace("[0, 18, 65]", "[0, 18, 140]"), "maximum is below the last edge"),
        (LIMITED.rpartition("        customProperties")[0], "minimum and maximum need bins"),
    ],
)
def test_limits_without_bins_and_edges_beyond_a_limit_are_refused(written, fault):
    assert fault in problems(contract_of(written), ("person", "age"))[0]


def test_faults_of_many_columns_are_one_sentence_each():
    columns = "".join(f"      - {{name: n{place}, logicalType: number}}\n" for place in range(30))
    (needed,) = problems(contract_of(columns), ("person", *(f"n{place}" for place in range(30))))
    assert needed.startswith("30 columns hold numbers and need public bins: 'n0', 'n1', ")
    absent, strange = problems(contract_of(columns), ("person", "n0", "n1", "a", "b"))
    assert absent.startswith("The contract describes the columns 'n2', 'n3', ")
    assert strange.startswith("Columns 4, 5 of the input are not in the contract")
