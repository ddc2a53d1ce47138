from fractions import Fraction

import mpmath
import numpy as np
import pytest

from tasks.core.dp.sampling.gaussian_tables import ExactTable, resolve
from tasks.core.dp.sampling.noise import LARGEST_SCALE, RoundedGaussian, RoundedLaplace
from tasks.core.dp.sampling.stream import SeededStream
from tasks.core.errors import InternalError, ParameterError
from tests.oracles.noise_audit import ALPHA, chi_square_p, fired, noise_audit, rounded_gaussian

MANY = 1_000_000


@pytest.mark.parametrize("number", [MANY, pytest.param(10 * MANY, marks=pytest.mark.slow)])
@pytest.mark.parametrize("scale", [Fraction(45, 64), Fraction(3), Fraction(50), Fraction(500)])
def test_a6_noise_follows_the_rounded_gaussian(scale, number):
    """False alarms: 4e-4 a scale; the seed is fixed."""
    draws = RoundedGaussian(scale).draw(SeededStream(6), number)
    assert draws.dtype == np.int64
    assert not fired(noise_audit(draws, float(scale)))


class Repeating(SeededStream):
    """Every word twice."""

    def words(self, count):
        return np.repeat(super().words((count + 1) // 2), 2)[:count]


def noise(scale, kind=RoundedGaussian, stream=SeededStream):
    return kind(scale).draw(stream(8), MANY)


@pytest.mark.parametrize(
    ("wrong", "scale", "caught_by"),
    [
        (lambda scale: noise(scale * 101 / 100), Fraction(100, 64), {"variance", "chi_square"}),
        (lambda scale: noise(scale * 101 / 100), Fraction(50), {"variance", "chi_square"}),
        (lambda scale: noise(scale * 64) // 64, Fraction(3), {"signs", "chi_square"}),
        (lambda scale: noise(scale, stream=Repeating), Fraction(3), {"lag"}),
        (lambda scale: noise(Fraction(np.sqrt(2)) / scale, RoundedLaplace), Fraction(3), {"chi_square"}),
        (lambda scale: np.minimum(noise(scale), int(3.5 * scale)), Fraction(3), {"chi_square"}),
    ],
    ids=["1 % wider, fine", "1 % wider", "rounded down", "words repeated", "Laplace's shape", "a tail cut"],
)
def test_a6_wrong_noise_is_caught(wrong, scale, caught_by):
    assert caught_by <= fired(noise_audit(wrong(scale), float(scale)))


def test_upper_tail_is_rule_15s_figure():
    assert float(RoundedGaussian(23.375).upper_tail(133)) == pytest.approx(7.2047890468558662e-9, rel=1e-15)


def test_upper_tail_is_known_to_hundreds_of_bits():
    with mpmath.workprec(1000):
        expected = mpmath.erfc((mpmath.mpf(120) - mpmath.mpf("0.5")) / 7 / mpmath.sqrt(2)) / 2
        assert abs(RoundedGaussian(7).upper_tail(120) / expected - 1) < mpmath.ldexp(1, -780)


@pytest.mark.parametrize(("scale", "threshold"), [(3, 1), (3, 9), (50, 170)])
def test_draws_above_a_threshold_follow_the_conditional_law(scale, threshold):
    law = RoundedGaussian(scale)
    draws = law.draw_at_least(threshold, SeededStream(4), 200_000)
    assert draws.min() == threshold
    first, p = rounded_gaussian(scale)
    tail = p[threshold - first :]
    assert chi_square_p(draws, tail / tail.sum(), threshold) > ALPHA


def test_the_tail_is_not_drawn_from_below_one():
    with pytest.raises(InternalError):
        RoundedGaussian(3).draw_at_least(0, SeededStream(1), 1)


@pytest.mark.parametrize("scale", [0, -1, Fraction(1, 65), 0.7, Fraction(1, 128)])
def test_a_scale_off_the_grid_is_refused(scale):
    with pytest.raises(InternalError, match="1/64"):
        RoundedGaussian(scale)


def test_a_scale_that_cannot_be_drawn_is_the_parameters_fault():
    with pytest.raises(ParameterError, match="raise epsilon"):
        RoundedGaussian(LARGEST_SCALE + 1)


def laplace_probabilities(epsilon, reach):
    z = np.arange(-reach, reach + 1)
    other = np.exp(-epsilon * np.abs(z)) * np.sinh(epsilon / 2)
    return np.where(z == 0, -np.expm1(-epsilon / 2), other)


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 3.0])
def test_rounded_laplace_follows_its_closed_form(epsilon):
    reach = int(60 / epsilon)
    p = laplace_probabilities(epsilon, reach)
    assert p.sum() == pytest.approx(1)
    draws = RoundedLaplace(epsilon).draw(SeededStream(2), 200_000)
    assert chi_square_p(draws, p, -reach) > ALPHA
    law, stream = RoundedLaplace(epsilon), SeededStream(9)
    few = np.concatenate([law.draw(stream, 50) for _ in range(12)])
    assert chi_square_p(few, p, -reach, least_expected=8) > ALPHA


def test_a_laplace_of_another_width_is_caught():
    draws = RoundedLaplace(0.52).draw(SeededStream(2), 200_000)
    assert chi_square_p(draws, laplace_probabilities(0.5, 200), -200) < ALPHA


@pytest.mark.parametrize("epsilon", [0.0005, 0.02, 1e-7])
def test_rule_18_the_laplace_reaches_beyond_every_table(epsilon):
    law = RoundedLaplace(epsilon)
    stream = SeededStream(1)
    assert resolve(law, 0, 64, stream) < -44.3 / epsilon
    assert resolve(law, 2**64 - 1, 64, stream) > 44.3 / epsilon
    assert abs(int(law.draw(stream, 1)[0])) < 44.4 / epsilon


def test_the_laplace_table_and_single_draws_agree():
    law = RoundedLaplace(0.3)
    table = ExactTable.tabulate(law)
    assert table.words[0] == 0
    assert table.first == pytest.approx(-44.3 / 0.3, abs=4)
    words = SeededStream(5).words(200)
    table_draws = table.draw(SeededStream(5), 200).tolist()
    assert [resolve(law, int(word), 64, SeededStream(0)) for word in words] == table_draws
