"""Which combinations are candidates at a length: those whose shorter sub-combinations all survived.

Nothing here sees a record, so what it gives is public (C8). Combinations whose cube is too large to visit are
for `sparse`.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tasks.core.arrays import Codes, ColumnNumbers, Flags, Floats, HalfWords, Integers
from tasks.core.dp import kernels


@dataclass(frozen=True)
class SizeRule:
    """When a combination's cube is visited cell by cell: a function of public sizes alone (R15).

    Attributes:
        cube: the largest cube, in cells.
        level: the most cells of one length, smallest cubes first.
        kept: the most cells of combinations whose columns are all declared, where non-survivors are
            kept as well.
    """

    cube: int = 1 << 24
    level: int = 1 << 26
    kept: int = 1 << 23

    def visited(self, cells: Floats, declared: Flags) -> Flags:
        """Which of the combinations with so many cells each are visited."""
        order = np.argsort(cells, kind="stable")
        fits = np.empty(len(cells), bool)
        fits[order] = (cells[order] <= self.cube) & (np.cumsum(cells[order]) <= self.level)
        kept = order[declared[order]]
        fits[kept] &= np.cumsum(cells[kept]) <= self.kept
        return fits


@dataclass(frozen=True)
class Survivors:
    """What survived at one length, by combination.

    Attributes:
        combinations: ``schema.combinations(k)``.
        starts: int64 (C + 1,), the rows of each combination.
        codes: uint32 (N, k), ascending within a combination.
    """

    combinations: list[ColumnNumbers]
    starts: Integers
    codes: HalfWords

    @cached_property
    def index(self) -> dict[ColumnNumbers, int]:
        return {combination: place for place, combination in enumerate(self.combinations)}

    def of(self, combination: ColumnNumbers) -> HalfWords:
        place = self.index[combination]
        return self.codes[self.starts[place] : self.starts[place + 1]]


@dataclass(frozen=True)
class Kept:
    """What is kept of one length, with the columns of `measurement.Level`, in canonical order (C10)."""

    combinations: HalfWords
    codes: HalfWords
    counts: Integers
    survives: Flags

    def survivors(self, combinations: list[ColumnNumbers]) -> Survivors:
        surviving = self.combinations[self.survives]
        starts = np.searchsorted(surviving, np.arange(len(combinations) + 1)).astype(np.int64)
        return Survivors(combinations, starts, self.codes[self.survives])


class Lattice:
    """The survivors of all lengths so far, and the place of a tuple among them.

    A tuple's key is the place of its first k-1 codes among the survivors of that combination, times the
    size of its last column, plus its last code: it fits 64 bits whatever the sizes are.

        survivors of (sex, town)       (1, 2)  (2, 1)  (2, 3)
        their places                      0       1       2
        key of (2, 1, 5) in (sex, town, age), of age 10 codes:  1 * 10 + 5
    """

    def __init__(self, values: Integers) -> None:
        """Args: values: for each column how many values survived (all of them, from here on)."""
        self.sizes = values + 1
        self.levels: list[Survivors] = []
        self._keys: dict[ColumnNumbers, Integers] = {}

    def __getstate__(self) -> tuple[Integers, list[Survivors]]:
        return self.sizes, self.levels

    def __setstate__(self, state: tuple[Integers, list[Survivors]]) -> None:
        self.sizes, self.levels = state
        self._keys = {}

    def rank(self, combination: ColumnNumbers, codes: list[Codes]) -> Integers:
        """For each tuple its place among the combination's survivors, or -1.

        Args:
            combination: of any length up to the last one added; ``()`` has one tuple, at place 0.
            codes: one array a column of the combination.
        """
        if len(combination) == 1:  # every code that is left survived
            return codes[0].astype(np.int64) - 1
        prefix = self.rank(combination[:-1], codes[:-1])
        keys = self.keys(combination)
        if not len(keys):
            return np.full(len(codes[-1]), -1)
        wanted = prefix * self.sizes[combination[-1]] + codes[-1]
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where((prefix >= 0) & (keys[place] == wanted), place, -1)

    def keys(self, combination: ColumnNumbers) -> Integers:
        """The ascending keys of a combination's survivors."""
        if combination not in self._keys:
            codes = list(self.levels[len(combination) - 1].of(combination).T)
            prefix = self.rank(combination[:-1], codes[:-1]) if len(combination) > 1 else 0
            self._keys[combination] = prefix * self.sizes[combination[-1]] + codes[-1].astype(np.int64)
        return self._keys[combination]


@dataclass(frozen=True)
class Cubes:
    """Cubes of some combinations of one length, one after the other in a flat array.

    Attributes:
        ids: (C,) places in ``schema.combinations(k)``, ascending.
        columns, sizes: int64 (C, k): the columns, and one more than their numbers of values.
        offsets: int64 (C + 1,): where each cube begins; last, the number of cells.
    """

    ids: Integers
    columns: Integers
    sizes: Integers
    offsets: Integers

    @classmethod
    def of(cls, combinations: list[ColumnNumbers], ids: Integers, sizes: Integers) -> "Cubes":
        """The cubes of the combinations with these ids; ``sizes`` is by column."""
        length = len(combinations[0]) if combinations else 1
        columns = np.array([combinations[place] for place in ids], np.int64).reshape(len(ids), length)
        offsets = np.concatenate([[0], np.cumsum(np.prod(sizes[columns], axis=1))]).astype(np.int64)
        return cls(ids, columns, sizes[columns], offsets)

    def places(self, combinations: Integers, codes: HalfWords) -> Integers:
        """Where the tuples lie in the flat array.

        Args:
            combinations: int64 (N,), places in this object (not ids).
            codes: (N, k).
        """
        keys = np.zeros(len(codes), np.int64)
        for place in range(codes.shape[1]):
            keys = keys * self.sizes[combinations, place] + codes[:, place]
        return keys + self.offsets[combinations]


def flag_candidates(cubes: Cubes, lattice: Lattice) -> tuple[HalfWords, Integers]:
    """Cells with the candidates flagged and counts of zero, and how many candidates each cube has."""
    below = lattice.levels[-1]
    without = [
        [below.index[(*columns[:place], *columns[place + 1 :])] for place in range(len(columns))]
        for columns in map(tuple, cubes.columns.tolist())
    ]
    parts = np.array(without, np.int64).reshape(cubes.columns.shape)
    needed, place = np.unique(parts, return_inverse=True)
    lower = Cubes.of(below.combinations, needed, lattice.sizes)
    alive = np.zeros(int(lower.offsets[-1]), np.uint8)
    counts = below.starts[lower.ids + 1] - below.starts[lower.ids]
    combinations = np.repeat(np.arange(len(lower.ids)), counts)
    begins = np.repeat(below.starts[lower.ids] - np.cumsum(counts) + counts, counts)
    rows = begins + np.arange(len(combinations))
    alive[lower.places(combinations, below.codes[rows])] = 1
    cells = np.zeros(int(cubes.offsets[-1]), np.uint32)
    found = kernels.mark_candidates(
        cubes.columns, cubes.sizes, cubes.offsets, alive, lower.offsets[place.reshape(parts.shape)], cells
    )
    return cells, found
