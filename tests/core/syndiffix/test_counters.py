import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.syndiffix.hashing import hash_entities, hash_strings, noisy_row_limit
from tasks.core.syndiffix.intervals import Interval
from tasks.core.syndiffix.settings import AnonymizationParameters, FlatteningInterval, SuppressionParameters
from tests.oracles.syndiffix import SALT, flattened, is_low, largest_fitting
from tests.oracles.syndiffix_counters import (
    bucket_seed,
    compact,
    contributions,
    distinct_entities,
    flatten,
    is_any_low_count,
    is_low_count,
    noisy_entity_count,
    noisy_row_count,
)
from tests.oracles.syndiffix_settings import NOISELESS, NOISY

INTERVALS = st.tuples(st.integers(0, 4), st.integers(0, 4)).map(lambda t: (t[0], t[0] + t[1]))
# Few enough entities that many have several rows; None is a row without an entity.
ROWS = st.lists(st.one_of(st.none(), st.integers(1, 12)), max_size=60)


def rows_of(counts, unaccounted=0):
    """Hashes of rows: entity i + 1 has counts[i] of them."""
    return hash_entities([i + 1 for i, n in enumerate(counts) for _ in range(n)] + [None] * unaccounted)


def noiseless_count(*id_columns):
    return noisy_row_count([contributions(rows) for rows in id_columns], 0, NOISELESS)


def test_the_row_limit_is_the_ports(vectors):
    for rows, fraction, seed, limit in vectors["noisy_row_limit"]:
        assert noisy_row_limit(rows, fraction, int(seed), SALT) == limit


@pytest.mark.parametrize("salt", [b"one salt", b"another salt"])
@pytest.mark.parametrize(
    ("rows", "fraction", "least", "most"),
    [
        (100, 1, 95, 105),
        (200, 2, 95, 105),
        (100, 10_000, 0, 0),
        (10_000, 10_000, 1, 1),
        (10**6, 10**4, 95, 105),
    ],
)
def test_the_row_limit_is_within_five_percent_for_any_salt(rows, fraction, least, most, salt):
    limits = {noisy_row_limit(rows, fraction, seed, salt) for seed in range(300)}
    assert (min(limits), max(limits)) == (least, most)


def test_three_distinct_entities_pass_a_threshold_of_three_without_noise():
    assert not is_low_count(distinct_entities(hash_entities([1, 2, 3])), 3, NOISELESS)
    for too_few in ([1, 2], [1, 2, 2, 1], [1, 2, None, ""], []):
        assert is_low_count(distinct_entities(hash_entities(too_few)), 3, NOISELESS)


def test_all_id_columns_must_have_enough_entities():
    enough, too_few = distinct_entities(hash_entities([1, 2, 3])), distinct_entities(hash_entities([1, 2, 2]))
    assert not is_any_low_count([enough, enough], 3, NOISELESS)
    assert is_any_low_count([enough, too_few], 3, NOISELESS)
    assert is_any_low_count([too_few, enough], 3, NOISELESS)


@given(ROWS, st.integers(2, 10), st.sampled_from([0.0, 0.5, 1.0, 3.0]), st.sampled_from([0.0, 2.0]))
def test_the_low_count_test_is_the_oracles(rows, threshold, sd, gap):
    hashes = hash_entities(rows)
    parameters = AnonymizationParameters(SALT, SuppressionParameters(3, sd, gap))
    expected = is_low([int(h) for h in hashes], threshold, sd, gap)
    assert is_low_count(distinct_entities(hashes), threshold, parameters) == expected


@given(ROWS)
def test_contributions_are_sorted_and_complete(rows):
    hashes = hash_entities(rows)
    column = contributions(hashes)
    ranked = list(zip(column.amounts.tolist(), column.hashes.tolist(), strict=True))
    assert ranked == sorted(ranked, reverse=True)
    assert {h: a for a, h in ranked} == {int(h): int((hashes == h).sum()) for h in hashes if h}
    assert column.unaccounted == rows.count(None)
    assert column.entities == distinct_entities(hashes)


