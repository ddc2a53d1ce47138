"""Value-seeded synthesis under oversampling control as S4.3 says it: dictionaries, plainly."""

import itertools
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

Combination = frozenset[int]
Records = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Oversampled:
    """The law over true counts of all combinations; attribute i is one of column ``column_of[i]``."""

    counts: Mapping[Combination, int]
    column_of: Sequence[int]
    resolution: int
    reporting_length: int
    ratio: Fraction
    tries: int

    def supply(self) -> tuple[int, ...]:
        """How often each attribute is available at first."""
        return tuple(self._rounded(frozenset([a])) for a in range(len(self.column_of)))

    def _rounded(self, combination: Combination) -> int:
        count = self.counts.get(combination, 0)
        return count - count % self.resolution

    def weights(self, record: Combination, available: Sequence[int]) -> dict[int, int]:
        """Weight of every attribute that may be drawn next, refused or not."""
        taken = {self.column_of[a] for a in record}
        found = {
            a: self.counts.get(record | {a}, 0)
            for a in range(len(available))
            if available[a] > 0 and self.column_of[a] not in taken
        }
        return {a: weight for a, weight in found.items() if weight >= self.resolution}

    def made(self, record: Combination, attribute: int) -> Iterator[Combination]:
        """The combinations up to the reporting length that come with an attribute."""
        for size in range(self.reporting_length):
            for others in itertools.combinations(sorted(record), size):
                yield frozenset(others) | {attribute}

    def permitted(self, record: Combination, attribute: int, used: Mapping[Combination, int]) -> bool:
        """Whether no reported combination comes to be there too often."""
        return all(
            used.get(each, 0) + 1 <= self._rounded(each) * (1 + self.ratio)
            for each in self.made(record, attribute)
            if self._rounded(each) > 0
        )

    def sample(self, randomness: random.Random) -> list[tuple[int, ...]]:
        """Records of one run."""
        available, used, records = list(self.supply()), Counter(), []
        while any(available):
            record: Combination = frozenset()
            tries = self.tries
            while tries and (weights := self.weights(record, available)):
                (drawn,) = randomness.choices(list(weights), list(weights.values()))
                if not self.permitted(record, drawn, used):
                    tries -= 1
                    continue
                used.update(self.made(record, drawn))
                available[drawn] -= 1
                record, tries = record | {drawn}, self.tries
            records.append(tuple(sorted(record)))
        return records

    def distribution(self) -> dict[Records, Fraction]:
        """Exact probability of every sorted list of records; for a handful of attributes only."""

        @cache
        def lists(available: tuple[int, ...], used: frozenset) -> dict[Records, Fraction]:
            if not any(available):
                return {(): Fraction(1)}
            found: Counter = Counter()
            for (record, after, spent), chance in self._records(available, used).items():
                for rest, other in lists(after, spent).items():
                    found[tuple(sorted([record, *rest]))] += chance * other
            return dict(found)

        return lists(self.supply(), frozenset())

    def next_record(
        self, available: tuple[int, ...], used: Mapping[Combination, int]
    ) -> dict[tuple[int, ...], Fraction]:
        """Exact probability of the next record where so much was used of some combinations."""
        found: Counter = Counter()
        for (record, _, _), chance in self._records(available, frozenset(used.items())).items():
            found[record] += chance
        return dict(found)

    def _records(self, available: tuple[int, ...], used: frozenset) -> dict:
        """Chance of every next record with what is available and used after it."""
        found: Counter = Counter()

        def grow(
            record: Combination, available: tuple[int, ...], used: Counter, tries: int, chance: Fraction
        ) -> None:
            weights = self.weights(record, available) if tries else {}
            if not weights:
                found[tuple(sorted(record)), available, frozenset(used.items())] += chance
            for attribute, weight in weights.items():
                share = chance * Fraction(weight, sum(weights.values()))
                if self.permitted(record, attribute, used):
                    after = tuple(n - (a == attribute) for a, n in enumerate(available))
                    spent = used + Counter(self.made(record, attribute))
                    grow(record | {attribute}, after, spent, self.tries, share)
                else:
                    grow(record, available, used, tries - 1, share)

        grow(frozenset(), available, Counter(dict(used)), self.tries, Fraction(1))
        return dict(found)
