"""The measures of evaluation against the published example and an obvious oracle."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.aggregates.aggregates import Aggregates, Attribute
from tasks.core.aggregates.marginals import count_marginals
from tasks.core.aggregates.stored_marginals import Marginals
from tasks.core.aggregates.wide_form import as_aggregates
from tasks.core.errors import ParameterError
from tasks.core.evaluation.comparison import bins_of, compare, number_of_bins
from tasks.core.evaluation.leakage import leakage_by_length
from tasks.core.evaluation.preservation import preservation_by_count, preservation_by_length
from tasks.core.evaluation.utility import errors_by_length, summary
from tasks.core.queries import Resources
from tasks.core.records.columns import Column, Schema
from tests.oracles.evaluation import bin_bounds, measures
from tests.oracles.marginals import T1, coded, count, rows

ABC = Schema(tuple(Column(name) for name in "ABC"))
ONE_THREAD = Resources(threads=1)
SYNTHETIC = rows("a1,b2,c1 a1,b2,c1 a2,, a2,,c1 ,,c1")


def counted(table, folder: Path, schema: Schema = ABC, length: int = 3) -> Marginals:
    (folder / "records").mkdir(parents=True)
    (folder / "marginals").mkdir()
    coded(schema, table).write(folder / "records")
    return count_marginals(folder / "records", folder / "marginals", length, ONE_THREAD)


def rounded_down(aggregates: Aggregates, resolution: int) -> Aggregates:
    floors = [counts // resolution * resolution for counts in aggregates.counts]
    return Aggregates(
        aggregates.headers,
        aggregates.attributes,
        aggregates.number_of_records // resolution * resolution,
        tuple(ids[floor > 0] for ids, floor in zip(aggregates.combinations, floors, strict=True)),
        tuple(floor[floor > 0] for floor in floors),
    )


def means(row: dict[str, float]) -> tuple[float, float, float]:
    return row["mean_count"], row["preservation"], row["proportional_error"]


def test_t11a_synthetic_against_the_five_row_example(tmp_path: Path) -> None:
    found = compare(counted(T1, tmp_path / "s"), counted(SYNTHETIC, tmp_path / "y"), 2, ONE_THREAD)
    assert [row["leaked"] for row in leakage_by_length(found)] == [0, 1, 0]
    total = summary(found)
    assert total["suppressed_pct"] == pytest.approx(47.0588, abs=5e-5)
    assert total["fabricated_pct"] == 0
    assert total["mean_error"] == pytest.approx(0.44444, abs=5e-6)
    assert total["mean_count"] == pytest.approx(1.588235, abs=5e-7)
    assert total["mean_proportional_error"] == pytest.approx(0.222222, abs=5e-7)
    by_length = errors_by_length(found)
    assert [row["mean_error"] for row in by_length] == [0.75, 0, 1]
    assert [row["mean_count"] for row in by_length] == pytest.approx([2.16667, 1.375, 1], abs=5e-6)
    (one_bin,) = preservation_by_count(found)
    assert one_bin["bin"] == 10
    assert one_bin["mean_length"] == pytest.approx(1.66667, abs=5e-6)
    assert means(one_bin) == pytest.approx((2.11111, 0.925926, 0.222222), abs=5e-6)
    expected = [(2.5, 0.83333, 0.25), (1.75, 1, 0), (2, 1, 1)]
    for row, values in zip(preservation_by_length(found), expected, strict=True):
        assert means(row) == pytest.approx(values, abs=5e-6)


def aggregates_of(counts: dict[str, int]) -> Aggregates:
    """Counts of strings of one-letter attributes, each letter a column."""
    letters = "abcd"
    pairs = [text for text in counts if len(text) == 2]
    singles = [text for text in counts if len(text) == 1]
    ids = [
        np.array([[letters.index(c) for c in t] for t in chosen], np.int32).reshape(-1, k)
        for k, chosen in ((1, singles), (2, pairs))
    ]
    return Aggregates(
        tuple(letters),
        tuple(Attribute(letter, "1", index) for index, letter in enumerate(letters)),
        100,
        tuple(ids),
        tuple(np.array([counts[t] for t in chosen], np.int64) for chosen in (singles, pairs)),
    )


def test_t11b_counts_over_several_bins() -> None:
    s = aggregates_of({"a": 40, "b": 25, "ab": 20, "c": 3})
    y = aggregates_of({"a": 38, "b": 30, "ab": 9, "c": 2, "d": 1})
    found = compare(s, y, 10, ONE_THREAD)
    assert [row["leaked"] for row in leakage_by_length(found)] == [1, 0]
    total = summary(found)
    assert (total["suppressed_pct"], total["fabricated_pct"]) == (0, 25)
    assert total["fabricated_pct_of_compared"] == 20
    assert total["mean_error"] == 4.75
    assert [row["mean_error"] for row in errors_by_length(found)] == pytest.approx([2.66667, 11], abs=5e-6)
    by_count = preservation_by_count(found)
    assert [row["bin"] for row in by_count] == [10, 20, 40]
    low, middle, high = by_count
    assert (*means(high), high["mean_length"]) == pytest.approx((34, 0.975, 0.125, 1))
    assert (*means(middle), middle["mean_length"]) == (0, 0, 0, 0)
    assert (*means(low), low["mean_length"]) == pytest.approx((4, 0.372222, 0.627778, 1.33333), abs=5e-6)
    first, second = preservation_by_length(found)
    assert means(first) == pytest.approx((17.75, 0.654167, 0.395833), abs=5e-7)
    assert means(second) == pytest.approx((9, 0.45, 0.55))
    assert total["mean_proportional_error"] == pytest.approx(0.250926, abs=5e-7)


def test_t11c_reportable_against_sensitive(tmp_path: Path) -> None:
    sensitive = counted(T1, tmp_path)
    total = summary(compare(sensitive, rounded_down(as_aggregates(sensitive), 2), 2, ONE_THREAD))
    assert total["suppressed_pct"] == pytest.approx(58.8235, abs=5e-5)
    assert total["mean_error"] == pytest.approx(0.428571, abs=5e-7)
    assert total["mean_proportional_error"] == pytest.approx(0.142857, abs=5e-7)
    assert total["record_expansion_pct"] == pytest.approx(-20)


@pytest.mark.parametrize(
    ("largest", "bounds"), [(0, [10]), (10, [10]), (11, [10, 20]), (41, [10, 20, 40, 80])]
)
def test_t11d_bins_reach_the_largest_count(largest: int, bounds: list[int]) -> None:
    assert number_of_bins(largest) == len(bounds)
    assert bin_bounds(largest) == bounds


def test_t11d_values_stand_in_their_bins() -> None:
    assert bins_of(np.array([0, 10, 11, 20, 21, 40, 41, 10 << 40, (10 << 40) + 1])).tolist() == [
        0, 0, 1, 1, 2, 2, 3, 40, 41,
    ]  # fmt: skip


COLUMNS = (Column("A"), Column("M", delimiter=";", max_items=0), Column("B", domain=("z", "x", "y")))
VALUES = ["x", "y", "z"]
RECORD = st.tuples(
    st.sets(st.sampled_from(VALUES), max_size=1),
    st.sets(st.sampled_from(VALUES), max_size=3),
    st.sets(st.sampled_from(VALUES), max_size=1),
).map(list)
TABLE = st.lists(RECORD, max_size=40)


@given(sensitive=TABLE, synthetic=TABLE, resolution=st.integers(1, 6))
@settings(max_examples=12, deadline=None)
def test_measures_are_those_of_the_oracle(tmp_path_factory, sensitive, synthetic, resolution) -> None:
    folder = tmp_path_factory.mktemp("oracle")
    schema = Schema(COLUMNS)
    sides = [counted(t, folder / str(i), schema) for i, t in enumerate((sensitive, synthetic))]
    found = compare(*sides, resolution, ONE_THREAD)
    s, y = ({}, {})
    for length in found.lengths:
        s |= count(sensitive, length)
        y |= count(synthetic, length)
    expected = measures(s, y, resolution)
    for name in ("suppressed", "fabricated", "leaked", "leaked_anywhere"):
        assert found.total(name) == expected[name]
    total = summary(found)
    assert total["mean_error"] == pytest.approx(expected["mean_error"])
    assert total["mean_error_of_union"] == pytest.approx(expected["mean_error_union"])
    assert total["mean_proportional_error"] == pytest.approx(expected["mean_proportional_error"])
    for row in preservation_by_count(found):
        count_, length, kept, error = expected["by_count"][row["bin"]]
        assert means(row) == pytest.approx((count_, kept, error))
        assert row["mean_length"] == pytest.approx(length)
    by_aggregates = compare(sides[0], as_aggregates(sides[1]), resolution, ONE_THREAD)
    for name, sums in found.sums.items():
        assert np.array_equal(by_aggregates.sums[name], sums)


def test_nothing_compares_with_nothing(tmp_path: Path) -> None:
    found = compare(counted([], tmp_path / "s"), counted([], tmp_path / "y"), 10, ONE_THREAD)
    assert set(summary(found).values()) == {0.0}
    assert [row["bin"] for row in preservation_by_count(found)] == [10]


def test_a_resolution_below_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="resolution"):
        compare(counted(T1, tmp_path / "s"), counted(T1, tmp_path / "y"), 0)