@given(INTERVALS, INTERVALS, st.integers(0, 20))
def test_compacted_intervals_fit_and_keep_their_lower_bounds(outlier, top, entities):
    fitting = compact(FlatteningInterval(*outlier), FlatteningInterval(*top), entities)
    assert (fitting and tuple((i.lower, i.upper) for i in fitting)) == largest_fitting(outlier, top, entities)
    if fitting:
        assert fitting[0].upper + fitting[1].upper == min(outlier[1] + top[1], entities) or entities > (
            outlier[1] + top[1]
        )


@given(ROWS, INTERVALS, INTERVALS, st.integers(0, 2**64 - 1), st.sampled_from([0.0, 1.0, 2.5]))
def test_the_flattened_count_is_the_oracles(rows, outlier, top, seed, sd):
    hashes = hash_entities(rows)
    parameters = AnonymizationParameters(
        SALT,
        outlier_count=FlatteningInterval(*outlier),
        top_count=FlatteningInterval(*top),
        layer_noise_sd=sd,
    )
    flat = flatten(contributions(hashes), seed, parameters)
    expected = flattened([int(h) for h in hashes], seed, outlier, top, sd)
    assert (flat is None) == (expected is None)
    if flat is not None:
        found = (flat.count, flat.flattening, flat.noise_sd, flat.noise)
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    ("counts", "unaccounted", "expected"),
    [
        ([1, 1, 1, 1], 0, 4),
        ([1, 1, 1, 3], 0, 4),
        ([1, 2, 2, 3], 0, 6),
        ([1, 2, 2, 3], 3, 7),
        ([1, 1, 1, 1, 1, 3, 5], 0, 7),
        ([1, 1, 1], 0, 1),
        ([], 0, 1),
        ([1] * 10, 0, 10),
        ([1] * 10 + [10], 0, 11),
        ([1] * 10 + [10], 10, 12),
    ],
)
def test_noiseless_counts_of_rows(counts, unaccounted, expected):
    assert noiseless_count(rows_of(counts, unaccounted)) == expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ([1] * 10, [1] * 20, 20),
        ([1] * 20 + [10], [1] * 10 + [20], 11),
        ([1] * 10, [1], 1),
    ],
)
def test_noiseless_counts_over_two_id_columns(one, other, expected):
    assert noiseless_count(rows_of(one), rows_of(other)) == expected
    assert noiseless_count(rows_of(other), rows_of(one)) == expected


def test_the_count_is_of_the_most_flattened_column_and_the_noise_of_the_widest():
    few_rows_each, many_rows_each = contributions(rows_of([9] + [1] * 11)), contributions(rows_of([4] * 5))
    value, noise = flatten(few_rows_each, 3, NOISY), flatten(many_rows_each, 3, NOISY)
    assert value.flattening > noise.flattening and value.noise_sd < noise.noise_sd
    expected = max(round(value.count + noise.noise), 1)
    assert noisy_row_count([few_rows_each, many_rows_each], 3, NOISY) == expected
    assert expected != round(value.count + value.noise)


def test_of_noise_equally_wide_the_farther_from_zero_is_taken():
    columns = [contributions(hash_entities(range(start, start + 20))) for start in range(30)]
    noises = [flatten(column, 3, NOISY).noise for column in columns]
    farthest = max(noises, key=abs)
    assert farthest < 0 and round(20 + farthest) != round(20 + max(noises))
    assert noisy_row_count(columns, 3, NOISY) == round(20 + farthest)


def test_a_noisy_count_is_at_least_one():
    loud = AnonymizationParameters(SALT, layer_noise_sd=100.0)
    column = contributions(rows_of([1] * 5))
    assert min(noisy_row_count([column], seed, loud) for seed in range(20)) == 1
    assert min(noisy_entity_count(column.entities, seed, loud) for seed in range(20)) == 1


def test_a_buckets_seed_is_of_its_distinct_middles():
    intervals = [Interval(0.0, 1.0), Interval(0.5, 0.5), Interval(0.0, 0.5)]
    assert bucket_seed(6, intervals) == 6 ^ hash_strings(["0.5", "0.25"])
    assert bucket_seed(6, []) == 6


def test_both_zeros_are_one_place():
    assert bucket_seed(0, [Interval(-0.0, -0.0)]) == bucket_seed(0, [Interval(-1.0, 1.0)])
