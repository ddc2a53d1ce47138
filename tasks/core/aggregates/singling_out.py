"""Who is singled out by what: coded records and their marginals in, shortest lengths and attributes out.

One pass over the lengths. A record with a rare combination of fewer attributes than are counted has, with
any other attribute of its own, a rare combination again: so which attributes a rare combination contains
needs to be looked at for the longest length alone, and only for the records that no shorter one made
unique. What comes out is as sensitive as what goes in.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

from tasks.core.aggregates.rare_kernels import add_slot, mark_by_search, mark_by_table
from tasks.core.aggregates.stored_marginals import Marginals, slot_choices
from tasks.core.aggregates.wide_form import check_every_combination
from tasks.core.records.coded import CodedRecords

Integers = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
#: Codes of cells by row; kept by column, since they are worked on a column at a time.
Cells = npt.NDArray[np.uint32]

_RARE, _UNIQUE = np.uint8(1), np.uint8(2)
_ROWS_A_READ = 1 << 20
#: Above this many cells a combination of columns is searched instead of looked up.
_MOST_CELLS = 1 << 24


@dataclass(frozen=True)
class SingledOut:
    """What rare and unique combinations of 1 to R attributes do to records and attributes (sds.md 2.3).

    Attributes:
        lengths: R.
        unique_length: uint8 (n,): the shortest length at which one of the record's combinations is held
            by nobody else; 0 where there is none.
        rare_length: the same for counts below the resolution, unique ones among them.
        held: for each column int64 by code: records that hold the value; code 0 stands for nothing.
        rare: of those records, the ones in which some rare combination contains the value.
        unique: the same for unique combinations.
    """

    lengths: int
    unique_length: Bytes
    rare_length: Bytes
    held: tuple[Integers, ...]
    rare: tuple[Integers, ...]
    unique: tuple[Integers, ...]


def single_out(records: CodedRecords, marginals: Marginals, resolution: int) -> SingledOut:
    """Find which records and which of their attributes rare and unique combinations single out.

    Args:
        records: what the marginals were counted from, all of it; at most as much memory again is used.
        marginals: all combinations of each length from 1 on; read a piece at a time.
        resolution: a count below it is rare.

    Raises:
        ParameterError: the marginals hold chosen sets of columns.
    """
    check_every_combination(marginals)
    size, longest = records.number_of_records, max(marginals.lengths, default=0)
    unique_at, rare_at = np.zeros(size, np.uint8), np.zeros(size, np.uint8)
    rare, unique = _Linked(records), _Linked(records)
    for length in marginals.lengths:
        still = np.flatnonzero(unique_at == 0)
        if length == longest:
            rare.add(np.flatnonzero(rare_at > 0))
            unique.add(np.flatnonzero(unique_at > 0))
        marks = _marks(_codes_of(records, still), marginals, length, resolution, by_slot=length == longest)
        if length == longest:
            fresh = rare_at[still] == 0
            rare.add(still[fresh], (marks[:, fresh] & _RARE) > 0)
            unique.add(still, (marks & _UNIQUE) > 0)
        found = np.bitwise_or.reduce(marks, axis=0)
        rare_at[still[(found & _RARE > 0) & (rare_at[still] == 0)]] = length
        unique_at[still[found & _UNIQUE > 0]] = length
    held = _Linked(records)
    held.add(np.arange(size))
    return SingledOut(longest, unique_at, rare_at, held.counts, rare.counts, unique.counts)


def rare_cells(marginals: Marginals, length: int, below: int) -> Iterator[tuple[int, Cells, Integers]]:
    """Combinations with a count below ``below`` by their set of columns; a set may come in pieces.

    Yields:
        The id of the set, codes (N, k) ascending, counts (N,).
    """
    names = [f"code_{place}" for place in range(1, length + 1)]
    with pq.ParquetFile(marginals.path(length)) as file:
        for rows in file.iter_batches(_ROWS_A_READ):
            rare = rows["count"].to_numpy() < below
            ids = rows["combination_id"].to_numpy()[rare]
            codes = np.stack([rows[name].to_numpy()[rare] for name in names]).T
            counts = rows["count"].to_numpy()[rare]
            starts = np.flatnonzero(np.r_[True, ids[1:] != ids[:-1]][: len(ids)])
            for start, end in itertools.pairwise([*starts, len(ids)]):
                yield int(ids[start]), codes[start:end], counts[start:end]


class _Linked:
    """Counts by column and code of the records whose attribute is linked."""

    def __init__(self, records: CodedRecords) -> None:
        self._records = records
        self.counts = tuple(np.zeros(len(values) + 1, np.int64) for values in records.values)

    def add(self, rows: Integers, linked: npt.NDArray[np.bool_] | None = None) -> None:
        """Add some records: every attribute of theirs, or those whose (slot, row) is linked."""
        for slot, column in enumerate(self._records.slot_columns):
            chosen = rows if linked is None else rows[linked[slot]]
            codes = self._records.slots[slot][chosen]
            held = np.bincount(codes, minlength=len(self.counts[column]))
            held[0] = 0
            self.counts[column][:] += held


def _codes_of(records: CodedRecords, rows: Integers) -> npt.NDArray[np.unsignedinteger]:
    """All slots' codes of some records, (slots, rows), in one type."""
    widest = max((codes.dtype for codes in records.slots), default=np.dtype(np.uint8))
    codes = np.empty((len(records.slots), len(rows)), widest)
    for slot, own in enumerate(records.slots):
        codes[slot] = own[rows]
    return codes


