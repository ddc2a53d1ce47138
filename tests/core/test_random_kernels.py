import hashlib

import numpy as np

from tasks.core.random_kernels import below, next_word, stream

MASK = 2**64 - 1


def test_xoshiro_gives_the_published_words():
    """The first ten words of the state 1, 2, 3, 4, as the authors' C code prints them."""
    state = np.array([1, 2, 3, 4], np.uint64)
    assert [int(next_word(state)) for _ in range(10)] == [
        41943041,
        58720359,
        3588806011781223,
        3591011842654386,
        9228616714210784205,
        9973669472204895162,
        14011001112246962877,
        12406186145184390807,
        15849039046786891736,
        10450023813501588000,
    ]


def test_a_bounded_integer_is_the_first_word_that_fits_its_bits():
    for bound in (1, 2, 3, 6, 2**31 + 1, 2**62 + 1, 2**63 - 1):
        state, words = stream("synthesis", 1, bound), stream("synthesis", 1, bound)
        for _ in range(50):
            bits = max((bound - 1).bit_length(), 1)
            expected = int(next_word(words)) >> (64 - bits)
            while expected >= bound:
                expected = int(next_word(words)) >> (64 - bits)
            assert below(state, bound) == expected


def test_a_stream_is_named_by_seed_and_number():
    digest = hashlib.sha256(b"marginalia synthesis -5 2").digest()
    assert stream("synthesis", -5, 2).tobytes() == digest
    streams = {
        stream("synthesis", seed, number).tobytes() for seed in (0, 1, 12, 2**80) for number in range(8)
    }
    assert len(streams) == 32
