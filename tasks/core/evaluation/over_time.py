"""What changed between releases of one dataset by more than noise or rounding explains.

In: the counts of releases, in order (`released_counts`). Out: every comparison that can be made, and which of
them are changes. Compared are each release with the one before it, and the last with the first.

* **Noise.** Two releases' noises are independent. If nothing changed, the difference of two counts is that of
  their noises: P(|Z - Z'| >= d) <= 2 Q((d - 1) / sqrt(s^2 + s'^2)), where the 1 is for rounding both. Holm's
  rule then keeps the chance of any false mark on the whole page within the false-alarm rate, whatever depends
  on what. Counts below the largest threshold of all releases are left out: their being published is chance,
  and above it the condition is the same on both sides and only makes large differences rarer.
* **Rounding.** A count of c stands for c to c + k - 1, and one that is missing for 0 to k - 1. Where these do
  not meet the count has changed for certain.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tasks.core.arrays import Floats, Integers
from tasks.core.evaluation.released_counts import NUMBER_OF_RECORDS, Combination, ReleasedCounts
from tasks.core.normal import each_above

#: The chance of marking anything where nothing changed, for all comparisons together.
FALSE_ALARM = 0.05


@dataclass(frozen=True)
class Change:
    """A count that changed by more than its error explains.

    Attributes:
        combination: what is counted.
        before, after: places of the two releases.
        was, now: the two counts; None where it was not published.
        at_least, at_most: by how much the true count changed at least, and at most; of noise: the range of 95
            of 100 draws.
        p_value: adjusted for all comparisons; 0 where it is certain.
    """

    combination: Combination
    before: int
    after: int
    was: int | None
    now: int | None
    at_least: int
    at_most: int
    p_value: float

    @property
    def difference(self) -> int:
        """Between the two counts as published."""
        return (self.now or 0) - (self.was or 0)


@dataclass(frozen=True)
class OverTime:
    """What was found.

    Attributes:
        pairs: which releases were compared, by their places.
        compared: for each pair how many counts.
        changes: the surest first.
    """

    pairs: tuple[tuple[int, int], ...]
    compared: tuple[int, ...]
    changes: tuple[Change, ...]

    def between(self, before: int, after: int) -> list[Change]:
        """The changes of one pair."""
        return [each for each in self.changes if (each.before, each.after) == (before, after)]


def compare_over_time(releases: Sequence[ReleasedCounts], false_alarm: float = FALSE_ALARM) -> OverTime:
    """Compare releases in their order.

    Args:
        releases: at least two; those that can't be compared with each other are not.
        false_alarm: see the module.
    """
    pairs = tuple(_pairs(releases))
    floors = _floors(releases)
    found = [
        (_noisy if releases[after].kind == "noisy" else _rounded)(releases, before, after, floors)
        for before, after in pairs
    ]
    compared = tuple(len(each.p_values) for each in found)
    marked = holm(np.concatenate([each.p_values for each in found] or [np.empty(0)]))
    changes = []
    start = 0
    for (before, after), each in zip(pairs, found, strict=True):
        adjusted = marked[start : start + len(each.p_values)]
        start += len(each.p_values)
        changes += [
            each.change(int(row), before, after, adjusted) for row in np.flatnonzero(adjusted < false_alarm)
        ]
    changes.sort(key=lambda each: (each.p_value, -abs(each.difference), each.combination, each.before))
    return OverTime(pairs, compared, tuple(changes))


def _pairs(releases: Sequence[ReleasedCounts]) -> Iterator[tuple[int, int]]:
    kinds = [release.kind for release in releases]
    usable = [place for place, kind in enumerate(kinds) if kind != "sampled"]
    steps = [(one, other) for one, other in itertools.pairwise(usable) if kinds[one] == kinds[other]]
    yield from steps
    if len(steps) > 1 and kinds[usable[0]] == kinds[usable[-1]]:
        yield usable[0], usable[-1]


def _floors(releases: Sequence[ReleasedCounts]) -> dict[Combination, int]:
    """The largest threshold of a combination in any release."""
    floors: dict[Combination, int] = {}
    for release in releases:
        for combination, least in zip(release.combinations, release.least.tolist(), strict=True):
            floors[combination] = max(least, floors.get(combination, least))
    return floors


@dataclass(frozen=True)
class _Compared:
    """The comparisons of one pair."""

    combinations: Sequence[Combination]
    was: Sequence[int | None]
    now: Sequence[int | None]
    at_least: Integers
    at_most: Integers
    p_values: Floats

    def change(self, row: int, before: int, after: int, adjusted: Floats) -> Change:
        return Change(
            self.combinations[row],
            before,
            after,
            self.was[row],
            self.now[row],
            int(self.at_least[row]),
            int(self.at_most[row]),
            float(adjusted[row]),
        )


def _noisy(
    releases: Sequence[ReleasedCounts], before: int, after: int, floors: dict[Combination, int]
) -> _Compared:
    one, other = releases[before], releases[after]
    places = {combination: place for place, combination in enumerate(one.combinations)}
    rows = [
        (places[combination], place)
        for place, combination in enumerate(other.combinations)
        if combination in places
        and min(one.counts[places[combination]], other.counts[place]) >= floors[combination]
    ]
    first, second = (np.array([row[side] for row in rows], np.int64) for side in (0, 1))
    was, now = one.counts[first], other.counts[second]
    width = min(one.scales.shape[1], other.scales.shape[1])
    scales = np.sqrt(one.scales[first, :width] ** 2 + other.scales[second, :width] ** 2)
    weights = np.maximum(one.weights[first, :width], other.weights[second, :width])
    gaps = np.maximum(np.abs(now - was) - 1, 0)
    p_values = np.minimum(1.0, (weights * 2 * each_above(gaps[:, None] / scales)).sum(axis=1))
    combinations = [other.combinations[place] for place in second.tolist()]
    if max(one.laplace, other.laplace) and NUMBER_OF_RECORDS in combinations:
        place = combinations.index(NUMBER_OF_RECORDS)
        scale = max(one.laplace, other.laplace)
        ratio = float(gaps[place]) / scale
        p_values[place] = min(1.0, math.exp(-ratio) * (1 + ratio / 2))
    half_width = np.ceil(1.96 * np.where(weights > 0, scales, 0).max(axis=1, initial=0.0) + 1).astype(
        np.int64
    )
    difference = np.rint(now - was).astype(np.int64)
    was, now = np.rint(was).astype(np.int64), np.rint(now).astype(np.int64)
    return _Compared(
        combinations, was.tolist(), now.tolist(), difference - half_width, difference + half_width, p_values
    )


def _rounded(
    releases: Sequence[ReleasedCounts], before: int, after: int, floors: dict[Combination, int]
) -> _Compared:
    one, other = releases[before], releases[after]
    counts = [
        dict(zip(each.combinations, each.counts.astype(np.int64).tolist(), strict=True))
        for each in (one, other)
    ]
    alike = one.columns == other.columns and one.length == other.length
    combinations = sorted(
        counts[0].keys() | counts[1].keys() if alike else counts[0].keys() & counts[1].keys()
    )
    was, now = ([held.get(each) for each in combinations] for held in counts)
    low, high = _ends(was, one.resolution)
    new_low, new_high = _ends(now, other.resolution)
    least, most = new_low - high, new_high - low
    is_certain = (least > 0) | (most < 0)
    return _Compared(combinations, was, now, least, most, np.where(is_certain, 0.0, 1.0))


def _ends(counts: Sequence[int | None], resolution: int) -> tuple[Integers, Integers]:
    """Where the true counts lie; of one that is missing below the resolution."""
    low = np.array([count or 0 for count in counts], np.int64)
    return low, low + resolution - 1


def holm(p_values: Floats) -> Floats:
    """Holm's adjusted p-values: below a rate for some true hypothesis with at most that chance."""
    number = len(p_values)
    order = np.argsort(p_values, kind="stable")
    steps = np.minimum(1.0, p_values[order] * (number - np.arange(number)))
    adjusted = np.empty(number)
    adjusted[order] = np.maximum.accumulate(steps) if number else steps
    return adjusted
