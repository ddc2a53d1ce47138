"""Numbers are read with the marks that were declared, and what has other marks is no number."""

import re
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.contracts.declaration import Declarations
from tasks.core.contracts.odcs import read_contract
from tasks.core.contracts.public_schema import build_schema
from tasks.core.dp.digest import configuration_digest
from tasks.core.dp.parameters import DpParameters
from tasks.core.errors import ParameterError
from tasks.core.records.cells import code_texts, numbers_of_texts
from tasks.core.records.columns import Column, Schema, bin_labels
from tasks.core.records.encoding import EncodingOptions, encode
from tasks.core.statement.preparation import preparation_paragraph
from tasks.core.tables.header import InputFile
from tasks.core.tables.number_format import BOOKKEEPING, THOUSANDS, NumberFormat, canonical_thousands
from tasks.core.tables.texts import parse_as, parse_inferred
from tests.oracles.contracts import HEAD, contract_of, judged, write_table
from tests.oracles.loading import decode

EDGES = (0.0, 100.0, 1000.0, 100000.0)
GERMAN = NumberFormat(",", ".")


def read(number_format, *texts):
    """Each text as the plain number it is, None where it is none."""
    return number_format.plain_texts(pa.array(texts, pa.string())).to_pylist()


@pytest.mark.parametrize(
    ("number_format", "plain"),
    [
        (GERMAN, {"21804,78": "21804.78", "1.234,56": "1234.56", "-1.234.567": "-1234567", "1 234": None}),
        (GERMAN, {"5,": "5.", "+0,0": "+0.0", "1,5e-3": "1.5e-3", "": None, "x": None, "1,234.5": None}),
        (
            GERMAN,
            dict.fromkeys(["12,34,56", "1.23", "12.34,56", "1234.567", "1.2345", ".123", "1..234", "0.123"]),
        ),
        (
            NumberFormat(",", " "),
            {"1 234,5": "1234.5", "1\u00a0234,5": "1234.5", "1\u202f234\u2009567": "1234567"},
        ),
        (NumberFormat(",", " "), dict.fromkeys(["1  234", "12 34"])),
        (NumberFormat(".", "'"), {"1'234.5": "1234.5", "1\u2019234.5": "1234.5", "1,234.5": None}),
    ],
)
def test_only_groups_of_three_are_thousands_and_every_space_and_apostrophe_is_one(number_format, plain):
    assert read(number_format, *plain) == list(plain.values())


def test_a_mark_stands_for_all_of_its_kind():
    marks = {"\u202f": " ", " ": " ", "\u2019": "'", ",": ",", "": "", "_": "_"}
    assert [canonical_thousands(mark) for mark in marks] == list(marks.values())


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    st.sampled_from([NumberFormat(d, t) for d in ".," for t in THOUSANDS if d != t]),
    st.text(alphabet="0123456789.,' \u202f+-eE", max_size=9),
    st.sampled_from(
        [("", "")] * 4 + [(sign, "") for sign in ("<", ">= ", "≤", "≥", ">", "<= ")] + [("", "+")]
    ),
)
def test_numbers_are_those_that_an_obvious_reader_reads(number_format, text, limit):
    """The oracle takes a text apart at its marks, character by character."""
    whole_text = limit[0] + text + limit[1]
    if not limit[0]:
        text = whole_text.removesuffix("+").removesuffix(" ") if whole_text.endswith("+") else whole_text
    family = THOUSANDS[number_format.thousands]
    body, _, exponent = text.lower().partition("e")
    is_number = "e" not in text.lower() or re.fullmatch("[+-]?[0-9]+", exponent) is not None
    body = body[1:] if body[:1] in ("+", "-") else body
    whole, mark, fraction = body.partition(number_format.decimal)
    groups = [""]
    for character in whole:
        groups = [*groups, ""] if family and character in family else [*groups[:-1], groups[-1] + character]
    digits = "".join(groups)
    is_number &= bool(digits or fraction) and all(c in "0123456789" for c in digits + fraction)
    if len(groups) > 1:
        is_number &= 1 <= len(groups[0]) <= 3 and groups[0][0] != "0"
        is_number &= all(len(group) == 3 for group in groups[1:])
    [found] = read(number_format, whole_text)
    assert (found is not None) == is_number
    if is_number:
        sign = -1 if text[0] == "-" else 1
        value = float(f"{digits or 0}.{fraction or 0}e{exponent or 0}")
        assert float(found) == sign * value
    pattern, whole_pattern = number_format.pattern, number_format.whole_pattern
    assert (re.fullmatch(pattern, whole_text) is not None) == is_number
    whole_number = is_number and not mark and "e" not in text.lower()
    assert (re.fullmatch(whole_pattern, whole_text) is not None) == whole_number


