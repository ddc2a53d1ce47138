"""The measures of evaluation against the published example and an obvious oracle."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.aggregates import cubes
from tasks.core.aggregates.aggregates import Aggregates, Attribute
from tasks.core.aggregates.cubes import count_in_memory
from tasks.core.errors import ParameterError
from tasks.core.evaluation import comparison
from tasks.core.evaluation.comparison import compare_sides, compare_two
from tasks.core.evaluation.kernels import bin_of
from tasks.core.evaluation.measures import (
    Comparison,
    errors_by_length,
    leakage,
    leakage_by_length,
    mean_preservation,
    preservation_by_count,
    preservation_by_length,
    summary,
    weighted_mean_preservation,
)
from tasks.core.queries import QueryResources
from tasks.core.records.columns import Column, Schema
from tests.oracles.evaluation import bin_bounds, measures
from tests.oracles.marginals import T1, coded, count, rows

ABC = Schema(tuple(Column(name) for name in "ABC"))
SYNTHETIC = rows("a1,b2,c1 a1,b2,c1 a2,, a2,,c1 ,,c1")


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


def test_t11b_counts_over_several_bins():
    s = aggregates_of({"a": 40, "b": 25, "ab": 20, "c": 3})
    y = aggregates_of({"a": 38, "b": 30, "ab": 9, "c": 2, "d": 1})
    found = compare_two(s, y, 10)
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


def test_t11d_values_stand_in_their_bins_which_reach_the_largest_count():
    values = [0, 10, 11, 20, 21, 40, 41, 10 << 40, (10 << 40) + 1]
    assert [bin_of(value) for value in values] == [0, 0, 1, 1, 2, 2, 3, 40, 41]
    assert [len(bin_bounds(value)) for value in values] == [1, 1, 2, 2, 3, 3, 4, 41, 42]


COLUMNS = (Column("A"), Column("M", delimiter=";", max_items=0), Column("B", domain=("z", "x", "y")))
VALUES = ["x", "y", "z"]
RECORD = st.tuples(
    st.sets(st.sampled_from(VALUES), max_size=1),
    st.sets(st.sampled_from(VALUES), max_size=3),
    st.sets(st.sampled_from(VALUES), max_size=1),
).map(list)
TABLE = st.lists(RECORD, max_size=40)


def judged(found: Comparison, s: Counter, y: Counter, resolution: int) -> None:
    """Every measure is that of the oracle."""
    expected = measures(s, y, resolution)
    for name, value in expected["totals"].items():
        assert found.total(name) == pytest.approx(value), name
    total = summary(found)
    for name, value in expected["summary"].items():
        assert total[name] == pytest.approx(value), name
    assert mean_preservation(found) == pytest.approx(expected["mean_preservation"])
    assert weighted_mean_preservation(found) == pytest.approx(expected["weighted_mean_preservation"])
    assert leakage(found) == pytest.approx(expected["leakage"])
    assert {row["bin"] for row in preservation_by_count(found)} == set(expected["by_count"])
    for row in preservation_by_count(found):
        mean_count, length, kept, error = expected["by_count"][row["bin"]]
        assert means(row) == pytest.approx((mean_count, kept, error))
        assert row["mean_length"] == pytest.approx(length)


#: Dense cubes and tables of sets, and rows and sets that are sorted.
@pytest.mark.parametrize(("most_cells", "few_sets"), [(1 << 22, 1 << 16), (0, 0)])
@given(sensitive=TABLE, synthetic=TABLE, resolution=st.integers(1, 6))
@settings(max_examples=40, deadline=None)
def test_measures_are_those_of_the_oracle(sensitive, synthetic, resolution, most_cells, few_sets):
    schema = Schema(COLUMNS)
    records, drawn = coded(schema, sensitive), coded(schema, synthetic)
    reported = rounded_down(count_in_memory(records, 3), resolution)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cubes, "_MOST_CELLS", most_cells)
        patch.setattr(comparison, "_FEW_SETS", few_sets)
        found = compare_sides((records, reported, drawn), ((0, 2), (0, 1), (1, 2)), resolution, 3)
    counted = []
    for table in (sensitive, synthetic):
        counted.append(Counter())
        for length in found[0].lengths:
            counted[-1].update(count(table, length))
    s, y = counted
    rounded = Counter({t: c // resolution * resolution for t, c in s.items() if c >= resolution})
    for one, (first, second) in zip(found, ((s, y), (s, rounded), (rounded, y)), strict=True):
        judged(one, first, second, resolution)
        for length in one.lengths:
            own = [Counter({t: c for t, c in side.items() if len(t) == length}) for side in (first, second)]
            expected = measures(*own, resolution)
            assert one.by_length("leaked")[length - 1] == expected["totals"]["leaked"]
            assert errors_by_length(one)[length - 1]["mean_error"] == pytest.approx(
                expected["summary"]["mean_error"]
            )


def test_dictionaries_of_their_own_meet_by_text():
    """Declared domains in another order, items of a multi-valued column in another order of codes."""
    table = [[{"x"}, {"q", "p"}], [{"y"}, {"p", "r"}], [{"x"}, {"r", "q"}]]
    columns = (Column("A"), Column("M", delimiter=";", max_items=2))
    ours = coded(Schema(columns), table)
    other = replace(
        ours,
        values=(("y", "x"), ("r", "q", "p")),
        slots=tuple(np.array(codes, np.uint8) for codes in ([2, 1, 2], [2, 1, 1], [3, 3, 2])),
    )
    found = compare_two(ours, other, 2, 3)
    assert found.total("error_union") == found.total("suppressed") == found.total("fabricated") == 0
    assert found.total("kept") == 16
    assert [row.largest for row in found.distances] == [0, 0, 0]


def test_the_number_of_threads_changes_no_digit(monkeypatch):
    monkeypatch.setattr(comparison, "_FEW_RECORDS", 0)
    rng = np.random.default_rng(3)
    schema = Schema(tuple(Column(name) for name in "ABCDEFG"))
    tables = [
        [[{str(v)} if v else set() for v in row] for row in rng.integers(0, 6, (300, 7)).tolist()]
        for _ in range(2)
    ]
    sides = [coded(schema, table) for table in tables]
    one, many = (compare_two(*sides, 5, 3, QueryResources(threads=threads)) for threads in (1, 3))
    assert one.distances == many.distances
    assert all(np.array_equal(one.sums[name], many.sums[name]) for name in one.sums)


@pytest.mark.parametrize("most_cells", [1 << 22, 0])
@given(table=TABLE, other=TABLE)
@settings(max_examples=25, deadline=None)
def test_total_variation_is_that_of_plain_shares(table, other, most_cells):
    single = Schema((Column("A"), Column("C")))
    tables = [[[record[0], record[2]] for record in own] for own in (table, other)]
    sides = [coded(single, own) for own in tables]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cubes, "_MOST_CELLS", most_cells)
        by_length = compare_two(*sides, 1).distances
    for found, columns in zip(by_length, [[(0,), (1,)], [(0, 1)]], strict=True):
        distances = []
        for chosen in columns:
            cells = [[tuple(min(r[c], default="") for c in chosen) for r in own] for own in tables]
            both = {*cells[0], *cells[1]}
            if cells[0] and cells[1]:
                shares = [{c: own.count(c) / len(own) for c in both} for own in cells]
                distances.append(sum(abs(shares[0][c] - shares[1][c]) for c in both) / 2)
            else:
                distances.append(float(bool(cells[0]) != bool(cells[1])))
        assert found.mean == pytest.approx(sum(distances) / len(distances))
        assert found.largest == pytest.approx(max(distances))


def test_a_resolution_below_one_is_refused():
    with pytest.raises(ParameterError, match="resolution"):
        compare_two(coded(ABC, T1), coded(ABC, T1), 0)
