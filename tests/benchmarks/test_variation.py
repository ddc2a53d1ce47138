"""Total variation and relations of small tables, by hand; and relations that SynDiffix keeps of a census."""

from datetime import datetime
from math import isnan

import pyarrow as pa
import pytest

from tasks.core.syndiffix.settings import AnonymizationParameters, SynDiffixParameters
from tasks.core.syndiffix.synthesizer import Synthesizer
from tests.benchmarks.syndiffix_tables import census
from tests.benchmarks.variation import mean_error, mean_variations, relations


def variation_of(original, synthetic):
    """Of one column."""
    found, pairs = mean_variations(pa.table({"c": original}), pa.table({"c": synthetic}))
    assert isnan(pairs)
    return found


def test_half_the_summed_differences_of_shares_other_values_together():
    # a 3/4 and 1/4, b 1/4 and 1/4, others 0 and 1/2.
    assert variation_of(["a", "a", "a", "b"], ["a", "b", "c", "d"]) == pytest.approx(0.5)
    assert variation_of(["a", "b"], ["b", "a", "a", "b"]) == 0.0
    assert variation_of(["a"], ["b"]) == 1.0


OF_EACH_TYPE = [(7, 8), (2.5, 1e9), ("a", "b"), (datetime(2024, 1, 1), datetime(2024, 1, 2))]


@pytest.mark.parametrize(("value", "other"), OF_EACH_TYPE)
def test_nulls_are_a_value_of_their_own(value, other):
    assert variation_of([value, None], [value, value]) == pytest.approx(0.5)
    assert variation_of([value, None], [None, value]) == 0.0
    assert variation_of([value, None], [value, other]) == pytest.approx(0.5)


def test_numbers_of_more_than_twenty_values_are_counted_in_twenty_bins():
    numbers = [float(number) for number in range(400)]  # twenty in each bin
    assert variation_of(numbers, numbers[::-1]) == 0.0
    assert variation_of(numbers, [0.5] * 7) == pytest.approx(19 / 20)
    assert variation_of(numbers, [1e9, -1e9]) == pytest.approx(18 / 20)
    assert variation_of([*numbers, *[None] * 400], [0.0]) == pytest.approx(1 - 1 / 40)


def test_texts_beyond_the_twenty_most_frequent_are_one():
    frequent = [f"t{number:02}" for number in range(20)] * 2
    assert variation_of([*frequent, "y", "z"], [*frequent, "z", "new"]) == 0.0
    assert variation_of([*frequent, "y", "z"], [*frequent[:-2], "y", "y", "y", "y"]) == pytest.approx(2 / 42)


def test_pairs_are_counted_as_such_and_means_taken():
    original = pa.table({"x": ["a", "a", "b", "b"], "y": [1, 2, 1, 2], "z": [5, 5, 5, 6]})
    synthetic = pa.table({"x": ["a", "a", "b", "b"], "y": [1, 1, 2, 2], "z": [5, 5, 5, 5]})
    single, double = mean_variations(original, synthetic)
    assert single == pytest.approx((0 + 0 + 1 / 4) / 3)
    # xy: (a,2) and (b,1) are missing; xz: (b,6); yz: (1,5) (2,5) (2,6) are 2, 1, 1 and 2, 2, 0.
    assert double == pytest.approx((1 / 2 + 1 / 4 + 1 / 4) / 3)


def test_only_columns_of_the_synthetic_table_are_compared():
    original = pa.table({"x": ["a", "b"], "y": [1, 2]})
    assert mean_variations(original, original.select(["y"]))[0] == 0.0


def relation(one, other):
    table = pa.table({"a": one, "b": other})
    return relations(table, table, [("a", "b")])["a", "b"]


def test_numbers_are_related_by_their_ranks_where_both_are_there():
    assert relation([1, 2, 3, 40], [10, 20, 30, 31]) == pytest.approx(1)
    assert relation([1, 2, 3, None], [9.0, 8.0, 7.0, 100.0]) == pytest.approx(-1)
    assert relation([1, 2, 3, 4], [1, 4, 2, 3]) == pytest.approx(0.4)
    assert relation([1, 1, 1], [1, 2, 3]) == 0


def test_texts_are_related_by_cramer_s_v():
    assert relation(["a", "a", "b", "b"], ["x", "x", "y", "y"]) == pytest.approx(1)
    assert relation(["a", "a", "b", "b"], ["x", "y", "x", "y"]) == pytest.approx(0)
    # Chi squared of 3 1 / 1 3 is 8 * (9 - 1)^2 / 4^4 = 2, and V the root of 2 / 8.
    assert relation(list("aaaabbbb"), [1, 1, 1, 2, 1, 2, 2, 2]) == pytest.approx(0.5)


def test_default_clusters_keep_the_relations_of_a_census():
    table = census(8000)
    parameters = SynDiffixParameters(AnonymizationParameters((1).to_bytes(16, "big")))
    # The peer: 0.057 +- 0.002 over three salts; with all pairs of nodes in the weights: 0.035.
    assert mean_error(table, Synthesizer(table, parameters).sample()) < 0.026