@pytest.mark.parametrize("number_format", [NumberFormat(), GERMAN])
def test_a_limit_falls_into_the_bin_on_its_side_of_the_edge(number_format):
    """Of ages cut at 90, <18 is below 18 and 90+ above 89; what holds two limits or none is no number."""
    column = Column(
        "age", domain=bin_labels(edges := (0, 18, 90, 100)), bins=edges, number_format=number_format
    )
    labels = {"<18": "[0,18)", "<= 18": "[0,18)", "≤18": "[0,18)", "18": "[18,90)", "89": "[18,90)"}
    labels |= dict.fromkeys([">90", ">= 90", "≥90", "90+", "90 +"], "[90,100]")
    labels |= dict.fromkeys(["100+", ">100"], ">100") | {"100": "[90,100]", "<0": "<0"}
    labels |= dict.fromkeys(["<90+", "+", "<", ">>90", "90++", "C+"])
    found = code_texts(list(labels), column)
    assert [found.values[code - 1] if code else None for code in found.codes] == list(labels.values())


def test_the_reader_of_syndiffix_takes_limits_where_numbers_are_declared():
    texts = pa.array(["<5", "90+", "≥ 7", "3"])
    assert parse_as("r", texts).to_pylist() == parse_as("i", texts).to_pylist() == [5, 90, 7, 3]
    assert parse_as("r", texts, GERMAN).to_pylist() == [5, 90, 7, 3]
    assert parse_inferred(texts).to_pylist() == parse_inferred(texts, GERMAN).to_pylist() == texts.to_pylist()


def test_infinity_is_a_number_in_every_format():
    found = numbers_of_texts(["-inf", "Infinity", "1,5", "1.5"], NumberFormat(","))
    assert found[:3].tolist() == [float("-inf"), float("inf"), 1.5] and found[3] != found[3]


def counted(path, delimiter=";", *, total=True, **declared):
    """How many records of ``income`` are in each bin, from the first, after how many in none."""
    source = InputFile(path, delimiter=delimiter)
    headers = source.headers
    declarations = Declarations(bins={"income": EDGES}, **declared)
    schema = build_schema(headers.names, declarations, cap_required=total)
    records = encode(source, schema, EncodingOptions(total=total, key=b"k"))
    codes = records.slots[[column.name for column in schema.columns].index("income")]
    return [codes.tolist().count(code) for code in range(6)]


@pytest.mark.parametrize("total", [True, False], ids=["private", "anonymous"])
@pytest.mark.parametrize(
    "declared",
    [
        {"decimal": {"*": ","}, "thousands": {"*": "."}},
        {"decimal": {"Income ": ","}, "thousands": {"income": "."}},
        {"decimal": {"*": ".", "income": ","}, "thousands": {"*": "", "income": "."}},
    ],
)
def test_bins_are_of_the_numbers_as_declared_for_the_table_or_the_column(tmp_path, declared, total):
    cells = ["21804,78", "1.234,5", "0,0", "99,99", "0", "100,00", "1.23", "21804.78", ""]
    (tmp_path / "t.csv").write_text("income;x\n" + "".join(f"{c};a\n" for c in cells), encoding="utf-8")
    assert counted(tmp_path / "t.csv", total=total, **declared) == [3, 0, 3, 1, 2, 0]


@pytest.mark.parametrize("kind", [pa.float64(), pa.int32(), pa.decimal128(38, 2)])
def test_typed_numbers_of_a_parquet_file_have_no_marks(tmp_path, kind):
    pq.write_table(pa.table({"income": pa.array([500, 7, None]).cast(kind)}), tmp_path / "t.parquet")
    assert counted(tmp_path / "t.parquet", decimal={"*": ","}, thousands={"*": "."}) == [1, 0, 1, 1, 0, 0]


def test_texts_of_a_parquet_file_have_them(tmp_path):
    for number, kind in enumerate([pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())]):
        path = tmp_path / f"{number}.parquet"
        pq.write_table(pa.table({"income": pa.array(["500,5", "7", None]).cast(kind)}), path)
        assert counted(path, decimal={"*": ","}) == [1, 0, 1, 1, 0, 0]


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        ({"decimal": {"*": ","}, "thousands": {"*": ","}}, "give '.' as decimal"),
        ({"thousands": {"income": "."}}, "give ',' as decimal"),
        ({"decimal": {"nowhere": ","}}, "decimal names the column 'nowhere'"),
        ({"thousands": {"nowhere": " "}}, "thousands names the column 'nowhere'"),
    ],
)
def test_marks_that_can_not_be_meant_are_refused(declared, words):
    with pytest.raises(ParameterError) as caught:
        build_schema(["income", "x"], Declarations(**declared), cap_required=False)
    [problem] = caught.value.problems
    assert words in problem


