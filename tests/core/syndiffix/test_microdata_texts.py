"""Cells of texts: themselves, or what texts of a range have in common, and a rank (syndiffix.md 3.3)."""

from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.tables.writing import plain_type
from tests.core.syndiffix.cells import assert_law, draw, repeated, source
from tests.oracles.syndiffix_microdata import parts_of, prefix_of

WORDS = pa.array(["aa", "ab", "ac", "ad", "c", "d"])


def test_texts_of_a_range_are_a_prefix_and_a_rank():
    values, numbers = repeated(source(WORDS), 0, 3)
    assert set(values) == {"a*0", "a*1", "a*2"}
    assert values == [f"a*{int(rank)}" for rank in numbers]
    assert_law(numbers, {k: Fraction(1, 3) for k in (0.0, 1.0, 2.0)})
    assert set(repeated(source(WORDS), 3, 6)[0]) == {"*3", "*4", "*5"}


def test_a_text_by_itself_is_itself():
    assert draw(source(WORDS), (4, 4), (0, 0)).values.to_pylist() == ["c", "aa"]
    cells_of = source(WORDS, (0, 4, 30), (4, 4, 30))
    assert set(repeated(cells_of, 4, 6)[0]) == {"c"}


CLINICS = pa.array(["clinic a", "clinic b", "secret clinic"])


@pytest.mark.parametrize("interval", [(2, 3), (1.5, 3), (2, 4), (2, 16)])
@pytest.mark.parametrize("marginal", [[], [(2, 4, 20)], [(0, 2, 9), (2, 8, 20)]])
def test_a_range_of_one_text_shows_nothing_of_it(interval, marginal):
    assert set(repeated(source(CLINICS, *marginal), *interval, times=50)[0]) == {"*2"}


@pytest.mark.parametrize("interval", [(1, 3), (1, 8)])
def test_a_range_of_which_the_marginal_leaves_one_text_shows_nothing_of_it(interval):
    assert set(repeated(source(CLINICS, (2, 4, 20)), *interval, times=50)[0]) == {"*2"}


def test_a_prefix_that_is_a_whole_text_in_range_is_cut():
    words = source(pa.array(["ab", "abc", "abd"]))
    assert set(repeated(words, 0, 3)[0]) == {"a*0", "a*1", "a*2"}
    assert set(repeated(words, 1, 3)[0]) == {"ab*1", "ab*2"}


def test_ranks_stay_within_the_vocabulary():
    assert set(repeated(source(WORDS), 0, 16)[0]) == {f"*{k}" for k in range(6)}
    assert set(repeated(source(WORDS), 8, 16, times=9)[0]) == {"*5"}


def test_a_value_safe_column_of_texts_has_no_star():
    assert set(repeated(source(WORDS, value_safe=True), 0, 8)[0]) == set(WORDS.to_pylist())


def test_null_texts_are_null_and_empty_ones_empty():
    cells_of = source(pa.array(["", "x", None]))
    assert draw(cells_of, (0, 0), (1, 1), (2, 2)).values.to_pylist() == ["", "x", None]


@given(st.data())
def test_texts_show_no_more_than_the_oracle(data):
    words = data.draw(st.lists(st.text("abé", max_size=4), min_size=2, max_size=12))
    ranked = sorted(set(words))
    marginal = []
    for rank in range(0, len(ranked), 2):
        kind = data.draw(st.sampled_from(["pair", "single", "none"]))
        marginal += [(rank, rank + 2 if kind == "pair" else rank, 7)] if kind != "none" else []
    cells_of = source(pa.array(words), *marginal)
    pairs = st.tuples(st.integers(0, len(ranked) - 1), st.integers(1, 8))
    intervals = [(low, low + size) for low, size in data.draw(st.lists(pairs, min_size=1, max_size=15))]
    cells = draw(cells_of, *intervals)
    for text, rank, (lower, upper) in zip(cells.values.to_pylist(), cells.numbers, intervals, strict=True):
        allowed = set()
        for low, high in parts_of(lower, upper, marginal, cells_of.top):
            if low == high:
                allowed.add(ranked[int(low)])
            else:
                allowed.add(f"{prefix_of(ranked[int(low) : int(high)])}*{int(rank)}")
        assert text in allowed


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())])
def test_texts_keep_their_type(kind):
    array = pa.array([*WORDS.to_pylist(), None], kind)
    cells = draw(source(array), (0, 1), (4, 4), (10, 10))
    assert cells.values.type == plain_type(kind)
    assert cells.values.to_pylist() == ["*0", "c", None]
