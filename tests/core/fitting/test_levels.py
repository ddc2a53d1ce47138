import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.fitting import targets
from tasks.core.fitting.targets import levels_of, shrunk_by_levels

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
        alone += ((targets.posterior(noisy, expected, 64.0).mean - signal) ** 2).mean() / 20
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
    assert found == pytest.approx(targets.posterior(noisy, expected, 25.0).mean)
