"""What is published of a column alone stays true in every table (syndiffix.md 7.3, #157)."""

from collections import Counter
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.syndiffix.hashing import generator_of
from tasks.core.syndiffix.microdata import CellSource, draw_cells
from tasks.core.syndiffix.own_counts import keep_own_counts
from tasks.core.syndiffix.stitching import Microdata
from tests.core.syndiffix.cells import draw, source

RANGES = [(0, 8, 40), (8, 8, 25), (9, 9, 10), (16, 32, 64), (32, 64, 16), (126, 126, 30)]
NUMBERS = pa.array([*range(64), None])
NULL = 126.0


@dataclass(frozen=True)
class Basis:
    """Of one column, by number 0."""

    source: CellSource
    difference_sd: float = 0.0

    @property
    def sources(self) -> list[CellSource]:
        return [self.source]

    def generator(self, purpose, columns):
        return generator_of(b"a salt", purpose, *map(str, columns))


def settled(cells_of, numbers, difference_sd=0.0):
    """The column's numbers after `keep_own_counts`; those before are given as single values."""
    cells = draw_cells(cells_of, numbers, numbers, np.random.default_rng(1))
    table = keep_own_counts(Microdata(len(numbers), {0: cells}), Basis(cells_of, difference_sd))
    found = table.cells[0]
    expected = [None if number == NULL else number for number in found.numbers]
    assert found.values.to_pylist() == expected and table.rows == len(numbers)
    return found.numbers


def per_bucket(numbers, marginal):
    """How many numbers each bucket has; the last is of those in none."""
    places = [
        next((i for i, (a, b, _) in enumerate(marginal) if a == x or a < x < b), len(marginal))
        for x in numbers
    ]
    return np.bincount(places, minlength=len(marginal) + 1).tolist()


def test_a_tail_that_was_lost_comes_back_and_what_was_above_stays_above():
    before = np.array([*[3.0] * 120, *[20.0] * 35, *[NULL] * 30])
    after = settled(source(NUMBERS, *RANGES), before)
    assert per_bucket(after, RANGES) == [40, 25, 10, 64, 16, 30, 0]
    # The 16 in the tail come from those who were above the others.
    assert (before[(after >= 32) & (after < 64)] == 20).all()


def test_rows_of_a_value_that_has_not_too_many_stay():
    before = np.array([*[8.0] * 25, *[9.0] * 4, *[2.0] * 126, *[NULL] * 30])
    after = settled(source(NUMBERS, *RANGES), before)
    assert (after[:29] == before[:29]).all() and (after[-30:] == NULL).all()
    assert per_bucket(after, RANGES) == [40, 25, 10, 64, 16, 30, 0]


def test_too_many_nulls_get_numbers_from_everywhere_and_too_few_come_from_everywhere():
    marginal = [(0, 8, 100), (8, 16, 100), (126, 126, 100)]
    many, few = np.array([1.0, 9.0] * 30 + [NULL] * 240), np.array([1.0, 9.0] * 145 + [NULL] * 10)
    filled, emptied = (settled(source(NUMBERS, *marginal), before) for before in (many, few))
    assert per_bucket(filled, marginal) == per_bucket(emptied, marginal) == [100, 100, 100, 0]
    # Of 140 and 90 by chance; six standard deviations.
    assert abs((filled[many == NULL] < 8).sum() - 70) < 36
    assert abs((few[emptied == NULL] == 1).sum() - 45) < 29


def test_a_number_in_none_of_the_columns_own_buckets_is_replaced():
    after = settled(source(NUMBERS, (0, 8, 10), (20, 20, 10)), np.array([3.0] * 10 + [50.0] * 10))
    assert (after[:10] == 3).all() and (after[10:] == 20).all()


def test_counts_are_shared_out_where_a_table_has_more_or_fewer_rows():
    marginal = [(0, 8, 50), (8, 16, 30), (20, 20, 20)]
    for rows in (10, 99, 1000):
        found = per_bucket(settled(source(NUMBERS, *marginal), np.full(rows, 1.0)), marginal)[:3]
        assert all(abs(count - rows * share) < 1 for count, share in zip(found, (0.5, 0.3, 0.2), strict=True))


def test_a_table_that_has_its_own_counts_is_left_as_it_is():
    cells_of = source(NUMBERS, *RANGES)
    once = settled(cells_of, np.full(300, 2.0))
    assert np.array_equal(settled(cells_of, once), once)


VALUES = [(8, 8, 25), (9, 9, 10), (20, 20, 40), (126, 126, 30)]


def test_of_values_only_what_exceeds_the_noise_is_moved():
    before = np.array([*[8.0] * 28, *[9.0] * 7, *[20.0] * 41, *[NULL] * 29])
    assert (settled(source(NUMBERS, *VALUES), before, difference_sd=2.0) == before).all()
    before = np.array([*[8.0] * 45, *[20.0] * 31, *[NULL] * 29])
    after = settled(source(NUMBERS, *VALUES), before, difference_sd=2.0)
    assert per_bucket(after, VALUES) == [25, 10, 40, 30, 0]


def test_ranges_get_all_their_counts_for_a_tail_lacks_a_little_in_each():
    marginal = [(low, low + 8, 12) for low in range(0, 64, 8)]
    before = np.repeat([low + 1.0 for low, *_ in marginal], [16, 16, 15, 14, 11, 10, 8, 6])
    assert per_bucket(settled(source(NUMBERS, *marginal), before, 2.0), marginal) == [12] * 8 + [0]


def test_texts_are_moved_to_the_columns_own_texts():
    cells_of = source(pa.array(["Ab", "Ac", "B", "C"]), (0, 0, 30), (1, 1, 10), (2, 4, 20))
    cells = draw(cells_of, *[(0, 0)] * 60)
    table = keep_own_counts(Microdata(60, {0: cells}), Basis(cells_of))
    seen = Counter(text[:2] for text in table.cells[0].values.to_pylist())
    assert seen == {"Ab": 30, "Ac": 10, "*2": seen["*2"], "*3": 20 - seen["*2"]}


def test_no_rows_and_a_column_of_which_nothing_is_published_are_left_as_they_are():
    assert len(settled(source(NUMBERS, *RANGES), np.zeros(0))) == 0
    assert settled(source(NUMBERS), np.array([1.0, 5.0])).tolist() == [1.0, 5.0]


@given(
    st.lists(
        st.tuples(st.integers(0, 9), st.integers(1, 30)), min_size=1, max_size=6, unique_by=lambda b: b[0]
    ),
    st.lists(st.integers(0, 63), min_size=1, max_size=80),
)
def test_counts_are_the_columns_own_whatever_the_rows_were(buckets, before):
    marginal = [(6 * place, 6 * place + (6 if place % 2 else 0), count) for place, count in sorted(buckets)]
    before = np.array(before, float)
    after = settled(source(NUMBERS, *marginal), before)
    found, total = per_bucket(after, marginal), sum(count for *_, count in marginal)
    assert found.pop() == 0
    wanted = [len(before) * count / total for *_, count in marginal]
    assert all(abs(count - share) < 1 for count, share in zip(found, wanted, strict=True))
    was = per_bucket(before, marginal)
    for place, (low, high, _) in enumerate(marginal):
        stayed = int(((before == low) & (after == low)).sum())
        assert low < high or stayed == min(was[place], found[place])
