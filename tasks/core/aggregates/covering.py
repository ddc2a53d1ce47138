"""Which sets of slots are grouped over the records, and which are rolled up from a larger set.

The shape of a table and the sets to count in; for each set the one it is rolled up from out. A *cube* holds
the filled cells of a set of slots, absent values (code 0) among them, so that every subset of its slots can
be added up from it. Pure functions: a plan decides how long counting takes, never what is counted.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

#: Indexes of slots, ascending.
Slots = tuple[int, ...]

#: A cell of a set of slots is one number below this.
LARGEST_KEY = 1 << 62

#: Expected cells of the cubes of each level, in records.
_LEVELS = (0.125, 1.0)


@dataclass(frozen=True)
class Shape:
    """What is known of a table before its combinations are counted.

    Attributes:
        records: n.
        sizes: for each slot the number of its values, the absent one included.
        means: for each slot the mean of -ln p(value) over the records: its entropy.
        variances: for each slot the variance of the same.
    """

    records: int
    sizes: tuple[int, ...]
    means: tuple[float, ...]
    variances: tuple[float, ...]

    def product(self, slots: Slots) -> int:
        """Cells of a set of slots, empty ones included."""
        return math.prod(self.sizes[slot] for slot in slots)

    def bound(self, slots: Slots) -> int:
        """The most cells that can be filled."""
        return min(self.records, self.product(slots))

    def expected(self, slots: Slots) -> float:
        """About how many cells are filled, were the slots independent.

        A record's surprisal S = -ln p is taken as normal; a cell of probability p is filled by about
        min(1, n p) records' worth, so that E[min(n, e^S)] cells are filled.
        """
        if self.records < 2:
            return self.records
        mean = sum(self.means[slot] for slot in slots)
        spread = math.sqrt(sum(self.variances[slot] for slot in slots)) + 1e-9
        place = (math.log(self.records) - mean) / spread
        rare = self.records * _normal_above(place)
        growth = min(mean + spread * spread / 2, 700.0)
        return min(rare + math.exp(growth) * _normal_above(spread - place), self.bound(slots))


def plan(targets: Iterable[Slots], shape: Shape, most_cells: int) -> dict[Slots, Slots | None]:
    """From what each set is rolled up; None: grouped over the records.

    Args:
        targets: the sets to count, each of at most ``most_cells`` cells (see `Shape.bound`) and at most
            `LARGEST_KEY` cells in all.
        shape: of the table.
        most_cells: no cube has more.

    Returns:
        A forest: for each target and each cube that was added, a proper superset in it, or None.
    """
    wanted = set(targets)
    parents: dict[Slots, Slots | None] = {}
    loose = []
    for target in sorted(wanted):
        larger = _smallest(wanted.intersection(_extended(target, len(shape.sizes))), shape)
        if larger is None:
            loose.append(target)
        else:
            parents[target] = larger
    for limit in _limits(shape.records, most_cells):
        found = cover(loose, shape, limit, most_cells)
        parents.update(found)
        loose = sorted({found.get(target, target) for target in loose} - parents.keys())
    return parents | dict.fromkeys(loose)


def cover(sets: Sequence[Slots], shape: Shape, limit: float, most_cells: int) -> dict[Slots, Slots]:
    """Cubes of at most ``limit`` expected cells, greedily; for each set within a larger cube that cube."""
    cubes: dict[Slots, Slots] = {}
    holds = np.zeros((len(shape.sizes), len(sets)), np.bool_)
    for index, slots in enumerate(sets):
        holds[list(slots), index] = True
    waiting = np.ones(len(sets), np.bool_)
    for index, slots in enumerate(sets):
        if not waiting[index] or shape.expected(slots) > limit:
            continue
        cube, covered = _grown(slots, holds, waiting, _Fits(shape, limit, most_cells))
        waiting[covered] = False
        within = [sets[other] for other in np.flatnonzero(covered).tolist()]
        cubes.update((smaller, cube) for smaller in within if smaller != cube)
    return cubes


@dataclass(frozen=True)
class _Fits:
    shape: Shape
    limit: float
    most_cells: int

    def __call__(self, slots: Slots) -> bool:
        packed = self.limit >= self.shape.records or self.shape.product(slots) <= LARGEST_KEY
        small = self.shape.bound(slots) <= self.most_cells
        return packed and small and self.shape.expected(slots) <= self.limit


def _grown(
    start: Slots, holds: npt.NDArray[np.bool_], waiting: npt.NDArray[np.bool_], fits: _Fits
) -> tuple[Slots, npt.NDArray[np.bool_]]:
    """A cube around a set, and which waiting sets it covers: the slot that covers most comes first."""
    cube = start
    outside = np.where(waiting, holds.sum(axis=0) - holds[list(cube)].sum(axis=0), len(holds) + 1)
    while True:
        near = (outside == 1) | (outside == 2)
        gains: npt.NDArray[np.float64] = holds[:, near] @ np.where(outside[near] == 1, 1.0, 0.125)
        gains[list(cube)] = 0
        for slot in np.argsort(-gains, kind="stable")[: np.count_nonzero(gains)].tolist():
            larger = tuple(sorted((*cube, slot)))
            if fits(larger):
                break
        else:
            return cube, outside == 0
        cube = larger
        outside = outside - holds[slot]


def _extended(slots: Slots, width: int) -> Iterable[Slots]:
    """All sets of one slot more."""
    for slot in range(width):
        if slot not in slots:
            yield tuple(sorted((*slots, slot)))


def _smallest(sets: Iterable[Slots], shape: Shape) -> Slots | None:
    return min(sets, key=lambda slots: (shape.expected(slots), slots), default=None)


def _limits(records: int, most_cells: int) -> list[float]:
    return [min(records, most_cells) * level for level in _LEVELS]


def _normal_above(value: float) -> float:
    """How often a standard normal is above a value."""
    return 0.5 * math.erfc(value / math.sqrt(2))
