"""What is published of a column alone stays true in every table (X7.3)."""

from collections import Counter

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.syndiffix.forest import Buckets
from tasks.core.syndiffix.microdata import draw_cells
from tasks.core.syndiffix.own_counts import HeldPairs, choose_rows, keep_own_counts, resolve_contradictions
from tasks.core.syndiffix.stitching import Microdata, StitchingBasis
from tests.core.syndiffix.cells import draw, source

RANGES = [(0, 8, 40), (8, 8, 25), (9, 9, 10), (16, 32, 64), (32, 64, 16), (126, 126, 30)]
NUMBERS = pa.array([*range(64), None])
NULL = 126.0


def basis(cells_of, difference_sd=0.0):
    """Of one column, by number 0."""
    return StitchingBasis(["0"], np.zeros(1), {}, b"a salt", (), [cells_of], difference_sd)


def settled(cells_of, numbers, difference_sd=0.0):
    """The column's numbers after `keep_own_counts`; those before are given as single values."""
    cells = draw_cells(cells_of, numbers, numbers, np.random.default_rng(1))
    table = keep_own_counts(Microdata(len(numbers), {0: cells}), basis(cells_of, difference_sd))
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


def test_too_many_nulls_get_numbers_from_everywhere_and_too_few_come_from_everywhere():
    marginal = [(0, 8, 100), (8, 16, 100), (126, 126, 100)]
    many, few = np.array([1.0, 9.0] * 30 + [NULL] * 240), np.array([1.0, 9.0] * 145 + [NULL] * 10)
    filled, emptied = (settled(source(NUMBERS, *marginal), before) for before in (many, few))
    assert per_bucket(filled, marginal) == per_bucket(emptied, marginal) == [100, 100, 100, 0]
    # Of 140 and 90 by chance; six standard deviations.
    assert abs((filled[many == NULL] < 8).sum() - 70) < 36
    assert abs((few[emptied == NULL] == 1).sum() - 45) < 29


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
    table = keep_own_counts(Microdata(60, {0: cells}), basis(cells_of))
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


DRAW = np.random.default_rng(7)


def counts(places, rows, size):
    return np.bincount(places[rows], minlength=size)


def test_counts_of_all_columns_come_within_the_tolerance():
    first, second = DRAW.integers(0, 4, 4000), DRAW.integers(0, 3, 4000)
    wanted = [np.array([1300.0, 900, 900, 900]), np.array([1000.0, 1500, 1500])]
    rows = choose_rows([first, second], wanted, 10.0, np.random.default_rng(1))
    for places, share in zip((first, second), wanted, strict=True):
        # One more for each combination that is cut.
        assert (abs(counts(places, rows, len(share)) - share) <= 10 + 12).all()


def test_no_row_is_left_out_or_repeated_where_counts_are_within_the_tolerance():
    places = np.repeat([0, 1, -1], [52, 44, 4])
    rows = choose_rows([places], [np.array([50.0, 50.0])], 6.0, np.random.default_rng(1))
    assert rows.tolist() == list(range(100))


@given(
    st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 2)), min_size=1, max_size=60),
    st.lists(st.integers(0, 40), min_size=4, max_size=4),
    st.lists(st.integers(0, 40), min_size=3, max_size=3),
)
def test_there_are_as_many_rows_and_none_more_often_than_weights_allow(cells, first, second):
    places = [np.array(column) for column in zip(*cells, strict=True)]
    wanted = [np.array(first, float), np.array(second, float)]
    rows = choose_rows(places, wanted, 0.0, np.random.default_rng(1))
    assert len(rows) == len(cells) and set(rows.tolist()) <= set(range(len(cells)))
    # Twice a half's reciprocal, and one for rounding.
    assert np.bincount(rows).max() <= 5


NAMES = source(pa.array(["ham", "kale", "pear"]), (0, 0, 20), (1, 1, 10), (2, 2, 8))
TYPES = source(pa.array(["green", "meat"]), (0, 0, 18), (1, 1, 20))
PRICES = source(pa.array([0, 1, 2]), (0, 0, 20), (1, 1, 8), (2, 2, 10))
SOURCES = [NAMES, TYPES, PRICES]


def held(columns, *pairs):
    cells = np.array([pair[:2] for pair in pairs], float)
    return HeldPairs.of(SOURCES, columns, Buckets(cells, cells, np.array([pair[2] for pair in pairs])))


def mended(tables, *places):
    changed = resolve_contradictions(tables, dict(enumerate(map(np.array, places))), np.random.default_rng(1))
    return [changed[column].tolist() for column in range(len(places))]


OF_NAMES = held((0, 1), (0, 1, 21), (1, 0, 11), (2, 0, 5))


def test_a_value_is_known_whose_pairs_have_as_many_rows_as_itself():
    # Of pears 3 rows lack, which may be of any type; green ones are 16 of 18.
    assert [known.tolist() for known in OF_NAMES.known] == [[True, True, False], [False, True]]
    assert held((0, 1), (0, 1, 21), (0, 0, 1)).keys.tolist() == [1], "one row that was drawn is no pair"


def test_a_cell_that_contradicts_what_is_known_of_another_becomes_its_partner():
    assert mended([OF_NAMES], [0, 1, 2], [0, 0, 1]) == [[0, 1, 0], [1, 0, 1]]


def test_what_is_not_known_is_left_as_it_is():
    assert mended([held((0, 1), (2, 0, 5))], [2, 2], [1, 0]) == [[2, 2], [1, 0]]
    assert mended([OF_NAMES], [-1, 0], [0, -1]) == [[-1, 0], [0, -1]]


def test_of_several_partners_it_becomes_one_that_the_row_s_other_cells_go_with():
    of_prices = held((0, 2), (0, 0, 10), (0, 2, 10), (1, 0, 10), (2, 1, 8))
    of_types = held((1, 2), (1, 2, 20), (0, 0, 9), (0, 1, 8))
    assert mended([OF_NAMES, of_prices, of_types], [0] * 9, [1] * 9, [1] * 9)[2] == [2] * 9


def test_the_cell_in_most_contradictions_is_changed():
    # The name alone is wrong: kale is green and costs 0, and the row is of meat for 2.
    of_prices = held((0, 2), (0, 2, 20), (1, 0, 10))
    of_types = held((1, 2), (1, 2, 20), (0, 0, 18))
    assert mended([OF_NAMES, of_prices, of_types], [1], [1], [2]) == [[0], [1], [2]]


def test_a_table_that_lacks_many_rows_tells_nothing():
    lacking = held((0, 1), (0, 1, 21), (1, 0, 11))  # of 38 rows six are in no pair
    assert not any(known.any() for known in lacking.known)
    assert mended([lacking], [0], [0]) == [[0], [0]]
