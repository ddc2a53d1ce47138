"""Which sets of slots are grouped over the records, and which are rolled up from a larger set.

The shape of a table and the sets to count in; for each set the one it is rolled up from out. A *cube* holds
the filled cells of a set of slots, absent values (code 0) among them, so that every subset of its slots can
be added up from it. Pure functions: a plan decides how long counting takes, never what is counted.

    records ──group──▶ (sex, age, town)        a cube: wanted, or added for what is rolled up from it
                        ├─▶ (sex, age) ─▶ (sex)
                        ├─▶ (sex, town)
                        └─▶ (age, town)
"""

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from tasks.core.arrays import SlotNumbers, Words
from tasks.core.normal import normal_above

#: A cell of a set of slots is one number below this.
LARGEST_KEY = 1 << 62

#: Larger cubes are grouped over many records by hashing, several times as slow as by their place.
_CUBE_CELLS = 1 << 16
#: Cubes rolled up from the whole table have so many times fewer cells than it has records.
_STEP = 8
#: Adding up so many records takes no longer than finding a cube to do it from.
_FEW_RECORDS = 1 << 17
#: Slots tried before a cube is done growing.
_TRIES = 8
#: Cubes are grown one by one around at most so many sets, which takes a second; around more, of blocks.
_MANY_SETS = 4096
#: How many blocks may together reach the limit, as multiples of the longest set: from few and large ones on.
_BLOCKS_A_SLOT = (1.0, 1.5, 2.0)


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

    def product(self, slots: SlotNumbers) -> int:
        """Cells of a set of slots, empty ones included."""
        return math.prod(self.sizes[slot] for slot in slots)

    def bound(self, slots: SlotNumbers) -> int:
        """The most cells that can be filled."""
        return min(self.records, self.product(slots))

    def expected(self, slots: SlotNumbers) -> float:
        """About how many cells are filled, were the slots independent.

        A record's surprisal S = -ln p is taken as normal; a cell of probability p is filled by about
        min(1, n p) records' worth, so that E[min(n, e^S)] cells are filled.
        """
        if self.records < 2:
            return self.records
        mean = sum(self.means[slot] for slot in slots)
        spread = math.sqrt(sum(self.variances[slot] for slot in slots)) + 1e-9
        place = (math.log(self.records) - mean) / spread
        rare = self.records * normal_above(place)
        growth = min(mean + spread * spread / 2, 700.0)
        return min(rare + math.exp(growth) * normal_above(spread - place), self.bound(slots))


def plan_roll_ups(
    targets: Iterable[SlotNumbers], shape: Shape, most_cells: int
) -> dict[SlotNumbers, SlotNumbers | None]:
    """From what each set is rolled up; None: grouped over the records.

    >>> shape = Shape(records=1000, sizes=(3, 100, 30), means=(0.7, 4.0, 3.0), variances=(0.0, 0.3, 0.2))
    >>> plan_roll_ups([(0,), (0, 1), (0, 2)], shape, most_cells=10**6)
    {(0,): (0, 2), (0, 1): (0, 1, 2), (0, 2): (0, 1, 2), (0, 1, 2): None}

    Args:
        targets: the sets to count, each of at most ``most_cells`` cells (see `Shape.bound`) and at most
            `LARGEST_KEY` cells in all.
        shape: of the table.
        most_cells: no cube has more.

    Returns:
        A forest: for each target and each cube that was added, a proper superset in it, or None.
    """
    wanted = set(targets)
    longest = max(map(len, wanted), default=0)
    parents: dict[SlotNumbers, SlotNumbers | None] = {}
    loose = []
    by_entropy = sorted(range(len(shape.sizes)), key=shape.means.__getitem__)
    for target in sorted(wanted):
        larger = _extended(target, by_entropy) if len(target) < longest else ()
        smallest = next((slots for slots in larger if slots in wanted), None)
        if smallest is None:
            loose.append(target)
        else:
            parents[target] = smallest
    for limit in _limits(shape.records, most_cells):
        found = cover(loose, shape, limit, most_cells)
        parents.update(found)
        loose = sorted({found.get(slots, slots) for slots in loose} - parents.keys())
    if shape.records <= most_cells and len(loose) > 1:
        table = tuple(sorted(set().union(*loose)))
        parents.update((slots, table) for slots in loose if slots != table)
        loose = [table]
    return parents | dict.fromkeys(loose)


def cover(
    sets: Sequence[SlotNumbers], shape: Shape, limit: float, most_cells: int
) -> dict[SlotNumbers, SlotNumbers]:
    """Cubes of at most ``limit`` expected cells; for each set that is within a larger cube that cube.

    What finding them takes is bounded: each cube is fitted to the sets only while those are few.
    """
    fits = _Fits(shape, limit, most_cells)
    if len(sets) > _MANY_SETS:
        return _cover_by_blocks(sets, fits)
    return _cover_greedily([slots for slots in sets if fits(slots)], fits)


