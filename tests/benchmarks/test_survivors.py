"""The tolerance of survivors: by hand, then its false alarms and what it finds, with fixed seeds."""

import numpy as np
import pytest
from scipy.stats import t

from tests.benchmarks.survivors import FALSE_ALARM, disagreements


def test_the_tolerance_is_students_quantile_of_the_difference_of_two_means():
    # Ours 10, 12, 14: mean 12, deviation 2. One fit of theirs: standard error 2 sqrt(1/3 + 1).
    tolerance = t.isf(FALSE_ALARM / 2, 2) * 2 * (4 / 3) ** 0.5
    ours = [[10, 5], [12, 5], [14, 5]]
    assert disagreements(ours, [[12 + int(tolerance), 5]]) == []
    (said,) = disagreements(ours, [[12 + int(tolerance) + 1, 5]])
    assert said.startswith("survivors of length 1: 12.0 and ")


def fits(generator, number, share=1.0):
    """Survivors of two lengths; the second hangs on the first, as in a fit of adult at R = 4."""
    first = generator.binomial(150, 0.62 * share, number)
    return np.column_stack([first, generator.poisson(0.38 * first**2)]).tolist()


def test_what_varies_more_than_three_percent_raises_no_alarm():
    """Expected false alarms of 1000 comparisons of two lengths: 0.2; seven or more have a chance of 1e-9."""
    generator = np.random.default_rng(1)
    pairs = [(fits(generator, 20), fits(generator, 1)) for _ in range(1000)]
    assert sum(bool(disagreements(*pair)) for pair in pairs) < 7
    means = [(np.mean(ours, axis=0)[1], theirs[0][1]) for ours, theirs in pairs]
    assert np.mean([abs(us - them) > 0.03 * them for us, them in means]) > 0.5  # the rule it replaces


@pytest.mark.parametrize("share", [0.4, 1.5])
def test_another_number_of_survivors_is_found(share):
    generator = np.random.default_rng(2)
    found = [disagreements(fits(generator, 20), fits(generator, 1, share)) for _ in range(100)]
    assert all(found)
