"""Compiled noise and counts of entities agree bit for bit with the oracle of counters, and with the port."""

from math import floor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.core.syndiffix import hashing
from tasks.core.syndiffix.hashing import hash_entities, hash_int, hash_strings
from tasks.core.syndiffix.intervals import Interval
from tasks.core.syndiffix.noise_kernels import (
    LARGEST_NORMAL,
    Entities,
    count_noise,
    is_low,
    noisy_counts,
    normal,
    secret,
    secret_seed,
)
from tasks.core.syndiffix.settings import AnonymizationParameters, FlatteningInterval, SuppressionParameters
from tests.oracles import syndiffix as words
from tests.oracles.syndiffix import NOISELESS, NOISY, SALT
from tests.oracles.syndiffix_counters import bucket_seed, is_low_count, layered_noise, noisy_row_count

COMPILED = settings(deadline=None)  # a first call compiles
SEEDS = st.integers(0, 2**64 - 1)
EDGES = [0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1]
KEY = secret(AnonymizationParameters(SALT))


def seeded(seed):
    return np.uint64(seed)


def filtering(threshold, sd, gap):
    return AnonymizationParameters(SALT, SuppressionParameters(threshold, sd, gap))


def is_low_in_both(count, seed, threshold, parameters, key):
    expected = is_low_count(count, seed, threshold, parameters)
    assert is_low(key, count, seeded(seed), threshold) == expected
    return expected


def test_secret_seeds_follow_from_salts_of_any_length():
    # A message of SHA-256 is padded to 64 bytes: salts of 47 and 48, 111 and 112 bytes are on either side.
    random = np.random.default_rng(1)
    for length in range(8, 201):
        salt = random.bytes(length)
        key = secret(AnonymizationParameters(salt))
        for seed in (0, 2**64 - 1, int(random.integers(2**64, dtype=np.uint64))):
            assert secret_seed(key, seeded(seed)) == hashing.salted_seed(salt, seed), length


def test_normal_numbers_are_equal_to_the_last_bit():
    for seed in [*EDGES, 1 << 61, 3 << 61, *(hash_int(i) for i in range(2000))]:
        assert normal(seeded(seed)) == words.normal(seed)


@COMPILED
@given(SEEDS, SEEDS, st.sampled_from([0.0, 0.5, 1.0, 2.5, 1e6]))
def test_the_noise_of_a_count_is_two_layers(place, entities, sd):
    expected = layered_noise(SALT, "noise", sd, [place, entities])
    assert count_noise(KEY, sd, seeded(place), seeded(entities)) == expected


def test_the_noises_are_the_ports(vectors):
    for place, entities, expected, _ in vectors["noise_count_two_layers"]:
        found = count_noise(KEY, 1.0, seeded(int(place)), seeded(int(entities)))
        assert found == pytest.approx(expected, rel=1e-13)


def test_the_low_count_test_is_the_ports(vectors):
    for count, seed, low in vectors["is_low_count_default"]:
        assert is_low(KEY, count, seeded(int(seed)), 3) == low


@pytest.mark.parametrize(("sd", "gap"), [(0.0, 2.0), (0.5, 1.0), (1.0, 0.0), (1.0, 2.0), (4.0, 1.0)])
@pytest.mark.parametrize("threshold", [2, 3, 5, 15, 50])
def test_the_low_count_test_is_the_obvious_one_for_every_count_that_noise_decides(threshold, sd, gap):
    parameters = filtering(3, sd, gap)
    key = secret(parameters)
    most = floor(threshold + (gap + LARGEST_NORMAL) * sd) + 3
    lows = [
        [is_low_in_both(count, hash_int(i), threshold, parameters, key) for count in range(most)]
        for i in range(20)
    ]
    # A threshold is passed once and for all, never below its floor.
    assert all(low == sorted(low, reverse=True) for low in lows)
    assert all(low[threshold - 1] and not low[-1] for low in lows)


@pytest.mark.parametrize("sd", [100.0, 12345.678, 1e6])
def test_the_low_count_test_is_the_obvious_one_next_to_a_threshold_far_away(sd):
    parameters = filtering(3, sd, 2.0)
    key = secret(parameters)
    for seed in map(hash_int, range(200)):
        noisy = 3 + 2.0 * sd + layered_noise(SALT, "suppress", sd, [seed])
        farthest = 3 + (2.0 + LARGEST_NORMAL) * sd
        for near in (floor(noisy), floor(farthest), 3):
            for count in range(max(near - 1, 0), near + 3):
                assert is_low_in_both(count, seed, 3, parameters, key) == (count < max(noisy, 3))


