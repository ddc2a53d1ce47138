"""The slow obvious way to measure utility: rows as tuples, counted by dictionaries, shares as fractions."""

import itertools
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from tasks.core.evaluation.utility.table_pair import TablePair, table_pair

Row = tuple[int, ...]


def pair_of(real: Sequence[Row], synthetic: Sequence[Row], names: Sequence[str]) -> TablePair:
    """A pair of tables given by their rows of codes."""
    width = len(names)
    sides = [
        [np.array([row[c] for row in rows], np.int64) for c in range(width)] for rows in (real, synthetic)
    ]
    return table_pair(names, *sides)


def total_variation_of(real: Sequence[Row], synthetic: Sequence[Row], columns: Sequence[int]) -> Fraction:
    """Half the sum of the differences of shares; 1 where one table alone is empty."""
    if not real or not synthetic:
        return Fraction(int(len(real) != len(synthetic)))
    shares = []
    for rows in (real, synthetic):
        counts = Counter(tuple(row[c] for c in columns) for row in rows)
        shares.append({key: Fraction(n, len(rows)) for key, n in counts.items()})
    keys = set(shares[0]) | set(shares[1])
    return (
        sum((abs(shares[0].get(k, Fraction(0)) - shares[1].get(k, Fraction(0))) for k in keys), Fraction(0))
        / 2
    )


def k_marginal_of(
    real: Sequence[Row], synthetic: Sequence[Row], width: int, group: int | None
) -> Fraction | None:
    """NIST's (2 - mean L1 distance) x 500, over every pair with the group."""
    others = [c for c in range(width) if c != group]
    head = [] if group is None else [group]
    found = [
        2 * total_variation_of(real, synthetic, [*head, *pair]) for pair in itertools.combinations(others, 2)
    ]
    return (2 - sum(found, Fraction(0)) / len(found)) * 500 if found else None


def area_of(labels: Sequence[int], scores: Sequence[float]) -> Fraction:
    """The share of (synthetic, real) pairs in which the synthetic scores higher; equal ones count half."""
    pairs = [
        (made, own)
        for made, label in zip(scores, labels, strict=True)
        if label
        for own, other in zip(scores, labels, strict=True)
        if not other
    ]
    return Fraction(sum(2 * (made > own) + (made == own) for made, own in pairs), 2 * len(pairs))
