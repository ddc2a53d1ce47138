"""Row- and value-seeded synthesis as S4.1 and S4.3 say it: one record after the other, sets of rows."""

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache
from random import Random

Attributes = frozenset[int]


class Oracle:
    """The law over rows that are sets of attributes."""

    def __init__(self, rows: Sequence[Attributes], resolution: int) -> None:
        """Args: rows: with or without rare attributes."""
        self.rows = list(rows)
        self.resolution = resolution
        self.counts = Counter(attribute for row in rows for attribute in row)
        self.wanted = {a: c // resolution * resolution for a, c in self.counts.items() if c >= resolution}

    def weights(self, chosen: Attributes, candidates: Iterable[int]) -> dict[int, int]:
        """How many rows hold what was chosen and one more, where those are enough.

        What excludes each other is in no row together, so its weight is 0.
        """
        matching = [row for row in self.rows if chosen <= row]
        found = {a: sum(a in row for row in matching) for a in sorted(candidates) if a not in chosen}
        return {a: weight for a, weight in found.items() if weight >= self.resolution}

    def record(self, candidates: Iterable[int], random: Random) -> Attributes:
        """One record out of candidates."""
        chosen: Attributes = frozenset()
        while weights := self.weights(chosen, candidates):
            chosen |= set(random.choices(list(weights), list(weights.values())))
        return chosen

    def row_seeded(self, random: Random) -> list[tuple[int, ...]]:
        """All records, sorted."""
        grown = [self.record(row, random) for row in self._begun_with(random)]
        used = Counter(a for record in grown for a in record)
        available = {a: n - used[a] for a, n in self.wanted.items()}
        return self._suppressed(grown + self._consolidated(available, random), random)

    def _begun_with(self, random: Random) -> list[Attributes]:
        """All rows but n modulo the resolution, which hold what is beyond the rounded counts."""
        rows = random.sample(self.rows, len(self.rows))
        spare = set(self.spare_rows(rows, len(rows) % self.resolution))
        return [row for place, row in enumerate(rows) if place not in spare]

    def spare_rows(self, rows: Sequence[Attributes], number: int) -> list[int]:
        """Places of so many rows: each time the first of those with the fewest attributes not beyond."""
        beyond = {a: self.counts[a] - n for a, n in self.wanted.items()}
        chosen: list[int] = []
        for _ in range(number):
            left = [place for place in range(len(rows)) if place not in chosen]
            least = min(left, key=lambda place: sum(beyond.get(a, 1) <= 0 for a in rows[place]))
            chosen.append(least)
            for attribute in rows[least] & set(beyond):
                beyond[attribute] -= 1
        return chosen

    def value_seeded(self, random: Random) -> list[tuple[int, ...]]:
        """All records, sorted."""
        return sorted(tuple(sorted(record)) for record in self._consolidated(dict(self.wanted), random))

    def _consolidated(self, available: dict[int, int], random: Random) -> list[Attributes]:
        records = []
        while left := [a for a, n in available.items() if n > 0]:
            records.append(self.record(left, random))
            for attribute in records[-1]:
                available[attribute] -= 1
        return records

    def _suppressed(self, records: list[Attributes], random: Random) -> list[tuple[int, ...]]:
        excess = Counter(a for record in records for a in record)
        excess.subtract(self.wanted)
        random.shuffle(records)
        kept = []
        for record in records:
            left = set(record)
            for attribute in record:
                if excess[attribute] > 0:
                    excess[attribute] -= 1
                    left.remove(attribute)
            kept.append(tuple(sorted(left)))
        return sorted(record for record in kept if record)

    def record_distribution(self, candidates: Attributes) -> dict[Attributes, Fraction]:
        """Exact probability of every record out of candidates."""

        @cache
        def after(chosen: Attributes) -> dict[Attributes, Fraction]:
            weights = self.weights(chosen, candidates)
            if not weights:
                return {chosen: Fraction(1)}
            found: Counter[Attributes] = Counter()
            for attribute, weight in weights.items():
                for record, chance in after(chosen | {attribute}).items():
                    found[record] += chance * Fraction(weight, sum(weights.values()))
            return dict(found)

        return after(frozenset())