def test_marks_are_in_a_release_s_name_where_numbers_are_read_and_nowhere_else():
    parameters = DpParameters(epsilon=1.0, delta=1e-6, reporting_length=2)

    def name(**declared):
        bins = {"income": EDGES}
        schema = build_schema(["income", "town"], Declarations(bins=bins, **declared), cap_required=True)
        assert Schema.from_json(schema.to_json()) == schema
        return configuration_digest(schema, parameters)

    assert name() == name(decimal={"*": "."}) == name(decimal={"town": ","}) == name(thousands={"*": ""})
    assert len({name(), name(decimal={"*": ","}), name(thousands={"*": ","})}) == 3
    assert name(decimal={"*": ","}) == name(decimal={"income": ","})
    plain = Schema((Column("income"),))
    marked = [NumberFormat(","), GERMAN, NumberFormat(",", ".", BOOKKEEPING)]
    schemas = [plain, *(Schema((Column("income", number_format=each),)) for each in marked)]
    assert len({configuration_digest(schema, parameters) for schema in schemas}) == len(schemas)
    assert [Schema.from_json(schema.to_json()) for schema in schemas] == schemas


COLUMN = """\
      - name: ward
      - name: age
        logicalType: {type}
        customProperties:
          - {{property: decimal, value: ","}}
          - {{property: thousands, value: "{thousands}"}}
"""


def age_contract(type="number", thousands="."):
    return contract_of(COLUMN.format(type=type, thousands=thousands))


def test_a_contract_declares_marks_of_a_column_or_of_the_table():
    _, age = age_contract(thousands="\u202f").columns
    assert (age.decimal, age.thousands) == (",", " ")
    own = 'customProperties:\n      - {property: decimal, value: ","}\n      - {property: subjectId'
    text = (HEAD + COLUMN.format(type="number", thousands=".")).replace(
        "customProperties:\n      - {property: subjectId", own, 1
    )
    ward, age = read_contract(text).columns
    assert (ward.decimal, ward.thousands, age.decimal, age.thousands) == (",", None, ",", ".")


@pytest.mark.parametrize(
    ("type", "thousands", "words"),
    [("string", ".", "logicalType integer or number"), ("number", "_", "thousands")],
)
def test_faults_of_a_contract_s_marks_are_told_with_their_place(type, thousands, words):
    with pytest.raises(ParameterError, match=words):
        age_contract(type, thousands)


def test_configuration_and_contract_must_agree():
    with pytest.raises(ParameterError, match="declared otherwise in decimal than in the contract"):
        build_schema(
            ["person", "ward", "age"], Declarations(decimal={"*": "."}), age_contract(), cap_required=False
        )


@pytest.mark.parametrize(
    ("type", "cell", "holds"),
    [
        ("number", '"1.234,5"', True),
        ("number", "1.234", True),
        ("number", "1234.5", False),
        ("integer", "1.234", True),
        ("integer", '"1,5"', False),
        ("integer", "12.34", False),
        ("integer", "90+", True),
        ("number", '"<0,5"', True),
        ("integer", "<90+", False),
    ],
)
def test_a_strict_contract_judges_numbers_with_their_marks(tmp_path, type, cell, holds):
    path = tmp_path / "t.csv"
    path.write_text("person,ward,age\n" + "".join(f"{i},n,{cell}\n" for i in range(3)), encoding="utf-8")
    found = judged(InputFile(path), age_contract(type))
    assert [rule.violation for rule in found.broken] == (
        []
        if holds
        else [f"Column 'age' has values that are not of type {type}. Correct them, or its logicalType."]
    )


BOOKED = NumberFormat(",", ".", BOOKKEEPING)
SPELT = {
    "(120,00)": "-120.00",
    "120,00-": "-120.00",
    "(1.234)": "-1234",
    "1.234,5-": "-1234.5",
    "-7": "-7",
    "7": "7",
    "1,5e-3": "1.5e-3",
}
NO_NUMBERS = ("(-7)", "-7-", "(7", "7)", "()", "-", "(7)-", "((7))", "7 -", "(1,5e3)", "(12.34)")


