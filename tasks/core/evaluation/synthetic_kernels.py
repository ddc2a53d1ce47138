"""Compiled loops that code synthetic records (oracle: tests/oracles/marginals.py)."""

import numpy as np
import numpy.typing as npt

from tasks.core.compiling import njit

Integers = npt.NDArray[np.int64]


@njit(cache=True, nogil=True)
def most_items(offsets: Integers, ids: npt.NDArray[np.int32], column_of: Integers, most: Integers) -> None:
    """The most attributes of each column that one record holds, into ``most``, int64 by column."""
    own = np.zeros(len(most), np.int64)
    for record in range(len(offsets) - 1):
        for place in range(offsets[record], offsets[record + 1]):
            own[column_of[ids[place]]] += 1
        for place in range(offsets[record], offsets[record + 1]):
            column = column_of[ids[place]]
            most[column] = max(most[column], own[column])
            own[column] = 0


@njit(cache=True, nogil=True)
def fill_slots(
    records: tuple[Integers, npt.NDArray[np.int32]],
    column_of: Integers,
    code_of: Integers,
    first_slot: Integers,
    slots: npt.NDArray[np.unsignedinteger],
) -> None:
    """Put each record's codes into its columns' slots, ascending from the first on.

    Args:
        records: offsets and attribute ids.
        column_of: by attribute id.
        code_of: by attribute id, from 1.
        first_slot: by column.
        slots: (slots, records), zeros; as many a column as its fullest record needs.
    """
    offsets, ids = records
    for record in range(len(offsets) - 1):
        for place in range(offsets[record], offsets[record + 1]):
            first, code = first_slot[column_of[ids[place]]], code_of[ids[place]]
            slot = first
            while slots[slot, record] != 0:
                slot += 1
            while slot > first and slots[slot - 1, record] > code:
                slots[slot, record] = slots[slot - 1, record]
                slot -= 1
            slots[slot, record] = code
