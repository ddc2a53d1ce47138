import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.fitting.implied import ImpliedCounts
from tasks.core.fitting.kernels import rake_to_pairs
from tasks.core.fitting.noisy_tables import Domain, table_counts


def _records(sizes, number, seed):
    generator = np.random.default_rng(seed)
    return np.stack([generator.integers(0, size, number) for size in sizes], axis=1).astype(np.int32)


@given(st.lists(st.integers(1, 4), min_size=3, max_size=4).map(tuple), st.integers(0, 1000))
@settings(max_examples=30, deadline=None)
def test_the_pairs_are_those_of_the_records(sizes, seed):
    domain, records = Domain(sizes), _records(sizes, 3000, seed)
    columns = tuple(range(len(sizes)))
    implied = ImpliedCounts(domain, records).of(columns)
    for pair in itertools.combinations(columns, 2):
        rest = tuple(column for column in columns if column not in pair)
        assert implied.sum(axis=rest) == pytest.approx(table_counts(domain, pair, records), abs=1.0)


@given(st.lists(st.integers(1, 4), min_size=3, max_size=4).map(tuple), st.integers(0, 1000))
@settings(max_examples=30, deadline=None)
def test_the_table_is_that_of_proportional_fitting(sizes, seed):
    domain, records = Domain(sizes), _records(sizes, 400, seed)
    columns = tuple(range(len(sizes)))
    slow = np.full(sizes, 400 / np.prod(sizes))
    for _ in range(100):
        for pair in itertools.combinations(columns, 2):
            rest = tuple(column for column in columns if column not in pair)
            held = slow.sum(axis=rest, keepdims=True)
            wanted = table_counts(domain, pair, records).reshape(held.shape)
            slow = slow * wanted / np.where(held > 0, held, 1)
    found = ImpliedCounts(domain, records).of(columns)
    assert np.abs(found - slow).sum() <= 0.01 * 400


def test_a_set_with_items_is_counted_as_the_records_have_it():
    domain = Domain((2, 3, 2), caps=(1, 2, 1), absent=(None, None, None))
    records = np.array([[0, 0, 1, 1], [1, 2, 3, 0]], np.int32)
    implied = ImpliedCounts(domain, records).of((0, 1, 2))
    assert implied.tolist() == table_counts(domain, (0, 1, 2), records).tolist()


def test_no_records_imply_nothing():
    assert not ImpliedCounts(Domain((2, 3, 2)), np.zeros((0, 3), np.int32)).of((0, 1, 2)).any()


def test_a_table_is_raked_until_every_pair_is_close_not_the_last_alone():
    """The last pair holds after the first round; the three before it pull at each other."""
    real = np.array([[[8.0, 1.0], [2.0, 9.0]], [[3.0, 10.0], [10.0, 3.0]]])
    real[..., 1] *= real[..., 0].sum() / real[..., 1].sum()
    real = np.multiply.outer(real, np.array([0.5, 0.5]))
    pairs = [(0, 1), (1, 2), (0, 2), (2, 3)]
    wanted = [real.sum(axis=tuple({0, 1, 2, 3} - {*pair})) for pair in pairs]
    strides = np.zeros((4, 4), np.int64)
    for place, (one, other) in enumerate(pairs):
        strides[place, one], strides[place, other] = 2, 1
    table = np.full(16, real.sum() / 16)
    counts = np.concatenate([each.ravel() for each in wanted])
    rake_to_pairs(table, np.full(4, 2), counts, np.arange(0, 17, 4), strides, 200, 1e-6)
    for pair, counts_of_pair in zip(pairs, wanted, strict=True):
        found = table.reshape(2, 2, 2, 2).sum(axis=tuple({0, 1, 2, 3} - {*pair}))
        assert np.abs(found - counts_of_pair).sum() <= 1e-5


def test_a_round_scales_by_every_pair_the_last_one_too():
    """One pair and one round, after which its counts are there."""
    table, wanted = np.ones(16), np.array([1.0, 2.0, 3.0, 10.0])
    rake_to_pairs(table, np.full(4, 2), wanted, np.array([0, 4]), np.array([[2, 1, 0, 0]]), 1, 0.0)
    assert table.reshape(4, 4).sum(axis=1) == pytest.approx(wanted)
