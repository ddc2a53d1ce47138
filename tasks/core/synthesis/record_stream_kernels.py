"""Random integers of one record each: the state words of many records in, draws out.

SplitMix64 (Steele, Lea and Flood), one word of state a record, so that a record's draws don't depend on
which thread, or next to which others, it is drawn. For synthesis only, never for noise.
"""

import hashlib

import numpy as np
import numpy.typing as npt

from tasks.core.compiling import njit

States = npt.NDArray[np.uint64]

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_ONE = np.uint64(1)
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


def stream_base(seed: int, stage: str) -> int:
    """The word that all streams of one stage of a seed start from."""
    return int.from_bytes(hashlib.sha256(f"marginalia {stage} {seed}".encode()).digest()[:8], "little")


@njit(cache=True, nogil=True)
def _mixed(word: np.uint64) -> np.uint64:
    word = (word ^ (word >> np.uint64(30))) * _FIRST
    word = (word ^ (word >> np.uint64(27))) * _SECOND
    result: np.uint64 = word ^ (word >> np.uint64(31))
    return result


@njit(cache=True, nogil=True)
def begin(states: States, base: np.uint64, first: int) -> None:
    """Set the states to the beginnings of the streams ``first``, ``first + 1``, ... of a stage."""
    for place in range(len(states)):
        states[place] = _mixed(base ^ _mixed(np.uint64(first + place) * _STEP + _STEP))


@njit(cache=True, nogil=True)
def stream_word(states: States, place: int) -> np.uint64:
    """64 random bits off one record's stream."""
    states[place] += _STEP
    return _mixed(states[place])


@njit(cache=True, nogil=True)
def stream_below(states: States, place: int, bound: int) -> np.int64:
    """A uniform integer of 0 .. bound - 1 off one record's stream, 1 <= bound < 2^63, without bias.

    Below 2^32 by Lemire's multiplication, which hardly ever rejects; else as many bits as bound - 1 has,
    and what is not below is rejected.
    """
    if bound >> 32:
        return _below_any(states, place, bound)
    wide = np.uint64(bound)
    product = (stream_word(states, place) >> _HALF) * wide
    if (product & _LOW) < wide:
        least = (_LOW + _ONE - wide) % wide
        while (product & _LOW) < least:
            product = (stream_word(states, place) >> _HALF) * wide
    return np.int64(product >> _HALF)


@njit(cache=True, nogil=True)
def _below_any(states: States, place: int, bound: int) -> np.int64:
    last = np.uint64(bound - 1)
    mask = last | (last >> _ONE)
    for by in (2, 4, 8, 16, 32):
        mask |= mask >> np.uint64(by)
    while True:
        candidate = stream_word(states, place) & mask
        if candidate <= last:
            return np.int64(candidate)
