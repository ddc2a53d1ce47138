"""The axes of a column's chart: what is empty is there, and what would be too much is marked."""

import datetime

import numpy as np
import pyarrow as pa
import pytest

from tasks.core.navigation.binned_columns import GAP, BinRow, rows_of
from tasks.core.syndiffix.bins import bins_of


def shown(values: list[object], edges: tuple[float, ...] | None = None) -> list[BinRow]:
    column = pa.chunked_array([pa.array(values)])
    bins = bins_of("x", column, edges)
    codes = bins.codes(column)
    return rows_of(bins, np.bincount(codes[codes >= 0], minlength=len(bins.labels) + 1).tolist())


def at(*hours: int) -> list[object]:
    return [datetime.datetime(2024, 2, 28) + datetime.timedelta(hours=hour) for hour in hours]


def test_an_empty_bin_between_edges_is_shown_and_empty_open_ends_are_not() -> None:
    assert shown([1, 1, 9], (0, 3, 6, 10)) == [("[0,3)", 2), ("[3,6)", 0), ("[6,10]", 1)]
    assert shown([-1], (0, 3, 6)) == [("<0", 1), ("[0,3)", 0), ("[3,6]", 0)]


def test_whole_numbers_that_are_few_are_a_scale_and_far_ones_stand_by_themselves() -> None:
    assert shown([-1, 1, 2, 2]) == [("-1", 1), ("0", 0), ("1", 1), ("2", 2)]
    assert shown([1, 1000, 2**62]) == [("1", 1), ("1000", 1), (str(2**62), 1)]
    assert shown([0.5, 7.0]) == [("0.5", 1), ("7", 1)]


def test_empty_hours_and_months_are_shown_over_the_ends_of_days_and_years() -> None:
    assert shown(at(22, 23, 26)) == [
        ("2024-02-28 22 h", 1),
        ("2024-02-28 23 h", 1),
        ("2024-02-29 00 h", 0),
        ("2024-02-29 01 h", 0),
        ("2024-02-29 02 h", 1),
    ]
    months = [datetime.date(2023, 11, 1), datetime.date(2023, 12, 1), datetime.date(2024, 2, 1)]
    assert shown(months) == [("2023-11", 1), ("2023-12", 1), ("2024-01", 0), ("2024-02", 1)]


@pytest.mark.parametrize("far", [datetime.date(1800, 1, 1), datetime.date(1, 1, 1)])
def test_a_gap_of_very_many_periods_is_marked(far: datetime.date) -> None:
    rows = shown([far, datetime.date(2023, 1, 1), datetime.date(2024, 1, 1)])
    assert rows == [(f"{far.year:04}", 1), (GAP, None), ("2023", 1), ("2024", 1)]


def test_texts_are_shown_as_they_are_and_an_empty_column_not_at_all() -> None:
    assert shown(["b", "a", "b"]) == [("b", 2), ("a", 1)]
    assert shown([None, None], (0, 1)) == []
