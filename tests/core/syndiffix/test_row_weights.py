"""Whole rows in the place of others."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.syndiffix.own_counts import chosen_rows

DRAW = np.random.default_rng(7)


def counts(places, rows, size):
    return np.bincount(places[rows], minlength=size)


def test_counts_of_all_columns_come_within_the_tolerance():
    first, second = DRAW.integers(0, 4, 4000), DRAW.integers(0, 3, 4000)
    wanted = [np.array([1300.0, 900, 900, 900]), np.array([1000.0, 1500, 1500])]
    rows = chosen_rows([first, second], wanted, 10.0, np.random.default_rng(1))
    for places, share in zip((first, second), wanted, strict=True):
        # One more for each combination that is cut.
        assert (abs(counts(places, rows, len(share)) - share) <= 10 + 12).all()


def test_no_row_is_left_out_or_repeated_where_counts_are_within_the_tolerance():
    places = np.repeat([0, 1, -1], [52, 44, 4])
    rows = chosen_rows([places], [np.array([50.0, 50.0])], 6.0, np.random.default_rng(1))
    assert rows.tolist() == list(range(100))


@given(
    st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 2)), min_size=1, max_size=60),
    st.lists(st.integers(0, 40), min_size=4, max_size=4),
    st.lists(st.integers(0, 40), min_size=3, max_size=3),
)
def test_there_are_as_many_rows_and_none_more_often_than_weights_allow(cells, first, second):
    places = [np.array(column) for column in zip(*cells, strict=True)]
    wanted = [np.array(first, float), np.array(second, float)]
    rows = chosen_rows(places, wanted, 0.0, np.random.default_rng(1))
    assert len(rows) == len(cells) and set(rows.tolist()) <= set(range(len(cells)))
    # Twice a half's reciprocal, and one for rounding.
    assert np.bincount(rows).max() <= 5
