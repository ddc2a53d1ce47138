"""Counting of records that are in memory, by a compiled loop: coded records in, aggregates or cells out.

For synthetic records, and wherever records are counted a set of columns at a time: no query and no file.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from tasks.core.aggregates.aggregates import Aggregates
from tasks.core.aggregates.kernels import add_cells, count_present, list_present, look_up_cells
from tasks.core.aggregates.keys import joint_keys, run_lengths, run_starts
from tasks.core.aggregates.stored_marginals import MarginalFacts, slot_choices
from tasks.core.aggregates.wide_form import Cells, aggregates_of_cells
from tasks.core.records.coded import CodedRecords, Codes

Integers = npt.NDArray[np.int64]
#: Counts in the smaller type wherever they fit: a cube should stay in the processor's cache.
Cube = npt.NDArray[np.uint32] | npt.NDArray[np.int64]

#: Above this many cells a set of columns' records are sorted instead, and above this many a row.
_MOST_CELLS = 1 << 22
_CELLS_A_ROW = 16
_FEW_CELLS = 1 << 12
_MOST_OF_32_BITS = 1 << 32


def count_in_memory(records: CodedRecords, longest: int) -> Aggregates:
    """The counts of all combinations of up to so many attributes (-1: all lengths).

    Raises:
        ParameterError: if the length is 0 or below -1.
    """
    facts, levels = counted_cells(records, longest)
    return aggregates_of_cells(facts, records.number_of_records, levels.values())


def counted_cells(records: CodedRecords, longest: int) -> tuple[MarginalFacts, dict[int, Iterator[Cells]]]:
    """What `count_in_memory` is made of: by length the cells of each set of columns, counted when read."""
    size = records.number_of_records
    facts = MarginalFacts(records.schema, records.slot_columns, records.values, size, {}).with_workload(
        longest
    )
    counter = CellCounter(records.slots, records.slot_columns, tuple(len(v) + 1 for v in records.values))
    return facts, {length: _cells(facts, counter, length) for length in facts.workload}


def _cells(facts: MarginalFacts, counter: "CellCounter", length: int) -> Iterator[Cells]:
    for combination_id, combination in facts.counted(length).items():
        codes, counts = counter.cells(combination)
        yield Cells(np.full(len(counts), combination_id, np.uint32), codes, counts)


class CellCounter:
    """Counts the cells of sets of columns: the tuples of codes that records hold."""

    def __init__(self, slots: Sequence[Codes], slot_columns: tuple[int, ...], sizes: tuple[int, ...]) -> None:
        """Args: slots: codes by slot. slot_columns: their columns. sizes: values and 0, by column."""
        self._slots, self._slot_columns, self._sizes = slots, slot_columns, sizes
        self._records = len(slots[0]) if slots else 0
        single = len(set(slot_columns)) == len(slot_columns)
        self._only_slot = {column: slot for slot, column in enumerate(slot_columns)} if single else None
        self._prefix: tuple[tuple[int, ...], npt.NDArray[np.uint32]] | None = None

    def cells(self, combination: tuple[int, ...]) -> tuple[npt.NDArray[np.uint32], Integers]:
        """Codes (N, k) of the cells without an absent value that somebody is in, in order; how many are."""
        sizes = [self._sizes[column] for column in combination]
        if not self._is_dense(sizes):
            return self._sorted(combination, sizes)
        cube, each = self.cube(combination), np.array(sizes, np.int64)
        number = count_present(cube, each)
        codes, counts = np.empty((number, len(sizes)), np.uint32), np.empty(number, np.int64)
        list_present(cube, each, codes, counts)
        return codes, counts

    def counts_of(self, combination: tuple[int, ...], codes: npt.NDArray[np.integer]) -> Integers:
        """How many are in each of some cells (N, k) without an absent value; 0 where nobody is."""
        sizes = [self._sizes[column] for column in combination]
        if self._is_dense(sizes):
            cells = np.ravel_multi_index(tuple(codes.T), sizes)
            return np.asarray(self.cube(combination)[cells], np.int64)
        held, counts = self._sorted(combination, sizes)
        (wanted, own), _ = joint_keys([list(codes.T), list(held.T)], sizes)
        if not len(own):
            return np.zeros(len(codes), np.int64)
        at = np.minimum(np.searchsorted(own, wanted), len(own) - 1)
        return np.asarray(np.where(own[at] == wanted, counts[at], 0), np.int64)

    def cube(self, combination: tuple[int, ...]) -> Cube:
        """Counts of all cells in one row, absent values (code 0) among them, the last code running fastest.

        With a multi-valued column every choice of its slots counts, so that the cells of a set add up to
        the records times the choices.
        """
        sizes = [self._sizes[column] for column in combination]
        choices = list(self._choices(combination))
        fits = len(choices) * self._records < _MOST_OF_32_BITS
        cube: Cube = np.zeros(math.prod(sizes), np.uint32)
        if not fits:
            cube = np.zeros(math.prod(sizes), np.int64)
        for slots in choices:
            add_cells(self._prefix_of(slots[:-1]), self._slots[slots[-1]], sizes[-1], cube)
        return cube

    def rows(self, combination: tuple[int, ...]) -> list[Codes]:
        """For each column of the set the code of each record, once for each choice of its slots."""
        choices = list(self._choices(combination))
        if len(choices) == 1:
            return [self._slots[slot] for slot in choices[0]]
        nothing = np.zeros(0, np.uint8)
        return [
            np.concatenate([nothing, *(self._slots[slots[place]] for slots in choices)])
            for place in range(len(combination))
        ]

    def holders(
        self, combination: tuple[int, ...], codes: npt.NDArray[np.integer]
    ) -> Iterator[tuple[Integers, Integers]]:
        """Who is in the given cells: for each choice of slots, records and their row of ``codes``.

        Args:
            combination: a set of columns.
            codes: (N, k), each row once, without absent values.
        """
        sizes = [self._sizes[column] for column in combination]
        for slots in self._choices(combination):
            if not self._is_dense(sizes):
                found = self._matched(slots, codes, sizes)
            else:
                numbers = np.full(math.prod(sizes), -1, np.int32)
                numbers[np.ravel_multi_index(tuple(codes.T), sizes)] = np.arange(len(codes))
                found = np.empty(self._records, np.int32)
                look_up_cells(self._prefix_of(slots[:-1]), self._slots[slots[-1]], sizes[-1], numbers, found)
            records = np.flatnonzero(found >= 0)
            yield records, found[records].astype(np.int64)

    def _choices(self, combination: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if self._only_slot is None:
            return slot_choices(combination, self._slot_columns)
        return iter((tuple(self._only_slot[column] for column in combination),))

    def _is_dense(self, sizes: list[int]) -> bool:
        return math.prod(sizes) <= min(_MOST_CELLS, max(_FEW_CELLS, _CELLS_A_ROW * self._records))

    def _matched(
        self, slots: tuple[int, ...], codes: npt.NDArray[np.integer], sizes: list[int]
    ) -> npt.NDArray[np.int32]:
        """Each record's row of ``codes``, or -1."""
        held = [self._slots[slot] for slot in slots]
        (wanted, own), _ = joint_keys([list(codes.T), held], sizes)
        order = np.argsort(wanted)
        at = order[np.minimum(np.searchsorted(wanted, own, sorter=order), len(codes) - 1)]
        return np.where(wanted[at] == own, at, -1).astype(np.int32)

    def _prefix_of(self, slots: tuple[int, ...]) -> npt.NDArray[np.uint32]:
        """All but the last code of each record's cell as one number; neighbours share it."""
        if self._prefix is None or self._prefix[0] != slots:
            prefix = np.zeros(self._records, np.uint32)
            for slot in slots:
                prefix *= np.uint32(self._sizes[self._slot_columns[slot]])
                prefix += self._slots[slot]
            self._prefix = (slots, prefix)
        return self._prefix[1]

    def _sorted(
        self, combination: tuple[int, ...], sizes: list[int]
    ) -> tuple[npt.NDArray[np.uint32], Integers]:
        rows = self.rows(combination)
        present = np.flatnonzero(np.logical_and.reduce([column > 0 for column in rows]))
        rows = [column[present] for column in rows]
        (keys,), _ = joint_keys([rows], sizes)
        order = np.argsort(keys)
        starts = run_starts(keys[order])
        first = order[starts]
        codes = np.stack([column[first].astype(np.uint32) for column in rows], axis=1)
        return codes, run_lengths(starts, len(keys))
