from fractions import Fraction
from itertools import accumulate, combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tasks.core.dp.sampling.noise import BinomialLaw, RoundedGaussian, binomial, bounded, subset
from tasks.core.dp.sampling.stream import SeededStream
from tasks.core.errors import InternalError
from tests.oracles.noise_audit import ALPHA, chi_square_p


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 40), st.floats(1e-9, 1 - 1e-9))
def test_the_binomial_cdf_is_exact(trials, probability):
    p = Fraction(probability)
    masses = [comb(trials, k) * p**k * (1 - p) ** (trials - k) for k in range(trials + 1)]
    law = BinomialLaw(trials, probability)
    for k, cdf in enumerate(accumulate(masses)):
        exact = cdf * 2**64
        # Where 2^64 F(k) is a whole number, one less is as right: such a word is a tie.
        assert law.floor_cdf(k, 64) in {int(exact), -int(-exact) - (exact.denominator == 1)}
        assert abs(Fraction(law.floor_cdf(k, 320), 2**320) - cdf) <= Fraction(1, 2**319)
    assert law.floor_cdf(-1, 64) == 0
    assert law.floor_cdf(trials, 64) == 2**64


@pytest.mark.parametrize(
    ("trials", "probability"), [(10**10, 1e-3), (10**10, 1e-7), (10**12, 1e-13), (10**6, 0.999)]
)
def test_the_cdf_of_many_trials_agrees_with_the_incomplete_beta(trials, probability):
    law = BinomialLaw(trials, probability)
    deviation = (trials * probability * (1 - probability)) ** 0.5
    for step in (-6, -2, -0.5, 0, 1, 4):
        k = int(trials * probability + step * deviation)
        expected = stats.binom.cdf(k, trials, probability) if 0 <= k < trials else None
        if expected is not None:
            assert law.floor_cdf(k, 64) / 2**64 == pytest.approx(expected, rel=1e-6)


def binomial_p_value(draws, trials, probability):
    return chi_square_p(np.array(draws), stats.binom.pmf(np.arange(trials + 1), trials, probability), 0)


def test_binomial_draws_follow_the_law():
    """False alarms 1e-4 each, and a wrong probability is caught."""
    stream = SeededStream(3)
    draws = [binomial(stream, 20, 0.3) for _ in range(2000)]
    assert binomial_p_value(draws, 20, 0.3) > ALPHA
    assert binomial_p_value(draws, 20, 0.33) < ALPHA


def test_rule_15_a_sparse_cells_chance_is_the_tail_of_its_noise():
    stream, law = SeededStream(4), RoundedGaussian(23.375)
    draws = np.array([binomial(stream, 10**10, law.upper_tail(133)) for _ in range(150)])
    mean = 10**10 * 7.2047890468558662e-9
    assert abs(draws.mean() - mean) < 4 * (mean / draws.size) ** 0.5


@pytest.mark.parametrize(("trials", "p", "answer"), [(0, 0.5, 0), (9, 0, 0), (9, 1, 9), (0, 1, 0)])
def test_binomials_without_chance(trials, p, answer):
    assert binomial(SeededStream(1), trials, p) == answer


@pytest.mark.parametrize(("trials", "p"), [(-1, 0.5), (5, -0.1), (5, 1.1), (10**12, 0.5), (5, float("nan"))])
def test_binomials_that_make_no_sense_are_refused(trials, p):
    with pytest.raises(InternalError):
        binomial(SeededStream(1), trials, p)


@pytest.mark.parametrize("bound", [1, 2, 3, 5, 64, 97])
def test_bounded_integers_are_uniform(bound):
    draws = bounded(SeededStream(bound), bound, 50_000)
    assert 0 <= draws.min() <= draws.max() < bound
    if bound > 1:
        assert chi_square_p(draws, np.full(bound, 1 / bound), 0) > ALPHA


def test_bounded_integers_of_a_large_bound_stay_below_it():
    draws = bounded(SeededStream(1), 2**62 - 5, 1000)
    assert 2**61 < draws.max() < 2**62 - 5


@pytest.mark.parametrize(
    ("population", "size"), [(6, 3), (6, 1), (6, 5), (5, 5), (32, 2)], ids=lambda value: str(value)
)
def test_every_subset_is_as_likely(population, size):
    """(32, 2) is drawn the sparse way, the others by marks; false alarms 1e-4 each."""
    stream = SeededStream(7)
    names = {chosen: name for name, chosen in enumerate(combinations(range(population), size))}
    draws = np.array([names[tuple(subset(stream, population, size).tolist())] for _ in range(11_000)])
    assert len(names) == 1 or chi_square_p(draws, np.full(len(names), 1 / len(names)), 0) > ALPHA


@pytest.mark.parametrize(("population", "size"), [(10**12, 10**5), (2 * 10**5, 10**5), (1000, 990), (10, 0)])
def test_a_subset_is_ascending_without_repetition(population, size):
    chosen = subset(SeededStream(1), population, size)
    assert chosen.dtype == np.int64
    assert chosen.size == size
    assert np.all(np.diff(chosen) > 0)
    assert size == 0 or (chosen[0] >= 0 and chosen[-1] < population)


@pytest.mark.parametrize("size", [40_000, 400_000])
def test_large_subsets_are_spread_evenly(size):
    chosen = subset(SeededStream(2), 1_000_000, size)
    tenths = np.bincount(chosen // 100_000, minlength=10)
    expected = size / 10
    deviation = (expected * 0.9 * (1 - size / 1e6)) ** 0.5
    assert np.abs(tenths - expected).max() < 5 * deviation


def test_a_subset_larger_than_its_population_is_refused():
    with pytest.raises(InternalError):
        subset(SeededStream(1), 3, 4)
