"""What changed between releases of one dataset by more than noise or rounding explains.

In: the counts of releases, in order (`ReleasedCounts`). Out: every comparison that can be made, and which of
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
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import pyarrow.parquet as pq

from tasks.core.arrays import Floats, Integers, Json
from tasks.core.errors import ParameterError
from tasks.core.normal import each_above

#: Column and cell of each part; no part is the number of records.
Combination = tuple[tuple[str, str], ...]
NUMBER_OF_RECORDS: Combination = ()
#: Cells that are no value.
ABSENT, OTHER = "(no value)", "(other)"


@dataclass(frozen=True)
class ReleasedCounts:
    """The counts of one release.

    Attributes:
        kind: whether counts carry noise, were rounded, or are of a random sample, which is not compared.
        combinations: what is counted, in no order that matters.
        counts: of each; of one that was drawn twice the mean.
        scales: (n, m), standard deviations of the Gaussian noise, before rounding, that can have moved each.
        weights: (n, m), how many draws of each of these; 0: none.
        least: a count below is not compared: that it was published at all is chance.
        resolution: k, where counts were rounded down to its multiples.
        laplace: scale of the noise of the number of records, where that is rounded Laplace; 0: Gaussian.
    """

    kind: Literal["noisy", "rounded", "sampled"]
    combinations: tuple[Combination, ...]
    counts: Floats
    scales: Floats
    weights: Floats
    least: Integers
    resolution: int = 1
    laplace: float = 0.0
    columns: frozenset[str] = frozenset()
    length: int = 0


def read_released_counts(folder: Path) -> ReleasedCounts:
    """The counts of a release's folder.

    Raises:
        ParameterError: it holds no counts that can be compared, as one of SynDiffix does.
    """
    stated = json.loads((folder / "privacy.json").read_text(encoding="utf-8"))
    if stated["regime"] == "k_anonymity":
        return _read_rounded(stated, _only_file(folder, "reportable_aggregates.parquet"))
    if stated["regime"] != "differential_privacy" or not stated["private"]:
        raise ParameterError(
            "Comparing over time needs counts whose error is stated: those of differential privacy or "
            f"k-anonymity. The release {folder.name} has none. Compare others."
        )
    if "tables" in stated:
        return _read_fitted(stated, _only_file(folder, "noisy_tables.parquet"))
    return _read_by_lengths(stated, _only_file(folder, "reportable_aggregates.parquet"))


def _only_file(folder: Path, ending: str) -> Path:
    found = sorted(folder.glob(f"*_{ending}"))
    if len(found) != 1:
        raise ParameterError(
            f"Comparing over time needs the file {ending} of each release; {folder.name} has {len(found)}."
        )
    return found[0]


def _names(stated: Json) -> frozenset[str]:
    return frozenset(column["name"] for column in stated["columns"])


def _read_published(path: Path) -> tuple[list[int], tuple[Combination, ...], Floats]:
    """Length, combination and count of each line."""
    table = pq.read_table(path, columns=["length", "selections", "protected_count"])
    lengths, texts, counts = (table.column(name).to_pylist() for name in table.column_names)
    combinations = (
        ((text, ""),) if length else NUMBER_OF_RECORDS for length, text in zip(lengths, texts, strict=True)
    )
    return lengths, tuple(combinations), np.array(counts, np.float64)


def _read_rounded(stated: Json, path: Path) -> ReleasedCounts:
    _, combinations, counts = _read_published(path)
    number = len(counts)
    return ReleasedCounts(
        kind="rounded",
        combinations=combinations,
        counts=counts,
        scales=np.zeros((number, 0)),
        weights=np.zeros((number, 0)),
        least=np.zeros(number, np.int64),
        resolution=stated["guarantee"]["resolution"],
        columns=_names(stated),
        length=stated["guarantee"]["reporting_length"],
    )


def _read_by_lengths(stated: Json, path: Path) -> ReleasedCounts:
    """Counts that were made to agree: each is the least of noisy counts of itself and of its parts.

    The least of several moves by no more than the one of them that moves most. So what noise can do to a
    count of k attributes is, at most, what it does to one of the 2^k - 1 noisy counts behind it (Boole).
    """
    levels = [level for level in stated["levels"] if not level["empty"]]
    count = stated["noisy_count"]
    every = np.array([count["scale"], *(level["scale"] for level in levels)])
    thresholds = [max(1, level["threshold"] or 0) for level in levels]
    lengths, combinations, counts = _read_published(path)
    weights = [
        [float(length == 0), *(float(math.comb(length, part)) for part in range(1, len(every)))]
        for length in lengths
    ]
    least = [-(2**62) if length == 0 else max(thresholds[:length], default=1) for length in lengths]
    is_laplace = stated["guarantee"]["accountant"]["name"] == "zcdp"
    return ReleasedCounts(
        kind="sampled" if stated["sampling"] else "noisy",
        combinations=combinations,
        counts=counts,
        scales=np.tile(every, (len(lengths), 1)),
        weights=np.array(weights).reshape(len(lengths), len(every)),
        least=np.array(least, np.int64),
        laplace=count["scale"] if is_laplace else 0.0,
        columns=_names(stated),
        length=len(levels),
    )


def _read_fitted(stated: Json, path: Path) -> ReleasedCounts:
    """Every noisy count as drawn; of a cell that was drawn twice the mean that weighs the surer one more."""
    opened = {column["name"] for column in stated["columns"] if column["domain"] == "open"}
    threshold = (stated["values"] or {}).get("threshold") or 0
    table = pq.read_table(path)
    sums: dict[Combination, list[float]] = {}
    lowest: dict[Combination, int] = {}
    values: dict[str, set[str]] = {}
    for columns, cells, texts, count, scale in zip(
        *(table.column(name).to_pylist() for name in table.column_names), strict=True
    ):
        held = tuple(
            sorted(
                (column, text if cell == "value" else ABSENT if cell == "absent" else OTHER)
                for column, cell, text in zip(columns, cells, texts, strict=True)
            )
        )
        weight = 1 / scale**2
        entry = sums.setdefault(held, [0.0, 0.0])
        entry[0] += weight
        entry[1] += weight * count
        if len(columns) == 1 and cells[0] == "value":
            values.setdefault(columns[0], set()).add(texts[0])
            if columns[0] in opened:
                lowest[held] = threshold
    # What is other depends on which values were released: the cell's name says which.
    named = {column: _named_other(values.get(column, set())) for column in opened}
    count = stated["noisy_count"]
    combinations = [NUMBER_OF_RECORDS, *(_with_other(held, named) for held in sums)]
    counts = [count["value"], *(total / weight for weight, total in sums.values())]
    scales = [count["scale"], *(1 / math.sqrt(weight) for weight, _ in sums.values())]
    least = [-(2**62), *(lowest.get(held, -(2**62)) for held in sums)]
    return ReleasedCounts(
        kind="sampled" if stated["sampling"] else "noisy",
        combinations=tuple(combinations),
        counts=np.array(counts, np.float64),
        scales=np.array(scales)[:, None],
        weights=np.ones((len(scales), 1)),
        least=np.array(least, np.int64),
        columns=_names(stated),
        length=max((len(held) for held in sums), default=0),
    )


def _named_other(values: set[str]) -> str:
    """A name of the cell for all values but these."""
    return f"{OTHER} than {', '.join(sorted(values))}" if values else OTHER


def _with_other(held: Combination, named: Mapping[str, str]) -> Combination:
    return tuple((column, named.get(column, cell) if cell == OTHER else cell) for column, cell in held)


#: The chance of marking anything where nothing changed, for all comparisons together.
FALSE_ALARM = 0.05


class Change(NamedTuple):
    """A count that changed by more than its error explains.

    Attributes:
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
        return (self.now or 0) - (self.was or 0)


