"""Targets: shrinkage cell by cell and by levels, and the nearest counts that can be."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.fitting import targets
from tasks.core.fitting.targets import levels_of, nearest_counts, shrunk_by_levels
from tests.oracles import fitting as oracle


@given(
    deviations=st.lists(st.floats(-30, 30), min_size=2, max_size=6),
    seed=st.integers(0, 1000),
    variance=st.floats(0.5, 20),
)
@settings(max_examples=25, deadline=None)
def test_the_posterior_mean_is_that_of_the_formulas(deviations, seed, variance):
    expected = np.random.default_rng(seed).uniform(0.1, 50, len(deviations))
    found = targets.posterior(np.array(deviations), expected, variance)[0]
    slow = oracle.posterior_mean(
        deviations, expected.tolist(), variance, targets._STRENGTHS, targets._POWERS, targets._STEPS
    )
    assert found == pytest.approx(np.array(slow), rel=1e-9, abs=1e-9)


def test_noise_alone_goes_to_the_centre_and_a_strong_signal_stays():
    generator = np.random.default_rng(7)
    expected = np.full((20, 20), 10.0)
    noise = generator.normal(0, 5, (20, 20))
    assert np.abs(targets.posterior(noise, expected, 25.0)[0]).mean() < 0.25
    signal = generator.normal(0, 500, (20, 20))
    kept = targets.posterior(signal + noise, expected, 25.0)[0]
    assert np.abs(kept - signal - noise).max() < 2.0


def test_a_large_table_is_shrunk_in_blocks(monkeypatch):
    generator = np.random.default_rng(6)
    noisy, expected = generator.normal(0, 3, 1000), generator.uniform(1, 9, 1000)
    whole = targets.posterior(noisy, expected, 4.0)[0]
    monkeypatch.setattr(targets, "_CELLS_AT_ONCE", 64)
    assert targets.posterior(noisy, expected, 4.0)[0] == pytest.approx(whole)
    monkeypatch.setattr(targets, "_CELLS_LEARNT", 300)
    assert np.abs(targets.posterior(noisy, expected, 4.0)[0] - whole).mean() < 0.3


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


MARGINS = st.lists(st.floats(0, 1000), min_size=30, max_size=50)


@given(MARGINS)
@settings(deadline=None)
def test_levels_are_orthonormal_so_that_noise_stays_as_it_is(margin):
    levels = levels_of(np.array(margin))
    assert levels @ levels.T == pytest.approx(np.eye(len(margin)), abs=1e-9)


def test_levels_of_equal_cells_are_those_of_haar():
    levels = levels_of(np.full(32, 10.0))
    assert levels[0] == pytest.approx(np.full(32, 32**-0.5))
    assert levels[1] == pytest.approx(np.repeat([1, -1], 16) * 32**-0.5)
    assert levels[3] == pytest.approx(np.repeat([0, 0, 1, -1], 8) * 16**-0.5)
    assert levels[-1] == pytest.approx(np.repeat([0, 1, -1], [30, 1, 1]) * 2**-0.5)


@given(MARGINS)
@settings(deadline=None)
def test_what_follows_the_margin_is_in_the_first_level_alone(margin):
    masses = np.maximum(np.array(margin), 1e-3)
    assert (levels_of(np.array(margin)) @ masses)[1:] == pytest.approx(0, abs=1e-6)


def test_a_coarse_axis_has_no_levels():
    assert levels_of(np.arange(29.0)) is None


def _errors(order):
    """Mean squared errors in cells alone and with levels; deviations are alike in eight neighbours."""
    generator = np.random.default_rng(3)
    alone = by_levels = 0.0
    for _ in range(20):
        signal = np.outer(np.repeat(generator.normal(0, 6, 8), 8)[order], [1.0, -1.0])
        noisy, expected = signal + generator.normal(0, 8, (64, 2)), np.full((64, 2), 100.0)
        levels = [levels_of(np.ones(64)), None]
        alone += ((targets.posterior(noisy, expected, 64.0)[0] - signal) ** 2).mean() / 20
        by_levels += ((shrunk_by_levels(noisy, expected, 64.0, levels) - signal) ** 2).mean() / 20
    return alone, by_levels


def test_neighbours_that_deviate_alike_are_told_from_noise_together():
    alone, by_levels = _errors(np.arange(64))
    assert by_levels < 0.7 * alone


def test_an_order_that_tells_nothing_does_no_harm():
    alone, by_levels = _errors(np.random.default_rng(5).permutation(64))
    assert by_levels < 1.05 * alone


def test_without_levels_it_is_shrinkage_of_cells():
    generator = np.random.default_rng(1)
    noisy, expected = generator.normal(0, 9, (5, 4)), generator.uniform(1, 50, (5, 4))
    found = shrunk_by_levels(noisy, expected, 25.0, [None, None])
    assert found == pytest.approx(targets.posterior(noisy, expected, 25.0)[0])
