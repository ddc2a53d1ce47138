"""Counts beside each other: records or aggregates in, sums by length and bin of the compared count out.

Every measure of evaluation (sds.md 5) is a ratio of these sums. s is a combination's count on the reference
side (sensitive, or reportable), y on the compared side (reportable, or synthetic); 0 where it is absent.
Records are counted as they are compared, one set of columns at a time: no table of all combinations is made,
so that memory is that of the sides and of one set's counts. Which zone the result belongs to is that of its
inputs.
"""

import itertools
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.aggregates.keys import joint_keys
from tasks.core.errors import ParameterError
from tasks.core.evaluation import comparison_kernels as kernels
from tasks.core.evaluation.cells import Cells, Columns, Numbering, Side, cells_of, distinct
from tasks.core.queries import Resources
from tasks.core.records.coded import CodedRecords

Numbers = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
#: Called with the fraction done, 0..1.
Progress = Callable[[float], None]

_FIRST_BIN = 10
#: A cube of more cells is not made, nor one of more cells a row (unless few): then rows are sorted instead.
_MOST_CELLS = 1 << 22
_CELLS_A_ROW = 8
_FEW_CELLS = 1 << 12


@dataclass(frozen=True)
class MarginalDistance:
    """Of all sets of columns of one length: mean and largest total variation distance, 0..1."""

    length: int
    marginals: int
    mean: float
    largest: float


@dataclass(frozen=True)
class Comparison:
    """Sums over combinations, by length and by bin of the compared count.

    Attributes:
        resolution: the reporting resolution; a count below it is rare.
        reference_records, compared_records: number of records of the two sides.
        lengths: the lengths compared, ascending from 1.
        sums: by name (see `MEASURES`) float64 (lengths, bins).
        distances: by length, where both sides are records: half the L1 distance of the two shares of
            records with each tuple of values, absence being a value like any other, so that leaving cells
            empty costs what it should. A multi-valued column stands by its slots: shares are then of
            records times choices of slots. Where one side has no record and the other has, the distance is 1.
    """

    resolution: int
    reference_records: int
    compared_records: int
    lengths: tuple[int, ...]
    sums: Mapping[str, Numbers]
    distances: tuple[MarginalDistance, ...] = ()

    @property
    def bins(self) -> tuple[int, ...]:
        """Upper bounds of the bins, ascending: 10, 20, 40, ..."""
        return tuple(_FIRST_BIN << index for index in range(self.sums["combinations"].shape[1]))

    def total(self, measure: str) -> float:
        """Over all combinations."""
        return float(self.sums[measure].sum())

    def by_length(self, measure: str) -> Numbers:
        """Over the combinations of each length."""
        return np.asarray(self.sums[measure].sum(axis=1), np.float64)

    def by_bin(self, measure: str) -> Numbers:
        """Over the combinations of each bin."""
        return np.asarray(self.sums[measure].sum(axis=0), np.float64)


#: The sums of a `Comparison`. Kept: both sides hold it; suppressed, fabricated: one alone does.
#: ``population`` is SDS's {s >= resolution} or {y > 0}, over which ``preservation`` and
#: ``proportional_error`` are summed.
MEASURES = (
    *kernels.MEASURES,
    "combinations",
    "suppressed",
    "fabricated",
    "error_union",
    "error_reference",
)


def ratio(numerator: float, denominator: float) -> float:
    """The ratio, 0 where there is nothing to divide by."""
    return numerator / denominator if denominator else 0.0


def number_of_bins(largest: int) -> int:
    """How many bins of upper bounds 10, 20, 40, ... reach the largest compared count; at least one."""
    return int(kernels.bin_of(largest)) + 1


def compare(
    reference: Side,
    compared: Side,
    resolution: int,
    longest: int | None = None,
    resources: Resources = Resources(),
) -> Comparison:
    """Compare two sides (see `compare_sides`)."""
    return compare_sides((reference, compared), ((0, 1),), resolution, longest, resources)[0]


def compare_sides(
    sides: Sequence[Side],
    pairs: Sequence[tuple[int, int]],
    resolution: int,
    longest: int | None = None,
    resources: Resources = Resources(),
    progress: Progress = lambda fraction: None,
) -> list[Comparison]:
    """Compare sides in pairs, each side counted once; equal results whatever the number of threads.

    Args:
        sides: of the same columns in the same order; records are taken in full.
        pairs: places in ``sides``: the one whose counts are taken as right, the one that is judged.
        resolution: at least 1.
        longest: longest length compared; None: the shortest reporting length of aggregates. Aggregates that
            end before report nothing of the lengths beyond.
        resources: number of threads.
        progress: called with the fraction done.

    Raises:
        ParameterError: if the resolution is below 1.
    """
    if resolution < 1:
        raise ParameterError(f"A reporting resolution is at least 1, not {resolution}.")
    numbering, cells = cells_of(sides)
    lengths = tuple(range(1, _longest(sides, numbering, longest) + 1))
    families = [family for length in lengths for family in _families(cells, length)]
    totals = [_Total(len(lengths)) for _ in pairs]
    done, number = 0, sum(map(len, families))

    def run(family: list[Columns]) -> list[_Found]:
        own = _Sides(numbering, [side.again() for side in cells], pairs, resolution)
        found = [_Found() for _ in pairs]
        for columns in family:
            _compare_columns(columns, own, found)
        return found

    for family, results in zip(families, _mapped(run, families, resources), strict=True):
        for total, one in zip(totals, results, strict=True):
            total.add(len(family[0]), one)
        done += len(family)
        progress(done / number)
    return [
        total.comparison((sides[first], sides[second]), resolution)
        for total, (first, second) in zip(totals, pairs, strict=True)
    ]


