"""The guarantee for several rows of one person."""

import itertools

import numpy as np
import pytest
from scipy.stats import norm

from tasks.core.dp import group_privacy
from tasks.core.dp.group_privacy import SIZES, FirstLength
from tasks.core.dp.measurement import Level, Measurement
from tasks.core.dp.parameters import DpParameters
from tasks.core.records.columns import Column, Schema

NOTHING = {
    "candidates": None,
    "expected_spurious": None,
    "combinations": np.zeros(0, np.uint32),
    "codes": np.zeros((0, 1), np.uint32),
    "counts": np.zeros(0, np.int64),
    "survives": np.zeros(0, np.bool_),
}


def measurement(mu, delta, scale, threshold, columns):
    return Measurement(
        schema=Schema(columns),
        parameters=DpParameters(epsilon=1, delta=delta, reporting_length=1),
        private=True,
        mu_squared=mu * mu,
        threshold_delta=0.0,
        number_of_records=100,
        count_scale=1 / mu,
        values=(),
        levels=(Level(sigma=scale, sensitivity=len(columns), scale=scale, threshold=threshold, **NOTHING),),
    )


def group_guarantees(of, sizes=SIZES):
    return group_privacy.group_guarantees(of.mu_squared, of.parameters.delta, FirstLength.of(of), sizes)


def gaussian_delta(mu, epsilon):
    return norm.cdf(mu / 2 - epsilon / mu) - np.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)


def test_a_release_at_one_and_1e_5_gives_m_rows_the_published_epsilons():
    """T4: 2.15 (m = 2), 3.4 (3), 6.2 (5), 14.4 (10)."""
    declared = (Column("a", domain=("x", "y")),)
    found = group_guarantees(measurement(0.2680511232, 1e-5, 5.3, None, declared))
    assert [round(entry["epsilon"], 2) for entry in found] == pytest.approx([2.15, 3.4, 6.2, 14.4], abs=0.06)
    assert [entry["delta"] for entry in found] == [1e-5] * 4


def test_the_epsilon_for_m_rows_solves_the_gaussian_profile_of_m_mu():
    declared = (Column("a", domain=("x",)),)
    for entry in group_guarantees(measurement(0.3, 1e-6, 5.0, None, declared)):
        assert gaussian_delta(entry["rows"] * 0.3, entry["epsilon"]) == pytest.approx(1e-6, rel=1e-6)


@pytest.mark.parametrize(("scale", "threshold"), [(23.375, 133), (2.4375, 15), (53.0, 299)])
def test_the_threshold_part_covers_every_way_in_which_m_rows_can_hold_new_values(scale, threshold):
    """All splits of m rows over at most m * Delta new values, each row holding at most Delta of them."""
    columns = (Column("a"), Column("b"))
    for entry in group_guarantees(measurement(0.3, 1e-6, scale, threshold, columns), (2, 3)):
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
    found = group_guarantees(measurement(1.0, 1e-6, 0.7, 5, (Column("a"),)), (2, 5, 10))
    assert [entry["epsilon"] for entry in found[1:]] == [None, None]
