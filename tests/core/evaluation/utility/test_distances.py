"""Total variation and NIST's k-marginal of sets of features, against counting by dictionaries."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.evaluation import measures as module
from tasks.core.evaluation.measures import total_variation
from tasks.core.evaluation.utility.measures import (
    feature_sets,
    k_marginal_score,
    k_marginal_sets,
    set_distances,
)
from tests.oracles.utility import k_marginal_of, pair_of, total_variation_of

NAMES = ("a", "b", "c", "d")
TABLES = st.lists(st.tuples(*[st.integers(0, 3)] * len(NAMES)), max_size=9)


@given(TABLES, TABLES, st.integers(1, 3))
def test_every_set_is_as_far_apart_as_counting_rows_says(real, synthetic, ways):
    sets = feature_sets(len(NAMES), ways)
    assert sets == list(itertools.combinations(range(len(NAMES)), ways))
    found = set_distances(pair_of(real, synthetic, NAMES), sets)
    assert found == pytest.approx([float(total_variation_of(real, synthetic, own)) for own in sets])


@given(TABLES, TABLES, st.sampled_from([None, 0, 2]))
def test_the_k_marginal_is_nist_s(real, synthetic, group):
    sets = k_marginal_sets(len(NAMES), group)
    found = k_marginal_score(set_distances(pair_of(real, synthetic, NAMES), sets))
    wanted = k_marginal_of(real, synthetic, len(NAMES), group)
    assert wanted is not None and found == pytest.approx(float(wanted))


def test_the_group_is_in_every_set_once():
    assert k_marginal_sets(4, 2) == [(2, 0, 1), (2, 0, 3), (2, 1, 3)]
    assert k_marginal_sets(2, 0) == [] == k_marginal_sets(1, None)
    assert k_marginal_score(np.array([])) is None


def test_codes_of_large_products_are_counted_as_those_of_small_ones(monkeypatch):
    draw = np.random.default_rng(1)
    one, other = draw.integers(0, 40, 500), draw.integers(5, 50, 300)
    wanted = total_variation(one, other)
    assert total_variation(one * 10**15, other * 10**15) == pytest.approx(wanted)
    monkeypatch.setattr(module, "_DENSE", 3)
    assert total_variation(one, other) == pytest.approx(wanted)


def test_of_very_many_sets_so_many_are_drawn_the_same_each_time():
    found = feature_sets(40, 3, most=50)
    assert len(found) == len(set(found)) == 50 < math.comb(40, 3)
    assert all(len(set(own)) == 3 and own == tuple(sorted(own)) and own[-1] < 40 for own in found)
    assert found == sorted(found) == feature_sets(40, 3, most=50) != feature_sets(40, 3, most=51)[:50]
