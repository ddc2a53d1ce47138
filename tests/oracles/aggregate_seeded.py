"""Aggregate-seeded synthesis as S4.4 says it, plainly: dictionaries, fractions and enumeration."""

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np

from tasks.core.aggregates.aggregates import Aggregates, Attribute

Combination = frozenset[int]


def type_8(values: Iterable[int], percentage: int) -> Fraction:
    """Hyndman and Fan's type-8 quantile (S3.4), exactly."""
    ascending, p = sorted(values), Fraction(percentage, 100)
    number = len(ascending)
    h = (number + Fraction(1, 3)) * p + Fraction(1, 3)
    whole = math.floor(h)
    if percentage == 0 or whole <= 0:
        return Fraction(ascending[0])
    if percentage == 100 or whole >= number:
        return Fraction(ascending[-1])
    low, high = ascending[whole - 1], ascending[whole]
    return low + (h - whole) * (high - low)


def half_up(value: Fraction) -> int:
    """Nearest integer, half away from zero, of what is not negative."""
    return math.floor(value + Fraction(1, 2))


@dataclass(frozen=True)
class Oracle:
    """The law over a dictionary of counts; attributes are integers, ``headers[i]`` the header of i."""

    counts: Mapping[Combination, int]
    headers: Sequence[int]
    reporting_length: int
    percentage: int = 95
    use_synthetic_counts: bool = False

    def weight(self, record: Combination, attribute: int, used: Mapping[Combination, int]) -> int:
        """Weight of joining an attribute to a record; 0: not allowed."""
        joined = record | {attribute}
        if len(joined) <= self.reporting_length:
            return self._left(joined, used)
        parts = [
            self._left(frozenset(others) | {attribute}, used)
            for size in range(self.reporting_length)
            for others in itertools.combinations(record, size)
        ]
        return 0 if min(parts) <= 0 else half_up(type_8(parts, self.percentage))

    def _left(self, combination: Combination, used: Mapping[Combination, int]) -> int:
        count = self.counts.get(combination, 0)
        if self.use_synthetic_counts:
            count -= used.get(combination, 0)
        return max(count, 0)

    def weights(
        self, record: Combination, available: Sequence[int], used: Mapping[Combination, int]
    ) -> dict[int, int]:
        """Weight of every attribute that may come next."""
        taken = {self.headers[attribute] for attribute in record}
        found = {
            attribute: self.weight(record, attribute, used)
            for attribute in range(len(self.headers))
            if available[attribute] > 0 and self.headers[attribute] not in taken
        }
        return {attribute: weight for attribute, weight in found.items() if weight > 0}

    def parts(self, record: Combination, attribute: int) -> Counter[Combination]:
        """What is synthesised when an attribute joins a record."""
        return Counter(
            frozenset(others) | {attribute}
            for size in range(self.reporting_length)
            for others in itertools.combinations(record, size)
        )

    def distribution(self, target: int | None) -> dict[tuple[tuple[int, ...], ...], Fraction]:
        """Exact probability of every sorted list of records; for a handful of attributes only."""
        supply = tuple(self.counts.get(frozenset([a]), 0) for a in range(len(self.headers)))

        @cache
        def lists(available: tuple[int, ...], used: frozenset, wanted: int | None) -> dict:
            if wanted == 0:
                return {(): Fraction(1)}
            if not any(available):
                if wanted is None:
                    return {(): Fraction(1)}
                available, used = supply, frozenset()
            found: Counter = Counter()
            left = None if wanted is None else wanted - 1
            for (record, after, spent), chance in self._records(available, used).items():
                for rest, other in lists(after, spent, left).items():
                    found[tuple(sorted([record, *rest]))] += chance * other
            return dict(found)

        return lists(supply, frozenset(), target)

    def _records(self, available: tuple[int, ...], used: frozenset) -> dict:
        """Chance of every next record with what is available and used after it."""
        found: Counter = Counter()

        def grow(record: Combination, available: tuple[int, ...], used: Counter, chance: Fraction) -> None:
            weights = self.weights(record, available, used)
            if not weights:
                spent = frozenset(used.items()) if self.use_synthetic_counts else frozenset()
                found[tuple(sorted(record)), available, spent] += chance
            for attribute, weight in weights.items():
                after = tuple(n - (a == attribute) for a, n in enumerate(available))
                share = chance * Fraction(weight, sum(weights.values()))
                grow(record | {attribute}, after, used + self.parts(record, attribute), share)

        grow(frozenset(), available, Counter(dict(used)), Fraction(1))
        return dict(found)


def counted(rows: Sequence[Sequence[str]], headers: Sequence[str], reporting_length: int) -> Aggregates:
    """Exact aggregates of rows of cells, the empty one being absent."""
    texts = sorted({f"{h}:{v}" for row in rows for h, v in zip(headers, row, strict=True) if v})
    ids = {text: number for number, text in enumerate(texts)}
    levels: list[Counter[tuple[int, ...]]] = [Counter() for _ in range(reporting_length)]
    for row in rows:
        held = sorted(ids[f"{h}:{v}"] for h, v in zip(headers, row, strict=True) if v)
        for length, level in enumerate(levels, start=1):
            level.update(itertools.combinations(held, length))
    return aggregates_of(texts, headers, [dict(level) for level in levels], len(rows))


def aggregates_of(
    texts: Sequence[str],
    headers: Sequence[str],
    levels: Sequence[Mapping[tuple[int, ...], int]],
    number_of_records: int,
) -> Aggregates:
    """Aggregates from a dictionary of ascending ids and counts for each length."""
    pairs = [text.split(":", 1) for text in texts]
    return Aggregates(
        headers=tuple(headers),
        attributes=tuple(Attribute(h, v, list(headers).index(h)) for h, v in pairs),
        number_of_records=number_of_records,
        combinations=tuple(
            np.array(sorted(level), np.int32).reshape(-1, length) for length, level in enumerate(levels, 1)
        ),
        counts=tuple(np.array([level[c] for c in sorted(level)], np.int64) for level in levels),
    )


def dictionary(aggregates: Aggregates) -> dict[Combination, int]:
    """Counts by combination."""
    return {
        frozenset(ids): count
        for level, counts in zip(aggregates.combinations, aggregates.counts, strict=True)
        for ids, count in zip(level.tolist(), counts.tolist(), strict=True)
    }


def closed(counts: Mapping[Combination, int]) -> dict[Combination, int]:
    """Without the combinations that lack a part."""
    kept: dict[Combination, int] = {}
    for combination in sorted((c for c in counts if counts[c] > 0), key=len):
        parts = (combination - {attribute} for attribute in combination)
        if all(part in kept for part in parts if part):
            kept[combination] = counts[combination]
    return kept


def oracle_of(aggregates: Aggregates, percentage: int = 95, use_synthetic_counts: bool = False) -> Oracle:
    """The oracle of aggregates."""
    return Oracle(
        counts=closed(dictionary(aggregates)),
        headers=[aggregates.headers.index(a.header) for a in aggregates.attributes],
        reporting_length=aggregates.reporting_length,
        percentage=percentage,
        use_synthetic_counts=use_synthetic_counts,
    )