class OverTime(NamedTuple):
    """What was found. Attributes: compared: for each pair how many counts."""

    pairs: tuple[tuple[int, int], ...]
    compared: tuple[int, ...]
    changes: tuple[Change, ...]


def compare_over_time(releases: Sequence[ReleasedCounts], false_alarm: float = FALSE_ALARM) -> OverTime:
    """Compare releases in their order, those that can be compared with each other."""
    pairs = tuple(_pairs(releases))
    floors = _lowest_counts(releases)
    found = [
        _compare_noisy(releases[before], releases[after], floors)
        if releases[after].kind == "noisy"
        else _compare_rounded(releases[before], releases[after])
        for before, after in pairs
    ]
    compared = tuple(len(each.p_values) for each in found)
    adjusted = iter(holm(np.concatenate([each.p_values for each in found] or [np.empty(0)])).tolist())
    changes = []
    for (before, after), each in zip(pairs, found, strict=True):
        for name, was, now, least, most, _ in zip(*each, strict=True):
            if (p_value := next(adjusted)) < false_alarm:
                changes.append(Change(name, before, after, was, now, int(least), int(most), p_value))
    changes.sort(key=lambda each: (each.p_value, -abs(each.difference), each.combination, each.before))
    return OverTime(pairs, compared, tuple(changes))


def _pairs(releases: Sequence[ReleasedCounts]) -> Iterator[tuple[int, int]]:
    kinds = [release.kind for release in releases]
    usable = [place for place, kind in enumerate(kinds) if kind != "sampled"]
    steps = [(one, other) for one, other in itertools.pairwise(usable) if kinds[one] == kinds[other]]
    yield from steps
    if len(steps) > 1 and kinds[usable[0]] == kinds[usable[-1]]:
        yield usable[0], usable[-1]


def _lowest_counts(releases: Sequence[ReleasedCounts]) -> dict[Combination, int]:
    floors: dict[Combination, int] = {}
    for release in releases:
        for combination, least in zip(release.combinations, release.least.tolist(), strict=True):
            floors[combination] = max(least, floors.get(combination, least))
    return floors


class _Compared(NamedTuple):
    """The comparisons of one pair."""

    combinations: Sequence[Combination]
    was: Sequence[int | None]
    now: Sequence[int | None]
    at_least: Integers
    at_most: Integers
    p_values: Floats


def _compare_noisy(one: ReleasedCounts, other: ReleasedCounts, floors: dict[Combination, int]) -> _Compared:
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


def _compare_rounded(one: ReleasedCounts, other: ReleasedCounts) -> _Compared:
    counts = [
        dict(zip(each.combinations, each.counts.astype(np.int64).tolist(), strict=True))
        for each in (one, other)
    ]
    alike = one.columns == other.columns and one.length == other.length
    combinations = sorted(
        counts[0].keys() | counts[1].keys() if alike else counts[0].keys() & counts[1].keys()
    )
    was, now = ([held.get(each) for each in combinations] for held in counts)
    low, high = _range_of_true_counts(was, one.resolution)
    new_low, new_high = _range_of_true_counts(now, other.resolution)
    least, most = new_low - high, new_high - low
    is_certain = (least > 0) | (most < 0)
    return _Compared(combinations, was, now, least, most, np.where(is_certain, 0.0, 1.0))


def _range_of_true_counts(counts: Sequence[int | None], resolution: int) -> tuple[Integers, Integers]:
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
