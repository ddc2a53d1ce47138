"""Axes: where values stand, and which are marked."""

import math

import pytest

from tasks.core.charts.axes import AxisScale, scale_of


def test_a_logarithmic_axis_from_zero_has_a_place_for_zero_and_for_its_end():
    scale = scale_of([0.0, 3.0, 999.0], "log1p")
    assert (scale.part(0), scale.part(scale.high)) == (0, 1)
    assert scale.part(9) == pytest.approx(math.log(10) / math.log(1 + scale.high))
    assert scale.ticks() == [0, 1, 10, 100, 1000]


@pytest.mark.parametrize(
    ("values", "low", "high"), [([10, 90], 10, 100), ([12, 380], 10, 500), ([30], 20, 50), ([], 1, 2)]
)
def test_a_logarithmic_axis_ends_at_round_values_around_its_points(values, low, high):
    scale = scale_of(values, "log")
    assert (scale.low, scale.high) == (low, high)
    assert all(low <= tick <= high for tick in scale.ticks())
    assert len(scale.ticks()) >= 2


def test_a_linear_axis_begins_at_zero():
    assert scale_of([3, 7], "linear").low == 0
    assert scale_of([3, 7], "linear", ends_there=True).high == 7


def test_what_is_beyond_an_axis_stands_at_its_end():
    assert (AxisScale(10, 100, "log").part(1), AxisScale(10, 100, "log").part(1e9)) == (0, 1)
