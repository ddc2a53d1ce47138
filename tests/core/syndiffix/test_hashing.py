import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.core.syndiffix.hashing import (
    hash_int,
    hash_string,
    hash_strings,
    noisy_row_limit,
    salted_seed,
    step_seed,
    uniform,
)
from tasks.core.syndiffix.noise_kernels import LARGEST_NORMAL
from tests.oracles.syndiffix import SALT, keyed, normal

SEEDS = st.integers(0, 2**64 - 1)


def test_hashes_of_texts_are_the_ports(vectors):
    assert {text: str(hash_string(text)) for text in vectors["hash_string"]} == vectors["hash_string"]


def test_hashes_of_integers_are_the_ports(vectors):
    assert {text: str(hash_int(int(text))) for text in vectors["hash_int"]} == vectors["hash_int"]


def test_a_set_is_hashed_once_for_each_distinct_text(vectors):
    for texts, expected in vectors["hash_strings_xor_of_set"].items():
        assert hash_strings(texts.split(",")) == int(expected)
    assert hash_strings([]) == 0


def test_negative_and_big_integers_have_hashes_of_their_own():
    values = [0, -1, 1, -256, 255, 256, 2**63, -(2**63), 2**64 - 1, 2**64, -(2**64), 2**71, -(2**71), 10**40]
    assert len({hash_int(value) for value in values}) == len(values)


def test_an_integer_of_numpy_is_hashed_like_pythons_and_a_float_is_refused():
    assert hash_int(np.int64(-7)) == hash_int(-7)
    with pytest.raises(TypeError):
        hash_int(1.5)


def test_a_text_with_a_lone_surrogate_is_hashed():
    assert hash_string("\ud800") != hash_string("\ud801")


@pytest.mark.parametrize(("name", "salt"), [("crypto", SALT), ("crypto_empty_salt", b"")])
def test_secret_seeds_are_the_ports(vectors, name, salt):
    assert {seed: str(salted_seed(salt, int(seed))) for seed in vectors[name]} == vectors[name]


@given(SEEDS)
def test_a_steps_seed_depends_on_the_salt_the_step_and_the_seed(seed):
    assert step_seed(SALT, "noise", seed) == keyed("noise", seed)
    others = {
        step_seed(b"another salt", "noise", seed),
        step_seed(SALT, "suppress", seed),
        step_seed(SALT, "noise", seed ^ 1),
    }
    assert step_seed(SALT, "noise", seed) not in others


def test_normal_numbers_are_the_ports(vectors):
    for seed, expected in vectors["normal_sd1"].items():
        assert normal(int(seed)) == pytest.approx(expected, rel=1e-13, abs=1e-300)


def test_the_largest_normal_number_is_reached():
    assert [normal(1 << 61), normal(3 << 61)] == [LARGEST_NORMAL, -LARGEST_NORMAL]
    assert pytest.approx(8.4904244, abs=1e-7) == LARGEST_NORMAL


def test_uniform_integers_are_the_ports(vectors):
    assert {seed: uniform(int(seed), 2, 5) for seed in vectors["uniform_2_5"]} == vectors["uniform_2_5"]


def test_the_row_limit_is_the_ports(vectors):
    for rows, fraction, seed, limit in vectors["noisy_row_limit"]:
        assert noisy_row_limit(rows, fraction, int(seed), SALT) == limit


@pytest.mark.parametrize(
    ("rows", "fraction", "least", "most"),
    [(100, 1, 95, 105), (200, 2, 95, 105), (100, 10_000, 0, 0), (10_000, 10_000, 1, 1)],
)
def test_the_row_limit_is_within_five_percent_for_any_salt(rows, fraction, least, most):
    for salt in (b"one salt", b"another salt"):
        limits = {noisy_row_limit(rows, fraction, seed, salt) for seed in range(300)}
        assert (min(limits), max(limits)) == (least, most)
