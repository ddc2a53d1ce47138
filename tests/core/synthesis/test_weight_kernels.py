"""The kernel's weights are the oracle's, exactly, in any state that a record can be in."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.synthesis.aggregate_seeded import Shard, percentile_places
from tasks.core.synthesis.aggregate_seeded_kernels import (
    SUBSETS,
    accept,
    between,
    weigh,
    weigh_alone,
)
from tasks.core.synthesis.index import build_index
from tasks.core.synthesis.index_kernels import longer_combination
from tests.oracles.aggregate_seeded import (
    half_up,
    oracle_of,
    type_8,
)
from tests.oracles.random_tables import exact_aggregates, noisy_aggregates


def _percentile(values, percentage):
    """The weight as the kernel reads it off sorted counts."""
    low, high, share = percentile_places(len(values), percentage)
    ascending = sorted(values)
    return between(ascending[low], ascending[high], share)


@pytest.mark.parametrize(
    ("values", "percentage", "exact", "weight"),
    [
        ([1, 2, 5], 95, 5, 5),
        ([1, 2, 3, 4], 50, 2.5, 3),
        (range(1, 21), 95, 19.65, 20),
        (range(1, 41), 95, 38.65, 39),
        ([1, 9], 50, 5, 5),
        (range(1, 11), 60, 6.5333, 7),
    ],
)
def test_t9_percentiles_and_weights(values, percentage, exact, weight):
    """S10.9."""
    assert float(type_8(values, percentage)) == pytest.approx(exact, abs=1e-4)
    assert half_up(type_8(values, percentage)) == weight
    assert _percentile(list(values), percentage) == weight


@given(st.lists(st.integers(1, 2**53), min_size=1, max_size=30), st.integers(0, 100))
@settings(deadline=None)
def test_percentiles_are_exact_up_to_the_largest_count(values, percentage):
    assert _percentile(values, percentage) == half_up(type_8(values, percentage))


def _state(oracle, index, draw):
    """A shard with any availability and use, and a record that can be reached in it."""
    size = len(index.header_of)
    available = np.array([draw(st.integers(0, 3)) for _ in range(size)], np.int64)
    shard = Shard(index, oracle.percentage, oracle.use_synthetic_counts, available, 1, 0)
    used = {}
    if oracle.use_synthetic_counts:
        used = {c: draw(st.integers(0, 6)) for c in oracle.counts}
        for combination, number in _numbers(index, oracle).items():
            shard._supply.remaining[number] -= used[combination]
    record = []
    while True:
        weights = oracle.weights(frozenset(record), available, used)
        if not weights or (record and draw(st.integers(0, 4)) == 0):
            return shard, used, record, available
        record.append(draw(st.sampled_from(sorted(weights))))


def _numbers(index, oracle):
    found = {}
    for combination in oracle.counts:
        attributes = sorted(combination)
        number = attributes[0]
        for attribute in attributes[1:]:
            number = longer_combination(index.rows, number, attribute)
        found[combination] = number
    return found


def _kernel_weights(shard, record):
    """Weights of all candidates after the record's attributes joined in turn."""
    law, supply, work = shard._law, shard._supply, shard._work
    supply.now[SUBSETS] = 0
    for size, attribute in enumerate(record, start=1):
        accept(law, supply, work, attribute, size)
    if law.reporting_length == 1:
        allowed = weigh_alone(law, supply, work, np.array(record, np.int32))
    else:
        allowed = weigh(law, supply, work, len(record))
    weights = np.diff(work.cumulative[:allowed], prepend=0)
    return dict(zip(work.drawn[:allowed].tolist(), weights.tolist(), strict=True))


@pytest.mark.parametrize("use_synthetic_counts", [False, True])
@given(data=st.data())
@settings(max_examples=250, deadline=None)
def test_weights_are_the_oracles_in_any_state(use_synthetic_counts, data):
    aggregates = data.draw(st.one_of(exact_aggregates(), noisy_aggregates(), noisy_aggregates(2**53)))
    percentage = data.draw(st.one_of(st.just(95), st.integers(0, 100)))
    oracle = oracle_of(aggregates, percentage, use_synthetic_counts)
    shard, used, record, available = _state(oracle, build_index(aggregates), data.draw)
    if record:
        assert _kernel_weights(shard, record) == oracle.weights(frozenset(record), available, used)
