"""Compiled loops of counting in memory (oracles: tests/oracles/marginals.py, tests/oracles/rare.py).

A *cell* is a tuple of codes of a set of columns. Its number is ``prefix * size + last``: the number of all
its codes but the last, the number of the last column's codes, the last code.

    town (2 values, size 3)   absent  Lille  Lyon
    prefix 0: sex absent         0      1      2
    prefix 1: sex = female       3      4      5      a woman in Lyon is counted in cube[1 * 3 + 2]
    prefix 2: sex = male         6      7      8

A *mark* is one byte: 1 for a rare combination, 2 for a unique one, 3 for both. Bounds are the caller's
promise.
"""

import numpy as np

from tasks.core.arrays import AnyIntegers, Bytes, Codes, Flags, HalfWords, Ids, Integers
from tasks.core.compiling.decorator import njit

#: Counts in the smaller type wherever they fit: a cube should stay in the processor's cache.
Cube = HalfWords | Integers


@njit(cache=True, nogil=True)
def add_at(cells: HalfWords, counts: AnyIntegers, totals: AnyIntegers) -> None:
    for row in range(len(cells)):
        totals[cells[row]] += counts[row]


@njit(cache=True, nogil=True)
def mark_cells(cells: HalfWords, marks: Ids) -> None:
    for row in range(len(cells)):
        marks[cells[row]] = 1


@njit(cache=True, nogil=True)
def number_marked(marks: Ids, marked: Integers) -> int:
    """Number the marked places from 0 on, in order, and list them; how many there are."""
    number = 0
    for place in range(len(marks)):
        if marks[place]:
            marks[place] = number
            marked[number] = place
            number += 1
    return number


@njit(cache=True, nogil=True)
def renumber(cells: HalfWords, numbers: Ids) -> None:
    for row in range(len(cells)):
        cells[row] = numbers[cells[row]]


@njit(cache=True, nogil=True)
def spell_out(cells: Integers, size: int, before: HalfWords, codes: HalfWords, whole: Flags) -> None:
    """Fill in the codes of cells, (N, length), by those of each prefix; and whether none is 0, (N,)."""
    length = codes.shape[1]
    for row in range(len(cells)):
        prefix = cells[row] // size
        last = cells[row] - prefix * size
        present = last != 0
        for place in range(length - 1):
            codes[row, place] = before[prefix, place]
            present &= before[prefix, place] != 0
        codes[row, length - 1] = last
        whole[row] = present


@njit(cache=True, nogil=True)
def add_cells(prefix: HalfWords, last: Codes, size: int, cube: Cube) -> None:
    """Count each row's cell: ``cube[prefix * size + last] += 1``.

    Cells are fewer than 2^32: in 32 bits their numbers cost a fifth less.
    """
    for row in range(len(prefix)):
        cube[prefix[row] * np.uint32(size) + np.uint32(last[row])] += 1


@njit(cache=True, nogil=True)
def add_counts(prefix: HalfWords, last: Codes, size: int, counts: Integers, cube: Cube) -> None:
    for row in range(len(prefix)):
        cube[prefix[row] * np.uint32(size) + np.uint32(last[row])] += counts[row]


@njit(cache=True, nogil=True)
def list_present(
    cube: Cube, prefixes: tuple[HalfWords, Flags], first: int, codes: HalfWords, cells: Integers
) -> int:
    """The codes and numbers of the cells that are filled and have no code 0, in order; how many there are.

    Args:
        prefixes: their codes, (prefixes, columns - 1), and whether none of them is 0.
        first: the first code of the last column that is not absent: 1; or 0 where prefixes are all there is.
        codes: (N, columns), filled, as is ``cells``, (N,); N at least as many as are found.
    """
    before, whole = prefixes
    number, size = 0, len(cube) // max(len(whole), 1)
    for prefix in range(len(whole)):
        if not whole[prefix]:
            continue
        for cell in range(prefix * size + first, (prefix + 1) * size):
            if cube[cell] > 0:
                for place in range(before.shape[1]):
                    codes[number, place] = before[prefix, place]
                if first:
                    codes[number, before.shape[1]] = cell - prefix * size
                cells[number] = cell
                number += 1
    return number


@njit(cache=True, nogil=True)
def group_rows(
    rows: tuple[HalfWords, Codes, int], cube: Cube, following: Integers, grouped: Integers
) -> None:
    """Put rows together by cell, in order.

    Args:
        cube: for each cell its place in ``following`` and 1 more, or 0: its rows are left out.
        following: where each cell's next row goes; moved on.
    """
    prefix, last, size = rows
    for row in range(len(prefix)):
        place = cube[prefix[row] * np.uint32(size) + np.uint32(last[row])]
        if place:
            grouped[following[place - 1]] = row
            following[place - 1] += 1


@njit(cache=True, nogil=True)
def mark_rare(cube: Cube, whole: Flags, first: int, resolution: int, marks: Bytes) -> None:
    """The mark of each cell; 0 for what is not rare or has an absent value.

    ``whole``: by prefix, whether nothing in it is absent.
    ``first``: the first code of the last column that is not absent.
    """
    # Without a branch, many cells at once; what is absent is taken back. Empty cells are marked as rare: no
    # record is in one, so nobody looks.
    for cell in range(len(cube)):
        marks[cell] = np.uint8(cube[cell] < resolution) | np.uint8(2) * np.uint8(cube[cell] == 1)
    size = len(cube) // max(len(whole), 1)
    for prefix in range(len(whole)):
        for cell in range(prefix * size, prefix * size + (first if whole[prefix] else size)):
            marks[cell] = 0


@njit(cache=True, nogil=True)
def look_up_marks(records: Integers, cells: tuple[HalfWords, Codes, int], marks: Bytes, found: Bytes) -> None:
    """The mark of each record's cell, block by block.

    ``cells``: by row prefix and last code, and the number of last codes; rows are blocks of all records.
    ``found``: (blocks, N), filled.
    """
    prefix, last, size = cells
    for block in range(len(found)):
        first = block * (len(prefix) // len(found))
        for row in range(len(records)):
            own = first + records[row]
            found[block, row] = marks[prefix[own] * np.uint32(size) + np.uint32(last[own])]
