"""When a pair's deviation from independence is told from noise and chance, and how often wrongly."""

import numpy as np
import pytest
from scipy.stats import binom, chi2

from tasks.core.evaluation.fit import FALSE_ALARMS, PairNoise, deviation

QUIET = PairNoise(1e-9, 1e-9, 1e-9, 1e-9)
EVEN, SKEWED = np.full(4, 0.25), np.array([0.7, 0.2, 0.08, 0.02])
TWO, ZERO = np.array([0.9, 0.1]), np.array([0.5, 0.3, 0.2, 0.0])


def noisy(counts: np.ndarray, noise: PairNoise, generator: np.random.Generator) -> np.ndarray:
    """The counts with noise of these residuals: each drawn for itself, centred and spread evenly."""
    a, b = counts.shape
    pair = generator.normal(0, noise.pair**0.5, (a, b))
    pair -= pair.mean(axis=0) + pair.mean(axis=1)[:, None] - pair.mean()
    one, other = (
        values - values.mean()
        for values in (
            generator.normal(0, noise.one**0.5, a),
            generator.normal(0, noise.other**0.5, b),
        )
    )
    whole = generator.normal(0, noise.whole**0.5)
    return counts + pair + one[:, None] / b + other / a + whole / (a * b)


@pytest.mark.parametrize(
    ("noise", "number"),
    [
        (QUIET, 20_000),  # the table's own chance alone, which was taken for a relation before
        (PairNoise(4, 9, 9, 4), 20_000),  # chance above the noise
        (PairNoise(400, 900, 900, 100), 20_000),  # about alike
        (PairNoise(400, 1600, 1600, 100), 2_000),  # noise above chance
    ],
)
@pytest.mark.parametrize(("p", "q"), [(EVEN, EVEN), (SKEWED, TWO), (SKEWED, SKEWED), (ZERO, EVEN)])
def test_an_independent_pair_is_taken_for_related_as_rarely_as_is_said(p, q, noise, number):
    """One in twenty: of 600 tables between 7 and 55, which fails in fewer than 1e-5 of trials a case.

    It is the bound of a chi-square that the sum of squares is like, so a part of a percent is allowed for.
    """
    generator = np.random.default_rng([int(number), int(noise.pair), len(p), len(q), int(1000 * p[0])])
    tables = generator.multinomial(number, np.outer(p, q).ravel(), 600).reshape(600, len(p), len(q))
    found = [deviation(noisy(table.astype(float), noise, generator), noise) for table in tables]
    alarms = sum(not is_noise for _, is_noise in found)
    rate = FALSE_ALARMS / 100
    assert binom.cdf(7, 600, rate - 0.01) < 1e-4 and binom.sf(55, 600, rate + 0.005) < 1e-3
    assert 7 <= alarms <= 55, alarms
    assert np.mean([signal for signal, _ in found]) == pytest.approx(1, abs=0.15)


def test_the_bound_is_that_of_a_chi_square_where_noise_is_all_there_is():
    """Even margins and a table without records: D is the pair's own noise, of (a - 1) (b - 1) freedoms."""
    noise = PairNoise(1e6, 1e-6, 1e-6, 1e-6)
    a, b = 5, 7
    bound = chi2.isf(FALSE_ALARMS / 100, (a - 1) * (b - 1))
    vector = np.zeros((a, b))
    vector[0, 0] = vector[1, 1] = 1.0
    vector[0, 1] = vector[1, 0] = -1.0
    for factor, is_noise in ((0.99, True), (1.01, False)):
        counts = 1e-3 / (a * b) + 1e3 * vector * (factor * bound / 4) ** 0.5
        # The number of records is taken to be 1 at least, whose chance is nothing beside such noise.
        assert deviation(counts, noise)[1] is is_noise


def test_a_column_of_one_cell_goes_with_nothing():
    assert deviation(np.ones((1, 4)), QUIET) is None


def test_a_relation_of_a_few_percent_is_found_in_many_records():
    generator = np.random.default_rng(5)
    joint = np.outer(EVEN, EVEN) + 0.01 * (np.eye(4) - 0.25)
    for _ in range(50):
        table = generator.multinomial(20_000, joint.ravel()).reshape(4, 4)
        signal, is_noise = deviation(table.astype(float), QUIET)
        assert not is_noise and signal > 5
