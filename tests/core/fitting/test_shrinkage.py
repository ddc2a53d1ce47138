import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.fitting import targets
from tasks.core.fitting.targets import nearest_counts
from tests.oracles import fitting as oracle


@given(
    deviations=st.lists(st.floats(-30, 30), min_size=2, max_size=6),
    seed=st.integers(0, 1000),
    variance=st.floats(0.5, 20),
)
@settings(max_examples=25, deadline=None)
def test_the_posterior_mean_is_that_of_the_formulas(deviations, seed, variance):
    expected = np.random.default_rng(seed).uniform(0.1, 50, len(deviations))
    found = targets.posterior(np.array(deviations), expected, variance).mean
    slow = oracle.posterior_mean(
        deviations, expected.tolist(), variance, targets._STRENGTHS, targets._POWERS, targets._STEPS
    )
    assert found == pytest.approx(np.array(slow), rel=1e-9, abs=1e-9)


def test_noise_alone_goes_to_the_centre_and_a_strong_signal_stays():
    generator = np.random.default_rng(7)
    expected = np.full((20, 20), 10.0)
    noise = generator.normal(0, 5, (20, 20))
    assert np.abs(targets.posterior(noise, expected, 25.0).mean).mean() < 0.25
    signal = generator.normal(0, 500, (20, 20))
    kept = targets.posterior(signal + noise, expected, 25.0).mean
    assert np.abs(kept - signal - noise).max() < 2.0


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=8), st.floats(0.5, 200))
@settings(deadline=None)
def test_the_nearest_counts_are_no_farther_than_any_other_possible_counts(estimates, total):
    found = nearest_counts(np.array(estimates), total)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(total)
    # Optimality of a projection: (estimate - found) . (other - found) <= 0 at every corner of the simplex.
    gap = np.array(estimates) - found
    for corner in range(len(estimates)):
        other = np.zeros(len(estimates))
        other[corner] = total
        assert gap @ (other - found) <= 1e-6 * (1 + abs(total)) * 100
