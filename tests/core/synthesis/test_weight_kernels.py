import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.synthesis.aggregate_seeded import Shard, percentile_places
from tasks.core.synthesis.aggregate_seeded_kernels import (
    FIRST_TOTAL,
    SUBSETS,
    accept,
    between,
    fill_tree,
    first_attribute,
    lower_first_weight,
    weigh,
    weigh_alone,
)
from tasks.core.synthesis.index import build_index, longer_combination
from tests.oracles.aggregate_seeded import (
    Oracle,
    aggregates_of,
    counted,
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
    """Combination numbers."""
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


@pytest.mark.parametrize("percentage", [0, 5, 50, 95, 100])
@pytest.mark.parametrize("reporting_length", [1, 2, 3, 4])
def test_weights_are_the_oracles_in_wide_records(reporting_length, percentage):
    """Twelve columns: the percentile is of up to 232 counts, of which only some are kept."""
    random = np.random.default_rng(5)
    headers = [f"h{i:02d}" for i in range(12)]
    rows = [[f"v{v}" for v in random.integers(0, 2, 12)] for _ in range(40)]
    exact = counted(rows, headers, reporting_length)
    levels = [
        {tuple(row): int(random.integers(1, 1000)) for row in ids.tolist()} for ids in exact.combinations
    ]
    aggregates = aggregates_of([a.text for a in exact.attributes], headers, levels, 40)
    oracle = oracle_of(aggregates, percentage)
    index = build_index(aggregates)
    shard = Shard(index, percentage, False, index.counts[:24], 1, 0)
    for row in rows[:3]:
        ids = [
            [a.text for a in exact.attributes].index(f"{h}:{v}") for h, v in zip(headers, row, strict=True)
        ]
        for size in (1, 2, 3, 5, 11):
            record = random.permutation(ids)[:size].tolist()
            expected = oracle.weights(frozenset(record), index.counts[:24], {})
            assert _kernel_weights(shard, record) == expected
            assert expected


def test_synthetic_counts_only_look_at_the_whole_up_to_the_reporting_length():
    """With a:b used up, a:b:c may still be reached over b:c while R is 3, but is missing beyond R = 2."""
    counts = {frozenset(s): 5 for s in [[0], [1], [2], [0, 1], [0, 2], [1, 2], [0, 1, 2]]}
    used = {frozenset([0, 1]): 5}
    for reporting_length, expected in [(3, 5), (2, 0)]:
        short = {c: n for c, n in counts.items() if len(c) <= reporting_length}
        oracle = Oracle(short, [0, 1, 2], reporting_length, 95, True)
        assert oracle.weight(frozenset([1, 2]), 0, used) == expected
        levels = [{tuple(sorted(c)): n for c, n in short.items() if len(c) == k} for k in range(1, 4)]
        aggregates = aggregates_of(["a:1", "b:1", "c:1"], "abc", levels[:reporting_length], 5)
        index = build_index(aggregates)
        shard = Shard(index, 95, True, index.counts[:3], 1, 0)
        shard._supply.remaining[_numbers(index, oracle)[frozenset([0, 1])]] = 0
        assert _kernel_weights(shard, [1, 2]).get(0, 0) == expected


@given(st.lists(st.integers(0, 2**40), min_size=1, max_size=70), st.data())
@settings(max_examples=60, deadline=None)
def test_first_attributes_are_drawn_by_their_weights(weights, data):
    """The tree gives for every point of the total the attribute whose weight covers it."""
    texts = [f"h:{i:03d}" for i in range(len(weights))]
    index = build_index(aggregates_of(texts, ["h"], [{(i,): w for i, w in enumerate(weights)}], 1))
    shard = Shard(index, 95, False, index.counts, 1, 0)
    supply = shard._supply
    fill_tree(supply)
    gone = data.draw(st.sets(st.integers(0, len(weights) - 1)))
    for attribute in gone:
        lower_first_weight(supply, attribute, weights[attribute])
    left = [0 if i in gone else w for i, w in enumerate(weights)]
    assert supply.now[FIRST_TOTAL] == sum(left)
    if sum(left):
        assert left[first_attribute(supply)] > 0
    prefix = [_prefix(supply.tree, place) for place in range(len(left) + 1)]
    assert prefix == [sum(left[:place]) for place in range(len(left) + 1)]


def _prefix(tree, place):
    """Sum of the first weights."""
    total = 0
    while place > 0:
        total += int(tree[place])
        place -= place & -place
    return total
