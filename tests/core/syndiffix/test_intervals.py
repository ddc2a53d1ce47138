import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tasks.core.errors import InputError
from tasks.core.syndiffix.intervals import Interval, map_nulls, null_mapping, snap
from tests.oracles.syndiffix import holds, middle, smallest_size

NAN = float("nan")
NUMBERS = st.one_of(
    st.floats(-1e6, 1e6),
    st.floats(-1e-300, 1e-300),
    st.floats(-(2.0**1021), 2.0**1021),
    st.integers(-(2**60), 2**60).map(float),
)


def test_intervals_are_snapped_as_the_ports(vectors):
    for raw, snapped in vectors["snap"]:
        assert snap(*map(float, raw)) == Interval(*snapped)


@pytest.mark.parametrize(
    ("raw", "snapped"),
    [
        ((0.0, 2.0**-1073), (0.0, 2.0**-1073)),
        ((0.0, 2.0**-1074), (0.0, 2.0**-1074)),
        ((6438230747.0, 6475857187.0), (6408896512.0, 6476005376.0)),
        ((-1.0, 1e-17), (-1.0, 1.0)),
        ((-1e-17, 1.0), (-1.0, 1.0)),
        ((-(2.0**-1022), 2.0**53 + 2), (-(2.0**54), 2.0**54)),
        ((-(2.0**-1074), 3.0), (-4.0, 4.0)),
        ((-(2.0**-1074), 0.0), (-(2.0**-1074), 0.0)),
        ((2.0**60, 2.0**60), (2.0**60, 2.0**60 + 256)),
    ],
)
def test_extreme_intervals_are_snapped(raw, snapped):
    assert snap(*raw) == Interval(*snapped)


@given(NUMBERS, NUMBERS)
@example(1.0, 2.0**30 + 1.0 + 2.0**-22)
@example(0.1, 1.1)
def test_a_snapped_interval_holds_its_values_and_is_the_smallest_on_the_grid(one, other):
    lower, upper = min(one, other), max(one, other)
    interval = snap(lower, upper)
    assert interval.lower <= lower <= upper <= interval.upper
    size = Fraction(interval.upper) - Fraction(interval.lower)
    assert (Fraction(interval.lower) / (size / 2)).denominator == 1
    if lower < upper:
        assert size == smallest_size(lower, upper)
    else:
        assert size == max(1, Fraction(math.ulp(lower)))


@pytest.mark.parametrize("bad", [(0.0, math.inf), (-math.inf, 0.0), (0.0, 1e308), (NAN, NAN)])
def test_numbers_that_have_no_interval_are_refused_without_being_shown(bad):
    with pytest.raises(InputError, match="rescale the column or leave it out") as raised:
        snap(*bad)
    assert str(bad[1]) not in str(raised.value)


def test_nulls_are_mapped_as_the_ports(vectors):
    assert all(null_mapping(*raw) == expected for raw, expected in vectors["null_mapping"])


@pytest.mark.parametrize(
    ("values", "null_value", "filled"),
    [
        ([-2.0, 0.0, -1.0, NAN], -4.0, [-2.0, 0.0, -1.0, -4.0]),
        ([0.0, 0.0, 6.0, NAN], 12.0, [0.0, 0.0, 6.0, 12.0]),
        ([NAN, NAN], 1.0, [1.0, 1.0]),
        ([], 1.0, []),
        ([3.0], 6.0, [3.0]),
        ([-25.0, NAN, 25.0], 64.0, [-25.0, 64.0, 25.0]),
    ],
)
def test_a_columns_nulls_are_replaced(values, null_value, filled):
    numbers, mapped, _ = map_nulls(np.array(values))
    assert (mapped, numbers.tolist()) == (null_value, filled)


def test_a_columns_interval_has_room_for_nulls_whether_there_are_any_or_not():
    for values in ([0.0, 0.9999], [0.0, NAN, 0.9999]):
        assert map_nulls(np.array(values))[2] == Interval(0.0, 2.0)


@given(below=st.floats(5e-324, 2.0**1020), above=st.floats(5e-324, 2.0**1020))
@example(64.0, 64.0)
@example(5e-324, 5e-324)
@example(2.0**1020, 1.0)
@example(1.0, 2.0**1020)
def test_the_first_division_tells_nulls_from_values_of_both_signs(below, above):
    lower, upper = -below, above
    values, null_value, interval = map_nulls(np.array([lower, 0.0, upper, NAN]))
    assert (values >= middle(interval)).tolist() == [False, False, False, True]
    assert holds(interval, lower) and holds(interval, null_value)