def _cover_greedily(waiting: Sequence[SlotNumbers], fits: "_Fits") -> dict[SlotNumbers, SlotNumbers]:
    """Grow a cube around the first set, and another around the first that is not in it, and so on."""
    shape = fits.shape
    bits = _bits(waiting, len(shape.sizes))
    cubes: dict[SlotNumbers, SlotNumbers] = {}
    left = np.arange(len(waiting))
    while len(left):
        start = waiting[left[0]]
        touching = (bits & bits[0]).any(axis=1)
        cube = _grown(start, bits[touching], fits)
        inside = ~(bits & ~_bits([cube], len(shape.sizes))).any(axis=1)
        cubes.update((waiting[index], cube) for index in left[inside].tolist() if waiting[index] != cube)
        left, bits = left[~inside], bits[~inside]
    return cubes


def _cover_by_blocks(sets: Sequence[SlotNumbers], fits: "_Fits") -> dict[SlotNumbers, SlotNumbers]:
    """Deal the slots out to blocks; the blocks that a set touches are its cube.

    What is in no cube that may be one, or alone in its own, is tried again with smaller blocks.
    """
    cubes: dict[SlotNumbers, SlotNumbers] = {}
    left, longest = sets, max(map(len, sets))
    for each in _BLOCKS_A_SLOT:
        block_of = _blocks(fits, each * longest)
        members = [np.flatnonzero(np.equal(block_of, block)).tolist() for block in range(max(block_of) + 1)]
        if len(members) == len(block_of):
            break
        touching: dict[frozenset[int], list[SlotNumbers]] = {}
        for slots in left:
            touching.setdefault(frozenset([block_of[slot] for slot in slots]), []).append(slots)
        left = []
        for blocks, inside in touching.items():
            cube = tuple(sorted(itertools.chain.from_iterable([members[block] for block in blocks])))
            if len(inside) > 1 and fits(cube):
                cubes.update((slots, cube) for slots in inside if slots != cube)
            else:
                left += inside
    return cubes


def _blocks(fits: "_Fits", number: float) -> list[int]:
    """The block of each slot: so many blocks together have about as many cells as a cube may have."""
    shape = fits.shape
    most = min(fits.most_cells, LARGEST_KEY) if shape.records > fits.most_cells else LARGEST_KEY
    room = math.log(max(fits.limit, 1)) / number, math.log(most) / number
    sizes = [math.log(size) for size in shape.sizes]
    # Few cells of the product are filled, were the slots independent: about e^(mean + variance / 2).
    filled = [mean + variance / 2 for mean, variance in zip(shape.means, shape.variances, strict=True)]
    filled = [min(own, size) for own, size in zip(filled, sizes, strict=True)]
    blocks: list[tuple[float, float]] = []
    block_of = [0] * len(sizes)
    for slot in sorted(range(len(sizes)), key=lambda slot: (-filled[slot], slot)):
        for block, (cells, size) in enumerate(blocks):
            if cells + filled[slot] <= room[0] and size + sizes[slot] <= room[1]:
                blocks[block] = cells + filled[slot], size + sizes[slot]
                block_of[slot] = block
                break
        else:
            block_of[slot] = len(blocks)
            blocks.append((filled[slot], sizes[slot]))
    return block_of


@dataclass(frozen=True)
class _Fits:
    """Whether a set of slots may be a cube."""

    shape: Shape
    limit: float
    most_cells: int

    def __call__(self, slots: SlotNumbers) -> bool:
        small = self.shape.bound(slots) <= self.most_cells and self.shape.product(slots) <= LARGEST_KEY
        return small and self.shape.expected(slots) <= self.limit


def _grown(start: SlotNumbers, bits: Words, fits: _Fits) -> SlotNumbers:
    """A cube around a set: the slot that completes most of the given sets comes first."""
    cube, width = start, len(fits.shape.sizes)
    while True:
        rest = bits & ~_bits([cube], width)
        missing = np.bitwise_count(rest).sum(axis=1)
        near = (missing == 1) | (missing == 2)
        lacking = np.unpackbits(rest[near].view(np.uint8), axis=1, bitorder="little")[:, :width]
        # A slot gains whole sets that lack it alone, and a little for those that lack another one beside it.
        gains = np.where(missing[near] == 1, 1.0, 0.125) @ lacking
        for slot in np.argsort(-gains, kind="stable")[: min(_TRIES, np.count_nonzero(gains))].tolist():
            larger = tuple(sorted((*cube, slot)))
            if fits(larger):
                break
        else:
            return cube
        cube = larger


def _bits(sets: Sequence[SlotNumbers], width: int) -> Words:
    """Each set as a row of bits, the low ones first."""
    rows = np.zeros((len(sets), -(-width // 64) * 64), np.uint8)
    for index, slots in enumerate(sets):
        rows[index, list(slots)] = 1
    return np.packbits(rows, axis=1, bitorder="little").view(np.uint64)


def _extended(slots: SlotNumbers, others: Iterable[int]) -> Iterable[SlotNumbers]:
    """All sets of one slot more, in an order of the slots."""
    for slot in others:
        if slot not in slots:
            yield tuple(sorted((*slots, slot)))


def _limits(records: int, most_cells: int) -> list[float]:
    """Expected cells of the cubes of each level, the small ones first.

    What fits in memory whole is grouped whole, and cubes on the way down pay for many records only.
    """
    if records > most_cells:
        return [min(most_cells, _CUBE_CELLS)]
    return [records / _STEP] if records > _FEW_RECORDS else []
