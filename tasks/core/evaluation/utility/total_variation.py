"""Total variation: two lists of codes in, half the sum of the differences of their shares out."""

import numpy as np
import numpy.typing as npt

#: Up to so many codes each has a place of its own; of more, those that are held have one.
_DENSE = 1 << 20


def total_variation(one: npt.NDArray[np.int64], other: npt.NDArray[np.int64]) -> float:
    """Of the shares of codes, from 0 on, in two lists: 0 where they are equal, 1 where nothing is shared.

    Of two lists of which one alone is empty it is 1.

    >>> total_variation(np.array([1, 1, 2, 3]), np.array([1, 2, 2, 4]))
    0.5
    """
    if not len(one) or not len(other):
        return float(len(one) != len(other))
    size = 1 + int(max(one.max(), other.max()))
    if size > _DENSE:
        held, places = np.unique(np.concatenate([one, other]), return_inverse=True)
        one, other, size = places[: len(one)], places[len(one) :], len(held)
    shares = (np.bincount(side, minlength=size) / len(side) for side in (one, other))
    return float(np.abs(next(shares) - next(shares)).sum() / 2)
