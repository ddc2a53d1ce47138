"""Unseeded synthesis (S4.2, by the law of its module): sets of rows, fractions, every order."""

import itertools
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

Attributes = frozenset[int]


def record_distribution(
    rows: Sequence[Attributes], column_of: Sequence[int], resolution: int
) -> dict[Attributes, Fraction]:
    """Exact probability of every record, the one without attributes included; for a few columns only.

    Args:
        rows: the attributes of each raw record, with or without rare ones.
        column_of: by attribute.
        resolution: at least 1, at most the number of rows.
    """
    columns = sorted(set(column_of))
    found: Counter = Counter()
    orders = list(itertools.permutations(columns))
    for order in orders:
        for record, chance in _in_order(rows, column_of, resolution, order).items():
            found[record] += chance / len(orders)
    return dict(found)


def _in_order(
    rows: Sequence[Attributes], column_of: Sequence[int], resolution: int, order: Sequence[int]
) -> dict[Attributes, Fraction]:
    found: Counter = Counter()

    def draw(record: Attributes, present: list[Attributes], step: int, chance: Fraction) -> None:
        if step == len(order):
            found[record] += chance
            return
        held = Counter(a for row in present for a in row if column_of[a] == order[step])
        values = [a for a, count in held.items() if count >= resolution]
        for value in values:
            share = chance * Fraction(held[value], len(present))
            draw(record | {value}, [row for row in present if value in row], step + 1, share)
        folded = [row for row in present if not row & set(values)]
        if folded:
            left = folded if len(folded) >= resolution else present
            draw(record, left, step + 1, chance * Fraction(len(folded), len(present)))

    draw(frozenset(), list(rows), 0, Fraction(1))
    return dict(found)
