"""Pairs of values that two columns' own table holds, and rows made to agree with them.

In: what is published of two columns, and which bucket each row is in, by column. Out: buckets of which none
contradicts such a table.

A value is known in another column if the pairs of buckets that the two columns' table holds have at least as
many rows as the value has by itself, and the table holds nearly all rows: then all of the value's rows are in
these pairs, as far as can be told. A tree of more columns draws what it suppresses from less, and pairs a
name with a type that the name never has. Where a row's pair contradicts what is known, the cell that is in
most contradictions becomes a value that the pair allows: the one that most of the row's other cells go with.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tasks.core.arrays import Flags, Floats, Integers
from tasks.core.syndiffix.buckets import Buckets
from tasks.core.syndiffix.microdata import CellSource

_ROUNDS = 3  # each changes at most one cell of a row
#: Rows that a table must hold in all. Of one that lacks more, values go with others in suppressed rows.
_NEARLY_ALL = 0.95
_LEAST = 2  # rows of a pair; one that was drawn from fewer columns has one


@dataclass(frozen=True)
class HeldPairs:
    """Pairs of buckets (P,) that the table of columns a < b holds.

    Attributes:
        columns: a and b.
        width: buckets of b.
        keys: sorted, the bucket of a times ``width`` plus that of b.
        counts: rows of each.
        known: of both columns, which buckets have no other partners.
    """

    columns: tuple[int, int]
    width: int
    keys: Integers
    counts: Floats
    known: tuple[Flags, Flags]

    @classmethod
    def of(cls, sources: Sequence[CellSource], columns: tuple[int, int], buckets: Buckets) -> "HeldPairs":
        """The pairs of what is published of two columns."""
        first, single = [], np.ones(len(buckets.counts), np.bool_)
        for place, column in enumerate(columns):
            weights, top = sources[column].weights, sources[column].top
            begin, after = weights.buckets_over(buckets.lower[:, place], buckets.upper[:, place], top)
            first.append(begin)
            single &= after - begin == 1
        sizes = [len(sources[column].weights.counts) for column in columns]
        keys, of_key = np.unique((first[0] * sizes[1] + first[1])[single], return_inverse=True)
        counts = np.bincount(of_key, buckets.counts[single], len(keys)).astype(np.float64)
        keys, counts = keys[counts >= _LEAST], counts[counts >= _LEAST]
        known = []
        for side, place in enumerate(np.divmod(keys, max(sizes[1], 1))):
            held = np.bincount(place, weights=counts, minlength=sizes[side])
            own = sources[columns[side]].weights.counts
            is_told = held.sum() >= _NEARLY_ALL * own.sum()
            known.append((held > 0) & (held >= own) & is_told)
        return cls(columns, sizes[1], keys, counts, (known[0], known[1]))

    def holds(self, first: Integers, second: Integers) -> Flags:
        """Whether these buckets of both columns are pairs of it."""
        keys = first * self.width + second
        at = np.searchsorted(self.keys, keys).clip(0, len(self.keys) - 1)
        found: Flags = (self.keys[at] == keys) & (first >= 0) & (second >= 0)
        return found

    def partners(self, side: int) -> tuple[Integers, Integers, Floats]:
        """Pairs sorted by the bucket of a (side 0) or b (1): it, the other column's, and the rows."""
        both = np.divmod(self.keys, self.width)
        order = np.argsort(both[side], kind="stable")
        return both[side][order], both[1 - side][order], self.counts[order]


def without_contradictions(
    held: Sequence[HeldPairs], places: Mapping[int, Integers], generator: np.random.Generator
) -> dict[int, Integers]:
    """Each column's buckets, (n,), -1 for none, in which rows agree with the pairs, as far as can be.

    Args:
        held: of pairs of the columns.
        places: of each column by number, the same.
        generator: chooses among partners that are as good, by their rows.
    """
    changed = {column: place.copy() for column, place in places.items()}
    tables = {pairs.columns: pairs for pairs in held if pairs.known[0].any() or pairs.known[1].any()}
    for _ in range(_ROUNDS):
        votes = {column: np.zeros(len(place)) for column, place in changed.items()}
        accused: dict[tuple[int, int], Flags] = {}
        for (first, second), pairs in tables.items():
            told = _contradicted(pairs, changed[first], changed[second])
            accused[first, second], accused[second, first] = told
            for column in (first, second):
                votes[column] += told[0] | told[1]
        if not any(rows.any() for rows in accused.values()):
            break
        _change(changed, {pairs.columns: pairs for pairs in held}, accused, _worst(votes, accused), generator)
    return changed


def _contradicted(pairs: HeldPairs, first: Integers, second: Integers) -> tuple[Flags, Flags]:
    """Rows whose bucket of b is none that a's bucket goes with, and the other way round."""
    apart = (first >= 0) & (second >= 0) & ~pairs.holds(first, second)
    return apart & pairs.known[0][first], apart & pairs.known[1][second]


def _worst(votes: Mapping[int, Floats], accused: Mapping[tuple[int, int], Flags]) -> Integers:
    """Of each row the column that is in most contradictions, of those that another's value speaks against."""
    columns = sorted(votes)
    numbers = np.full((len(columns), len(votes[columns[0]])), -1.0)
    for (_, column), rows in accused.items():
        place = columns.index(column)
        numbers[place, rows] = votes[column][rows]
    worst = np.array(columns)[numbers.argmax(axis=0)]
    found: Integers = np.where(numbers.max(axis=0) < 0, -1, worst)
    return found


def _change(
    places: dict[int, Integers],
    held: Mapping[tuple[int, int], HeldPairs],
    accused: Mapping[tuple[int, int], Flags],
    worst: Integers,
    generator: np.random.Generator,
) -> None:
    """Give the worst cell of each row a partner of the first other cell that speaks against it."""
    for (by, column), wrong in accused.items():
        rows = np.flatnonzero(wrong & (worst == column))
        worst[rows] = -1
        pairs = held[min(by, column), max(by, column)]
        values, partners, counts = pairs.partners(int(by > column))
        begin = np.searchsorted(values, places[by][rows])
        number = np.searchsorted(values, places[by][rows], side="right") - begin
        # One line for each row and each partner that it may have.
        line = np.repeat(np.arange(len(rows)), number)
        choice = np.arange(len(line)) + np.repeat(begin - np.cumsum(number) + number, number)
        score = np.zeros(len(line))
        for (first, second), others in held.items():
            if column in (first, second) and by not in (first, second) and len(others.keys):
                beside = places[second if column == first else first][rows][line]
                pair = (partners[choice], beside) if column == first else (beside, partners[choice])
                score += others.holds(*pair)
        race = generator.exponential(size=len(line)) / counts[choice]
        best = np.lexsort((race, -score, line))[np.cumsum(number) - number]
        places[column][rows] = partners[choice[best]]
