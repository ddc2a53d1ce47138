from datetime import UTC, datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.tables.texts import parse_as, parse_inferred
from tasks.core.tables.timestamps import parse_timestamps

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


@pytest.mark.parametrize(
    "text",
    [
        "2023-01-24T14:25:47",
        "2023-01-24 14:25:47",
        "2023/01/24 14:25:47",
        "2023.1.24  14:25:47",
        "01/24/2023 14:25:47",
        "1/24/2023 2:25:47 PM",
        "24 Jan 2023 14:25:47",
        "24-January-2023 14:25:47",
        "Jan 24, 2023 2:25:47 pm",
        "January 24 2023, 14:25:47",
        "Tuesday, 24 January 2023 14:25:47",
        "Tue, Jan 24, 2023 02:25:47 p.m.",
    ],
)
def test_timestamps_are_read_as_people_write_them(text):
    assert read_as("t", text) == [MOMENT]


def test_dates_are_midnights_and_minutes_suffice():
    texts = ["2023-01-24", "24 Jan 2023", "2023-01-24T14:25", "1/24/2023 12:00 AM", "1/24/2023 12:00 PM"]
    day = datetime(2023, 1, 24)
    assert read_as("t", *texts) == [day, day, MOMENT.replace(second=0), day, day.replace(hour=12)]


@pytest.mark.parametrize(
    "text",
    [
        "2023-01-24T14:25:47Z",
        "2023-01-24 16:25:47 +0200",
        "2023-01-24T09:25:47-05:00",
        "24 Jan 2023 14:25:47 GMT",
    ],
)
def test_zones_are_led_back_to_utc(text):
    assert read_as("t", text, "2023-01-24 14:25:47") == [MOMENT.replace(tzinfo=UTC)] * 2


def test_plain_timestamps_are_read_whatever_else_there_is():
    texts = ["2023-01-24 14:25:47", "2023-01-24", "", None, "2023-01-24T14:25"]
    moments = [MOMENT, datetime(2023, 1, 24), None, None, MOMENT.replace(second=0)]
    assert read_as("t", *texts) == moments
    assert read_as("t", *texts, "2023-02-29") == [*moments, None]
    assert read_as("t", *texts, "24 Jan 2023") == [*moments, moments[1]]


def test_fractions_make_the_unit_as_fine_as_they_are():
    for texts, unit in (
        (["2023-01-24 14:25:47", "2023-01-24 14:25:47.000"], "s"),
        (["2023-01-24 14:25:47.5"], "ms"),
        (["2023-01-24 14:25:47.123456789"], "us"),
    ):
        assert parse_timestamps(pa.array(texts)).type == pa.timestamp(unit)
    assert read_as("t", "2023-01-24 14:25:47,123456789") == [MOMENT.replace(microsecond=123456)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "2023-02-29",
        "2023-13-01",
        "24/01/2023",
        "2023-01-24 24:00:00",
        "2023-01-24 14:60",
        "0000-01-01",
        "1/24/2023 13:00 PM",
        "24 Foo 2023",
        "2023-01",
        "14:25:47",
        "20230124",
    ],
)
def test_what_is_no_moment_is_null(text):
    assert read_as("t", text) == [None]


@given(st.lists(st.datetimes(), min_size=1))
def test_every_timestamp_is_read_exactly(moments):
    texts = pa.array([moment.isoformat() for moment in moments])
    assert parse_timestamps(texts).to_pylist() == parse_timestamps(texts, strict=True).to_pylist() == moments


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
