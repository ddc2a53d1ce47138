from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.dp.workload.choice import allowances, score, sixteenths, standing_out

EXPECTED = np.array([1.25, 0.5, 1.0, 2.75])
COUNTS = np.array([9, 0, 1, 12])


def test_vector_e():
    expected = sixteenths(EXPECTED)
    assert expected.tolist() == [20, 8, 16, 44]
    allowed = allowances(expected, Fraction(1))
    assert allowed.tolist() == [24, 20, 23, 31]
    assert score(COUNTS, expected, allowed) == 13
    one_more = [score(COUNTS + np.eye(4, dtype=int)[cell], expected, allowed) for cell in range(4)]
    assert one_more == [14, 13, 13, 14]


@given(
    counts=st.lists(st.integers(0, 50), min_size=4, max_size=4),
    expected=st.lists(st.floats(0, 50), min_size=4, max_size=4),
    scale=st.integers(1, 2000),
    touched=st.sets(st.integers(0, 3), min_size=1),
)
def test_one_record_changes_a_score_by_at_most_its_cells(counts, expected, scale, touched):
    expected16 = sixteenths(np.array(expected))
    allowed = allowances(expected16, Fraction(scale, 64))
    more = np.array(counts)
    more[list(touched)] += 1
    change = score(more, expected16, allowed) - score(np.array(counts), expected16, allowed)
    assert abs(change) <= len(touched)


def test_the_largest_scores_that_stand_out_are_chosen_ties_in_order():
    noisy = [50, 500, 80, 500, 90] + [0] * 281
    assert standing_out(noisy, Fraction(20), 3) == [1, 3, 4]
    assert standing_out(noisy, Fraction(20), 15) == [1, 3, 4, 2]
    assert standing_out([], Fraction(20), 3) == []
