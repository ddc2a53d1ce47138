import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from tasks.core.errors import ParameterError
from tasks.core.synthesis.index import MISSING, build_index, longer_combination, scale_up
from tests.oracles.aggregate_seeded import aggregates_of, closed, dictionary
from tests.oracles.random_tables import noisy_aggregates


def _found(index, attributes):
    """Count of a combination by joining one attribute after the other, or None."""
    number = attributes[0]
    for attribute in attributes[1:]:
        number = longer_combination(index.rows, number, attribute)
        if number == MISSING:
            return None
    return int(index.counts[number]) or None


@given(noisy_aggregates())
@settings(max_examples=60, deadline=None)
def test_any_order_of_joining_finds_the_count_of_what_has_all_its_parts(aggregates):
    index = build_index(aggregates)
    expected = closed(dictionary(aggregates))
    for length in range(1, aggregates.reporting_length + 1):
        for attributes in itertools.permutations(range(len(aggregates.attributes)), length):
            assert _found(index, attributes) == expected.get(frozenset(attributes))


@pytest.mark.parametrize(
    ("factor", "counts", "expected"),
    [
        (None, [1, 5], [1, 5]),
        (0.5, [1, 2, 3, 100], [1, 1, 2, 50]),
        (0.07, [100, 200, 101], [7, 14, 8]),
        (3, [1, 2], [3, 6]),
        (1e-9, [1, 2**53], [1, 9007200]),
    ],
)
def test_a_scale_factor_rounds_up_exactly(factor, counts, expected):
    assert scale_up(np.array(counts, np.int64), factor).tolist() == expected
    if factor:
        assert all(e == -(-c * Fraction(str(factor)) // 1) for c, e in zip(counts, expected, strict=True))


def test_a_scale_factor_that_makes_counts_too_large_is_refused():
    with pytest.raises(ParameterError, match="2\\^53"):
        scale_up(np.array([2**50]), 9.0)


def test_rows_reach_over_many_words():
    """Of 320 columns one is in pairs with all others, the others in a few, so that words are missing."""
    headers = [f"c{column:03d}" for column in range(320)]
    every = list(itertools.combinations(range(320), 2))
    some = np.random.default_rng(1).random(len(every)) < 0.012
    chosen = {pair: place + 1 for place, pair in enumerate(every) if some[place] or 5 in pair}
    levels = [{(column,): 1 for column in range(320)}, chosen]
    index = build_index(aggregates_of([f"{header}:v" for header in headers], headers, levels, 9))
    for place, pair in enumerate(every):
        assert _found(index, pair[:: 1 if place % 2 else -1]) == chosen.get(pair)


def test_counts_beyond_2_to_the_53_are_refused():
    def pair(count):
        return aggregates_of(["A:x", "B:x"], ["A", "B"], [{(0,): 3, (1,): 3}, {(0, 1): count}], 3)

    with pytest.raises(ParameterError, match="2\\^53"):
        build_index(pair(2**53 + 1))
    assert build_index(pair(2**53)).counts[-1] == 2**53
