"""Hashes, seeds and sticky noise: the same question of the same data gets the same noise.

In: texts, integers, the salt. Out: 64-bit seeds and the noise that follows from them (syndiffix.md 2.3).
A seed is an int in [0, 2^64).
"""

from collections.abc import Iterable
from functools import reduce
from hashlib import blake2b, sha256
from math import log, pi, sin, sqrt
from operator import index, xor

import numpy as np
import numpy.typing as npt

Hashes = npt.NDArray[np.uint64]
_SEED_BYTES = 8
_HALF = 0x7FFFFFFF
_LEAST_UNIFORM = 2.220446049250313e-16  # keeps the logarithm finite
# The farthest that `normal` gets from 0, 8.490424416849509: more entities than that many SDs above the mean
# threshold are never too few.
LARGEST_NORMAL = sqrt(-2.0 * log(_LEAST_UNIFORM))


def hash_string(text: str) -> int:
    """Hash a text: the first 8 bytes, little-endian, of its BLAKE2b."""
    # Text that was read with a wrong encoding may hold lone surrogates, which are hashed as they are.
    return _hash_bytes(text.encode("utf-8", "surrogatepass"))


def hash_int(value: int) -> int:
    """Hash an integer of any sign and size.

    From 0 to 2^64 - 1 it is the hash of the 8 bytes of the unsigned integer, as in the reference's port,
    which knows no others. Others are hashed in two's complement, little-endian, in the fewest bytes but at
    least 9, so that no two integers are hashed from the same bytes.
    """
    value = index(value)  # a float is refused: rounded, two entities would become one
    if 0 <= value < 1 << 64:
        return _hash_bytes(value.to_bytes(_SEED_BYTES, "little"))
    length = max(_SEED_BYTES + 1, value.bit_length() // 8 + 1)
    return _hash_bytes(value.to_bytes(length, "little", signed=True))


def hash_strings(texts: Iterable[str]) -> int:
    """Hash a set of texts: the XOR of the hashes of the distinct ones; 0 for none."""
    return reduce(xor, (hash_string(text) for text in set(texts)), 0)


def hash_entities(ids: Iterable[str | int | None]) -> Hashes:
    """The hash of each row's entity, uint64 (n,); 0 where the id is missing: None or an empty text.

    The integer 0 is an entity like others, which it is not in the reference's port (syndiffix.md 7.2).
    """
    known: dict[str | int | None, int] = {}
    hashes = []
    for entity in ids:
        if entity not in known:
            known[entity] = _hash_entity(entity)
        hashes.append(known[entity])
    return np.array(hashes, np.uint64)


def crypto(salt: bytes, seed: int) -> int:
    """A seed that nobody can compute without the salt: the start of SHA-256(salt, seed)."""
    digest = sha256(salt + seed.to_bytes(_SEED_BYTES, "little")).digest()
    return int.from_bytes(digest[:_SEED_BYTES], "little")


def step_seed(salt: bytes, step: str, seed: int) -> int:
    """The secret seed of one step of the algorithm, such as ``suppress``."""
    return hash_string(step) ^ crypto(salt, seed)


def normal(seed: int) -> float:
    """A standard normal number that follows from a seed; within +-`LARGEST_NORMAL`."""
    radius = max((seed & _HALF) / _HALF, _LEAST_UNIFORM)
    angle = ((seed >> 32) & _HALF) / _HALF
    return sqrt(-2.0 * log(radius)) * sin(2.0 * pi * angle)


def uniform(seed: int, lower: int, upper: int) -> int:
    """An integer in lower..upper, both inclusive, that follows from a seed."""
    return lower + seed % (upper - lower + 1)


def layered_noise(salt: bytes, step: str, sd: float, seeds: Iterable[int]) -> float:
    """The sum of one normal number of standard deviation ``sd`` for each layer's seed."""
    return sum((sd * normal(step_seed(salt, step, seed)) for seed in seeds), 0.0)


def _hash_bytes(content: bytes) -> int:
    return int.from_bytes(blake2b(content, digest_size=_SEED_BYTES).digest(), "little")


def _hash_entity(entity: str | int | None) -> int:
    if entity is None or entity == "":
        return 0
    return hash_string(entity) if isinstance(entity, str) else hash_int(entity)