def test_brackets_and_a_minus_behind_mean_below_zero_where_that_is_declared():
    assert read(BOOKED, *SPELT) == list(SPELT.values())
    assert [BOOKED.plain_text(text) for text in SPELT] == list(SPELT.values())
    assert read(BOOKED, *NO_NUMBERS) == [None] * len(NO_NUMBERS)
    assert [BOOKED.plain_text(text) for text in NO_NUMBERS] == [None] * len(NO_NUMBERS)
    assert read(GERMAN, "(120,00)", "120,00-", "-7") == [None, None, "-7"]
    assert [re.fullmatch(BOOKED.whole_pattern, text) is not None for text in ("(7)", "7-", "-7", "7,5-")] == [
        *(True, True, True),
        False,
    ]


@pytest.mark.parametrize("where", ["configuration", "contract"])
def test_amounts_of_bookkeepers_are_counted_in_the_bins_below_zero(where, tmp_path):
    (tmp_path / "t.csv").write_text("sum\n(120.00)\n120.00-\n-120\n120\n(x)\n")
    declared, contract = Declarations(bins={"sum": (-200, 0, 200)}, negative={"*": "bookkeeping"}), None
    if where == "contract":
        declared = Declarations()
        contract = contract_of(
            "      - name: sum\n        logicalType: number\n        customProperties:\n"
            "          - {property: bins, value: [-200, 0, 200]}\n"
            "          - {property: negative, value: bookkeeping}\n"
        ).model_copy(update={"subject_id": None})
    source = InputFile(tmp_path / "t.csv")
    schema = build_schema(source.headers.names, declared, contract, cap_required=True)
    records = decode(encode(source, schema, EncodingOptions(total=True, key=b"k")))
    assert records["sum"].to_pylist() == ["[-200,0)", "[-200,0)", "[-200,0)", "[0,200]", None]


def test_a_contract_takes_one_word_for_it_and_only_of_numbers():
    body = "      - name: sum\n        customProperties: [{property: negative, value: %s}]\n"
    for value, words in (("brackets", "negative"), ("bookkeeping", "need the logicalType integer or number")):
        with pytest.raises(ParameterError, match=words):
            read_contract(HEAD + body % value)


# --- in a column with bins 0 is a number like any other, whatever its spelling and type


@pytest.mark.parametrize("total", [True, False], ids=["private", "anonymous"])
def test_every_spelling_of_zero_is_counted(tmp_path, total):
    cells = ["0"] * 10 + ["0.0"] * 5 + ["00"] * 2 + ["-0", " 0 ", "0e0", "+0", "-0.0", "0.", ".0"]
    path = tmp_path / "t.csv"
    path.write_text("income,x\n" + "".join(f"{cell},a\n" for cell in [*cells, ""]), encoding="utf-8")
    assert counted(path, ",", total=total) == [1, 0, 24, 0, 0, 0]


@pytest.mark.parametrize("total", [True, False], ids=["private", "anonymous"])
@pytest.mark.parametrize(
    "kind", [pa.int8(), pa.int64(), pa.uint16(), pa.float32(), pa.float64(), pa.decimal128(9, 2), pa.string()]
)
def test_zeros_of_every_type_of_a_parquet_file_are_counted(tmp_path, kind, total):
    cells = [Decimal(0), None, Decimal(100), Decimal(0)]
    texts = pa.array([None if cell is None else str(cell) for cell in cells])
    column = texts if pa.types.is_string(kind) else pa.array(cells, pa.decimal128(9, 2)).cast(kind)
    pq.write_table(pa.table({"income": column}), tmp_path / "t.parquet")
    assert counted(tmp_path / "t.parquet", total=total) == [1, 0, 2, 1, 0, 0]


def test_what_is_stated_of_zeros_is_how_they_were_counted():
    schema = Schema((Column("town"), Column("income", domain=bin_labels(EDGES), bins=EDGES)), "person")
    assert [column.keeps_zero for column in schema.columns] == [False, True]
    assert Schema.from_json(schema.to_json()) == schema
    assert "0 among them" in preparation_paragraph(schema)


def test_a_strict_contract_does_not_call_the_zeros_of_bins_empty(tmp_path):
    column = "      - {name: income, logicalType: integer, required: true"
    rows = ("1,0", "2,0", "3,5")
    source = write_table(tmp_path / "t.csv", rows, "person,income")
    custom = ", customProperties: [{property: bins, value: [0, 100]}]}\n"
    assert all(judged(source, contract_of(column + custom)).verdicts)
    assert not all(judged(source, contract_of(column + "}\n")).verdicts)
