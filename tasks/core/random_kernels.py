"""Reproducible random integers inside kernels: a named stream's state words in, draws out.

There are two kinds of streams, both named by SHA-256 of what they are for, so the same seed gives the same
draws on every machine and with every version of every library. Neither is ever used for noise.

* A *shard* draws many records one after the other from one stream: xoshiro256++ (Blackman and Vigna), four
  words of state.
* A *record* that is drawn apart from all others has a stream of its own, so that its draws don't depend on
  which thread, or next to which others, it is drawn: SplitMix64 (Steele, Lea and Flood), one word of state.
"""

import hashlib

import numpy as np

from tasks.core.arrays import Words
from tasks.core.compiling.decorator import njit

#: One word for each record.
RecordStates = Words

_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


def stream(purpose: str, *numbers: int) -> Words:
    """Four words that no other purpose and numbers (a seed, a shard) give.

    They are the state of a shard's stream; the first of them is where a stage's streams of records start.

    >>> shard = stream("synthesis", 2024, 0)
    >>> [below(shard, 6) for _ in range(5)]
    [3, 1, 3, 3, 0]
    >>> records = np.empty(3, np.uint64)
    >>> begin_states(records, stream("rows", 2024)[0], 0)
    >>> [int(state_below(records, record, 6)) for record in (0, 1, 2, 2)]
    [1, 2, 5, 4]
    """
    digest = hashlib.sha256(" ".join(["marginalia", purpose, *map(str, numbers)]).encode()).digest()
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


@njit(cache=True, nogil=True)
def mix_word(word: np.uint64) -> np.uint64:
    word = (word ^ (word >> np.uint64(30))) * _FIRST
    word = (word ^ (word >> np.uint64(27))) * _SECOND
    result: np.uint64 = word ^ (word >> np.uint64(31))
    return result


@njit(cache=True, nogil=True)
def begin_states(states: RecordStates, base: np.uint64, first: int) -> None:
    """Set the states to the beginnings of the streams ``first``, ``first + 1``, ... of a stage."""
    for place in range(len(states)):
        states[place] = mix_word(base ^ mix_word(np.uint64(first + place) * _STEP + _STEP))


@njit(cache=True, nogil=True)
def state_word(states: RecordStates, place: int) -> np.uint64:
    """64 random bits off one record's stream."""
    states[place] += _STEP
    return mix_word(states[place])


@njit(cache=True, nogil=True)
def state_below(states: RecordStates, place: int, bound: int) -> np.int64:
    """A uniform integer of 0 .. bound - 1 off one record's stream, 1 <= bound < 2^63, without bias.

    Below 2^32 by Lemire's multiplication, which hardly ever rejects; else as many bits as bound - 1 has,
    and what is not below is rejected.
    """
    if bound >> 32:
        return _below_any(states, place, bound)
    wide = np.uint64(bound)
    product = (state_word(states, place) >> _HALF) * wide
    if (product & _LOW) < wide:
        least = (_LOW + _ONE - wide) % wide
        while (product & _LOW) < least:
            product = (state_word(states, place) >> _HALF) * wide
    return np.int64(product >> _HALF)


@njit(cache=True, nogil=True)
def _below_any(states: RecordStates, place: int, bound: int) -> np.int64:
    last = np.uint64(bound - 1)
    mask = last | (last >> _ONE)
    for by in (2, 4, 8, 16, 32):
        mask |= mask >> np.uint64(by)
    while True:
        candidate = state_word(states, place) & mask
        if candidate <= last:
            return np.int64(candidate)
