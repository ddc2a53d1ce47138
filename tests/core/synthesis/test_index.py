"""The index finds every closed combination, in any order of joining, and nothing else."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from tasks.core.aggregates.aggregates import Aggregates, Attribute
from tasks.core.errors import ParameterError
from tasks.core.synthesis.index import build_index, scale_up
from tasks.core.synthesis.index_kernels import MISSING, longer_combination
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


def _pair(ids, counts, headers=("A", "B")):
    attributes = (Attribute("A", "x", 0), Attribute("A", "y", 0), Attribute("B", "x", 1))
    singles = np.array([[0], [1], [2]], np.int32)
    return Aggregates(
        headers, attributes, 3, (singles, np.array(ids, np.int32)), (np.array([3, 3, 3]), np.array(counts))
    )


def _wide(columns, values):
    """All pairs of many columns, counts telling them apart."""
    texts = sorted(f"c{c:03d}:v{v:03d}" for c in range(columns) for v in range(values))
    headers = [f"c{c:03d}" for c in range(columns)]
    pairs = [p for p in itertools.combinations(range(len(texts)), 2) if p[0] // values != p[1] // values]
    return aggregates_of(
        texts,
        headers,
        [{(i,): i + 1 for i in range(len(texts))}, {p: 1 + p[0] * 1000 + p[1] for p in pairs}],
        9,
    )


def test_rows_reach_over_many_words():
    index = build_index(_wide(40, 8))
    for a, b in [(0, 319), (319, 0), (63, 64), (64, 130), (8, 300)]:
        assert _found(index, (a, b)) == 1 + min(a, b) * 1000 + max(a, b)
    assert _found(index, (0, 7)) is None


def test_a_row_s_word_is_found_among_several():
    texts, pairs = [f"c{column:03d}:v" for column in range(320)], {(0, b): b for b in (70, 200, 300)}
    headers = [f"c{column:03d}" for column in range(320)]
    index = build_index(aggregates_of(texts, headers, [{(i,): 1 for i in range(320)}, pairs], 9))
    assert [_found(index, (0, b)) for b in (70, 200, 300)] == [70, 200, 300]


def test_counts_beyond_2_to_the_53_are_refused():
    with pytest.raises(ParameterError, match="2\\^53"):
        build_index(_pair([[0, 2]], [2**53 + 1]))
    assert build_index(_pair([[0, 2]], [2**53])).counts[-1] == 2**53
