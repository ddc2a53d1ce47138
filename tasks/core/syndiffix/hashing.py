"""Hashes and seeds, from which all sticky noise follows: the same question has the same answer (X2.3).

A seed is an int in [0, 2^64), which nobody can compute without the salt. That of a node's place comes from
the hashes of the texts of its intervals' middles. A place is the same in every tree, so each text is hashed
once for a whole forest.
"""

from collections.abc import Iterable
from functools import reduce
from hashlib import blake2b, sha256
from operator import index, xor

import numpy as np

from tasks.core.arrays import Floats, Words

_SEED_BYTES = 8


def hash_string(text: str) -> int:
    """The first 8 bytes, little-endian, of a text's BLAKE2b."""
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


def hash_entities(ids: Iterable[str | int | None]) -> Words:
    """The hash of each row's entity, uint64 (n,); 0 where the id is missing: None or an empty text.

    The integer 0 is an entity like others, which it is not in the reference's port (X7.2).
    """
    known: dict[str | int | None, int] = {}
    hashes = []
    for entity in ids:
        if entity not in known:
            known[entity] = _hash_entity(entity)
        hashes.append(known[entity])
    return np.array(hashes, np.uint64)


def salted_seed(salt: bytes, seed: int) -> int:
    """A seed that nobody can compute without the salt: the start of SHA-256(salt, seed)."""
    digest = sha256(salt + seed.to_bytes(_SEED_BYTES, "little")).digest()
    return int.from_bytes(digest[:_SEED_BYTES], "little")


def step_seed(salt: bytes, step: str, seed: int) -> int:
    return hash_string(step) ^ salted_seed(salt, seed)


def uniform(seed: int, lower: int, upper: int) -> int:
    """Both bounds are inclusive."""
    return lower + seed % (upper - lower + 1)


def noisy_row_limit(rows: int, fraction: int, base_seed: int, salt: bytes) -> int:
    """The rows that a deep node of a one-column tree needs to be divided: rows // fraction +- 5 %."""
    limit = rows // fraction
    spread = limit // 20
    return limit + uniform(step_seed(salt, "precision_limit", base_seed), -spread, spread)


def _hash_bytes(content: bytes) -> int:
    return int.from_bytes(blake2b(content, digest_size=_SEED_BYTES).digest(), "little")


def _hash_entity(entity: str | int | None) -> int:
    if entity is None or entity == "":
        return 0
    return hash_string(entity) if isinstance(entity, str) else hash_int(entity)


def generator_of(salt: bytes, *purpose: str) -> np.random.Generator:
    """The generator of one purpose, such as ``"stitch", "age", "income"``.

    The same data, salt and purpose give the same draws: outputs of many runs cannot be averaged.

    >>> generator_of(b"salt", "stitch", "age").random() == generator_of(b"salt", "stitch", "age").random()
    True
    >>> generator_of(b"salt", "stitch", "age").random() == generator_of(b"salt", "stitchage").random()
    False
    """
    # Lengths keep purposes apart whose texts would be the same side by side.
    texts = [text.encode("utf-8", "surrogatepass") for text in purpose]
    content = b"".join(len(text).to_bytes(8, "little") + text for text in (salt, *texts))
    return np.random.Generator(np.random.PCG64(int.from_bytes(sha256(content).digest(), "little")))


def hash_places(middles: Floats, known: dict[float, int]) -> Words:
    """The XOR of the hashes of each place's distinct middles, (N,); middles are finite, (N, k).

    ``known``: the hashes of middles so far, added to.
    """
    # Adding 0.0 makes one of the two zeros, whose texts differ.
    middles = middles + 0.0
    numbers, places = np.unique(middles, return_inverse=True)
    known |= {number: hash_string(str(number)) for number in numbers.tolist() if number not in known}
    hashes = np.array([known[number] for number in numbers.tolist()], np.uint64)[
        places.reshape(middles.shape)
    ]
    for column in range(1, middles.shape[1]):
        repeated = (middles[:, :column] == middles[:, column, None]).any(axis=1)
        hashes[repeated, column] = 0
    return np.asarray(np.bitwise_xor.reduce(hashes, axis=1))