def test_a_count_is_low_up_to_the_largest_noise_found():
    # Noise is not computed where none is large enough: it must be where it is very large.
    parameters = filtering(3, 10.0, 2.0)
    key = secret(parameters)
    noises = {seed: layered_noise(SALT, "suppress", 10.0, [seed]) for seed in range(20_000)}
    seed = max(noises, key=noises.__getitem__)
    assert noises[seed] > 30
    for count in range(3, 120):
        assert is_low_in_both(count, seed, 3, parameters, key) == (count < 23 + noises[seed])


@pytest.mark.parametrize(("count", "passing"), [(3, 0.023), (4, 0.159), (5, 0.5), (6, 0.841), (7, 0.977)])
def test_groups_pass_the_filter_as_often_as_documented(count, passing):
    passed = sum(not is_low(KEY, count, seeded(hash_int(i)), 3) for i in range(4000))
    # Five standard errors; the seeds are fixed.
    assert abs(passed / 4000 - passing) < 5 * (passing * (1 - passing) / 4000) ** 0.5


GROUPS = st.tuples(st.integers(0, 9), st.integers(0, 9)).map(lambda t: FlatteningInterval(t[0], t[0] + t[1]))
# Few enough entities that many have several rows; None is a row without one.
IDS = st.one_of(st.none(), st.integers(1, 12), st.integers(1, 3))
ROWS = st.integers(1, 3).flatmap(lambda k: st.lists(st.tuples(*[IDS] * k), min_size=1, max_size=80))


def entities_of(hashes, outside=()):
    """Entities of a table of hashes, (n, columns); ``outside``: rows that are passengers."""
    hashes = np.array(hashes, np.uint64)
    numbers = np.full(hashes.shape, -1, np.int32)
    most = 0
    for column in range(hashes.shape[1]):
        known = {}
        for row, value in enumerate(hashes[:, column].tolist()):
            if value:
                numbers[row, column] = known.setdefault(value, len(known))
        most = max(most, len(known))
    passengers = np.zeros(len(hashes), np.bool_)
    passengers[list(outside)] = True
    single = hashes.shape[1] == 1 and most == len(hashes)
    return Entities(hashes, numbers, most, passengers, single)


def hashed(rows):
    """Rows of ids, hashed, (n, columns)."""
    return np.stack([hash_entities(column) for column in zip(*rows, strict=True)], axis=1)


def counts(entities, sets, places, parameters):
    """The compiled noisy counts of sets of rows that lie side by side."""
    order = np.array([row for rows in sets for row in rows], np.int32)
    length = np.array([len(rows) for rows in sets], np.int32)
    start = (np.cumsum(length) - length).astype(np.int32)
    seeds = np.array(places, np.uint64)
    return noisy_counts(secret(parameters), order, start, length, seeds, entities).tolist()


def count_of(hashes, place, parameters):
    return counts(entities_of(hashes), [range(len(hashes))], [place], parameters)[0]


def contributing(amounts, unaccounted=0):
    """Rows of entities 1..N, who have so many each, as the port was given them in place of hashes."""
    return np.repeat(np.arange(len(amounts) + 1), [unaccounted, *amounts]).astype(np.uint64)[:, None]


@st.composite
def divided(draw):
    """Hashes of rows, passengers, and sets of rows as a tree's nodes have them, most of them overlapping."""
    rows = draw(ROWS)
    row = st.integers(0, len(rows) - 1)
    sets = draw(st.lists(st.lists(row, unique=True, max_size=len(rows)), min_size=1, max_size=4))
    return hashed(rows), draw(st.sets(row)), [*sets, list(range(len(rows)))]


def check_counts(table, places, parameters):
    hashes, outside, sets = table
    found = counts(entities_of(hashes, outside), sets, places[: len(sets)], parameters)
    for rows, place, count in zip(sets, places, found, strict=False):
        assert count == noisy_row_count(hashes[rows].T, place, parameters)


@COMPILED
@given(divided(), st.lists(SEEDS, min_size=5, max_size=5), GROUPS, GROUPS, st.sampled_from([0.0, 1.0, 7.5]))
def test_noisy_counts_are_flattened_over_all_id_columns_passengers_included(table, places, outlier, top, sd):
    one_more = np.concatenate([table[0], table[0][:1]])  # so that it is never a row for each entity
    parameters = AnonymizationParameters(SALT, outlier_count=outlier, top_count=top, layer_noise_sd=sd)
    check_counts((one_more, *table[1:]), places, parameters)


