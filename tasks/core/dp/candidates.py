"""Which combinations are candidates at a length: those whose shorter sub-combinations all survived.

In: the survivors of the lengths before, all of them already released. Out: for combinations whose cube
is small enough to visit, a flat array of cells with the candidates flagged; the others are for
`sparse`. No function that makes candidates sees a record, so what it gives is public (C8).

`DenseCounts` and what follows counts them exactly, and each record's candidates, by one pass over codes that
were re-encoded to survivors, so that what died at length 1 is absent. No count leaves the measuring step.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tasks.core.arrays import Bytes, Codes, ColumnNumbers, Flags, Floats, HalfWords, Integers, Words
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
        """The place of each combination."""
        return {combination: place for place, combination in enumerate(self.combinations)}

    def of(self, combination: ColumnNumbers) -> HalfWords:
        """The surviving tuples of one combination."""
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
        """The surviving rows by combination."""
        of = self.combinations[self.survives]
        starts = np.searchsorted(of, np.arange(len(combinations) + 1)).astype(np.int64)
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
        """The cubes of those of the combinations with these ids; ``sizes`` is by column."""
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
    alive = _alive(below, lower)
    cells = np.zeros(int(cubes.offsets[-1]), np.uint32)
    found = kernels.mark_candidates(
        cubes.columns, cubes.sizes, cubes.offsets, alive, lower.offsets[place.reshape(parts.shape)], cells
    )
    return cells, found


def _alive(survivors: Survivors, cubes: Cubes) -> Bytes:
    """One byte a cell: 1 where the tuple survived."""
    alive = np.zeros(int(cubes.offsets[-1]), np.uint8)
    counts = survivors.starts[cubes.ids + 1] - survivors.starts[cubes.ids]
    combinations = np.repeat(np.arange(len(cubes.ids)), counts)
    begins = np.repeat(survivors.starts[cubes.ids] - np.cumsum(counts) + counts, counts)
    rows = begins + np.arange(len(combinations))
    alive[cubes.places(combinations, survivors.codes[rows])] = 1
    return alive


CodeMatrix = npt.NDArray[np.unsignedinteger]
#: One random state, one number of tuples left and one number still to drop for each record (`drop_tuples`).
Coins = tuple[Words, Integers, Integers]
#: Some combinations of a length that follow each other: the first one's place, and the next one's after them.
Portion = tuple[int, int]

#: Rows a pass: the partial keys of a block stay in the cache for short lengths; a large cube of a long
#: length is better reused while it is there.
_SHORT, _LONG = 1 << 16, 1 << 20


@dataclass(frozen=True)
class Answer:
    """The exact counts of one length in some of the records: sensitive, so its text shows none.

    Attributes:
        cells: uint32, of the candidates that are visited, in order.
        held: of each table that is not visited the keys that records hold, ascending, and their counts.
    """

    cells: HalfWords = field(repr=False)
    held: tuple[tuple[Integers, Integers], ...] = field(default=(), repr=False)


@dataclass(frozen=True)
class SurvivingCodes:
    """Records re-encoded to the values that survived length 1; all else is absent.

    Attributes:
        codes: (slots, n).
        tags: (n,), or None where nothing is sampled or dropped.
    """

    codes: CodeMatrix
    tags: Words | None = None


@dataclass(frozen=True)
class Choices:
    """Every choice of k slots, lexicographic, with the place of the combination it belongs to.

    Attributes:
        slots: int64 (T, k).
        combinations: int64 (T,): places in ``schema.combinations(k)``.
    """

    slots: Integers
    combinations: Integers

    @classmethod
    def of(cls, slot_columns: tuple[int, ...], index: dict[ColumnNumbers, int], length: int) -> "Choices":
        """The choices of a table with these slots; ``index`` is the place of each combination.

        >>> choices = Choices.of((0, 1, 1), {(0, 1): 0, (1, 1): 1}, length=2)  # sex, two languages
        >>> choices.slots.tolist(), choices.combinations.tolist()
        ([[0, 1], [0, 2], [1, 2]], [0, 0, 1])
        """
        chosen = list(itertools.combinations(range(len(slot_columns)), length))
        places = [index[tuple(slot_columns[slot] for slot in slots)] for slots in chosen]
        return cls(np.array(chosen, np.int64).reshape(len(chosen), length), np.array(places, np.int64))

    def of_combination(self, combination: int) -> Integers:
        """The choices of one combination, (T', k)."""
        chosen: Integers = self.slots[self.combinations == combination]
        return chosen


@dataclass(frozen=True)
class DenseCounts:
    """The cells of one length's cubes and what is needed to count into them.

    Attributes:
        cubes: the combinations.
        slots: int64 (T, k), their choices of slots.
        offsets: int64 (T,), where the cube of each choice begins.
        sizes: int64 (slots,), one more than the number of values of the slot's column.
        cells: counted into in place.
        found: int64 (C,), how many candidates each cube has.
    """

    cubes: Cubes
    slots: Integers
    offsets: Integers
    sizes: Integers
    cells: HalfWords
    found: Integers

    @classmethod
    def of(
        cls, cubes: Cubes, choices: Choices, sizes: Integers, marked: tuple[HalfWords, Integers]
    ) -> "DenseCounts":
        """Cells as `flag_candidates` gives them; combinations without a candidate are not counted."""
        cells, found = marked
        place = np.full(int(choices.combinations.max(initial=-1)) + 1, -1)
        place[cubes.ids] = np.where(found > 0, np.arange(len(cubes.ids)), -1)
        place = place[choices.combinations]
        counted = place >= 0
        return cls(cubes, choices.slots[counted], cubes.offsets[place[counted]], sizes, cells, found)

    def count(self, codes: CodeMatrix, report: Callable[[float], None]) -> None:
        """Count every record."""
        for rows in _blocks(codes.shape[1], self.slots.shape[1], report):
            kernels.count_tuples(codes, rows, self.slots, self.offsets, self.sizes, self.cells)

    def count_with_sensitivity(
        self, codes: CodeMatrix, sensitivity: HalfWords, report: Callable[[float], None]
    ) -> None:
        """Count every record and add to ``sensitivity`` how many candidates each one holds."""
        for rows in _blocks(codes.shape[1], self.slots.shape[1], report):
            kernels.count_tuples_and_sensitivity(
                codes, rows, self.slots, self.offsets, self.sizes, self.cells, sensitivity[slice(*rows)]
            )

    def drop(self, codes: HalfWords, coins: Coins) -> None:
        """Take back what the records of ``codes`` (all of them over the limit) lose."""
        rows = (0, codes.shape[1])
        kernels.drop_tuples(codes, rows, self.slots, self.offsets, self.sizes, self.cells, coins)


def _blocks(rows: int, length: int, report: Callable[[float], None]) -> Iterator[tuple[int, int]]:
    step = _SHORT if length <= 3 else _LONG
    for start in range(0, rows, step):
        yield start, min(start + step, rows)
        report(min(start + step, rows) / rows)


def code_matrix(slots: tuple[Codes, ...], remaps: list[CodeMatrix], rows: int) -> CodeMatrix:
    """Codes of all slots in one matrix of one type, values that died becoming absent.

    Args:
        slots: one array of codes a slot.
        remaps: for each slot the new code of every old one, all of one type.
        rows: the number of records.
    """
    matrix = np.zeros((len(slots), rows), remaps[0].dtype if remaps else np.uint8)
    for slot, (codes, remap) in enumerate(zip(slots, remaps, strict=True)):
        np.take(remap, codes, out=matrix[slot], mode="clip")
    return matrix
