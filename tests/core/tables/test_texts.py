from datetime import datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.tables.texts import parse_as, parse_inferred

MOMENT = datetime(2023, 1, 24, 14, 25, 47)


def read_as(letter, *texts):
    return parse_as(letter, pa.array(texts, pa.string())).to_pylist()


def test_booleans_are_1_t_true_0_f_false_in_any_case():
    assert read_as("b", "1", "t", "TRUE", " True") == [True] * 4
    assert read_as("b", "0", "F", "false", "False ") == [False] * 4
    assert read_as("b", "yes", "", "2", "truee") == [None] * 4


def test_integers_are_digits_of_any_length_to_38_and_a_sign():
    assert read_as("i", "5", "-3", "+7", " 007 ", "") == [5, -3, 7, 7, None]
    assert read_as("i", "1.0", "1e3", "1,000", "x", "-") == [None] * 5
    assert parse_as("i", pa.array([str(2**63 - 1), str(-(2**63))])).type == pa.int64()
    assert read_as("i", str(2**63), "-1") == [Decimal(2**63), Decimal(-1)]
    assert read_as("i", "9" * 38, "0" * 50 + "7", "9" * 39) == [Decimal("9" * 38), Decimal(7), None]


@given(st.lists(st.integers(-(10**38) + 1, 10**38 - 1), min_size=1))
def test_every_integer_is_read_exactly(numbers):
    assert [int(number) for number in read_as("i", *map(str, numbers))] == numbers


def test_reals_may_have_thousands_separators():
    assert read_as("r", "1,234.5", "1,234,567", "-.5", "5.", "1e-7", "+2") == [
        1234.5,
        1234567,
        -0.5,
        5,
        1e-7,
        2,
    ]
    assert read_as("r", "1,5", "12,34", "1e999", "NaN", "inf", "", "1 000") == [None] * 7


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_every_real_is_read_exactly(numbers):
    assert read_as("r", *map(repr, numbers)) == numbers


def test_declared_texts_are_trimmed_and_an_empty_one_is_a_text():
    assert read_as("s", " a b ", "", "  ") == ["a b", "", ""]


def test_moments_are_trimmed_and_iso_alone():
    texts = [" 2023-01-24T14:25:47 ", "2023-01-24", "", None, "2023-02-29", "1/24/2023"]
    assert read_as("t", *texts) == [MOMENT, datetime(2023, 1, 24), None, None, None, None]


@pytest.mark.parametrize(
    ("texts", "kind", "values"),
    [
        (["2023-01-24", "2023-01-24 14:25:47", ""], pa.timestamp("s"), [datetime(2023, 1, 24), MOMENT, None]),
        (["2023/01/24"], pa.string(), ["2023/01/24"]),
        (["1", "-2", ""], pa.int64(), [1, -2, None]),
        ([str(2**64)], pa.decimal128(38, 0), [Decimal(2**64)]),
        (["1.5", "NaN", "2", ""], pa.float64(), [1.5, None, 2.0, None]),
        (["NaN"], pa.string(), ["NaN"]),
        (["true", "False", ""], pa.bool_(), [True, False, None]),
        (["0", "1"], pa.int64(), [0, 1]),
        (["01301", "2"], pa.string(), ["01301", "2"]),
        (["0.5", "0"], pa.float64(), [0.5, 0.0]),
        (["1,5"], pa.string(), ["1,5"]),
        (["a", " b ", ""], pa.string(), ["a", " b ", None]),
        (["NULL", "NA"], pa.string(), ["NULL", "NA"]),
        (["", ""], pa.string(), [None, None]),
        (["1e999"], pa.string(), ["1e999"]),
    ],
)
def test_without_a_declaration_the_type_is_that_of_all_cells(texts, kind, values):
    parsed = parse_inferred(pa.array(texts))
    assert (parsed.type, parsed.to_pylist()) == (kind, values)
