"""Reproducible random integers inside kernels: four state words in, draws out.

xoshiro256++ (Blackman and Vigna), seeded from SHA-256: the same seed gives the same draws on every
machine and with every version of every library. For synthesis only, never for noise.
"""

import hashlib

import numpy as np

from tasks.core.arrays import Words
from tasks.core.compiling import njit

_ZERO = np.uint64(0)
_ONE = np.uint64(1)


def stream(seed: int, number: int) -> Words:
    """State of the numbered stream of a seed: independent for every pair of integers."""
    digest = hashlib.sha256(f"marginalia synthesis {seed} {number}".encode()).digest()
    return np.frombuffer(digest, "<u8").astype(np.uint64)


@njit(cache=True, nogil=True)
def _rotated(value: np.uint64, by: int) -> np.uint64:
    rotated: np.uint64 = (value << np.uint64(by)) | (value >> np.uint64(64 - by))
    return rotated


@njit(cache=True, nogil=True)
def next_word(state: Words) -> np.uint64:
    """64 random bits."""
    result: np.uint64 = _rotated(state[0] + state[3], 23) + state[0]
    shifted = state[1] << np.uint64(17)
    state[2] ^= state[0]
    state[3] ^= state[1]
    state[1] ^= state[2]
    state[0] ^= state[3]
    state[2] ^= shifted
    state[3] = _rotated(state[3], 45)
    return result


@njit(cache=True, nogil=True)
def below(state: Words, bound: int) -> int:
    """A uniform integer of 0 .. bound - 1, 1 <= bound < 2^63, without bias.

    Draws as many bits as bound - 1 has and rejects what is not below: under two words on average. For a die
    (bound 6, last 5 = 101 in binary) these are three bits, and 6 and 7 are drawn again.
    """
    last = np.uint64(bound - 1)
    shift = _ZERO
    while shift < np.uint64(63) and (last >> (np.uint64(63) - shift)) == _ZERO:
        shift += _ONE
    while True:
        candidate = next_word(state) >> shift
        if candidate <= last:
            return int(candidate)
