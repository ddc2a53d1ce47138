"""Where every random bit of a release comes from: the keystream of AES-256 in counter mode.

In: the operating system's entropy. Out: uniform 64-bit words. The keys are never stored, and with
AES-256 standing in for true randomness the guarantee is computational (R17).
"""

import hashlib
import os
import threading
from typing import NoReturn, Protocol

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes

from tasks.core.arrays import Words
from tasks.core.errors import InternalError

_KEY_BYTES = 32
_REKEY_BYTES = 1 << 30
_BLOCK = bytes(1 << 18)
"""Plain text that the cipher turns into keystream, a block at a time; never written to."""


class WordSource(Protocol):
    """A source of independent uniform words."""

    @property
    def private(self) -> bool:
        """Whether a release may be drawn from it."""

    def words(self, count: int) -> Words:
        """The next ``count`` words, uint64 (count,)."""


class WordStream:
    """Noise of a release. Threads and forked processes that share the object share no key.

    Each thread of each process gets a key of its own at its first word, and a new one every GiB.
    Nothing is buffered between calls, so there is nothing that two users could be given twice.
    """

    private = True

    def __init__(self) -> None:
        self._own = threading.local()

    def words(self, count: int) -> Words:
        out = np.empty(count, np.uint64)
        view = out.view(np.uint8).data
        for start in range(0, len(view), len(_BLOCK)):
            part = view[start : start + len(_BLOCK)]
            zeros = _BLOCK if len(part) == len(_BLOCK) else bytes(len(part))
            self._cipher(len(part)).update_into(zeros, part)
        return out.astype("<u8", copy=False)

    def _cipher(self, size: int) -> CipherContext:
        own = self._own
        owner = (os.getpid(), threading.get_ident())
        if getattr(own, "owner", None) != owner or own.left < size:
            own.owner, own.left = owner, _REKEY_BYTES
            own.cipher = _keystream(os.urandom(_KEY_BYTES))
        own.left -= size
        cipher: CipherContext = own.cipher
        return cipher

    def _refuse(self, *_: object) -> NoReturn:
        raise InternalError(
            "A noise stream must not be pickled or copied: two copies would give the same noise."
        )

    __reduce_ex__ = __getstate__ = __copy__ = __deepcopy__ = _refuse


class SeededStream:
    """The same words at every run, for tests only: whoever knows the seed knows the noise."""

    private = False

    def __init__(self, seed: int) -> None:
        self._cipher = _keystream(hashlib.sha256(f"marginalia test stream {seed}".encode()).digest())

    def words(self, count: int) -> Words:
        return np.frombuffer(self._cipher.update(bytes(8 * count)), "<u8").astype(np.uint64)


def _keystream(key: bytes) -> CipherContext:
    return Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()
