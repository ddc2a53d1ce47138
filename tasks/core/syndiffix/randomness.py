"""Random numbers that nobody can compute without the salt, and that are the same in each run."""

from hashlib import sha256

import numpy as np


def generator_of(salt: bytes, *purpose: str) -> np.random.Generator:
    """The generator of one purpose, such as ``"stitch", "age", "income"``.

    The same data, salt and purpose give the same draws: outputs of many runs cannot be averaged.
    """
    # Lengths keep purposes apart whose texts would be the same side by side.
    texts = [text.encode("utf-8", "surrogatepass") for text in purpose]
    content = b"".join(len(text).to_bytes(8, "little") + text for text in (salt, *texts))
    return np.random.Generator(np.random.PCG64(int.from_bytes(sha256(content).digest(), "little")))
