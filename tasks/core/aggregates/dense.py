"""Counting of records that are in memory: the same marginals as `marginals`, by a compiled loop.

For records that everybody may see, such as synthetic ones: no query and no file is read.
"""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tasks.core.aggregates.kernels import add_cells, look_up_cells
from tasks.core.aggregates.stored_marginals import MarginalFacts, Marginals, slot_choices, writing
from tasks.core.records.coded import CodedRecords, Codes

Integers = npt.NDArray[np.int64]

#: Above this many cells a combination's records are sorted instead.
_MOST_CELLS = 1 << 22
_LARGEST_KEY = 1 << 62


def count_in_memory(
    records: CodedRecords, destination: Path, workload: int | Sequence[tuple[int, ...]]
) -> Marginals:
    """Count records in memory into an existing empty folder (see `marginals.count_marginals`).

    Raises:
        ParameterError: if the workload can't be formed of the columns.
    """
    facts = MarginalFacts(
        records.schema, records.slot_columns, records.values, records.number_of_records, {}
    ).with_workload(workload)
    facts.write(destination)
    counter = CellCounter(records.slots, records.slot_columns, tuple(len(v) + 1 for v in records.values))
    for length in facts.workload:
        with writing(destination / f"marginals_{length}.parquet", length) as writer:
            for combination_id, combination in facts.counted(length).items():
                codes, counts = counter.cells(combination)
                present = (codes > 0).all(axis=1)
                writer.append(_rows(combination_id, codes[present], counts[present]))
    return Marginals(destination, facts)


class CellCounter:
    """Counts the cells of sets of columns, absent values (code 0) among them.

    With a multi-valued column every choice of its slots counts, so that the cells of a set add up to
    the records times the choices.
    """

    def __init__(self, slots: Sequence[Codes], slot_columns: tuple[int, ...], sizes: tuple[int, ...]) -> None:
        """Args: slots: codes by slot. slot_columns: their columns. sizes: values and 0, by column."""
        self._slots, self._slot_columns, self._sizes = slots, slot_columns, sizes
        self._records = len(slots[0]) if slots else 0
        self._prefix: tuple[tuple[int, ...], npt.NDArray[np.uint32]] | None = None

    def cells(self, combination: tuple[int, ...]) -> tuple[Integers, Integers]:
        """Codes (N, k) of the cells that somebody is in, in order, and how many are."""
        sizes = [self._sizes[column] for column in combination]
        choices = slot_choices(combination, self._slot_columns)
        if math.prod(sizes) > _MOST_CELLS:
            return self._sorted(choices)
        cells = np.zeros(math.prod(sizes), np.int64)
        for slots in choices:
            add_cells(self._prefix_of(slots[:-1]), self._slots[slots[-1]], sizes[-1], cells)
        filled = np.flatnonzero(cells)
        return np.stack(np.unravel_index(filled, sizes), axis=1).astype(np.int64), cells[filled]

    def holders(self, combination: tuple[int, ...], codes: Integers) -> Iterator[tuple[Integers, Integers]]:
        """Who is in the given cells: for each choice of slots, records and their row of ``codes``.

        Args:
            combination: a set of columns.
            codes: (N, k), each row once, without absent values.
        """
        sizes = [self._sizes[column] for column in combination]
        for slots in slot_choices(combination, self._slot_columns):
            if math.prod(sizes) > _MOST_CELLS:
                found = self._matched(slots, codes, sizes)
            else:
                numbers = np.full(math.prod(sizes), -1, np.int32)
                numbers[np.ravel_multi_index(tuple(codes.T), sizes)] = np.arange(len(codes))
                found = np.empty(self._records, np.int32)
                look_up_cells(self._prefix_of(slots[:-1]), self._slots[slots[-1]], sizes[-1], numbers, found)
            records = np.flatnonzero(found >= 0)
            yield records, found[records].astype(np.int64)

    def _matched(self, slots: tuple[int, ...], codes: Integers, sizes: list[int]) -> npt.NDArray[np.int32]:
        """Each record's row of ``codes``, or -1, by one integer a row, renumbered before it overflows."""
        keys, bound = np.zeros(len(codes) + self._records, np.int64), 1
        for place, (slot, size) in enumerate(zip(slots, sizes, strict=True)):
            if bound > _LARGEST_KEY // size:
                keys = np.unique(keys, return_inverse=True)[1]
                bound = len(keys)
            keys = keys * size + np.concatenate([codes[:, place], self._slots[slot].astype(np.int64)])
            bound *= size
        wanted, own = keys[: len(codes)], keys[len(codes) :]
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

    def _sorted(self, choices: Iterator[tuple[int, ...]]) -> tuple[Integers, Integers]:
        chosen = [
            np.stack([self._slots[slot] for slot in slots], axis=1).astype(np.int64) for slots in choices
        ]
        rows = np.concatenate(chosen)
        rows = rows[np.lexsort(rows.T[::-1])]
        starts = np.flatnonzero(np.r_[True, (rows[1:] != rows[:-1]).any(axis=1)][: len(rows)])
        return rows[starts], np.diff(np.r_[starts, len(rows)])


def _rows(combination_id: int, codes: Integers, counts: Integers) -> pa.Table:
    columns = {"combination_id": pa.array(np.full(len(counts), combination_id, np.uint32))}
    for place in range(codes.shape[1]):
        columns[f"code_{place + 1}"] = pa.array(codes[:, place].astype(np.uint32))
    return pa.table({**columns, "count": pa.array(counts)})
