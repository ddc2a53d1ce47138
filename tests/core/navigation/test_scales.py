"""The scale of a synthetic column: what is empty between others is there, where that is not too much."""

import datetime

import pyarrow as pa
import pytest

from tasks.core.navigation.table_inputs import with_scale
from tasks.core.syndiffix.bins import bins_of


def shown(values: list[object], edges: tuple[float, ...] | None = None) -> tuple[str, ...]:
    return with_scale(bins_of("x", pa.chunked_array([pa.array(values)]), edges)).labels


def at(*hours: int) -> list[object]:
    return [datetime.datetime(2024, 2, 28) + datetime.timedelta(hours=hour) for hour in hours]


def test_bins_between_edges_are_all_there() -> None:
    assert shown([1, 1, 9], (0, 3, 6, 10)) == ("<0", "[0,3)", "[3,6)", "[6,10]", ">10")


def test_whole_numbers_that_are_few_are_a_scale_and_far_ones_stand_by_themselves() -> None:
    assert shown([-1, 1, 2, 2]) == ("-1", "0", "1", "2")
    assert shown([1, 1000, 2**62]) == ("1", "1000", str(2**62))
    assert shown([0.5, 7.0]) == ("0.5", "7")


def test_empty_hours_and_months_are_there_over_the_ends_of_days_and_years() -> None:
    assert shown(at(22, 23, 26)) == tuple(
        f"2024-02-{day} h" for day in ("28 22", "28 23", "29 00", "29 01", "29 02")
    )
    months = [datetime.date(2023, 11, 1), datetime.date(2023, 12, 1), datetime.date(2024, 2, 1)]
    assert shown(months) == ("2023-11", "2023-12", "2024-01", "2024-02")


@pytest.mark.parametrize("far", [datetime.date(1800, 1, 1), datetime.date(1, 1, 1)])
def test_a_gap_of_very_many_periods_is_not_filled(far: datetime.date) -> None:
    assert shown([far, datetime.date(2023, 1, 1), datetime.date(2024, 1, 1)]) == (
        f"{far.year:04}",
        "2023",
        "2024",
    )


def test_texts_and_columns_without_a_value_stay_as_they_are() -> None:
    assert shown(["b", "a", "b"]) == ("b", "a")
    assert shown([None, None], (0, 1)) == ()
