from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from math import inf, nan

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tasks.core.errors import InputError
from tasks.core.syndiffix.columns import encode_column
from tasks.core.syndiffix.settings import AnonymizationParameters, SynDiffixParameters
from tasks.core.syndiffix.synthesizer import Synthesizer

INTEGERS = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]
MOMENTS = st.datetimes(datetime(1528, 1, 1), datetime(2072, 1, 1))


def there_and_back(array):
    """The values that were encoded, decoded, as published singularities are."""
    column = encode_column("c", array)
    assert column.values.dtype == np.float64
    return column.in_output_type(column.decode(column.values, missing(column)))


def missing(column):
    return np.isnan(column.values)


def assert_same(array):
    array = pa.chunked_array(array) if isinstance(array, list) else array
    back = there_and_back(array)
    assert back.type == array.type
    assert back.to_pylist() == array.to_pylist()
    back.validate(full=True)


def some(values, least=0):
    return st.lists(st.none() | values, min_size=least, max_size=30)


@pytest.mark.parametrize("kind", INTEGERS, ids=str)
@settings(max_examples=50)
@given(data=st.data())
def test_integers_within_2_to_the_53_of_each_other_come_back(kind, data):
    signed = str(kind)[0] == "i"
    least, most = (-(2 ** (kind.bit_width - 1)) if signed else 0), 2 ** (kind.bit_width - signed) - 1
    first = data.draw(st.integers(least, most))
    near = st.integers(max(least, first - 2**52 + 1), min(most, first + 2**52 - 1))
    assert_same(pa.array(data.draw(some(near)), kind))


@pytest.mark.parametrize("end", [-(2**63), -(2**53), 0, 2**53, 2**62 + 12345, 2**63 - 1, 2**64 - 1])
def test_extreme_integers_come_back(end):
    kind = pa.uint64() if end >= 2**63 else pa.int64()
    step = 1 if end < 0 else -1
    assert_same(pa.array([end, end + step, end + step * (2**53 - 1)], kind))


@given(st.integers(-(10**38) + 2**54, 10**38 - 2**54), some(st.integers(-(2**52) + 1, 2**52 - 1)))
@example(2**64, [0, -1, 1])
@example(-(2**64), [0, -1, 1])
def test_integers_of_38_digits_come_back(first, offsets):
    values = [None if offset is None else Decimal(first + offset) for offset in offsets]
    assert_same(pa.array(values, pa.decimal128(38, 0)))
    assert_same(pa.array(values, pa.decimal256(60, 0)))


def test_integers_farther_apart_become_their_nearest_floats():
    array = pa.array([-(2**63), 2**62 + 1, 2**63 - 1])
    column = encode_column("c", array)
    assert column.base == 0
    assert column.values.tolist() == [-(2.0**63), 2.0**62, 2.0**63]
    assert column.decode(column.values, np.zeros(3, bool)).to_pylist() == [-(2**63), 2**62, 2**63 - 1024]
    near = encode_column("c", pa.array([2**60 + 5, 2**60 + 7]))
    assert (near.base, near.values.tolist()) == (2**60, [5.0, 7.0])  # no finer than 2^52


@given(some(st.floats(-1e300, 1e300)))
@example([1e-07, 5e-324, -0.0, 1.7976931348623157e300])
def test_reals_come_back(values):
    assert_same(pa.array(values, pa.float64()))
    assert there_and_back(pa.array([*values, nan])).to_pylist() == [*values, None]


@given(some(st.floats(width=32, allow_nan=False, allow_infinity=False)), some(st.floats(-6e4, 6e4, width=16)))
def test_short_reals_come_back(floats, halves):
    assert_same(pa.array(floats, pa.float32()))
    assert_same(pa.array([None if x is None else np.float16(x) for x in halves], pa.float16()))


@pytest.mark.parametrize(
    ("values", "parts"),
    [
        ([1e-07, 3.0], 10**7),
        ([0.1, 0.25], 100),
        ([5.0, -3.0], 1),
        ([1e22, 2.0], 1),
        ([], 1),
        ([0.1] * 98 + [0.123], 1000),
        ([0.1, 0.25, 0.5999999999999999, 0.6999999999999998], 100),
        ([0.1, 0.5999999999999999, 0.6999999999999998], 10**16),
        ([0.1] * 99 + [0.123], 10),
    ],
)
def test_drawn_reals_have_the_decimals_that_all_but_one_in_a_hundred_need(values, parts):
    assert encode_column("c", pa.array(values, pa.float64())).grids[0] == (1, parts)
    assert encode_column("c", pa.array([0.1, 2.7], pa.float32())).grids[0] == (1, 10)
    assert encode_column("c", pa.array([1e-30, 2e-30])).grids == ()


