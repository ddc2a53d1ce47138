"""Ranges of published counts of a draw by lengths hold the true counts of those that are published."""

import numpy as np
import pytest

from tasks.core.aggregates.aggregates import NOT_MEASURED
from tasks.core.dp.normalization import normalised_counts
from tasks.core.navigation.fidelity import places_of_rows
from tasks.core.navigation.payload.counts import _lower_end, ranges_of_lengths
from tests.oracles.releases import release


@pytest.mark.parametrize(("scale", "least"), [(8.0, 1), (20.0, 60), (3.0, 12)])
def test_of_published_counts_19_of_20_true_ones_lie_in_the_range(scale, least):
    """40,000 published draws of each true count: misses above 5.5 % have a chance below 1e-5 (binomial)."""
    noise = np.rint(np.random.default_rng(3).normal(0, scale, 4_000_000)).astype(np.int64)
    half = int(np.ceil(1.96 * scale))
    for true in (max(least - int(scale), 0), least, least + int(2 * scale), least + int(6 * scale)):
        drawn = true + noise
        drawn = drawn[drawn >= least][:40_000]
        assert len(drawn) == 40_000
        different, place = np.unique(drawn, return_inverse=True)
        ends = [min(_lower_end(count, least, scale), max(count - half, 0)) for count in different.tolist()]
        low = np.array(ends)[place]
        assert np.mean((true < low) | (true > drawn + half)) <= 0.055


def test_a_count_at_the_threshold_may_be_of_nobody_and_one_far_above_it_is_not():
    assert _lower_end(60, 60, 20.0) == 0
    assert abs(_lower_end(200, 60, 20.0) - (200 - 0.5 - 1.96 * 20)) <= 1


def test_each_range_is_of_the_combination_that_was_drawn():
    measurement, _, _ = release(600)
    aggregates = normalised_counts(measurement)
    found = ranges_of_lengths(measurement, aggregates)
    drawn = {}
    for length, level in enumerate(measurement.levels, start=1):
        columns = measurement.schema.combinations(length)
        for combination, codes, count in zip(
            level.combinations[level.survives],
            level.codes[level.survives],
            level.counts[level.survives],
            strict=True,
        ):
            key = [
                (column, measurement.values[column][code - 1])
                for column, code in zip(columns[combination], codes, strict=True)
            ]
            drawn[frozenset(key)] = int(count)
    for length, rows in enumerate(aggregates.combinations):
        for row, noisy, low, high in zip(
            rows, found[length]["noisy"], found[length]["low"], found[length]["high"], strict=True
        ):
            parts = [aggregates.attributes[each] for each in row]
            key = frozenset((a.column, a.value if a.item is None else a.item) for a in parts)
            assert noisy == drawn.get(key, NOT_MEASURED)
            assert 0 <= low <= high
            assert noisy == NOT_MEASURED or low <= noisy <= high


@pytest.mark.parametrize("far", [0, 2**30])
def test_rows_are_found_whether_or_not_they_can_be_packed(far):
    draw = np.random.default_rng(1)
    rows = np.unique(np.sort(draw.integers(0, 40, (300, 3)), axis=1), axis=0).astype(np.int32) + far
    wanted = np.concatenate([rows[::7], rows[:5] + 40])
    assert places_of_rows(rows, wanted).tolist() == [*range(0, len(rows), 7), -1, -1, -1, -1, -1]
    assert places_of_rows(rows[:0], rows[:2]).tolist() == [-1, -1]
