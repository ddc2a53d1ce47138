"""Cells are of their column's type, with its decimals, seconds and ends (syndiffix.md 3.3)."""

from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from math import nextafter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.errors import InternalError
from tasks.core.syndiffix.columns import encode_column
from tasks.core.syndiffix.microdata import nearest_values
from tests.core.syndiffix.cells import DRAWS, assert_law, draw, repeated, source


@pytest.mark.parametrize(
    ("interval", "value"),
    [((0, 0), False), ((1, 1), True), ((0, 0.5), False), ((0.5, 1), True), ((2, 2), None)],
)
def test_booleans_come_back_as_themselves(interval, value):
    assert set(repeated(source(pa.array([True, False, None])), *interval, times=50)[0]) == {value}


def test_booleans_of_a_wider_interval_keep_their_share():
    cells_of = source(pa.array([True, False, None]), (0, 0, 30), (1, 1, 10), (2, 2, 60))
    _, numbers = repeated(cells_of, 0, 2)
    assert_law(numbers, {0.0: Fraction(3, 10), 1.0: Fraction(1, 10), 2.0: Fraction(6, 10)})
    assert set(repeated(source(pa.array([True, False])), 1, 2)[0]) == {True}


def test_drawn_integers_fit_their_type():
    assert set(repeated(source(pa.array([100, 101], pa.int8())), 100, 256)[0]) == set(range(100, 128))
    big = source(pa.array([2**63 - 1, 2**63 - 9]))
    assert set(repeated(big, 0, 2**20)[0]) <= {2**63 - 1 - k for k in range(2**20)}
    values = repeated(source(pa.array([Decimal(998), Decimal(999)], pa.decimal128(3, 0))), 998, 1024)[0]
    assert set(values) == {998, 999}
    assert set(repeated(source(pa.array([100], pa.int8())), 150, 256, times=9)[0]) == {127}


def test_integers_beyond_2_to_the_53_are_drawn_whole_and_within():
    values, _ = repeated(source(pa.array([0, 2**62 + 1])), 2**61, 2**62)
    assert all(2**61 <= value < 2**62 for value in values) and len(set(values)) > DRAWS * 0.99


def test_reals_are_drawn_with_the_columns_decimals():
    values, numbers = repeated(source(pa.array([0.25, 3.1, 2.75])), 0.25, 0.5)
    assert_law(numbers, {k / 100: Fraction(1, 25) for k in range(25, 50)})
    assert {str(value) for value in values} <= {str(k / 100) for k in range(25, 50)}


@given(st.integers(-1000, 1000), st.integers(-60, 20), st.integers(0, 2**32))
def test_reals_are_never_outside_of_their_interval(place, exponent, seed):
    lower, upper = place * 2.0**exponent, (place + 1) * 2.0**exponent
    for kind in (pa.float64(), pa.float32()):
        cells_of = source(pa.array([0.1, 2.5, 1e7], kind))
        _, numbers = repeated(cells_of, lower, upper, seed, times=20)
        assert ((numbers >= lower) & (numbers < upper)).all()


def test_an_interval_without_a_number_of_so_few_decimals_gets_more_decimals():
    values, _ = repeated(source(pa.array([1.5, 2.0])), 1.5625, 1.59375)
    assert set(values) == {1.57, 1.58, 1.59}


def test_tiny_reals_do_not_collapse():
    values, _ = repeated(source(pa.array([1e-07, 3e-07])), 0, 2.0**-21)
    assert set(values) == {0.0, 1e-07, 2e-07, 3e-07, 4e-07}
    all_digits, _ = repeated(source(pa.array([1e-30, 3e-30])), 0, 2.0**-97)
    assert len(set(all_digits)) > DRAWS * 0.99


def test_decimals_are_drawn_in_their_scale():
    values, _ = repeated(source(pa.array([Decimal("1.25"), Decimal("3.10")])), 1, 1.125)
    assert {str(value) for value in values} == {f"1.{k:02}" for k in range(13)}


def test_timestamps_are_drawn_on_whole_seconds_unless_the_column_has_fractions():
    moments = [datetime(2020, 1, 1, 0, 0, 1), datetime(2020, 1, 2, 5, 6, 7)]
    start = float(encode_column("c", pa.array([datetime(2020, 1, 1)])).values[0])
    values, numbers = repeated(source(pa.array(moments)), start, start + 4)
    assert set(values) == {datetime(2020, 1, 1, 0, 0, k) for k in range(4)}
    assert_law(numbers, {start + k: Fraction(1, 4) for k in range(4)})
    tenths = source(pa.array([m.replace(microsecond=500) for m in moments]))
    assert len(set(repeated(tenths, start, start + 4)[0])) > DRAWS * 0.98


def test_timestamps_of_days_are_drawn_as_days_and_finer_where_there_is_none():
    moments = [datetime(2020, 1, 1), datetime(2020, 3, 1)]
    start = float(encode_column("c", pa.array(moments)).values[0])
    cells_of = source(pa.array(moments))
    assert set(repeated(cells_of, start, start + 3 * 86400)[0]) == {datetime(2020, 1, k) for k in (1, 2, 3)}
    assert set(repeated(cells_of, start + 1, start + 3)[0]) <= {
        datetime(2020, 1, 1),
        datetime(2020, 1, 1, 0, 0, 2),
    }
    dates = source(pa.array([m.date() for m in moments]))
    assert set(repeated(dates, start, start + 3 * 86400)[0]) == {
        datetime(2020, 1, k).date() for k in (1, 2, 3)
    }


def test_nanoseconds_end_in_2262():
    cells_of = source(pa.array([datetime(2250, 1, 1)], pa.timestamp("ns")))
    assert max(repeated(cells_of, 2.0**33, 2.0**34)[1]) < 1.46e10


def test_times_stay_within_their_day():
    cells_of = source(pa.array([1, 86399], pa.time32("s")))
    values, _ = repeated(cells_of, 65536, 131072)
    assert max(values).hour == 23


SNAPS = [(2.0, 1), (2.1, 3), (4.0, 3), (-10, 1), (15, 9), (9, 9), (1, 1), (5, 5)]


@pytest.mark.parametrize(("number", "nearest"), SNAPS)
def test_safe_numbers_are_the_nearest_value_and_ties_go_left(number, nearest):
    assert nearest_values(np.array([number], float), np.array([1.0, 3, 5, 7, 9])).tolist() == [nearest]


def test_safe_numbers_need_a_value():
    with pytest.raises(InternalError, match="nearest value"):
        nearest_values(np.array([1.0]), np.array([]))


@pytest.mark.parametrize(
    "values", [[1, 8, 9, 30, None], [0.123456789012345, 7.25, None, 1e-9], [datetime(2020, 1, 1), None]]
)
def test_a_value_safe_column_holds_only_its_values(values):
    cells_of = source(pa.array(values), value_safe=True)
    top = cells_of.top
    drawn, numbers = repeated(cells_of, top - 2 ** np.ceil(np.log2(top)), top)
    assert set(drawn) <= set(values) - {None}
    assert set(numbers) <= set(cells_of.values)


def test_the_nulls_of_a_value_safe_column_are_kept_as_they_are():
    cells = draw(source(pa.array([7.25, None]), value_safe=True), (14.5, 14.5), (0, 8))
    assert cells.values.to_pylist() == [None, 7.25]


def test_a_cell_just_below_its_interval_s_end_is_not_the_end():
    lower = 1e16
    _, numbers = repeated(source(pa.array([1e16, 1.5])), lower, nextafter(lower, 2e16), times=100)
    assert set(numbers) == {lower}
