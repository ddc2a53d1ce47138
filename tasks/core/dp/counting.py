"""Exact counts of candidates, and of each record's candidates, by one pass over the coded records.

In: a matrix of codes (re-encoded to survivors, so that what died at length 1 is absent) and cubes with
the candidates flagged. Out: the cells, counted. Nothing here leaves the measuring step.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tasks.core.arrays import Codes, ColumnNumbers, HalfWords, Integers, Words
from tasks.core.dp import kernels
from tasks.core.dp.candidates import Cubes

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
