"""Compiled noise agrees bit for bit with `hashing` and `counters`."""

from math import floor

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tasks.core.syndiffix import hashing
from tasks.core.syndiffix.hashing import hash_int
from tasks.core.syndiffix.noise_kernels import (
    LARGEST_NORMAL,
    count_noise,
    is_low,
    normal,
    secret,
    secret_seed,
)
from tasks.core.syndiffix.settings import AnonymizationParameters, SuppressionParameters
from tests.oracles import syndiffix_counters as counters
from tests.oracles.syndiffix import SALT
from tests.oracles.syndiffix_counters import layered_noise

COMPILED = settings(deadline=None)  # a first call compiles
SEEDS = st.integers(0, 2**64 - 1)
EDGES = [0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1]
KEY = secret(AnonymizationParameters(SALT))


def seeded(seed):
    return np.uint64(seed)


def filtering(threshold, sd, gap):
    return AnonymizationParameters(SALT, SuppressionParameters(threshold, sd, gap))


def is_low_in_both(count, seed, threshold, parameters, key):
    expected = counters.is_low_count(counters.Entities(count, seed), threshold, parameters)
    assert is_low(key, count, seeded(seed), threshold) == expected
    return expected


def test_secret_seeds_are_the_ports(vectors):
    assert {seed: str(secret_seed(KEY, seeded(int(seed)))) for seed in vectors["crypto"]} == vectors["crypto"]


def test_secret_seeds_follow_from_salts_of_any_length():
    # A message of SHA-256 is padded to 64 bytes: salts of 47 and 48, 111 and 112 bytes are on either side.
    random = np.random.default_rng(1)
    for length in range(8, 201):
        salt = random.bytes(length)
        key = secret(AnonymizationParameters(salt))
        for seed in (0, 2**64 - 1, int(random.integers(2**64, dtype=np.uint64))):
            assert secret_seed(key, seeded(seed)) == hashing.salted_seed(salt, seed), length


@COMPILED
@given(SEEDS, st.binary(min_size=8, max_size=70))
def test_secret_seeds_follow_from_every_byte(seed, salt):
    key = secret(AnonymizationParameters(salt))
    assert secret_seed(key, seeded(seed)) == hashing.salted_seed(salt, seed)


def test_a_secret_seed_leaves_the_key_as_it_was():
    before = KEY.message.copy()
    assert secret_seed(KEY, seeded(5)) == secret_seed(KEY, seeded(5))
    assert (KEY.message == before).all()


@COMPILED
@given(SEEDS)
@example(1 << 61)
@example(3 << 61)
def test_normal_numbers_are_equal_to_the_last_bit(seed):
    assert normal(seeded(seed)) == counters.normal(seed)


def test_normal_numbers_of_edge_seeds_and_many_others_are_equal():
    for seed in [*EDGES, *(hash_int(i) for i in range(2000))]:
        assert normal(seeded(seed)) == counters.normal(seed)


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


@COMPILED
@given(SEEDS, st.integers(0, 40), st.integers(2, 30), st.floats(0, 10), st.floats(0, 5))
def test_the_low_count_test_is_the_obvious_one(seed, count, threshold, sd, gap):
    parameters = filtering(threshold, sd, gap)
    is_low_in_both(count, seed, threshold, parameters, secret(parameters))


def test_a_count_is_low_up_to_the_largest_noise_found():
    # Noise is not computed where none is large enough: it must be where it is very large.
    parameters = filtering(3, 10.0, 2.0)
    key = secret(parameters)
    noises = {seed: layered_noise(SALT, "suppress", 10.0, [seed]) for seed in range(20_000)}
    seed = max(noises, key=noises.__getitem__)
    assert noises[seed] > 30
    for count in range(3, 120):
        assert is_low_in_both(count, seed, 3, parameters, key) == (count < 23 + noises[seed])
