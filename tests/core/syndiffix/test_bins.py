import datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from tasks.core.syndiffix.bins import bins_of, kind_of


def chunked(values: object, kind: pa.DataType | None = None) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(values, kind)])


def counted(column: pa.ChunkedArray, edges: tuple[float, ...] | None = None) -> dict[str, int]:
    bins = bins_of("x", column, edges)
    codes = bins.codes(column)
    labels = (*bins.labels, "other")
    found = {label: int((codes == place).sum()) for place, label in enumerate(labels)}
    return {label: count for label, count in found.items() if count} | {"": int((codes < 0).sum())}


@pytest.mark.parametrize(
    ("values", "kind", "told"),
    [
        ([True, None, False, True], pa.bool_(), {"false": 1, "true": 2, "": 1}),
        ([3, -1, 3, None], pa.int8(), {"-1": 1, "3": 2, "": 1}),
        ([1.5, float("nan"), 1.5, 10.0], pa.float64(), {"1.5": 2, "10": 1, "": 1}),
        ([Decimal("1.10"), Decimal("1.10"), None], pa.decimal128(6, 2), {"1.10": 2, "": 1}),
        (["b", "a", "b", None], pa.string(), {"b": 2, "a": 1, "": 1}),
        ([None, None], pa.null(), {"": 2}),
        ([], pa.float64(), {"": 0}),
        (
            [datetime.date(2024, 1, 31), datetime.date(2024, 2, 1)],
            pa.date32(),
            {"2024-01": 1, "2024-02": 1, "": 0},
        ),
        ([datetime.time(1), datetime.time(1), None], pa.time32("s"), {"01:00:00": 2, "": 1}),
    ],
)
def test_few_values_are_bins_of_their_own(values, kind, told):
    assert counted(chunked(values, kind)) == told


def test_dictionaries_are_what_their_entries_are_and_other_cells_are_in_no_bin():
    assert counted(chunked(["b", "a", "b"]).dictionary_encode()) == {"b": 2, "a": 1, "": 0}
    assert kind_of(pa.dictionary(pa.int32(), pa.float64())) == "real"
    bins = bins_of("x", chunked(["a", "b"]))
    assert bins.codes(chunked(["b", "zebra", None])).tolist() == [1, 2, -1]


def test_many_numbers_are_in_bins_with_round_edges_and_none_is_lost():
    numbers = np.random.default_rng(1).lognormal(3, 1, 5000)
    bins = bins_of("x", chunked(numbers))
    assert bins.edges is not None and 3 <= len(bins.edges) <= 16
    assert all(float(f"{edge:.2g}") == edge for edge in bins.edges)
    assert counted(chunked(numbers))[""] == 0
    assert sum(counted(chunked(numbers)).values()) == 5000


def test_declared_edges_are_used_also_where_values_are_few():
    assert counted(chunked([1, 5, 9, None]), (0, 5, 10)) == {"[0,5)": 1, "[5,10]": 2, "": 1}


def test_moments_are_told_apart_as_finely_as_few_periods_allow():
    start = datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)
    days = chunked([start + datetime.timedelta(days=day) for day in range(400)])
    assert bins_of("x", days).labels[:2] == ("2024-01", "2024-02")
    hours = chunked([start + datetime.timedelta(hours=hour) for hour in range(12)])
    assert bins_of("x", hours).labels[:2] == ("2024-01-01 00 h", "2024-01-01 01 h")


def test_numbers_next_to_each_other_have_edges_all_the_same():
    numbers = chunked(1.0 + np.arange(100) * 2.0**-52)
    assert sum(counted(numbers).values()) == 100
