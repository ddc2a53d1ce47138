"""Tuples of codes as single integers: codes by column in, sortable keys out."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]

_LARGEST_KEY = 1 << 61


def joint_keys(
    sides: Sequence[Sequence[npt.NDArray[np.integer]]], sizes: Sequence[int]
) -> tuple[list[Integers], int]:
    """One integer a row, in the same order as the rows' codes; equal rows of all sides have equal ones.

    Args:
        sides: for each side the codes by column, each array of one number a row.
        sizes: number of codes of each column, 0 among them.

    Returns:
        The keys of each side, and a bound above all of them (at most 2^61).
    """
    keys = [np.zeros(len(columns[0]) if columns else 0, np.int64) for columns in sides]
    bound = 1
    for place, size in enumerate(sizes):
        if bound > _LARGEST_KEY // size:
            ends = np.cumsum([len(own) for own in keys])[:-1]
            distinct, numbers = np.unique(np.concatenate(keys), return_inverse=True)
            keys, bound = [np.ascontiguousarray(own) for own in np.split(numbers, ends)], len(distinct)
        for own, columns in zip(keys, sides, strict=True):
            own *= size
            own += columns[place].astype(np.int64)
        bound *= size
    return keys, bound


def run_starts(ascending: Integers) -> Integers:
    """Where each distinct key begins."""
    return np.flatnonzero(np.r_[True, ascending[1:] != ascending[:-1]][: len(ascending)])


def run_lengths(starts: Integers, total: int) -> Integers:
    """How many rows there are of each distinct key."""
    return np.asarray(np.diff(np.r_[starts, total]), np.int64)
