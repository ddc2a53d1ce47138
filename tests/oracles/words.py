"""A source of words that says what it is told to: for draws at chosen points of the unit interval."""

import numpy as np


class ListedWords:
    private = False

    def __init__(self, words):
        self._words = [int(word) for word in words]

    def words(self, count):
        taken, self._words = self._words[:count], self._words[count:]
        assert len(taken) == count, "more words were taken than the test listed"
        return np.array(taken, np.uint64)

    @property
    def left(self):
        return len(self._words)


def split(value, count):
    """A number of 64 * count bits as its words, the first the highest."""
    return [value >> (64 * (count - 1 - place)) & (2**64 - 1) for place in range(count)]