@given(st.integers(0, 20), some(st.integers(-(2**50), 2**50)))
def test_decimals_come_back(scale, unscaled):
    values = [None if x is None else Decimal(x).scaleb(-scale) for x in unscaled]
    for kind in (pa.decimal128(38, scale), pa.decimal256(50, scale), pa.decimal64(18, min(scale, 18))):
        assert_same(pa.array(values, kind) if kind.scale == scale else pa.array([None], kind))


def test_decimals_are_reals_of_their_scale():
    column = encode_column("c", pa.array([Decimal("1.25"), None], pa.decimal128(5, 2)))
    assert (column.kind, column.grids) == ("real", ((1, 100),))
    assert column.values[0] == 1.25
    assert column.bounds == (-999.99, 999.99)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin"])
@settings(max_examples=25)
@given(moments=some(MOMENTS))
def test_timestamps_come_back(unit, zone, moments):
    if unit == "ns":
        moments = [m for m in moments if m is None or m.year > 1700]
    if unit == "ms":
        moments = [m and m.replace(microsecond=m.microsecond // 1000 * 1000) for m in moments]
    if unit == "s":
        moments = [m and m.replace(microsecond=0) for m in moments]
    array = pa.array(moments, pa.timestamp("us")).cast(pa.timestamp(unit)).cast(pa.timestamp(unit, zone))
    assert there_and_back(array).equals(array)


@given(some(st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59))))
def test_milliseconds_come_back_in_every_year(moments):
    values = [m and m.replace(microsecond=m.microsecond // 1000 * 1000) for m in moments]
    assert_same(pa.array(values, pa.timestamp("us")))


def test_nanoseconds_are_rounded_to_microseconds():
    array = pa.array([1_600_000_000_000_001_499, 1_600_000_000_000_001_500], pa.timestamp("ns"))
    assert there_and_back(array).cast(pa.int64()).to_pylist() == [
        1_600_000_000_000_001_000,
        1_600_000_000_000_002_000,
    ]


def test_moments_are_seconds_since_1800():
    moments = [
        datetime(2004, 1, 8, 13, 25, 47),
        datetime(1800, 1, 1),
        datetime(1799, 12, 31, 23, 59, 59, 500000),
    ]
    assert encode_column("c", pa.array(moments)).values.tolist() == [6438230747.0, 0.0, -0.5]
    zoned = pa.array([datetime(2004, 1, 8, 13, 25, 47, tzinfo=UTC)], pa.timestamp("s", "Asia/Tokyo"))
    assert encode_column("c", zoned).values.tolist() == [6438230747.0]
    assert encode_column("c", pa.array([time(1, 0, 0, 500000)])).values.tolist() == [3600.5]


@given(some(st.dates()))
def test_dates_come_back_and_lie_on_days(dates):
    assert_same(pa.array(dates, pa.date32()))
    assert_same(pa.array(dates, pa.date64()))
    assert encode_column("c", pa.array(dates, pa.date32())).grids == ((86400, 1),)


@given(some(st.times()), some(st.timedeltas(timedelta(days=-9999), timedelta(days=9999))))
def test_times_and_durations_come_back(times, durations):
    assert_same(pa.array(times, pa.time64("us")))
    assert_same(pa.array([t and t.replace(microsecond=0) for t in times], pa.time32("s")))
    assert_same(pa.array(durations, pa.duration("us")))


@pytest.mark.parametrize(
    ("moment", "grid"),
    [
        (datetime(2020, 2, 3), (86400, 1)),
        (datetime(2020, 2, 3, 4), (3600, 1)),
        (datetime(2020, 2, 3, 4, 5), (60, 1)),
        (datetime(2020, 2, 3, 4, 5, 6), (1, 1)),
        (datetime(2020, 2, 3, 4, 5, 6, 7000), (1, 1000)),
        (datetime(2020, 2, 3, 4, 5, 6, 7), (1, 10**6)),
    ],
)
def test_drawn_moments_lie_on_the_unit_that_all_but_one_in_a_hundred_do(moment, grid):
    rare, frequent = [datetime(2020, 1, 1)] * 100 + [moment], [datetime(2020, 1, 1)] * 98 + [moment]
    assert encode_column("c", pa.array(rare)).grids[0] == (86400, 1)
    column = encode_column("c", pa.array(frequent))
    assert column.grids[0] == grid


@given(some(st.text()))
def test_texts_come_back_and_are_ranked_by_code_points(values):
    for kind in (pa.string(), pa.large_string()):
        assert_same(pa.array(values, kind))
    column = encode_column("c", pa.array(values, pa.string()))
    assert column.vocabulary.to_pylist() == sorted(set(values) - {None})


@pytest.mark.parametrize(
    "pieces",
    [
        [pa.array(["b", "a"]), pa.array([None, "b"])],
        [pa.array([3, None]), pa.array([-(2**62)])[:0], pa.array([4])],
        [pa.array([None, 7, 8, 9])[1:]],
        [pa.array([Decimal(1), Decimal(2), None], pa.decimal128(9, 0))[1:]],
        [pa.array([True, False, None])],
        [pa.array([None, None], pa.bool_()), pa.array([], pa.bool_())],
        [pa.array([], pa.bool_())],
    ],
)
def test_columns_in_pieces_are_one_and_a_slice_is_encoded_alone(pieces):
    assert_same(pieces)


def test_categories_that_no_row_holds_are_no_vocabulary_and_a_column_without_a_type_has_none():
    array = pa.DictionaryArray.from_arrays(pa.array([1, None, 1], pa.int8()), pa.array(["unused", "b", None]))
    assert encode_column("c", array).vocabulary.to_pylist() == ["b"]
    column = encode_column("c", pa.nulls(3))
    assert (column.kind, len(column.vocabulary), missing(column).all()) == ("string", 0, True)


@given(some(st.sampled_from(["x", "y", "z", ""])), some(st.integers(-5, 5)))
def test_dictionaries_come_back_as_dictionaries(texts, numbers):
    for values, kind in ((texts, pa.string()), (numbers, pa.int16())):
        array = pa.array(values, kind).dictionary_encode()
        back = there_and_back(array)
        assert back.type == pa.dictionary(pa.int32(), kind)
        assert back.to_pylist() == values


@pytest.mark.parametrize("bad", [inf, -inf, 1e308])
def test_numbers_without_an_interval_are_refused_by_column_and_not_shown(bad):
    with pytest.raises(InputError, match="must hold finite numbers") as raised:
        encode_column("income", pa.array([1.0, bad]))
    assert "income" not in str(raised.value) and raised.value.operator_detail == "The column is 'income'."
    assert str(bad) not in str(raised.value).replace("finite", "").replace("infinite", "")
    with pytest.raises(InputError, match="too far from today"):
        encode_column("born", pa.array([2**62], pa.timestamp("s")))


@pytest.mark.parametrize(
    "array",
    [pa.array([[1]]), pa.array([{"a": 1}]), pa.array([b"x"]), pa.array([Decimal(100)], pa.decimal128(5, -2))],
)
def test_types_that_have_no_units_are_refused_by_column(array):
    with pytest.raises(InputError, match="must hold booleans"):
        encode_column("odd", array)


def test_decimals_of_more_digits_than_38_are_refused_without_being_shown():
    with pytest.raises(InputError, match="must hold decimals") as raised:
        encode_column("long", pa.array([Decimal(10**39 + 7)], pa.decimal256(50, 0)))
    assert "00000" not in str(raised.value) and raised.value.__context__ is None


VALUES = [
    pa.array([5, 2**53, 2**53 + 1, 2**60, 2**60 + 1, 2**64 - 2, 2**64 - 1], pa.uint64()),
    pa.array([-(2**63), -(2**63) + 1, -7, 0, 2**62 + 1, 2**62 + 2, None], pa.int64()),
    pa.array([-(10**37), 1 - 10**37, 0, 10**30 + 7], pa.decimal128(38, 0)),
    pa.array([Decimal("1.05"), Decimal("12345678901234567890.01"), Decimal("12345678901234567890.02")]),
]


@pytest.mark.parametrize("value_safe", [False, True])
@pytest.mark.parametrize("values", VALUES, ids=lambda values: str(values.type))
def test_values_that_are_released_come_out_as_they_are(values, value_safe):
    table = pa.table({"number": pa.concat_arrays([values] * 40)})
    safe = frozenset(["number"] if value_safe else [])
    parameters = SynDiffixParameters(AnonymizationParameters(b"sixteen bytes of"), value_safe_columns=safe)
    made = Synthesizer(table, parameters).sample()["number"]
    assert made.type == values.type and set(made.to_pylist()) == set(values.to_pylist())


def test_floats_stay_in_order_and_near_and_those_that_are_exact_stay():
    numbers = [*range(-(2**62), -(2**62) + 40), -3, 9, *range(2**62 - 20, 2**62 + 20)]
    order = np.random.default_rng(1).permutation(len(numbers))
    column = encode_column("c", pa.array([numbers[place] for place in order], pa.int64()))
    floats = column.values[np.argsort(order)]
    assert (np.diff(floats) > 0).all() and floats[40:42].tolist() == [-3, 9]
    assert (np.abs(floats - np.array(numbers, float)) <= 40 * 1024).all()


def test_a_number_that_is_drawn_from_a_range_is_not_somebody_s():
    column = encode_column("c", pa.array([5, 2**60 + 1, 2**60 + 3], pa.int64()))
    drawn = column.decode(column.values, np.zeros(3, bool)).to_pylist()
    assert not set(drawn[1:]) & {2**60 + 1, 2**60 + 3}