def _marks(
    codes: npt.NDArray[np.unsignedinteger],
    marginals: Marginals,
    length: int,
    resolution: int,
    *,
    by_slot: bool,
) -> Bytes:
    """What the rare combinations of one length leave: marks (1, records), or (slots, records)."""
    facts = marginals.facts
    marker = _Marker(codes, tuple(len(values) + 1 for values in facts.values), by_slot=by_slot)
    if not codes.shape[1]:
        return marker.marks
    combinations = facts.counted(length)
    for combination_id, cells, counts in rare_cells(marginals, length, max(resolution, 2)):
        combination = combinations[combination_id]
        marks = (counts < resolution) * _RARE | (counts == 1) * _UNIQUE
        choices = [np.array(slots, np.int64) for slots in slot_choices(combination, facts.slot_columns)]
        marker.mark(combination, choices, cells, marks)
    return marker.marks


class _Marker:
    """Marks records, or slots of records, by the marked cells that they are in."""

    def __init__(
        self, codes: npt.NDArray[np.unsignedinteger], sizes: tuple[int, ...], *, by_slot: bool
    ) -> None:
        """Args: codes: (slots, records). sizes: values and 0, by column."""
        self._codes, self._sizes, self._by_slot = codes, sizes, by_slot
        self.marks = np.zeros((len(codes) if by_slot else 1, codes.shape[1]), np.uint8)
        self._table = np.zeros(_MOST_CELLS, np.uint8)
        self._prefix = np.zeros(codes.shape[1], np.uint32)
        self._prefix_slots: list[int] | None = None

    def mark(self, combination: tuple[int, ...], choices: list[Integers], cells: Cells, marks: Bytes) -> None:
        """Mark by cells (N, length) of one set of columns, ascending, each choice of whose slots counts."""
        sizes = [self._sizes[column] for column in combination]
        if math.prod(sizes) > _MOST_CELLS:
            ascending = np.ascontiguousarray(cells)
            for slots in choices:
                mark_by_search(self._codes, slots, ascending, marks, self._targets(slots), self.marks)
            return
        numbers = cells[:, 0].astype(np.int32)
        for place in range(1, len(sizes)):
            numbers *= sizes[place]
            numbers += cells[:, place].view(np.int32)
        self._table[numbers] = marks
        table = self._table[: math.prod(sizes)].reshape(-1, sizes[-1])
        for slots in choices:
            self._set_prefix(slots[:-1].tolist(), sizes)
            mark_by_table(self._prefix, self._codes[slots[-1]], table, self._targets(slots), self.marks)
        self._table[numbers] = 0

    def _targets(self, slots: Integers) -> Integers:
        return slots if self._by_slot else np.zeros(1, np.int64)

    def _set_prefix(self, slots: list[int], sizes: list[int]) -> None:
        """Number all but the last code of each record's cell; neighbours share it."""
        if self._prefix_slots != slots:
            self._prefix[:] = 0
            for slot, size in zip(slots, sizes, strict=False):
                add_slot(self._prefix, self._codes[slot], size)
            self._prefix_slots = slots