@pytest.mark.parametrize("outlier", [(0, 0), (1, 1), (2, 5), (0, 20), (12, 30)])
@pytest.mark.parametrize("top", [(0, 0), (1, 1), (2, 5), (0, 20), (12, 30)])
def test_groups_of_any_size_are_flattened(outlier, top):
    parameters = AnonymizationParameters(
        SALT, outlier_count=FlatteningInterval(*outlier), top_count=FlatteningInterval(*top)
    )
    random = np.random.default_rng(3)
    for number in (1, 2, 3, 4, 9, 10, 11, 24, 25, 40, 59, 60, 61, 100):
        amounts = np.floor(random.pareto(0.7, number) + 1).clip(max=300).astype(int)
        hashes = hash_entities(np.repeat(np.arange(number), amounts).tolist())
        for place in (0, 2**64 - 1, hash_int(number)):
            expected = noisy_row_count([hashes], place, parameters)
            # A second, equal column keeps it from being one row for each entity, and changes nothing.
            assert count_of(np.stack([hashes, hashes], axis=1), place, parameters) == expected


def test_flattened_counts_are_the_ports(vectors):
    for amounts, unaccounted, seed, _, count in vectors["multi_contrib_seeded"]:
        entities = entities_of(contributing(amounts, unaccounted))._replace(single=False)
        found = counts(entities, [range(len(entities.hashes))], [int(seed)], NOISY)
        assert found == [1 if count is None else count]


def test_groups_are_compacted_as_the_ports(vectors):
    # Entities have 1, 2, 4, ... rows: which of them were flattened to which others shows in the count.
    # What the port compacted to is given as the parameters, where it fits and is left as it is.
    compacted = 0
    for outlier, top, number, expected in vectors["compact_flattening"]:
        if number > 12:
            continue
        hashes = contributing([2**i for i in range(number)])
        hashes = np.concatenate([hashes, hashes], axis=1)
        found = [count_of(hashes, 0, noiseless(*groups)) for groups in [(outlier, top), expected] if groups]
        if expected is None:
            assert found == [1]
        else:
            assert found[0] == found[1]
            compacted += expected != [outlier, top]
    assert compacted > 20


def noiseless(outlier, top):
    groups = FlatteningInterval(*outlier), FlatteningInterval(*top)
    return AnonymizationParameters(SALT, SuppressionParameters(), *groups, 0.0)


def test_half_a_row_is_rounded_to_even():
    # The largest is cut to 1.5, the mean of the next two.
    for amounts, expected in [([3, 2, 1], 4), ([3, 2, 1, 1], 6)]:
        hashes = contributing(amounts)
        assert count_of(hashes, 0, noiseless((1, 1), (2, 2))) == expected
        assert noisy_row_count(hashes.T, 0, noiseless((1, 1), (2, 2))) == expected


# A second, equal column keeps a node from being one row for each entity, and changes nothing.
@pytest.mark.parametrize(("rows_each", "columns"), [("unique", 1), ("several", 2)])
def test_noisy_counts_of_a_trees_nodes_are_the_ports(vectors, rows_each, columns):
    name, nodes = vectors["node_counts"][rows_each]
    for bounds, ids, count in nodes:
        place = bucket_seed(hash_strings([name]), [Interval(*bounds)])
        assert count_of(np.stack([hash_entities(ids)] * columns, axis=1), place, NOISY) == count


# What the oracle of counters is itself held against: counts by hand.
@pytest.mark.parametrize(
    ("one", "other", "unaccounted", "expected"),
    [
        ([1, 1, 1, 1], None, 0, 4),
        ([1, 1, 1, 3], None, 0, 4),
        ([1, 2, 2, 3], None, 0, 6),
        ([1, 2, 2, 3], None, 3, 7),
        ([1, 1, 1, 1, 1, 3, 5], None, 0, 7),
        ([1, 1, 1], None, 0, 1),
        ([], None, 30, 1),
        ([1] * 10 + [10], None, 10, 12),
        ([1] * 10, [1] * 20, 0, 20),
        ([1] * 20 + [10], [1] * 10 + [20], 0, 11),
        ([1] * 10, [1], 0, 1),
    ],
)
def test_noiseless_counts_of_rows(one, other, unaccounted, expected):
    columns = [contributing(one, unaccounted)[:, 0]]
    columns += [] if other is None else [contributing(other)[:, 0]]
    assert noisy_row_count(columns, 0, NOISELESS) == noisy_row_count(columns[::-1], 0, NOISELESS) == expected
