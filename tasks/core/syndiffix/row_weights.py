"""Whole rows in the place of others, until columns have the counts that are wanted.

In: which bucket each row is in, by column, and how many rows are wanted there. Out: numbers of rows, some
twice, some left out. Weights are raked as those of a survey are (Deming and Stephan 1940), each within a
half and twice of what it was, and only as far as counts are beyond a tolerance. Then rows are taken along
their order by weight, so that each combination of buckets has its share.
"""

from collections.abc import Sequence

import numpy as np

from tasks.core.arrays import Floats, Integers

_ROUNDS = 10
_MOST = 2.0
_LARGEST_KEY = 2**62


def chosen_rows(
    places: Sequence[Integers], wanted: Sequence[Floats], tolerance: float, generator: np.random.Generator
) -> Integers:
    """As many rows as there are, by which counts are at most so far from what is wanted, where that can be.

    Args:
        places: of each column, (n,): which bucket, -1 for none.
        wanted: of each column rows of each bucket, in proportion.
        tolerance: rows.
        generator: of the order of equal rows and of where taking them begins.

    >>> town, rows = np.repeat([0, 1], [60, 40]), np.random.default_rng(1)
    >>> np.bincount(town[chosen_rows([town], [np.array([50.0, 50.0])], 4.0, rows)]).tolist()
    [54, 46]
    """
    rows = len(places[0])
    weights = _raked(places, wanted, tolerance)
    order = _ordered(places, generator.permutation(rows))
    ends = np.minimum(np.floor(np.cumsum(weights[order]) * (rows / weights.sum()) + generator.random()), rows)
    ends[-1] = rows
    times = np.zeros(rows, np.int64)
    times[order] = np.diff(ends, prepend=0)
    return np.repeat(np.arange(rows), times)


def _raked(places: Sequence[Integers], wanted: Sequence[Floats], tolerance: float) -> Floats:
    rows = len(places[0])
    weights = np.ones(rows)
    shares = [counts * (rows / max(counts.sum(), 1.0)) for counts in wanted]
    for _ in range(_ROUNDS):
        before = weights
        for place, share in zip(places, shares, strict=True):
            # One more for rows that are nowhere, whose weight stays.
            found = np.bincount(place + 1, weights=weights, minlength=len(share) + 1)[1:]
            beyond = np.maximum(np.abs(found - share) - tolerance, 0.0) * np.sign(found - share)
            factors = np.divide(found - beyond, found, out=np.ones_like(found), where=found > 0)
            if beyond.any():
                weights = np.clip(weights * np.append(factors, 1.0)[place], 1 / _MOST, _MOST)
        if weights is before:
            break
    return weights


def _ordered(places: Sequence[Integers], order: Integers) -> Integers:
    """The rows by their buckets, the column with the fewest first; equal ones as they were."""
    key, size = np.zeros(len(order), np.int64), 1
    for place in sorted(places, key=lambda place: int(place.max(initial=-1))):
        values = int(place.max(initial=-1)) + 2
        if size * values > _LARGEST_KEY:
            break
        key, size = key * values + (place + 1), size * values
    ordered: Integers = order[np.argsort(key[order], kind="stable")]
    return ordered
