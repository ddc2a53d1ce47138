"""Random integers of one record each: the state words of many records in, draws out.

SplitMix64 (Steele, Lea and Flood), one word of state a record, so that a record's draws don't depend on
which thread, or next to which others, it is drawn. For synthesis only, never for noise.
"""

import hashlib

import numpy as np
import numpy.typing as npt
from numba import njit

States = npt.NDArray[np.uint64]

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_ONE = np.uint64(1)


def base_of(seed: int, stage: str) -> int:
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
def below(states: States, place: int, bound: int) -> int:
    """A uniform integer of 0 .. bound - 1 off one record's stream, 1 <= bound < 2^63, without bias.

    As many bits as bound - 1 has; what is not below is rejected: under two words on average.
    """
    last = np.uint64(bound - 1)
    mask = last | (last >> _ONE)
    mask |= mask >> np.uint64(2)
    mask |= mask >> np.uint64(4)
    mask |= mask >> np.uint64(8)
    mask |= mask >> np.uint64(16)
    mask |= mask >> np.uint64(32)
    while True:
        states[place] += _STEP
        candidate = _mixed(states[place]) & mask
        if candidate <= last:
            return int(candidate)
