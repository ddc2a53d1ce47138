import itertools

import numpy as np
import pytest
from scipy.stats import norm

from tasks.core.dp.group_privacy import group_guarantees
from tasks.core.dp.measurement import LengthOne

#: Every domain is declared.
DECLARED = LengthOne(threshold=None, scale=5.3, sensitivity=1, open_sensitivity=0)


def gaussian_delta(mu, epsilon):
    return norm.cdf(mu / 2 - epsilon / mu) - np.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)


def test_a_release_at_one_and_1e_5_gives_m_rows_the_published_epsilons():
    """T4: 2.15 (m = 2), 3.4 (3), 6.2 (5), 14.4 (10)."""
    found = group_guarantees(0.2680511232**2, 1e-5, DECLARED)
    assert [round(entry["epsilon"], 2) for entry in found] == pytest.approx([2.15, 3.4, 6.2, 14.4], abs=0.06)
    assert [entry["delta"] for entry in found] == [1e-5] * 4


def test_the_epsilon_for_m_rows_solves_the_gaussian_profile_of_m_mu():
    for entry in group_guarantees(0.3**2, 1e-6, DECLARED):
        assert gaussian_delta(entry["rows"] * 0.3, entry["epsilon"]) == pytest.approx(1e-6, rel=1e-6)


@pytest.mark.parametrize(("scale", "threshold"), [(23.375, 133), (2.4375, 15), (53.0, 299)])
def test_the_threshold_part_covers_every_way_in_which_m_rows_can_hold_new_values(scale, threshold):
    """All splits of m rows over at most m * Delta new values, each row holding at most Delta of them."""
    for entry in group_guarantees(0.3**2, 1e-6, LengthOne(threshold, scale, 2, 2), (2, 3)):
        if entry["epsilon"] is None:
            continue
        rows = entry["rows"]
        chance = [norm.sf((threshold - 0.5 - count) / scale) for count in range(rows + 1)]
        worst = max(
            sum(chance[count] for count in split)
            for parts in range(1, 2 * rows + 1)
            for split in itertools.combinations_with_replacement(range(1, rows + 1), parts)
            if sum(split) <= 2 * rows
        )
        spent = worst + (1 - worst) * gaussian_delta(rows * 0.3, entry["epsilon"])
        assert spent <= entry["delta"] * (1 + 1e-9)


def test_no_guarantee_is_claimed_where_the_rows_alone_pass_the_threshold():
    found = group_guarantees(1.0, 1e-6, LengthOne(5, 0.7, 1, 1), (2, 5, 10))
    assert [entry["epsilon"] for entry in found[1:]] == [None, None]
