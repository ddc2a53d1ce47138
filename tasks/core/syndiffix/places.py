"""The seed of a node's place: the hashes of the texts of its intervals' middles (syndiffix.md 2.3).

A place is the same in every tree, so each text is hashed once for a whole forest.
"""

import numpy as np
import numpy.typing as npt

from tasks.core.syndiffix.hashing import hash_string
from tasks.core.syndiffix.intervals import Values

Seeds = npt.NDArray[np.uint64]


class PlaceHashes:
    """Hashes of numbers' texts, kept."""

    def __init__(self) -> None:
        self._numbers = np.array([np.inf])
        self._hashes = np.zeros(1, np.uint64)

    def of(self, middles: Values) -> Seeds:
        """The XOR of the hashes of each place's distinct middles, (N,); middles are finite, (N, k)."""
        # Adding 0.0 makes one of the two zeros, whose texts differ.
        middles = middles + 0.0
        hashes = self._each(middles.ravel()).reshape(middles.shape)
        for column in range(1, middles.shape[1]):
            repeated = (middles[:, :column] == middles[:, column, None]).any(axis=1)
            hashes[repeated, column] = 0
        return np.asarray(np.bitwise_xor.reduce(hashes, axis=1))

    def _each(self, numbers: Values) -> Seeds:
        found = self._numbers.searchsorted(numbers)
        unknown = self._numbers[found] != numbers
        if unknown.any():
            self._add(np.unique(numbers[unknown]))
            found = self._numbers.searchsorted(numbers)
        return self._hashes[found]

    def _add(self, numbers: Values) -> None:
        hashes = np.array([hash_string(str(number)) for number in numbers.tolist()], np.uint64)
        at = self._numbers.searchsorted(numbers)
        self._numbers = np.insert(self._numbers, at, numbers)
        self._hashes = np.insert(self._hashes, at, hashes)
