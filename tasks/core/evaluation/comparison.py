"""Counts beside each other: records or aggregates in, sums by length and bin of the compared count out.

Records are counted as they are compared, one set of columns at a time, so that memory is that of the sides
and of one set's counts. Which zone the result belongs to is that of its inputs.
"""

import itertools
import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from typing import Any, NamedTuple

import numpy as np

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.aggregates.cubes import CubeTable, Tabulator
from tasks.core.arrays import Floats, Integers
from tasks.core.errors import ParameterError
from tasks.core.evaluation import kernels
from tasks.core.evaluation.compared_sides import ComparedData, ComparedSides, SlotNumbering, Unit
from tasks.core.evaluation.measures import Comparison, MarginalDistance, named_sums
from tasks.core.pool import map_on_threads
from tasks.core.queries import QueryResources

#: Sets of columns of so few records are compared by one thread: several would wait for the interpreter.
_FEW_RECORDS = 1 << 12


@dataclass(frozen=True)
class Listener:
    """Who is told while sides are compared.

    Attributes:
        progress: called with the fraction done, 0..1.
        visit: called by any thread with the counts of each set of columns, sides in order, or of some sets;
            may use them up.
        take: called with what ``visit`` gave, shortest sets first, otherwise in the order of the columns.
    """

    progress: Callable[[float], None] = lambda fraction: None
    visit: Callable[[CubeTable], Any] | None = None
    take: Callable[[Any], None] = lambda told: None


def compare_two(
    reference: ComparedData,
    compared: ComparedData,
    resolution: int,
    longest: int | None = None,
    resources: QueryResources = QueryResources(),
) -> Comparison:
    """Compare two sides (see `compare_sides`).

    >>> from tasks.core.records.coded import CodedRecords
    >>> from tasks.core.records.columns import Column, Schema
    >>> def women_and_men(*codes):
    ...     sex = (np.array(codes, np.uint8),)
    ...     return CodedRecords(Schema((Column("sex"),)), sex, (0,), (("female", "male"),), len(codes))
    >>> found = compare_two(women_and_men(1, 1, 1, 2), women_and_men(1, 1, 1, 1), resolution=2)
    >>> found.total("suppressed"), found.total("error_kept"), float(found.distances[0].largest)
    (1.0, 1.0, 0.25)
    """
    return compare_sides((reference, compared), ((0, 1),), resolution, longest, resources)[0]


def compare_sides(
    sides: Sequence[ComparedData],
    pairs: Sequence[tuple[int, int]],
    resolution: int,
    longest: int | None = None,
    resources: QueryResources = QueryResources(),
    listener: Listener = Listener(),
) -> list[Comparison]:
    """Compare sides in pairs, each side counted once; equal results whatever the number of threads.

    Args:
        sides: of the same columns in the same order; records are taken in full.
        pairs: places in ``sides``: the one whose counts are taken as right, the one that is judged.
        longest: longest length compared; None: the shortest reporting length of aggregates. Aggregates that
            end before report nothing of the lengths beyond.

    Raises:
        ParameterError: if the resolution is below 1.
    """
    if resolution < 1:
        raise ParameterError(f"A reporting resolution is at least 1, not {resolution}.")
    own = ComparedSides(sides)
    sets = [own.column_sets(length + 1) for length in range(_longest(sides, own.numbering, longest))]
    sums = np.zeros((len(pairs), len(sets), kernels.MOST_BINS, len(kernels.MEASURES)))
    distances: list[list[Floats]] = [[] for _ in sets]
    done, number = 0, sum(map(len, sets))
    compare = partial(
        _compare_unit, pairs=np.array(pairs, np.int64), resolution=resolution, visit=listener.visit
    )

    rows = sum(side.number_of_records for side in sides)
    threads = (resources.threads or os.cpu_count() or 1) if rows > _FEW_RECORDS else 1
    units = itertools.chain.from_iterable(map(own.units, sets))
    for families in _compare_units(compare, own, units, threads):
        for family in families:  # added up in one order, whoever found it first
            sums[:, family.length - 1] += family.sums
            distances[family.length - 1] += family.distances
            for told in family.told:
                listener.take(told)
            done += len(family.distances)
        listener.progress(done / number)
    return [
        Comparison(
            resolution=resolution,
            reference_records=sides[first].number_of_records,
            compared_records=sides[second].number_of_records,
            lengths=tuple(range(1, len(sets) + 1)),
            sums=named_sums(sums[place]),
            distances=()
            if isinstance(sides[first], Aggregates) or isinstance(sides[second], Aggregates)
            else tuple(_mean_distances([[found[place] for found in own] for own in distances])),
        )
        for place, (first, second) in enumerate(pairs)
    ]


class _Family(NamedTuple):
    """What was found of sets of columns that agree in all but the last, and told of each table."""

    length: int
    sums: Floats
    distances: list[Floats]
    told: list[Any]


def _mean_distances(by_length: Sequence[Sequence[float]]) -> Iterator[MarginalDistance]:
    for length, own in enumerate(by_length, start=1):
        if own:
            yield MarginalDistance(length, len(own), math.fsum(own) / len(own), max(own))


def _longest(sides: Sequence[ComparedData], numbering: SlotNumbering, longest: int | None) -> int:
    reported = [side.reporting_length for side in sides if isinstance(side, Aggregates)]
    if len(reported) == len(sides):
        return min(reported) if longest is None else longest
    # No side can have a combination of more attributes than records have slots.
    wanted = min(reported, default=len(numbering.slot_columns)) if longest is None else longest
    return min(wanted, len(numbering.slot_columns))


def _compare_units(
    compare: Callable[[Tabulator, Unit], list[_Family]],
    sides: ComparedSides,
    units: Iterator[Unit],
    threads: int,
) -> Iterator[list[_Family]]:
    if not sides.are_in_memory:
        return map_on_threads(
            lambda unit: compare(sides.tabulator(unit), unit), units, threads, ahead=2 * threads
        )
    free: SimpleQueue[Tabulator] = SimpleQueue()
    for _ in range(threads):
        free.put(sides.tabulator())

    def with_counter(unit: Unit) -> list[_Family]:
        counter = free.get()
        try:
            return compare(counter, unit)
        finally:
            free.put(counter)

    return map_on_threads(with_counter, units, threads)


def _compare_unit(
    counter: Tabulator,
    unit: Unit,
    pairs: Integers,
    resolution: int,
    visit: Callable[[CubeTable], Any] | None,
) -> list[_Family]:
    """Compare sets of columns; sums are taken family by family, whoever does it."""
    families = []
    for _, alike in itertools.groupby(unit.sets, key=lambda columns: columns[:-1]):
        sets = list(alike)
        sums = np.zeros((len(pairs), kernels.MOST_BINS, len(kernels.MEASURES)))
        family = _Family(len(sets[0]), sums, [], [])
        for table in counter.tables(sets):
            distances = np.empty((len(table.sets), len(pairs)))
            of = (table.cubes, table.totals, (table.whole, table.first))
            kernels.compare_cubes(*of, pairs, resolution, family.sums, distances)
            family.distances.extend(distances)
            if visit is not None:
                family.told.append(visit(table))
        families.append(family)
    return families
