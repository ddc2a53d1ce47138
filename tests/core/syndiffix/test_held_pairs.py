"""Pairs of values that two columns' own table holds."""

import numpy as np
import pyarrow as pa

from tasks.core.syndiffix.forest import Buckets
from tasks.core.syndiffix.own_counts import HeldPairs, without_contradictions
from tests.core.syndiffix.cells import source

NAMES = source(pa.array(["ham", "kale", "pear"]), (0, 0, 20), (1, 1, 10), (2, 2, 8))
TYPES = source(pa.array(["green", "meat"]), (0, 0, 18), (1, 1, 20))
PRICES = source(pa.array([0, 1, 2]), (0, 0, 20), (1, 1, 8), (2, 2, 10))
SOURCES = [NAMES, TYPES, PRICES]


def held(columns, *pairs):
    cells = np.array([pair[:2] for pair in pairs], float)
    return HeldPairs.of(SOURCES, columns, Buckets(cells, cells, np.array([pair[2] for pair in pairs])))


def mended(tables, *places):
    changed = without_contradictions(tables, dict(enumerate(map(np.array, places))), np.random.default_rng(1))
    return [changed[column].tolist() for column in range(len(places))]


OF_NAMES = held((0, 1), (0, 1, 21), (1, 0, 11), (2, 0, 5))


def test_a_value_is_known_whose_pairs_have_as_many_rows_as_itself():
    # Of pears 3 rows lack, which may be of any type; green ones are 16 of 18.
    assert [known.tolist() for known in OF_NAMES.known] == [[True, True, False], [False, True]]


def test_a_pair_of_a_single_drawn_row_is_none():
    assert held((0, 1), (0, 1, 21), (0, 0, 1)).keys.tolist() == [1]


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