class _Found:
    """Sums by bin and measure over some sets of columns, and the total variation distance of each."""

    def __init__(self) -> None:
        self.sums = np.zeros((kernels.MOST_BINS, len(kernels.MEASURES)))
        self.distances: list[float] = []


@dataclass(frozen=True)
class _Sides:
    """What is compared with what."""

    numbering: Numbering
    cells: Sequence[Cells]
    pairs: Sequence[tuple[int, int]]
    resolution: int


class _Total:
    """What is found of one pair of sides, added up in one order whoever found it first."""

    def __init__(self, lengths: int) -> None:
        self._sums = np.zeros((lengths, kernels.MOST_BINS, len(kernels.MEASURES)))
        self._distances: list[list[float]] = [[] for _ in range(lengths)]

    def add(self, length: int, found: _Found) -> None:
        self._sums[length - 1] += found.sums
        self._distances[length - 1] += found.distances

    def comparison(self, sides: tuple[Side, Side], resolution: int) -> Comparison:
        both_records = all(isinstance(side, CodedRecords) for side in sides)
        distances = (
            MarginalDistance(length, len(own), math.fsum(own) / len(own), max(own))
            for length, own in enumerate(self._distances, start=1)
            if own
        )
        return Comparison(
            resolution=resolution,
            reference_records=sides[0].number_of_records,
            compared_records=sides[1].number_of_records,
            lengths=tuple(range(1, len(self._sums) + 1)),
            sums=_named(self._sums),
            distances=tuple(distances) if both_records else (),
        )


def _named(sums: Numbers) -> dict[str, Numbers]:
    """By name (lengths, bins), without the bins beyond the largest compared count."""
    held = np.flatnonzero(sums[:, :, kernels.MEASURES.index("compared")].any(axis=0))
    bins = int(held.max(initial=0)) + 1
    found = {name: sums[:, :bins, place].copy() for place, name in enumerate(kernels.MEASURES)}
    found["combinations"] = found["reference"] + found["compared"] - found["kept"]
    found["suppressed"] = found["reference"] - found["kept"]
    found["fabricated"] = found["compared"] - found["kept"]
    # |s - y| = s + y - 2 min(s, y)
    both = found["reference_count"] + found["compared_count"]
    found["error_union"] = both - 2 * found["preserved_count"]
    found["error_reference"] = found["error_union"] - found["fabricated_count"]
    return found


def _longest(sides: Sequence[Side], numbering: Numbering, longest: int | None) -> int:
    reported = [side.reporting_length for side in sides if isinstance(side, Aggregates)]
    if len(reported) == len(sides):
        return min(reported) if longest is None else longest
    # No side can have a combination of more attributes than records have slots.
    wanted = min(reported, default=len(numbering.slot_columns)) if longest is None else longest
    return min(wanted, len(numbering.slot_columns))


def _families(cells: Sequence[Cells], length: int) -> Iterator[list[Columns]]:
    """Sets of columns that agree in all but the last: they share work."""
    every = sorted(set().union(*(side.column_sets(length) for side in cells)))
    for _, family in itertools.groupby(every, key=lambda columns: columns[:-1]):
        yield list(family)


def _mapped(
    run: Callable[[list[Columns]], list[_Found]],
    families: Iterable[list[Columns]],
    resources: Resources,
) -> Iterator[list[_Found]]:
    threads = resources.threads or os.cpu_count() or 1
    if threads == 1:
        yield from map(run, families)
        return
    with ThreadPoolExecutor(threads) as pool:
        yield from pool.map(run, families)


def _compare_columns(columns: Columns, sides: _Sides, found: Sequence[_Found]) -> None:
    """Add the combinations of one set of columns to what is found of each pair."""
    sizes, cells = sides.numbering.sizes(columns), sides.cells
    rows = sum(side.number_of_rows(columns) for side in cells)
    if math.prod(sizes) <= min(_MOST_CELLS, max(_CELLS_A_ROW * rows, _FEW_CELLS)):
        cubes, each = [side.cube(columns) for side in cells], np.array(sizes, np.int64)
        for (first, second), own in zip(sides.pairs, found, strict=True):
            pair = (cubes[first], cubes[second])
            own.distances.append(kernels.compare_cubes(*pair, each, sides.resolution, own.sums))
        return
    ranked, bound = _ranked(columns, sizes, cells)
    for (first, second), own in zip(sides.pairs, found, strict=True):
        both = (ranked[first], ranked[second])
        own.distances.append(kernels.compare_sorted(*both, bound, sides.resolution, own.sums))


def _ranked(
    columns: Columns, sizes: Sequence[int], cells: Sequence[Cells]
) -> tuple[list[tuple[Integers, Integers]], int]:
    """Each side's cells as ascending keys and counts; those with an absent value come last."""
    given = [side.rows(columns) for side in cells]
    keys, bound = joint_keys([codes for codes, _ in given], sizes)
    ranked = []
    for own, (codes, counts) in zip(keys, given, strict=True):
        for code in codes:
            own[(code == 0) & (own < bound)] += bound
        ranked.append(distinct(own, counts))
    return ranked, bound
