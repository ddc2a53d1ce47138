from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.dp.accounting import gdp_mu
from tasks.core.dp.workload.parameters import Spending, effective_sizes, grid_scale, table_shares

PAIRS = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
F = Fraction


def _mu_squared(epsilon, delta):
    return (F(gdp_mu(epsilon, delta)) * (1 - F(1, 10**9))) ** 2


def _uniform(sizes, total=1000.0):
    return [np.full(size, total / size) for size in sizes]


def test_vector_a_declared_columns():
    budget = _mu_squared(1, F(1, 10**6))
    assert float(budget) == pytest.approx(0.0560289637132, rel=1e-11)
    assert grid_scale(1, budget / 100) == F(169, 4)
    assert grid_scale(4, budget / 20) == F(2419, 64)
    flat = (6 / (0.94 * float(budget))) ** 0.5
    assert flat == pytest.approx(10.6734643276 / (1 - 1e-9), rel=1e-10)  # the vector is without the margin
    sizes = effective_sizes(_uniform((2, 3, 5, 16)), PAIRS, flat, 1000.0)
    assert sizes == pytest.approx([6, 10, 32, 15, 48, 80])
    shares = table_shares(sizes)
    assert [int(share * 2**20) for share in shares] == [61960, 87099, 189140, 114132, 247843, 348398]
    scales = [grid_scale(1, F(94, 100) * budget * share) for share in shares]
    assert scales == [F(287, 16), F(121, 8), F(657, 64), F(423, 32), F(287, 32), F(121, 16)]
    spending = Spending(budget)
    spending.charge([(1, F(169, 4))])
    spending.charge([(4, F(2419, 64))])
    spending.charge([(1, scale) for scale in scales])
    assert float(spending.spent) == pytest.approx(0.05596853038893, rel=1e-12)


def test_vector_a_with_a_target():
    budget = _mu_squared(1, F(1, 10**6))
    flat = (6 / (0.94 * float(budget))) ** 0.5
    sizes = effective_sizes(_uniform((2, 3, 5, 16)), PAIRS, flat, 1000.0)
    factors = [3.0 if 3 in pair else 1.0 for pair in PAIRS]
    scales = [grid_scale(1, F(94, 100) * budget * share) for share in table_shares(sizes, factors)]
    assert scales == [F(907, 32), F(765, 32), F(75, 8), F(167, 8), F(131, 16), F(221, 32)]
    realised = 1 / F(169, 4) ** 2 + 4 / F(2419, 64) ** 2 + sum(1 / scale**2 for scale in scales)
    assert float(realised) == pytest.approx(0.05591078142007, rel=1e-12)


def test_vector_c_several_items():
    budget = _mu_squared(1, F(1, 10**6))
    assert grid_scale(6, budget / 20) == F(1481, 32)
    each = F(94, 100) * budget / 5
    scales = [grid_scale(sensitivity, each) for sensitivity in (2, 3, 6, 1, 3)]
    assert scales == [F(441, 32), F(1081, 64), F(191, 8), F(39, 4), F(1081, 64)]
    realised = 1 / F(169, 4) ** 2 + 6 / F(1481, 32) ** 2
    realised += sum(q / scale**2 for q, scale in zip((2, 3, 6, 1, 3), scales, strict=True))
    assert float(realised) == pytest.approx(0.05596839353612, rel=1e-12)


@given(st.integers(1, 10_000), st.fractions(F(1, 10**6), 10))
def test_a_scale_is_the_least_on_the_grid_that_covers_its_charge(square, charge):
    scale = grid_scale(square, charge)
    assert square / scale**2 <= charge
    if scale > F(1, 64):
        assert square / (scale - F(1, 64)) ** 2 > charge


@given(st.lists(st.floats(0, 1e9), max_size=40))
def test_shares_never_exceed_the_whole(sizes):
    shares = table_shares(sizes)
    assert sum(shares) <= 1
    assert all(share > 0 for share in shares)
