"""Cells follow the column's own buckets, whatever interval they are drawn from (syndiffix.md 3.3)."""

from collections import Counter
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.syndiffix.microdata import draw_cells
from tests.core.syndiffix.cells import assert_law, draw, repeated, source
from tests.oracles.syndiffix_microdata import law

NUMBERS = pa.array([*range(64), None])
MARGINAL = [(0, 8, 40), (8, 8, 25), (9, 9, 10), (16, 32, 64), (40, 40, 5), (48, 56, 20), (126, 126, 30)]


@pytest.mark.parametrize(
    ("lower", "upper"), [(0, 16), (4, 12), (8, 9), (16, 20), (32, 64), (33, 40), (34, 39), (0, 128), (60, 64)]
)
def test_integers_follow_the_columns_own_buckets(lower, upper):
    cells_of = source(NUMBERS, *MARGINAL)
    _, numbers = repeated(cells_of, lower, upper)
    assert_law(numbers, law(lower, upper, MARGINAL, top=128))


def test_cells_of_disjoint_intervals_follow_the_law_of_each():
    cells_of = source(NUMBERS, *MARGINAL)
    intervals = [(0, 16), (33, 40), (32, 33), (64, 128)] * 5000
    numbers = draw(cells_of, *intervals).numbers.reshape(-1, 4)
    for place, (lower, upper) in enumerate(intervals[:4]):
        assert_law(numbers[:, place], law(lower, upper, MARGINAL, top=128))


def test_wider_cells_get_what_narrower_ones_have_left_of_the_columns_own_counts():
    marginal = [(0, 0, 40), (1, 1, 30), (2, 2, 20), (3, 3, 10)]
    cells_of = source(pa.array([0, 1, 2, 3]), *marginal)
    intervals = [(0, 4)] * 40 + [(0, 2)] * 30 + [(0, 0)] * 30
    for seed in range(20):
        seen = Counter(draw(cells_of, *intervals, seed=seed).numbers)
        assert all(abs(seen[value] - count) <= 2 for value, _, count in marginal)


def test_wider_cells_follow_the_columns_own_counts_where_nothing_is_left():
    cells_of = source(pa.array([0, 1]), (0, 0, 10), (1, 1, 30))
    numbers = draw(cells_of, *[(0, 2)] * 40, *[(0, 0)] * 500, *[(1, 1)] * 1500).numbers
    assert abs(Counter(numbers[:40])[0.0] - 10) <= 1


def test_which_of_equal_cells_gets_which_bucket_is_left_to_chance():
    cells_of = source(pa.array([0, 1]), (0, 0, 10), (1, 1, 10))
    first = [draw(cells_of, *[(0, 2)] * 4, seed=seed).numbers[0] for seed in range(2000)]
    assert_law(np.array(first), {0.0: Fraction(1, 2), 1.0: Fraction(1, 2)})


@given(st.data())
def test_no_cell_lies_outside_of_the_parts_that_its_interval_shares_with_the_marginal(data):
    edges = sorted(data.draw(st.sets(st.integers(-40, 40), min_size=2, max_size=12)))
    marginal = []
    for low, high in pairwise(edges):
        kind = data.draw(st.sampled_from(["range", "value", "none"]))
        if kind != "none":
            marginal.append((low, high if kind == "range" else low, data.draw(st.integers(1, 9))))
    cells_of = source(pa.array([-40, 0, 17, 39]), *marginal)
    intervals = data.draw(
        st.lists(st.tuples(st.integers(-48, 40), st.integers(1, 30)), min_size=1, max_size=20)
    )
    intervals = [(low, low + size) for low, size in intervals]
    for number, (lower, upper) in zip(draw(cells_of, *intervals).numbers, intervals, strict=True):
        assert law(lower, upper, marginal, top=cells_of.top)[number] > 0


def test_a_single_value_is_given_whatever_the_marginal_says():
    cells = draw(source(NUMBERS, *MARGINAL), (63, 63), (8, 8), (126, 126))
    assert cells.values.to_pylist() == [63, 8, None]
    assert cells.numbers.tolist() == [63.0, 8.0, 126.0]


@pytest.mark.parametrize("marginal", [[], [(16, 32, 5)]])
def test_an_interval_without_buckets_of_its_own_is_drawn_from_evenly(marginal):
    _, numbers = repeated(source(NUMBERS, *marginal), 3, 11)
    assert_law(numbers, {float(k): Fraction(1, 8) for k in range(3, 11)})


def test_integers_from_below_zero_are_as_frequent_as_those_above():
    _, numbers = repeated(source(pa.array([-4, 4])), -4, 4)
    assert_law(numbers, {float(k): Fraction(1, 8) for k in range(-4, 4)})


def test_nulls_at_the_columns_upper_end_belong_to_its_last_interval():
    cells_of = source(pa.array([0, 1, 2, 4, None]), (0, 4, 10), (4, 4, 20), (8, 8, 10))
    values, _ = repeated(cells_of, 4, 8)
    assert set(values) == {4, None} and 6000 < values.count(None) < 7300
    assert set(repeated(cells_of, 2, 4)[0]) == {2, 3}


@pytest.mark.parametrize("kind", [pa.int32(), pa.float64(), pa.string(), pa.bool_(), pa.date32(), pa.null()])
def test_a_column_without_a_value_gives_nulls(kind):
    cells_of = source(pa.nulls(5, kind))
    cells = draw(cells_of, (1, 1), (0, 1))
    assert cells.values.to_pylist() == [None, None] and cells.values.type == kind
    assert cells.numbers.tolist() == [cells_of.null_value] * 2


def test_no_rows_give_no_cells():
    for array in (pa.array(["aa", "b"]), NUMBERS):
        cells = draw_cells(source(array), np.zeros(0), np.zeros(0), np.random.default_rng(1))
        assert len(cells.values) == len(cells.numbers) == 0


def test_the_generator_alone_decides():
    cells_of = source(NUMBERS, *MARGINAL)
    assert repeated(cells_of, 0, 64, seed=5)[0] == repeated(cells_of, 0, 64, seed=5)[0]
    assert repeated(cells_of, 0, 64, seed=5)[0] != repeated(cells_of, 0, 64, seed=6)[0]
